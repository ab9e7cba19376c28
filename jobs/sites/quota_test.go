package sites_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"linkwatch/jobs/sites/standin"
	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"

	"log/slog"
)

const (
	racing    = 16 // concurrent runs
	daily     = 37 // publish requests per project
	perMinute = 11 // requests per project
)

// share adds n websites of one Google project with more pages than the quota allows.
func (w *fixture) share(n, pages int) (all []sites.Website) {
	w.Helper()
	for i := range n {
		url := fmt.Sprintf("https://%d.example/", i)
		s := w.google(w.site(url, indexing))
		w.have(s, numbered(url, pages)...)
		all = append(all, s)
	}
	return all
}

// race runs concurrent submissions on instances, repeatedly, until no website is claimed any more.
func race(w *fixture, instances []*instance) {
	w.Helper()
	var runs sync.WaitGroup
	for n := range racing {
		runs.Go(func() {
			for range 3 {
				if _, err := instances[n%len(instances)].try(w.Context(), w.Context(), sites.Submitting); err != nil {
					w.Error(err)
				}
			}
		})
	}
	runs.Wait()
	instances[0].run(sites.Submitting)
}

// published fails the test unless exactly n pages were published, each once.
func (w *fixture) published(what string, n int) {
	w.Helper()
	all := urls(w.engine.Requests(standin.Publish))
	slices.Sort(all)
	if got := len(all); got != n || len(slices.Compact(all)) != n {
		w.Errorf("%s: %d requests for %d pages, want %d", what, got, len(slices.Compact(all)), n)
	}
}

// testQuotas races instances against the daily limit and the limit per minute.
func testQuotas(w *fixture, instances []*instance) {
	w.Helper()
	w.share(6, 30)
	for n := 1; n*perMinute <= daily; n++ {
		race(w, instances)
		w.published("in a minute", n*perMinute)
		w.clock.Advance(time.Minute)
		race(w, instances) // the window of a minute includes MaxDelay
		w.published("a minute later", n*perMinute)
		w.clock.Advance(sites.MaxDelay)
	}
	race(w, instances)
	w.published("in a day", daily)
	w.clock.Advance(time.Hour)
	race(w, instances)
	w.published("an hour later", daily)
}

func lowLimits(l *sites.Limits) { l.PublishPerDay, l.RequestsPerMinute = daily, perMinute }

// 16 concurrent runs on one instance send exactly as many requests as the quotas allow.
func TestQuotaOfRacingWorkers(t *testing.T) {
	each(t, func(w *fixture) { testQuotas(w, []*instance{w.instance()}) }, lowLimits)
}

// So do three instances on one database.
func TestQuotaOfInstances(t *testing.T) {
	t.Parallel()
	modelstest.NoLeaks(t)
	url := modelstest.NewPostgres(t)
	open := func() *models.DB {
		db, err := models.Open(t.Context(), models.Postgres, url, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	db := open()
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := newFixture(t, db, lowLimits)
	l := limits
	lowLimits(&l)
	instances := []*instance{w.instance()}
	for range 2 {
		another := open()
		instances = append(instances, w.instanceOf(another, w.store(another, l, "key")))
	}
	testQuotas(w, instances)
}

// A restart during a day and during requests does not lose counts.
func TestQuotaAfterRestart(t *testing.T) {
	each(t, func(w *fixture) {
		w.share(3, 30)
		for n := 1; ; n++ {
			i := w.instance()
			before := w.engine.Count(standin.Publish)
			taking, stop := context.WithCancel(w.Context())
			w.engine.Fail(standin.Publish, standin.Lost(), nil, nil)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				if _, err := i.try(taking, w.Context(), sites.Submitting); err != nil {
					w.Error(err)
				}
			}()
			over := func() bool {
				select {
				case <-ended:
					return true
				default:
					return w.engine.Count(standin.Publish) >= before+5
				}
			}
			modelstest.Eventually(w, "some are sent", over)
			stop()
			<-ended
			i.end()
			if w.engine.Count(standin.Publish) == before {
				break
			}
			if n > daily {
				w.Fatal("the run does not end")
			}
		}
		if n := w.engine.Count(standin.Publish); n != daily {
			w.Errorf("%d requests, want %d", n, daily)
		}
	}, func(l *sites.Limits) { l.PublishPerDay = daily })
}

// Each property has its own quota, even if websites share a project.
func TestQuotaOfProperties(t *testing.T) {
	each(t, func(w *fixture) {
		all := w.share(2, 20)
		i := w.instance()
		if got := i.run(sites.Verifying); !strings.HasPrefix(got, "2 websites: 14 pages verified") || !strings.HasSuffix(got, "2 websites stopped early") {
			w.Errorf("got summary %q", got)
		}
		of := map[string]int{}
		for _, r := range w.engine.Requests(standin.Inspect) {
			of[r.URL[:len("https://0.example/")]]++
		}
		for _, s := range all {
			if of[s.SiteURL] != 7 {
				w.Errorf("%d inspections of %s", of[s.SiteURL], s.SiteURL)
			}
		}
		if n := w.engine.Count(standin.Publish); n != 0 {
			w.Errorf("%d publish requests", n)
		}
	}, func(l *sites.Limits) { l.InspectionsPerDay = 7 })
}
