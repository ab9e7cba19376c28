package crawl_test

import (
	"slices"
	"testing"
	"time"

	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

func TestFailedJobsHaveEvents(t *testing.T) {
	each(t, func(w *world) {
		tells := func(want ...string) {
			t.Helper()
			if got := modelstest.Events(w.T, w.db); !slices.Equal(got, want) {
				w.Fatalf("%q, want %q", got, want)
			}
		}
		j := w.job("https://a.test/", 0)
		for range 1 + w.get(j).MaxRetries {
			tells()
			w.ok(w.EndExecution(w.Context(), w.begin(), crawl.ExecutionEnd{Event: crawl.Fail, Error: "broken"}))
			w.clock.Advance(2 * time.Hour)
		}
		tells("job.failed began Crawl of https://a.test/: broken")
		_, err := w.Act(w.Context(), j.ID, crawl.Retry)
		w.ok(err)
		w.ok(w.EndExecution(w.Context(), w.begin(), crawl.ExecutionEnd{Event: crawl.Succeed}))
		tells("job.failed ended Crawl of https://a.test/")
	})
}

func TestDeletedJobsResolveTheirEvents(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("https://a.test/", 0)
		for range 1 + w.get(j).MaxRetries {
			w.ok(w.EndExecution(w.Context(), w.begin(), crawl.ExecutionEnd{Event: crawl.Fail, Error: "broken"}))
			w.clock.Advance(2 * time.Hour)
		}
		modelstest.Events(w.T, w.db)
		w.ok(w.DeleteJob(w.Context(), j.ID))
		if got := modelstest.Events(w.T, w.db); !slices.Equal(got, []string{"job.failed closed Crawl of https://a.test/: broken"}) {
			w.Errorf("%q", got)
		}
	})
}

// Events name a job by its name or that of its source. Without these, they name its URL.
func TestFailedJobsAreNamed(t *testing.T) {
	each(t, func(w *world) {
		for _, c := range []struct {
			of, job, want string
		}{
			{"", "", "Crawl of https://a.test:8443/x"}, {"Blog", "", "Crawl of Blog"}, {"Blog", "Weekly posts", "Crawl of Weekly posts"}, {"", "Weekly posts", "Crawl of Weekly posts"},
		} {
			j, err := w.AddJob(w.Context(), crawl.NewJob{URL: "https://a.test:8443/x", Name: c.job, MaxRetries: new(0), RunNow: true, Source: crawl.NewSource{Name: c.of}})
			w.ok(err)
			w.ok(w.EndExecution(w.Context(), w.begin(), crawl.ExecutionEnd{Event: crawl.Fail, Error: "broken"}))
			w.ok(w.DeleteJob(w.Context(), j.ID))
			if got, want := modelstest.Events(w.T, w.db), []string{"job.failed began " + c.want + ": broken", "job.failed closed " + c.want + ": broken"}; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			w.ok(w.DeleteSource(w.Context(), j.SourceID))
		}
	})
}
