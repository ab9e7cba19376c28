//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"linkwatch/models/modelstest"
)

// A crawl continues after kill -9. No page is counted twice, and only pages whose results were
// not stored are fetched again.
func TestCrawlAfterKill(t *testing.T) {
	t.Parallel()
	store := storeIn(t)
	settings := []string{store, "CRAWLER_POLL_INTERVAL=100ms"}
	s := Start(t, settings...)
	m := newMaze(t, 2, 150, 5*time.Millisecond)
	j := s.addJob(m.urls[0]+"/", map[string]any{"max_depth": 20, "allowed_domains": m.hosts()})
	s.crawled(j.ID, 20)
	s.Kill()

	s = Start(t, settings...)
	s.jobBecomes(j.ID, "completed")
	all := s.executions(j.ID)
	if len(all) != 2 || all[0].Status != "completed" || all[1].Status != "failed" || all[1].ErrorMessage != "instance stopped" {
		t.Fatalf("got executions %+v", all)
	}
	if n := all[0].ItemsCrawled + all[1].ItemsCrawled; n != 300 || all[0].Failed != 0 || all[0].Queued != 0 {
		t.Errorf("got %d counted pages: %+v", n, all)
	}
	pages, again := m.visited()
	if pages != 300 || again > 2*64 {
		t.Errorf("got %d requested pages, %d of them more than once", pages, again)
	}
	if got := s.job(j.ID); got.CurrentRetryCount != 0 {
		t.Errorf("got a retry: %+v", got)
	}
}

// SIGTERM stops a crawl after the current page and reschedules its job. After a restart
// the crawl continues. No page is fetched twice.
func TestCrawlAfterSIGTERM(t *testing.T) {
	t.Parallel()
	store := storeIn(t)
	settings := []string{store, "CRAWLER_POLL_INTERVAL=100ms"}
	s := Start(t, settings...)
	m := newMaze(t, 2, 150, 5*time.Millisecond)
	j := s.addJob(m.urls[0]+"/", map[string]any{"max_depth": 20, "allowed_domains": m.hosts()})
	s.crawled(j.ID, 20)
	s.Stop()

	s = Start(t, append(settings, "CRAWLER_POLL_INTERVAL=1h")...) // it polls once at startup
	s.jobBecomes(j.ID, "completed")
	all := s.executions(j.ID)
	if len(all) != 2 || all[1].Status != "failed" || all[1].ErrorMessage != "instance stopped" || all[0].ItemsCrawled+all[1].ItemsCrawled != 300 {
		t.Errorf("got executions %+v", all)
	}
	if pages, again := m.visited(); pages != 300 || again != 0 {
		t.Errorf("got %d requested pages, %d of them more than once", pages, again)
	}
}

// Canceling on one instance stops a crawl on another instance within 2 s.
func TestCancelCrawlOnAnotherInstance(t *testing.T) {
	t.Parallel()
	store := "DATABASE_URL=" + modelstest.NewPostgres(t)
	settings := []string{store, "CRAWLER_POLL_INTERVAL=100ms"}
	one := Start(t, settings...)
	m := newMaze(t, 1, 1000, 20*time.Millisecond)
	j := one.addJob(m.urls[0]+"/", map[string]any{"max_depth": 20})
	one.crawled(j.ID, 5)
	two := Start(t, settings...)
	if status := two.Call("POST", "/v1/jobs/"+j.ID+"/cancel", nil, nil); status != 200 {
		t.Fatalf("cancel: status %d", status)
	}
	last, at := 0, time.Now()
	modelstest.Eventually(t, "the crawl has stopped for 2 s", func() bool {
		if pages, _ := m.visited(); pages != last {
			last, at = pages, time.Now()
		}
		return time.Since(at) >= 2*time.Second
	})
	if pages, _ := m.visited(); pages > 400 {
		t.Errorf("got %d requested pages", pages)
	}
	if all := two.executions(j.ID); two.job(j.ID).Status != "cancelled" || all[0].Status != "cancelled" {
		t.Errorf("got job status %s: %+v", two.job(j.ID).Status, all)
	}
}

