//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"linkwatch/models/modelstest"
)

const stats = "/api/admin/cleanup/stats" // an alias of /v1/admin/cleanup/stats

// cleanupStats has the fields of the cleanup statistics that the tests use.
type cleanupStats struct {
	TotalCleaned   int64 `json:"total_cleaned"`
	SuccessfulRuns int64 `json:"successful_runs"`
	FailedRuns     int64 `json:"failed_runs"`
	LastBatchSize  int64 `json:"last_batch_size"`
	IsRunning      bool  `json:"is_running"`
	Waiting        int64
}

func (s *Server) cleanup() (got cleanupStats) {
	s.t.Helper()
	if status := s.Call("GET", stats, nil, &got); status != 200 {
		s.t.Errorf("GET %s: got status %d", stats, status)
	}
	return got
}

// reap starts a run of the reaper and expects this status.
func (s *Server) reap(want int) {
	s.t.Helper()
	if status := s.Call("POST", "/v1/admin/cleanup/run", nil, nil); status != want {
		s.t.Errorf("run the reaper: got status %d, want %d", status, want)
	}
}

// shortLinksIn counts the short links in a database file that is not in use.
func shortLinksIn(t *testing.T, file string) (n int64) {
	t.Helper()
	db, closeDB := OpenDatabase(t, file)
	defer closeDB()
	if err := db.Read(t.Context()).Raw("SELECT count(*) FROM short_links").Scan(&n).Error; err != nil {
		t.Fatal(err)
	}
	return n
}

// The statistics match the deleted rows exactly, even if the server is killed or stopped during a run.
func TestStopDuringReaperRun(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *Server){"killed": (*Server).Kill, "stopped": (*Server).Stop} {
		t.Run(name, func(t *testing.T) {
			const all = 20_000
			file := ShortLinkFile(t, "old", all, time.Now().Add(-2*time.Hour))
			s := Start(t, "DATABASE_URL="+file, "CLEANUP_BATCH_SIZE=5")
			s.reap(202)
			modelstest.Eventually(t, "some are deleted", func() bool { return s.cleanup().TotalCleaned > 100 })
			s.reap(409)
			end(s)
			left := shortLinksIn(t, file)
			if left == 0 {
				t.Fatal("the run ended too early for this test")
			}
			again := Start(t, "DATABASE_URL="+file, "CLEANUP_ENABLED=false")
			if got := again.cleanup(); got.TotalCleaned+left != all || got.LastBatchSize != 5 {
				t.Errorf("%d of %d short links are left, but the statistics are %+v", left, all, got)
			}
			if got := again.cleanup(); name == "stopped" && (got.SuccessfulRuns != 1 || got.FailedRuns != 0) {
				t.Errorf("stopped run: got %+v", got)
			}
			if name == "stopped" { // the lease of a killed run lasts longer
				again.reap(202) // for other data than short links
			}
			again.Stop()
			if now := shortLinksIn(t, file); now != left {
				t.Errorf("got %d short links, want %d: CLEANUP_ENABLED is false", now, left)
			}
			checkIntegrity(t, file)
		})
	}
}

// The results of a run are in the API, in the metrics and in the history of the job.
func TestReaperRun(t *testing.T) {
	t.Parallel()
	const all = 2_500
	s := Start(t, "DATABASE_URL="+ShortLinkFile(t, "old", all, time.Now().Add(-time.Hour-time.Minute)))
	if status, _ := follows(t, s, "old0000000"); status != 410 {
		t.Errorf("expired link: got status %d", status)
	}
	if got := s.cleanup(); got.Waiting != all {
		t.Errorf("before the run: got %+v", got)
	}
	s.reap(202)
	var jobs struct{ Items []struct{ Summary string } }
	modelstest.Eventually(t, "the run is over", func() bool {
		s.Call("GET", "/v1/admin/jobs/reaper/runs", nil, &jobs)
		return len(jobs.Items) > 0
	})
	got := s.cleanup()
	if got.LastBatchSize < 1 || got.LastBatchSize > 1000 { // smaller after a slow batch
		t.Errorf("last batch: got %+v", got)
	}
	got.LastBatchSize = 0
	if got != (cleanupStats{TotalCleaned: all, SuccessfulRuns: 1}) {
		t.Errorf("after the run: got %+v", got)
	}
	if got := jobs.Items[0].Summary; got != "2,500 short links" {
		t.Errorf("history of the job: got %q", got)
	}
	metrics, err := io.ReadAll(send(t, s, "GET", "/metrics", "", func(*http.Request) {}).Body)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("linkwatch_cleanup_rows_total{kind=\"short_links\"} %d\n", all); !strings.Contains(string(metrics), want) {
		t.Errorf("the metrics lack %s", want)
	}
}

// The page shows the start, progress and end of a run without a reload.
func TestReaperInTheBrowser(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		file := ShortLinkFile(t, "old", 12_000, time.Now().Add(-2*time.Hour))
		s := Start(t, "DATABASE_URL="+file, "CLEANUP_BATCH_SIZE=20")
		b := browse(t, s, in, "/admin/jobs")
		b.see("Cleanup has deleted 0 rows so far.")
		b.click(`.below a`)
		b.see("Not run yet")
		b.see("No runs yet")
		b.click(".run-now button")
		b.see("Already running.")
		b.has(".run-now button:disabled")
		b.see("No short links are waiting to be deleted. 12,000 short links have been deleted in 1 run.")
		b.has(".run-now button:enabled")
		b.has(".chart-lines .part-0")
	})
}
