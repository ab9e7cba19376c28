package links_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/links"
)

// recheck moves the clock to the next check of a link and runs it.
func (t fixture) recheck(id string) links.Link {
	t.Helper()
	l := t.get(id)
	t.clock.Advance(max(0, l.NextCheckAt.Sub(t.clock.Now())))
	due := t.claim(t.lease, 100)
	i := slices.IndexFunc(due, func(d links.Claimed) bool { return d.ID == id })
	if i < 0 {
		t.Fatalf("link is not due at %v: %+v", t.clock.Now(), l)
	}
	done := t.check(due[i])
	if wait := done[0].Wait; wait > 0 {
		t.release(wait, due...)
		return t.get(id)
	}
	stored, err := t.Record(t.Context(), done...)
	t.must(err)
	if len(stored) != 1 {
		t.Fatalf("stored %+v", stored)
	}
	t.must(t.ReleaseOthers(t.Context(), t.lease))
	return stored[0]
}

func TestCheckHealth(t *testing.T) {
	for _, c := range []struct {
		name   string
		page   links.Page
		err    error
		health links.Health
		says   string
	}{
		{"200", links.Page{Status: 200}, nil, links.OK, ""},
		{"204", links.Page{Status: 204}, nil, links.OK, ""},
		{"401", links.Page{Status: 401}, nil, links.Blocked, "unexpected status 401"},
		{"403", links.Page{Status: 403}, nil, links.Blocked, "unexpected status 403"},
		{"429", links.Page{Status: 429}, nil, links.Blocked, "unexpected status 429"},
		{"500", links.Page{Status: 500}, nil, links.Suspect, "unexpected status 500"},
		{"503", links.Page{Status: 503}, nil, links.Suspect, "unexpected status 503"},
		{"304", links.Page{Status: 304}, nil, links.Suspect, "unexpected status 304"},
		{"dns", links.Page{}, &links.FetchError{Reason: "host not found"}, links.Suspect, "host not found"},
		{"private", links.Page{}, &links.FetchError{Reason: "address not allowed", Blocked: true}, links.Blocked, "address not allowed"},
		{"moved", links.Page{Status: 200, URL: "https://b.test/new", Permanent: true}, nil, links.Moved, ""},
		{"404", links.Page{Status: 404}, nil, links.Dead, "unexpected status 404"},
		{"410", links.Page{Status: 410}, nil, links.Dead, "unexpected status 410"},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t fixture) {
				l := t.titled("https://a.test/", "Title", "x")
				if c.err != nil {
					t.web.fail(l.URL, c.err)
				} else {
					t.web.set(l.URL, c.page)
				}
				got := t.recheck(l.ID)
				gone := c.health == links.Dead
				if got.Health != c.health || got.LastError != c.says || got.Expired() != gone || got.LastStatusCode != c.page.Status {
					t.Errorf("link %+v", got)
				}
				if got.Title != "Title" || got.URL != l.URL {
					t.Errorf("a check changed the link: %+v", got)
				}
				if gone != got.NextCheckAt.IsZero() {
					t.Errorf("next check %v", got.NextCheckAt)
				}
				if n := t.tag("x").LinkCount; gone != (n == 0) {
					t.Errorf("tag counts %d", n)
				}
				if list := t.urls(links.Filter{Health: c.health, Shown: links.ShowAll}); len(list) != 1 {
					t.Errorf("filter by %s lists %q", c.health, list)
				}
				if t.web.requests[len(t.web.requests)-1] != "probe "+l.URL {
					t.Errorf("requests %q", t.web.requests)
				}
			})
		})
	}
}

