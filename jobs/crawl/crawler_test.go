package crawl_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	crawljobs "linkwatch/jobs/crawl"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// collected waits until an instance has collected its metrics, which happens after its
// first poll for due jobs.
func (w *world) collected(i *instance) crawl.Metrics {
	w.Helper()
	modelstest.Eventually(w.T, "the metrics are collected", func() bool { return !i.Metrics().At.IsZero() })
	return i.Metrics()
}

// At startup a crawler warns of deep crawls and of ignored robots.txt files.
func TestWarningsAtStartup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	var ids []string
	for _, s := range []crawl.NewSource{
		{URL: "http://a.example/", MaxDepth: crawl.DeepCrawl, Enabled: true},
		{URL: "http://b.example/", MaxDepth: crawl.DeepCrawl + 1, Enabled: true},
		{URL: "http://c.example/", MaxDepth: crawl.DeepCrawl + 1},
	} {
		added, err := w.store.AddSource(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, added.ID)
	}
	for _, robots := range []bool{true, false} {
		log := modelstest.NewLog(t)
		w.log = slog.New(slog.NewTextHandler(log, nil))
		i := w.start(func(o *crawljobs.Options) {
			if !robots {
				o.Robots = nil
			}
		})
		w.collected(i)
		i.stop()
		deep := `level=WARN msg="source has a large max_depth" source_id=` + ids[1] + " max_depth=6 recommended_max=5"
		if log.Count("has a large max_depth") != 1 || log.Count(deep) != 1 {
			t.Error("got other warnings about deep sources, want one")
		}
		if got := log.Count(`level=WARN msg="robots.txt is ignored" setting=CRAWLER_RESPECT_ROBOTS_TXT`); (got == 0) != robots {
			t.Errorf("robots.txt obeyed: %v, got %d warnings", robots, got)
		}
	}
}

// A crawler collects the metrics of all instances soon after startup.
func TestMetricsAreCollected(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	s := newSite(t, map[string]http.HandlerFunc{"/": html("Home")})
	none := 0
	first := w.start()
	w.ended(w.job(s.URL + "/"))
	w.ended(w.job(s.URL+"/missing", func(n *crawl.NewJob) { n.MaxRetries = &none }))
	first.stop()
	w.job("http://paused.example/", func(n *crawl.NewJob) { n.Paused = true })
	w.job("http://daily.example/", func(n *crawl.NewJob) { n.Interval = crawl.Interval{Count: 1, Type: crawl.Days} })
	m := w.collected(w.start())
	if m.Jobs[crawl.Completed] != 1 || m.Jobs[crawl.Failed] != 1 || m.Jobs[crawl.Paused] != 1 || m.Jobs[crawl.Scheduled] != 1 {
		t.Errorf("got jobs %v", m.Jobs)
	}
	if rate, ok := m.Executions.SuccessRate(); !ok || rate != 0.5 || m.Executions.Total != 2 || m.Executions.AverageDuration <= 0 {
		t.Errorf("got executions %+v", m.Executions)
	}
	if m.Score != 1 || m.LastPollAt.IsZero() || m.At.Before(m.LastPollAt.Add(-time.Second).Time) {
		t.Errorf("got metrics %+v", m)
	}
}

// A panic during a fetch fails the execution, which stores the stack. The crawler keeps
// running.
func TestPanicFailsTheExecution(t *testing.T) {
	each(t, func(w *world) {
		none := 0
		j := w.job("http://a.example/", func(n *crawl.NewJob) { n.MaxRetries = &none })
		w.start(func(o *crawljobs.Options) { o.Client, o.Robots = nil, nil })
		for range 2 {
			e := w.ended(j)
			if e.Status != crawl.ExecutionFailed || !strings.HasPrefix(e.ErrorMessage, "panic: ") || !strings.Contains(e.StackTrace, "jobs/crawl.(*queue).fetch") {
				w.Errorf("ended %s: %q with stack %q", e.Status, e.ErrorMessage, e.StackTrace)
			}
			j = w.job("http://b.example/", func(n *crawl.NewJob) { n.MaxRetries = &none })
		}
	})
}
