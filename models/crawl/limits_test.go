package crawl_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"linkwatch/models/crawl"
)

// TestNewJobsGoToTheLeastLoadedSlot checks that new jobs fill the slots of their interval evenly. Jobs without a next run do
// not count.
func TestNewJobsGoToTheLeastLoadedSlot(t *testing.T) {
	each(t, func(w *world) {
		paused := w.job("http://paused.example/", 2*time.Hour)
		_, err := w.Act(w.Context(), paused.ID, crawl.Pause)
		w.ok(err)
		off := w.job("http://off.example/", 2*time.Hour)
		_, err = w.EditSource(w.Context(), off.SourceID, crawl.SourceEdit{Enabled: new(bool)})
		w.ok(err)
		const slots = 7 // of two hours; the current slot is too early
		for round := 1; round <= 2; round++ {
			for i := range slots {
				j := w.job(fmt.Sprintf("http://h%d-%d.example/", round, i), 2*time.Hour)
				if at := j.NextRunAt.Sub(w.Now().Time); at < crawl.SlotLength || at >= 2*time.Hour {
					t.Errorf("job %d first runs after %v", i, at)
				}
			}
			all, score, err := w.Distribution(w.Context())
			w.ok(err)
			for i, s := range all {
				want := round
				if i%(slots+1) == 0 {
					want = 0
				}
				if s.Jobs != want {
					t.Errorf("round %d, slot %d: got %d jobs, want %d", round, i, s.Jobs, want)
				}
			}
			if score < 0.85 {
				t.Errorf("round %d: got score %v", round, score)
			}
		}
	})
}

// TestPagesOfOnePatternAreLimited checks that a crawl reads a limited number of pages of one pattern and logs what it skips.
// Pages of other patterns and other crawls are not limited by it.
func TestPagesOfOnePatternAreLimited(t *testing.T) {
	each(t, func(w *world) {
		w.job("http://a.example/", 0)
		e := w.begin()
		add := func(links ...string) {
			t.Helper()
			tn := w.turn()
			tn.Add(fetched(tn, w.Now(), links...))
			w.ok(w.Record(w.Context(), tn))
		}
		var links []string
		for i := range crawl.MaxPerPattern + 2 {
			links = append(links, fmt.Sprintf("http://a.example/p/%d", i))
		}
		add(links...)
		add("http://a.example/p/7000000", "http://a.example/other")
		if n := w.n("SELECT count(*) FROM frontier"); n != 1+crawl.MaxPerPattern+1 {
			t.Errorf("got %d URLs in the frontier", n)
		}
		var said []string
		lines, err := w.Log(w.Context(), e, 0, 100)
		w.ok(err)
		for _, l := range lines {
			if strings.HasPrefix(l.Message, "URLs skipped") {
				said = append(said, l.Level+" "+l.Message)
			}
		}
		const reason = `reason="` + crawl.ReasonPattern + `" such_as=http://a.example/p/`
		if len(said) != 2 || said[0] != "warn URLs skipped count=2 "+reason+"10001" || said[1] != "warn URLs skipped count=1 "+reason+"7000000" {
			t.Errorf("got log %q", said)
		}
		w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Succeed}))

		w.job("http://b.example/", 0)
		e = w.begin()
		w.ok(w.Enqueue(w.Context(), e, []crawl.FoundURL{{Crawl: e.CrawlSeq, URL: "http://a.example/p/1"}}))
		if n := w.n("SELECT queued FROM job_executions WHERE status = 'running'"); n != 2 {
			t.Errorf("other crawl: got %d URLs", n)
		}
	})
}
