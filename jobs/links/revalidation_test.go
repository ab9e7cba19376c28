package links_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linkwatch/app/apptest"
	linkjobs "linkwatch/jobs/links"
	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

func (w world) revalidate(t *testing.T, workers int) string {
	t.Helper()
	summary, err := linkjobs.Revalidation(w.Store, w.lease, workers, discard).Run(t.Context(), t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return summary
}

func TestRevalidation(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		var changed atomic.Bool
		var heads atomic.Int64
		s := apptest.NewSite(t, func(rw http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				heads.Add(1)
			}
			if !changed.Load() {
				_, _ = fmt.Fprintf(rw, "<title>Page %s</title>", r.URL.Path)
				return
			}
			switch r.URL.Path {
			case "/gone":
				rw.WriteHeader(http.StatusGone)
			case "/moved":
				http.Redirect(rw, r, "/new", http.StatusMovedPermanently)
			case "/private":
				rw.WriteHeader(http.StatusForbidden)
			case "/broken":
				rw.WriteHeader(http.StatusInternalServerError)
			}
		})
		if got := w.revalidate(t, 4); got != "0 checked" {
			t.Errorf("with no links: %q", got)
		}
		w.add(t, s+"/gone", s+"/moved", s+"/private", s+"/broken", s+"/fine")
		if got := w.revalidate(t, 4); got != "5 checked" {
			t.Errorf("first run: %q", got)
		}
		if l := w.all(t)[s+"/fine"]; l.Title != "Page /fine" || l.Health != links.OK {
			t.Errorf("a link that was never fetched: %+v", l)
		}
		if got := w.revalidate(t, 4); got != "0 checked" {
			t.Errorf("run with nothing due: %q", got)
		}
		changed.Store(true)
		w.clock.Advance(2 * week)
		if got, want := w.revalidate(t, 4), "5 checked: 1 dead, 1 suspect, 1 moved, 1 blocked"; got != want {
			t.Errorf("second run: %q, want %q", got, want)
		}
		if heads.Load() < 5 {
			t.Errorf("%d HEAD requests", heads.Load())
		}
		all := w.all(t)
		if l := all[s+"/gone"]; !l.Expired() {
			t.Errorf("gone: %+v", l)
		}
		if l := all[s+"/moved"]; l.Expired() || l.MovedTo != s+"/new" {
			t.Errorf("moved: %+v", l)
		}
	})
}

// A slow host gets one request at a time. Other hosts are checked meanwhile.
func TestOneCheckPerHost(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		const perHost = 12
		othersDone := make(chan struct{})
		var others sync.WaitGroup
		others.Add(2 * perHost)
		go func() { others.Wait(); close(othersDone) }()

		count := func(then func()) http.HandlerFunc {
			var now atomic.Int64
			return func(_ http.ResponseWriter, r *http.Request) {
				if n := now.Add(1); n > 1 {
					t.Errorf("%d concurrent checks of %s", n, r.Host)
				}
				then()
				now.Add(-1)
			}
		}
		hanging := apptest.NewSite(t, count(func() { <-othersDone }))
		one, two := apptest.NewSite(t, count(others.Done)), apptest.NewSite(t, count(others.Done))
		w.add(t, append(append(numbered(hanging, perHost), numbered(one, perHost)...), numbered(two, perHost)...)...)
		if got := w.revalidate(t, 8); got != "36 checked" {
			t.Errorf("got %q", got) // the timeout of the slow host
		}
	})
}

func TestManyLinksOfOneHostDoNotDelayOthers(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		const many = 700
		var hangs atomic.Int64
		release, asked := make(chan struct{}), make(chan struct{})
		hanging := apptest.NewSite(t, func(http.ResponseWriter, *http.Request) { hangs.Add(1); <-release })
		other := apptest.NewSite(t, func(http.ResponseWriter, *http.Request) { close(asked) })
		w.add(t, numbered(hanging, many)...)
		w.add(t, other+"/") // due last

		taking, stop := context.WithCancel(t.Context())
		go func() {
			<-asked
			if n := hangs.Load(); n > 5 {
				t.Errorf("other host was checked after %d requests to the first", n)
			}
			stop()
			close(release)
		}()
		summary, err := linkjobs.Revalidation(w.Store, w.lease, 8, discard).Run(taking, t.Context())
		if err != nil || !strings.HasSuffix(summary, "interrupted") {
			t.Errorf("got %q, %v", summary, err)
		}
		var checked int
		if _, err := fmt.Sscan(summary, &checked); err != nil || checked < 2 {
			t.Errorf("got %q, %v", summary, err)
		}
		// Waiting links are due now, the others later. None is lost.
		now := w.due(t, 2*many)
		if len(now) == 0 || len(now) > 40 {
			t.Errorf("%d links are due now", len(now))
		}
		w.clock.Advance(10 * time.Minute)
		if later := w.due(t, 2*many); checked+len(now)+len(later) != many+1 {
			t.Errorf("%d checked, %d due now, %d later; want %d in all", checked, len(now), len(later), many+1)
		}
	})
}

