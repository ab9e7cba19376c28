package crawl_test

import (
	"sync"
	"testing"

	"linkwatch/models"
	"linkwatch/models/crawl"
)

// TestAddDistinctJobs checks that a job can be limited to a new source, or to a page and schedule that no unfinished job of its source
// has, also when several are added at once.
func TestAddDistinctJobs(t *testing.T) {
	each(t, func(w *world) {
		daily := crawl.Interval{Count: 1, Type: crawl.Days}
		var all sync.WaitGroup
		errs := make([]error, 4)
		for i := range errs {
			all.Go(func() {
				_, errs[i] = w.AddJob(w.Context(), crawl.NewJob{URL: "http://a.example:8001/x", Interval: daily, OnlyNew: true})
			})
		}
		all.Wait()
		refused := 0
		for _, err := range errs {
			if models.CodeOf(err) == models.CodeConflict {
				refused++
			} else {
				w.ok(err)
			}
		}
		src, jobs, ok, err := w.Existing(w.Context(), "http://a.example:8001/x/", false)
		w.ok(err)
		if refused != 3 || !ok || len(jobs) != 1 || jobs[0].SourceID != src.ID || jobs[0].Title() != "a.example:8001" {
			t.Fatalf("%d refused, got %+v", refused, jobs)
		}
		add := func(name, url string, every crawl.Interval) (crawl.Job, error) {
			return w.AddJob(w.Context(), crawl.NewJob{Name: name, URL: url, Interval: every, Distinct: true})
		}
		for _, url := range []string{"http://a.example:8001/x", "http://A.example:8001/x/"} {
			if _, err := add("Other", url, crawl.Interval{Count: 24, Type: crawl.Hours}); models.CodeOf(err) != models.CodeInvalid {
				t.Errorf("%s: got %v", url, err)
			}
		}
		for _, every := range []crawl.Interval{{Count: 2, Type: crawl.Days}, {Type: crawl.Hours}} {
			j, err := add("Own name", "http://a.example:8001/x", every)
			w.ok(err)
			if j.SourceID != src.ID || j.Title() != "Own name" || j.SourceName != "a.example:8001" {
				t.Errorf("got %+v", j)
			}
		}
		for _, text := range []string{"own NAME", "8001/x"} {
			list, err := w.Jobs(w.Context(), crawl.JobFilter{Text: text}, models.Cursor{}, 10)
			if w.ok(err); len(list.Items) < 2 {
				t.Errorf("%q: found %d jobs", text, len(list.Items))
			}
			if found, err := w.Find(w.Context(), text, 10); err != nil || len(found) < 2 {
				t.Errorf("%q: found %d jobs, %v", text, len(found), err)
			}
		}
		_, err = w.Act(w.Context(), jobs[0].ID, crawl.Cancel)
		w.ok(err)
		_, err = add("", "http://a.example:8001/x", daily)
		w.ok(err)
		if _, _, ok, err := w.Existing(w.Context(), "http://a.example/x", false); ok || err != nil {
			t.Errorf("another port: got %v, %v", ok, err)
		}
	})
}
