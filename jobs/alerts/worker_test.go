package alerts_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
)

func TestMessagesArriveInTheirOrder(t *testing.T) {
	each(t, func(w *world) {
		h := w.hook("ops")
		h.answers(func(n int, res http.ResponseWriter, _ *http.Request) {
			if n == 1 || n == 2 { // the second message fails twice
				http.Error(res, "try later", http.StatusInternalServerError)
			}
		})
		w.worker()
		var want []string
		for i := range 5 {
			name := fmt.Sprintf("t%d", i)
			w.happens(event.Started, name)
			w.passes(time.Second, name+" is down", func() bool { return len(h.requests()) > len(want) })
			want = append(want, name+" is down: timed out")
			if i == 1 {
				w.passes(5*time.Second, "it is delivered at last", func() bool { return len(h.requests()) == 4 })
				want = append(want, want[1], want[1])
			}
		}
		var messages, ids []string
		for _, g := range h.requests() {
			messages = append(messages, g.Message)
			ids = append(ids, g.id)
		}
		if !slices.Equal(messages, want) || ids[1] != ids[2] || ids[1] != ids[3] || ids[1] == ids[0] {
			w.Errorf("%q %q", messages, ids)
		}
		c, err := w.Channel(w.Context(), h.ID)
		w.ok(err)
		w.passes(time.Second, "the channel works", func() bool {
			c, err = w.Channel(w.Context(), h.ID)
			w.ok(err)
			return c.LastError == "" && c.Failures == 0 && !c.LastDeliveredAt.IsZero()
		})
	})
}

// never blocks a request, even after the client has disconnected. A response could still be read by the client.
func never(r *http.Request) {
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

func TestSlowChannelDoesNotDelayOthers(t *testing.T) {
	each(t, func(w *world) {
		slow, fast := w.hook("slow"), w.hook("fast")
		slow.answers(func(_ int, _ http.ResponseWriter, r *http.Request) { never(r) })
		w.worker()
		for i := range 3 {
			w.happens(event.Started, fmt.Sprintf("t%d", i))
			w.passes(time.Second, "the other channel got it", func() bool { return len(fast.requests()) == i+1 })
		}
		if n := len(slow.requests()); n > 1 {
			w.Errorf("%d requests to the channel that hangs", n)
		}
	})
}

func TestGoneDisablesTheChannel(t *testing.T) {
	each(t, func(w *world) {
		h := w.hook("ops")
		h.answers(func(_ int, res http.ResponseWriter, _ *http.Request) { res.WriteHeader(http.StatusGone) })
		w.worker()
		w.happens(event.Started, "a", "b")
		w.passes(time.Second, "the channel is disabled", func() bool {
			c, err := w.Channel(w.Context(), h.ID)
			w.ok(err)
			return !c.Enabled && c.LastError != ""
		})
		page, err := w.Alerts(w.Context(), alerts.Firing, models.Cursor{}, 10)
		w.ok(err)
		of, err := w.DeliveriesOf(w.Context(), page.Items, 10)
		w.ok(err)
		for _, a := range page.Items {
			if ds := of[a.Seq]; len(ds) != 1 || ds[0].Status != alerts.DeliveryFailed {
				w.Errorf("%+v", ds)
			}
		}
		if n := len(h.requests()); n != 1 {
			w.Errorf("%d requests", n)
		}
	})
}

func TestRefusedMessageIsMovedBehindOthers(t *testing.T) {
	each(t, func(w *world) {
		h := w.hook("ops")
		h.answers(func(n int, res http.ResponseWriter, _ *http.Request) {
			if h.requests()[n].Subject.Name == "bad" {
				http.Error(res, "no such field", http.StatusBadRequest)
			}
		})
		w.worker()
		w.happens(event.Started, "bad")
		w.passes(time.Second, "it is refused", func() bool { return len(h.requests()) > 0 })
		w.happens(event.Started, "good")
		w.passes(time.Second, "the next one arrives", func() bool {
			return slices.ContainsFunc(h.requests(), func(g got) bool { return g.Subject.Name == "good" })
		})
		w.passes(10*time.Minute, "the first one is given up after a day", func() bool {
			b, err := w.Backlog(w.Context())
			w.ok(err)
			return b.Pending == 0
		})
	})
}

func TestManyInstancesSendEachMessageOnce(t *testing.T) {
	each(t, func(w *world) {
		h := w.hook("ops")
		stops := []func(){w.worker(), w.worker(), w.worker()}
		const n = 60
		for i := range n {
			w.happens(event.Started, fmt.Sprintf("t%d", i))
			if i%10 == 9 {
				w.clock.Advance(2 * time.Minute) // avoids a storm
			}
		}
		w.passes(2*time.Second, "all are sent", func() bool {
			b, err := w.Backlog(w.Context())
			w.ok(err)
			return b.Events == 0 && b.Pending == 0 && subjects(h) == n
		})
		for _, stop := range stops {
			stop()
		}
		ids := map[string]int{}
		for _, g := range h.requests() {
			ids[g.id]++
		}
		for id, times := range ids {
			if times > 1 {
				w.Errorf("%s was sent %d times", id, times)
			}
		}
	})
}

// subjects returns the number of subjects that a hook received.
func subjects(h *hook) (n int) {
	for _, g := range h.requests() {
		n += g.SubjectCount
	}
	return n
}

func TestInterruptedMessageIsSentAgainWithItsID(t *testing.T) {
	each(t, func(w *world) {
		h := w.hook("ops")
		arrived := make(chan struct{})
		h.answers(func(n int, _ http.ResponseWriter, r *http.Request) {
			if n == 0 {
				close(arrived)
				never(r) // times out
			}
		})
		stop := w.worker()
		w.happens(event.Started, "a")
		w.passes(time.Second, "it is being sent", func() bool {
			select {
			case <-arrived:
				return true
			default:
				return false
			}
		})
		stop()
		w.worker()
		w.passes(time.Second, "it is sent again", func() bool { return len(h.requests()) == 2 })
		if all := h.requests(); all[0].id != all[1].id || all[0].id == "" {
			w.Errorf("%+v", all)
		}
	})
}
