//go:build e2e

package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/e2e"
	"linkwatch/models"
	"linkwatch/models/targets"
)

const (
	backupHosts   = 250
	backupTargets = 500
	backupResults = 12_000 // of each target, about 1 GB
	backupAnswer  = 20 * time.Millisecond
	backupPhase   = 20 * time.Second // minimum duration of a measurement
)

// TestBackupFigures measures checks and writes during a backup of a large database. It asserts no times.
func TestBackupFigures(t *testing.T) {
	if !*figures {
		t.Skip("skipped without -figures (task bench)")
	}
	hosts := farm(t, 3, backupHosts, func(rw http.ResponseWriter, _ *http.Request) {
		time.Sleep(backupAnswer)
		_, _ = io.WriteString(rw, "<!doctype html><title>Well</title>") // the client may have disconnected
	})
	var urls []string
	for i := range backupTargets {
		urls = append(urls, fmt.Sprintf("%s/%d", hosts[i%backupHosts], i))
	}
	file := targetFile(t, urls, func(db *models.DB, _ *targets.Store, _ *time.Time) { addResults(t, db) })
	copies := t.TempDir()
	recent := filepath.Join(copies, time.Now().UTC().Format("linkwatch-20060102T150405Z.db")) // so that no backup runs at startup
	if err := os.WriteFile(recent, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := e2e.Start(t, "DATABASE_URL="+file, "CHECK_INTERVAL=1s", "MAX_CONCURRENCY=64", "BACKUP_DIR="+copies)
	table("%d targets, CHECK_INTERVAL=1s, a database of %s", backupTargets, gigabytes(t, file))
	time.Sleep(10 * time.Second) // warm-up: every target has been checked

	measureBackup(t, s, file, "no backup", func() { time.Sleep(backupPhase) })
	measureBackup(t, s, file, "scheduled backup", func() {
		if status := s.Call("POST", "/v1/admin/jobs/backup/run", nil, nil); status >= 300 {
			t.Fatalf("run the backup job: status %d", status)
		}
		for {
			if all, err := filepath.Glob(filepath.Join(copies, "*Z.db")); err != nil || len(all) > 1 {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	measureBackup(t, s, file, "linkwatch backup", func() {
		if out, code := e2e.Command(t, []string{"backup", filepath.Join(copies, "copy.db")}, "DATABASE_URL="+file); code != 0 {
			t.Fatalf("exit %d: %s", code, out)
		}
	})
	measureBackup(t, s, file, "no backup, second run", func() { time.Sleep(backupPhase) })
	row("memory at most", "", "%.0f MB", float64(s.PeakMemory())/1e6)
}

// addResults stores the results of the last days of each target.
func addResults(t *testing.T, db *models.DB) {
	t.Helper()
	first := time.Now().Add(-backupResults * time.Minute).UnixMicro()
	const batch = 25
	for i := 0; i < backupTargets; i += batch {
		err := db.Write(context.Background(), func(tx *gorm.DB) error {
			return tx.Exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?-1)
				INSERT INTO check_results (target_seq, checked_at, outcome, status_code, latency_ms, attempts, error, interval_ms)
				SELECT seq, ? + i * 60000000 + seq, 0, 200, 20, 1, printf('%.110c', 'x'), 60000
				FROM (SELECT seq FROM targets ORDER BY seq LIMIT ? OFFSET ?) CROSS JOIN n`, backupResults, first, batch, i).Error
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// measureBackup measures checks and writes while do runs, and prints them as rows.
func measureBackup(t *testing.T, s *e2e.Server, file, name string, do func()) {
	t.Helper()
	stop, failed := make(chan struct{}), 0
	var writes []float64
	var writing sync.WaitGroup
	started, skipped := time.Now(), metric(t, s, "linkwatch_checks_skipped_total")
	writing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
			at := time.Now()
			status, err := s.Try("POST", "/v1/shortlinks", map[string]any{"long_url": fmt.Sprintf("https://example.com/%d", i)}, nil)
			if err != nil || status != http.StatusCreated {
				failed++
			}
			writes = append(writes, time.Since(at).Seconds()*1000)
		}
	})
	do()
	took := time.Since(started)
	close(stop)
	writing.Wait()

	var latencies []float64
	for _, ms := range e2e.Rows(t, file, fmt.Sprintf("SELECT latency_ms FROM check_results WHERE checked_at BETWEEN %d AND %d",
		started.UnixMicro(), started.Add(took).UnixMicro())) {
		n, err := strconv.ParseFloat(ms, 64)
		if err != nil {
			t.Fatal(err)
		}
		latencies = append(latencies, n)
	}
	row(name+": duration", "", "%.1f s", took.Seconds())
	row(name+": checks stored per second", "500", "%.0f", float64(len(latencies))/took.Seconds())
	quantiles(name+": check latency", "p95 +20%", latencies)
	row(name+": skipped checks", "0", "%.0f", metric(t, s, "linkwatch_checks_skipped_total")-skipped)
	quantiles(name+": POST /v1/shortlinks", "", writes)
	row(name+": failed writes", "0", "%d of %d", failed, len(writes))
	row(name+": write-ahead log", "", "%s", gigabytes(t, file+"-wal"))
}

// gigabytes formats the size of a file.
func gigabytes(t *testing.T, file string) string {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(fmt.Sprintf("%.2f GB", float64(info.Size())/1e9))
}