// Three instances share the hosts of a crawl. Each page is fetched once. Each host gets one
// request at a time, with the pause of the source.
func TestThreeInstancesCrawlTogether(t *testing.T) {
	t.Parallel()
	store := "DATABASE_URL=" + modelstest.NewPostgres(t)
	settings := []string{store, "CRAWLER_POLL_INTERVAL=100ms"}
	all := []*Server{Start(t, settings...), Start(t, settings...), Start(t, settings...)}
	const pause = 40 * time.Millisecond
	m := newMaze(t, 12, 30, 0)
	j := all[0].addJob(m.urls[0]+"/", map[string]any{"max_depth": 20, "allowed_domains": m.hosts(), "rate_limit_ms": pause.Milliseconds()})
	all[1].jobBecomes(j.ID, "completed")
	if pages, again := m.visited(); pages != 12*30 || again != 0 {
		t.Errorf("got %d requested pages, %d of them more than once", pages, again)
	}
	if m.together != 1 || m.gap < pause {
		t.Errorf("got %d concurrent requests to a host and a pause of %v", m.together, m.gap)
	}
	e := all[2].executions(j.ID)
	if len(e) != 1 || e[0].ItemsCrawled != 12*30 {
		t.Errorf("got executions %+v", e)
	}
}

// While the archive folder is not writable, crawls complete and /health reports the
// archive.
func TestCrawlWhileTheArchiveFails(t *testing.T) {
	t.Parallel() // waits for attempts to store copies
	folder := filepath.Join(t.TempDir(), "archive")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	s := Start(t, "CRAWLER_POLL_INTERVAL=100ms", "CRAWLER_ARCHIVE_URL="+folder)
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(folder, nil, 0o600); err != nil { // a file instead of a folder
		t.Fatal(err)
	}
	m := newMaze(t, 1, 25, 0)
	j := s.addJob(m.urls[0]+"/", nil)
	s.jobBecomes(j.ID, "completed")
	if all := s.executions(j.ID); len(all) != 1 || all[0].ItemsCrawled != 25 || all[0].Failed != 0 {
		t.Errorf("got executions %+v", all)
	}
	modelstest.Eventually(t, "/health tells of the archive", func() bool {
		var h struct {
			Archive struct{ Status, Detail string }
		}
		s.Call("GET", "/health", nil, &h)
		return h.Archive.Status == "unavailable" && h.Archive.Detail != ""
	})
}

// Stopping a run on one instance ends it on another one within 2 s. The job keeps its schedule. Once cancelled, it is run again as a
// new job.
func TestStopRunOnAnotherInstance(t *testing.T) {
	t.Parallel()
	store := "DATABASE_URL=" + modelstest.NewPostgres(t)
	settings := []string{store, "CRAWLER_POLL_INTERVAL=100ms"}
	one := Start(t, settings...)
	m := newMaze(t, 1, 1000, 20*time.Millisecond)
	var j crawlJob
	source := map[string]any{"url": m.urls[0] + "/", "rate_limit_ms": 0, "max_depth": 20}
	if status := one.Call("POST", "/v1/sources", source, nil); status != 201 {
		t.Fatalf("add source: status %d", status)
	}
	job := map[string]any{"url": m.urls[0] + "/", "interval_minutes": 1, "interval_type": "days", "retry_next_run": true}
	if status := one.Call("POST", "/v1/jobs", job, &j); status != 201 {
		t.Fatalf("add job: status %d", status)
	}
	planned := j.NextRunAt
	one.Call("POST", "/v1/jobs/"+j.ID+"/force-run", nil, nil)
	one.crawled(j.ID, 5)
	two := Start(t, settings...)
	if status := two.Call("POST", "/v1/jobs/"+j.ID+"/stop", nil, &j); status != 200 || j.Status != "scheduled" || !j.NextRunAt.Equal(planned) {
		t.Fatalf("stop: status %d, got %+v, want a run at %v", status, j, planned)
	}
	last, at := 0, time.Now()
	modelstest.Eventually(t, "the crawl has stopped for 2 s", func() bool {
		if pages, _ := m.visited(); pages != last {
			last, at = pages, time.Now()
		}
		return time.Since(at) >= 2*time.Second
	})
	if all := two.executions(j.ID); len(all) != 1 || all[0].Status != "cancelled" || all[0].CancelledBy != "system" || last > 400 {
		t.Errorf("got executions %+v, %d requested pages", all, last)
	}
	var again crawlJob
	two.Call("POST", "/v1/jobs/"+j.ID+"/cancel", nil, nil)
	if status := two.Call("POST", "/v1/jobs/"+j.ID+"/run-again", nil, &again); status != 201 || again.ID == j.ID || again.SourceID != j.SourceID {
		t.Fatalf("run again: status %d, got %+v", status, again)
	}
	two.crawled(again.ID, 5)
	if status := two.job(j.ID).Status; status != "cancelled" {
		t.Errorf("got status %s of the old job", status)
	}
}