func TestSuspectIsDeadAfterThreeDays(t *testing.T) {
	each(t, func(t fixture) {
		l := t.add("https://a.test/")
		t.web.fail(l.URL, &links.FetchError{Reason: "timed out"})
		for i, want := range []links.Health{links.Suspect, links.Suspect, links.Dead, links.Dead} {
			got := t.recheck(l.ID)
			if got.Health != want || got.Failures != i+1 || got.Expired() {
				t.Fatalf("check %d: %+v", i+1, got)
			}
			if next := got.NextCheckAt.Sub(t.clock.Now()); next > 26*time.Hour {
				t.Errorf("next check of a suspect link in %v", next)
			}
		}
		attention, err := t.NeedAttention(t.Context(), 5)
		t.must(err)
		if len(attention.Dead) != 1 || len(attention.Suspect)+len(attention.Moved)+len(attention.Gone)+attention.GoneCount != 0 {
			t.Errorf("needs attention: %+v", attention)
		}
		t.web.set(l.URL, links.Page{Status: 200})
		if got := t.recheck(l.ID); got.Health != links.OK || got.Failures != 0 || got.LastError != "" {
			t.Errorf("recovered: %+v", got)
		}
	})
}

func TestFailuresOfOneDayCountOnce(t *testing.T) {
	each(t, func(t fixture) {
		l := t.add("https://a.test/")
		t.web.fail(l.URL, &links.FetchError{Reason: "timed out"})
		for range 5 {
			got, err := t.Refresh(t.Context(), l.ID)
			t.must(err)
			if got.Failures != 1 || got.Health != links.Suspect {
				t.Fatalf("got %+v", got)
			}
			t.clock.Advance(time.Minute)
		}
	})
}

func TestRateLimitDoesNotChangeHealth(t *testing.T) {
	each(t, func(t fixture) {
		l := t.add("https://a.test/")
		t.web.fail(l.URL, &links.FetchError{Reason: "rate limited by the host", RetryAfter: 10 * time.Minute})
		t.recheck(l.ID)
		if got := t.get(l.ID); got.Health != links.OK || got.NextCheckAt.Sub(t.clock.Now()) != 10*time.Minute {
			t.Errorf("got %+v", got)
		}
		_, err := t.Refresh(t.Context(), l.ID)
		t.wantCode(err, models.CodeUnresolvable)
		if e, _ := errors.AsType[*models.Error](err); e.RetryAfter != 10*time.Minute {
			t.Errorf("got %+v", e)
		}
	})
}

// If too many pages are being fetched, no request is sent. The health does not change, and the check or refresh is
// delayed.
func TestBusyFetcherDoesNotChangeHealth(t *testing.T) {
	each(t, func(t fixture) {
		before := t.add("https://a.test/")
		_, err := t.StartRefresh(t.Context(), before.ID)
		t.must(err)
		items := t.claimRefreshes(t.lease, 1)
		t.web.fail(before.URL, &links.FetchError{Reason: "too many fetches", Busy: true})
		t.clock.Advance(models.Day)
		t.recheck(before.ID)
		after := t.get(before.ID)
		if wait := after.NextCheckAt.Sub(t.clock.Now()); wait != time.Minute {
			t.Errorf("the next check is in %v", wait)
		}
		after.NextCheckAt = before.NextCheckAt
		if !reflect.DeepEqual(after, before) {
			t.Errorf("got %+v, want %+v", after, before)
		}
		_, err = t.Refresh(t.Context(), before.ID)
		t.wantCode(err, models.CodeUnavailable)
		if e, _ := errors.AsType[*models.Error](err); e.RetryAfter != 5*time.Second {
			t.Errorf("got %+v", e)
		}
		if got := t.refetch(items...)[0]; got.Wait != 5*time.Second {
			t.Errorf("next refresh in %v", got.Wait)
		}
	})
}