func TestStoppedRevalidationFinishesChecks(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		taking, stop := context.WithCancel(t.Context())
		defer stop()
		s := apptest.NewSite(t, func(http.ResponseWriter, *http.Request) { stop() }) // during the first check
		w.add(t, numbered(s, 5)...)
		summary, err := linkjobs.Revalidation(w.Store, w.lease, 2, discard).Run(taking, t.Context())
		if err != nil || summary != "1 checked, interrupted" {
			t.Errorf("got %q, %v", summary, err)
		}
		if got := w.revalidate(t, 2); got != "4 checked" {
			t.Errorf("released links: %q", got)
		}
	})
}

func TestCanceledRevalidationStopsChecks(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		working, giveUp := context.WithCancel(t.Context())
		defer giveUp()
		s := apptest.NewSite(t, func(_ http.ResponseWriter, r *http.Request) {
			giveUp()
			<-r.Context().Done() // until the client hangs up
		})
		w.add(t, numbered(s, 3)...)
		summary, err := linkjobs.Revalidation(w.Store, w.lease, 2, discard).Run(working, working)
		if err != nil || summary != "0 checked, interrupted" {
			t.Errorf("got %q, %v", summary, err)
		}
		for _, l := range w.all(t) {
			if l.Health != links.Unchecked {
				t.Errorf("canceled check was recorded: %+v", l)
			}
		}
		if due := w.due(t, 10); len(due) != 3 {
			t.Errorf("%d of 3 links were released", len(due))
		}
	})
}

func TestLinkDeletedDuringCheck(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		var once sync.Once
		s := apptest.NewSite(t, func(http.ResponseWriter, *http.Request) {
			once.Do(func() {
				for _, l := range w.all(t) {
					if _, err := w.Delete(context.Background(), l.ID); err != nil {
						t.Error(err)
					}
				}
			})
		})
		w.add(t, s+"/1")
		if got := w.revalidate(t, 2); got != "0 checked" {
			t.Errorf("got %q", got)
		}
	})
}

// Until Retry-After has passed, the links of a host get no request, and their health does not change.
func TestRevalidationRespectsRetryAfter(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		var asked atomic.Int64
		s := apptest.NewSite(t, func(rw http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			rw.Header().Set("Retry-After", "600")
			rw.WriteHeader(http.StatusTooManyRequests)
		})
		w.add(t, numbered(s, 5)...)
		w.revalidate(t, 4)
		for _, l := range w.all(t) {
			if l.Health == links.Suspect || l.Health == links.Dead {
				t.Errorf("got %+v", l)
			}
		}
		before := asked.Load()
		w.clock.Advance(9 * time.Minute)
		if got := w.revalidate(t, 4); got != "0 checked" || asked.Load() != before {
			t.Errorf("%q, %d requests before Retry-After has passed", got, asked.Load()-before)
		}
		w.clock.Advance(time.Minute)
		if due := w.due(t, 10); len(due) < 4 { // the first request counts, as 429
			t.Errorf("%d links are due after Retry-After", len(due))
		}
	})
}

func TestRevalidationFinishesRenames(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		w.add(t, "http://nowhere.invalid/")
		for _, l := range w.all(t) {
			if _, err := w.AddTags(t.Context(), l.ID, []string{"new"}); err != nil {
				t.Fatal(err)
			}
		}
		// As a rename leaves it that was cut short: the index does not know the new name.
		modelstest.Exec(t, w.db, "UPDATE tags SET name = 'newer', folded_name = 'newer'")
		modelstest.Exec(t, w.db, "INSERT INTO link_reindex (link_seq) SELECT seq FROM links")
		w.revalidate(t, 1)
		found, err := w.List(t.Context(), links.Filter{Query: "tag:newer"}, models.Page{Number: 1, Size: 10})
		if err != nil || found.Total != 1 {
			t.Errorf("%d links are found by the new name, %v", found.Total, err)
		}
	})
}

func TestRevalidationReturnsErrorsOfTheStore(t *testing.T) {
	db := modelstest.New(t)
	store := links.NewStore(db, nil, apptest.NewFetcher(t), links.Options{CheckInterval: week})
	holder := lease.New(db, nil)
	if err := holder.Beat(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := linkjobs.Revalidation(store, holder, 2, discard).Run(t.Context(), t.Context()); err == nil {
		t.Error("no error from a closed store")
	}
}
