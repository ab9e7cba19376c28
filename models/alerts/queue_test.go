package alerts_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/alerts"
)

// queued queues a message about each of the targets.
func (w *world) queued(targets ...string) {
	w.Helper()
	for _, name := range targets {
		w.happen(w.down(name+"@"+name+".test", 1))
	}
}

// deliver sends the next message of a channel like the worker. ok is false if there is none to send now.
func (w *world) deliver(c alerts.Channel, attempt func(subject string) alerts.Attempt) (failed, ok bool) {
	w.Helper()
	cs, err := w.ClaimChannels(w.Context(), w.me, 10)
	w.ok(err)
	for _, claimed := range cs {
		if claimed.Seq == c.Seq {
			now, d, found, err := w.Next(w.Context(), w.me, c.Seq)
			w.ok(err)
			if ok = found; ok {
				failed, err = w.Record(w.Context(), w.me, now, d, attempt(subjectOf(d)))
				w.ok(err)
			}
		}
		w.ok(w.ReleaseChannel(w.Context(), w.me, claimed))
	}
	return failed, ok
}

func subjectOf(d alerts.Delivery) string {
	_, name, _ := strings.Cut(d.Body, `"name":"`)
	name, _, _ = strings.Cut(name, `"`)
	return name
}

// deliveries returns the messages to a channel with attempts and last error: "shop delivered 1 ".
func (w *world) deliveries(c alerts.Channel) (all []string) {
	w.Helper()
	var ds []alerts.Delivery
	w.ok(w.db.Read(w.Context()).Where("channel_seq = ?", c.Seq).Order("seq").Find(&ds).Error)
	for _, d := range ds {
		all = append(all, fmt.Sprintf("%s %s %d %s", subjectOf(d), d.Status, d.Attempts, d.LastError))
	}
	return all
}

func (w *world) wantDeliveries(c alerts.Channel, want ...string) {
	w.Helper()
	if got := w.deliveries(c); strings.Join(got, "\n") != strings.Join(want, "\n") {
		w.Errorf("the messages are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (w *world) reload(c alerts.Channel) alerts.Channel {
	w.Helper()
	c, err := w.Channel(w.Context(), c.ID)
	w.ok(err)
	return c
}

func TestBackoffDoublesUpToTenMinutes(t *testing.T) {
	for failures, want := range map[int]time.Duration{
		-1: 5 * time.Second, 0: 5 * time.Second, 1: 5 * time.Second, 2: 10 * time.Second, 3: 20 * time.Second, 7: 320 * time.Second,
		8: 10 * time.Minute, 9: 10 * time.Minute, 1 << 40: 10 * time.Minute,
	} {
		if got := alerts.Backoff(failures); got != want {
			t.Errorf("after %d failures: %v, want %v", failures, got, want)
		}
	}
}

// A message that keeps failing without being refused is moved behind the others after ten attempts.
func TestFailingMessageIsMovedBehindOthers(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		w.queued("bad", "good", "fine")
		const answer = "The webhook returned 500"
		start, attempts := w.Now(), 0
		send := func(subject string) alerts.Attempt {
			if attempts++; subject == "bad" {
				return alerts.Attempt{Error: answer}
			}
			return alerts.Attempt{}
		}
		for attempts < 10 {
			if _, ok := w.deliver(c, send); !ok {
				w.clock.Advance(5 * time.Second)
			}
		}
		if now := w.reload(c); now.Failures != 10 || now.LastError != answer || now.NextAt != w.Now().Add(alerts.Backoff(10)) {
			w.Errorf("the channel is %+v", now)
		}
		w.wantDeliveries(c, "bad pending 10 "+answer, "good pending 0 ", "fine pending 0 ")
		w.clock.Advance(alerts.Backoff(10))
		if took := w.Now().Sub(start.Time); took < 40*time.Minute || took > 42*time.Minute {
			w.Errorf("the others wait for %v", took)
		}
		for range 3 {
			w.deliver(c, send)
		}
		w.wantDeliveries(c, "bad pending 11 "+answer, "good delivered 1 ", "fine delivered 1 ")
		if now := w.reload(c); now.Failures != 1 || now.NextAt != w.Now().Add(alerts.Backoff(1)) {
			w.Errorf("the channel is %+v", now)
		}
	})
}

// A message is retried for a day after any error, and keeps the last error.
func TestMessageExpiresAfterADay(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		w.queued("shop")
		start, attempts, failed := w.Now(), 0, false
		for !failed {
			gaveUp, ok := w.deliver(c, func(string) alerts.Attempt {
				if attempts++; attempts%2 == 0 {
					return alerts.Attempt{Error: "The webhook returned 503"}
				}
				return alerts.Attempt{Error: "The webhook timed out"}
			})
			if failed = gaveUp; !failed && ok {
				w.wantDeliveries(c, fmt.Sprintf("shop pending %d %s", attempts, w.reload(c).LastError))
			}
			if !ok {
				w.clock.Advance(5 * time.Second)
			}
		}
		if took := w.Now().Sub(start.Time); took < alerts.RetryPeriod || took > alerts.RetryPeriod+10*time.Minute || attempts < 140 || attempts > 160 {
			w.Errorf("%d attempts in %v", attempts, took)
		}
		w.wantDeliveries(c, fmt.Sprintf("shop failed %d %s", attempts, w.reload(c).LastError))
		if _, ok := w.deliver(c, nil); ok {
			w.Error("it is sent again")
		}
	})
}