// Requests of users do not use the Fetcher of background jobs.
func TestBackgroundFetcher(t *testing.T) {
	each(t, func(t fixture) {
		background := &web{}
		t.Store = links.NewStore(t.db, t.clock.Now, t.web, links.Options{CheckInterval: week, Background: background})
		l := t.add("https://a.test/")
		_, err := t.Refresh(t.Context(), l.ID)
		t.must(err)
		if want := []string{"fetch " + l.URL, "fetch " + l.URL}; !slices.Equal(t.web.requests, want) || len(background.requests) > 0 {
			t.Errorf("requests: %q and %q in the background, want %q", t.web.requests, background.requests, want)
		}
		t.recheck(l.ID)
		_, err = t.StartRefresh(t.Context(), l.ID)
		t.must(err)
		items := t.claimRefreshes(t.lease, 1)
		t.must(t.FinishRefreshes(t.Context(), t.refetch(items...)...))
		if want := []string{"probe " + l.URL, "fetch " + l.URL}; !slices.Equal(background.requests, want) || len(t.web.requests) != 2 {
			t.Errorf("background: %q and %q for requests, want %q", background.requests, t.web.requests, want)
		}
	})
}

func TestFirstCheckFetchesMetadata(t *testing.T) {
	each(t, func(t fixture) {
		_, err := t.Import(t.Context(), []links.New{{URL: "https://a.test/"}})
		t.must(err)
		t.web.set("https://a.test/", links.Page{Status: 200, Title: "Fetched"})
		found, err := t.List(t.Context(), links.Filter{}, firstPage)
		t.must(err)
		l := t.recheck(found.Items[0].ID)
		if l.Title != "Fetched" || l.Health != links.OK || t.web.requests[0] != "fetch https://a.test/" {
			t.Errorf("%+v, requests %q", l, t.web.requests)
		}
	})
}

func TestMetadataIsFetchedAfterAFailedCheck(t *testing.T) {
	each(t, func(t fixture) {
		_, err := t.Import(t.Context(), []links.New{{URL: "https://a.test/"}})
		t.must(err)
		t.web.fail("https://a.test/", &links.FetchError{Reason: "timed out"})
		found, err := t.List(t.Context(), links.Filter{}, firstPage)
		t.must(err)
		if l := t.recheck(found.Items[0].ID); l.Health != links.Suspect {
			t.Fatalf("got %+v", l)
		}
		t.web.set("https://a.test/", links.Page{Status: 200, Title: "Fetched"})
		if l := t.recheck(found.Items[0].ID); l.Health != links.OK || l.Title != "Fetched" {
			t.Errorf("got %+v", l)
		}
	})
}

func TestFirstCheckExpiresOnlyIfHEADAndGETAgree(t *testing.T) {
	each(t, func(t fixture) {
		_, err := t.Import(t.Context(), []links.New{{URL: "https://a.test/"}})
		t.must(err)
		t.web.set("https://a.test/", links.Page{Status: 404})
		found, err := t.List(t.Context(), links.Filter{}, firstPage)
		t.must(err)
		if l := t.recheck(found.Items[0].ID); !l.Expired() || !slices.Equal(t.web.requests, []string{"fetch https://a.test/", "probe https://a.test/"}) {
			t.Errorf("%+v, requests %q", l, t.web.requests)
		}
	})
}

// The result of a check of the old URL is ignored.
func TestURLChangesDuringCheck(t *testing.T) {
	each(t, func(t fixture) {
		t.web.set("http://a.test/", links.Page{Status: 200, URL: "https://a.test/", Title: "A", Permanent: true})
		l := t.add("http://a.test/")
		t.web.set("http://a.test/", links.Page{Status: 404})
		t.clock.Advance(2 * week)
		t.web.onRequest = func() {
			t.web.onRequest = nil
			if _, err := t.ApplyMove(t.Context(), l.ID); err != nil {
				t.Error(err)
			}
		}
		_, err := t.Record(t.Context(), t.check(t.claim(t.lease, 1)...)...)
		t.must(err)
		if got := t.get(l.ID); got.Expired() || got.Health != links.OK || got.URL != "https://a.test/" {
			t.Errorf("got %+v", got)
		}
		if due := t.claim(t.lease, 1); len(due) != 1 || due[0].URL != "https://a.test/" {
			t.Errorf("new URL is not due: %+v", due)
		}
	})
}