func TestUnsentMessageHasAReason(t *testing.T) {
	for name, of := range map[string]struct {
		prepare func(w *world, c alerts.Channel)
		want    string
	}{
		"the channel fails": {
			func(w *world, c alerts.Channel) { w.ok(w.RecordTest(w.Context(), c, "Slack returned 404: no_service")) },
			"not sent within 24 hours, because the channel failed: Slack returned 404: no_service",
		},
		"the channel is disabled": {
			func(w *world, c alerts.Channel) {
				_, err := w.EditChannel(w.Context(), c.ID, alerts.ChannelEdit{Enabled: new(false)})
				w.ok(err)
			},
			"not sent within 24 hours: the channel was disabled",
		},
		"the channel is deleted": {
			func(w *world, c alerts.Channel) { w.ok(w.DeleteChannel(w.Context(), c.ID)) },
			"not sent within 24 hours: the channel was deleted",
		},
		"Linkwatch was stopped": {func(*world, alerts.Channel) {}, "not sent within 24 hours"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				c, other := w.channel("c"), w.channel("other")
				w.rule(c)
				w.rule(other)
				w.queued("shop")
				of.prepare(w, c)
				w.clock.Advance(alerts.RetryPeriod - time.Hour)
				w.deliver(other, func(string) alerts.Attempt { return alerts.Attempt{Error: "The webhook returned 500"} })
				w.clock.Advance(time.Hour)
				n, err := w.ExpireMessages(w.Context())
				w.ok(err)
				if n != 2 {
					w.Errorf("%d are given up", n)
				}
				w.wantDeliveries(c, "shop failed 0 "+of.want)
				w.wantDeliveries(other, "shop failed 1 The webhook returned 500")
			})
		})
	}
}

// The result of a running attempt does not affect a channel that has changed since.
func TestResultOfAnOldAddressIsIgnored(t *testing.T) {
	for name, edit := range map[string]func(n int) alerts.ChannelEdit{
		"another URL": func(n int) alerts.ChannelEdit {
			return alerts.ChannelEdit{URL: new(fmt.Sprint("https://new.test/", n))}
		},
		"another secret": func(n int) alerts.ChannelEdit {
			return alerts.ChannelEdit{Secret: new(fmt.Sprint("another-secret-", n))}
		},
		"disabled": func(int) alerts.ChannelEdit { return alerts.ChannelEdit{Enabled: new(false)} },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				c := w.channel("c")
				w.rule(c)
				w.queued("first", "second")
				gone := alerts.Attempt{Error: "The webhook returned 410", Gone: true}
				edits := 0
				during := func(a alerts.Attempt) {
					w.Helper()
					edits++
					failed, ok := w.deliver(c, func(string) alerts.Attempt {
						_, err := w.EditChannel(w.Context(), c.ID, edit(edits))
						w.ok(err)
						return a
					})
					if failed || !ok {
						w.Errorf("%+v: given up %v, sent %v", a, failed, ok)
					}
					now := w.reload(c)
					if want := name != "disabled"; now.Enabled != want || now.LastError != "" || now.Failures != 0 || !now.NextAt.IsZero() {
						w.Errorf("%+v: the channel is %+v", a, now)
					}
					_, err := w.EditChannel(w.Context(), c.ID, alerts.ChannelEdit{Enabled: new(true)})
					w.ok(err)
				}
				during(gone)
				w.wantDeliveries(c, "first pending 1 The webhook returned 410", "second pending 0 ")
				during(alerts.Attempt{Error: "The webhook returned 500"})
				during(alerts.Attempt{Error: "The webhook returned 400", Refused: true})
				w.wantDeliveries(c, "first pending 3 The webhook returned 400", "second pending 0 ")
				during(alerts.Attempt{})
				w.wantDeliveries(c, "first delivered 4 ", "second pending 0 ")
				w.deliver(c, func(string) alerts.Attempt { return gone })
				if now := w.reload(c); now.Enabled {
					w.Error("the channel is not disabled by the answer for its own address")
				}
			})
		})
	}
}

func TestMessageOfAChannelThatIsNoLongerClaimedIsNotRecorded(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		w.queued("shop")
		_, err := w.ClaimChannels(w.Context(), w.me, 10)
		w.ok(err)
		now, d, _, err := w.Next(w.Context(), w.me, c.Seq)
		w.ok(err)
		w.ok(w.db.Write(w.Context(), func(tx *gorm.DB) error { return tx.Exec("UPDATE channels SET claimed_by = NULL").Error }))
		for _, a := range []alerts.Attempt{{}, {Error: "gone", Gone: true}} {
			if _, err := w.Record(w.Context(), w.me, now, d, a); !errors.Is(err, alerts.ErrUnclaimed) {
				w.Errorf("%+v: %v", a, err)
			}
		}
		w.wantDeliveries(c, "shop pending 0 ")
	})
}

// The result of a running test does not affect a channel that was changed or disabled since.
func TestTestResultOfAnOldAddressIsIgnored(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		old := c
		c, err := w.EditChannel(w.Context(), c.ID, alerts.ChannelEdit{URL: new("https://new.test/")})
		w.ok(err)
		w.ok(w.RecordTest(w.Context(), old, "The webhook returned 410"))
		c, err = w.EditChannel(w.Context(), c.ID, alerts.ChannelEdit{Enabled: new(false)})
		w.ok(err)
		w.ok(w.RecordTest(w.Context(), c, "The webhook returned 404"))
		if got := w.reload(c); got.LastError != "" {
			w.Errorf("%+v", got)
		}
		w.ok(w.RecordTest(w.Context(), c, ""))
		if got := w.reload(c); got.LastDeliveredAt != models.At(w.clock.Now()) {
			w.Errorf("%+v", got)
		}
	})
}
