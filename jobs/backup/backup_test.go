package backup_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	backupjobs "linkwatch/jobs/backup"
	"linkwatch/models/backup"
	"linkwatch/models/modelstest"
)

// values are the values of all metrics without labels, by name.
func values(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	all, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]float64{}
	for _, m := range all {
		by[m.GetName()] = m.GetMetric()[0].GetGauge().GetValue()
	}
	return by
}

// Each run adds a backup and deletes what is too many; a run that fails deletes none.
func TestBackup(t *testing.T) {
	dir, clock, reg := t.TempDir(), modelstest.NewClock(), prometheus.NewRegistry()
	folder := backup.Folder{Dir: dir, Interval: time.Hour, Keep: 2}
	if err := backupjobs.Register(folder, clock.Now, reg); err != nil {
		t.Fatal(err)
	}
	job := backupjobs.Backup(folder, modelstest.New(t), clock.Now, slog.New(slog.DiscardHandler))
	if job.ID != "backup" || job.Schedule != "@every 1h0m0s" {
		t.Fatalf("%+v", job)
	}
	if got := values(t, reg); len(got) != 2 || got["linkwatch_backup_size_bytes"] != 0 || got["linkwatch_backup_last_success_timestamp_seconds"] != 0 {
		t.Errorf("before the first run: %v", got)
	}
	for i, want := range []string{" backed up in ", " backed up in ", ", 1 old backup deleted"} {
		summary, err := job.Run(t.Context(), t.Context())
		if err != nil || !strings.Contains(summary, want) {
			t.Errorf("run %d: %q %v", i+1, summary, err)
		}
		clock.Advance(time.Hour)
	}
	all, err := folder.Files(clock.Now())
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v %v", all, err)
	}
	got := values(t, reg)
	if got["linkwatch_backup_size_bytes"] != float64(all[0].Size) || got["linkwatch_backup_last_success_timestamp_seconds"] != float64(clock.Now().Add(-time.Hour).Unix()) {
		t.Errorf("metrics: %v, newest %+v", got, all[0])
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if summary, err := job.Run(t.Context(), t.Context()); err == nil || !strings.Contains(err.Error(), "BACKUP_DIR does not exist") || summary != "" {
		t.Errorf("without the folder: %q %v", summary, err)
	}
	if got := values(t, reg); len(got) != 2 || got["linkwatch_backup_last_success_timestamp_seconds"] != 0 {
		t.Errorf("without the folder: %v", got)
	}
	if err := backupjobs.Register(folder, clock.Now, reg); err == nil {
		t.Error("its metrics are there twice")
	}
}

// The log warns of a file with a name in the future, which the metrics leave out.
func TestBackupWarnsOfTheFuture(t *testing.T) {
	dir, clock, reg := t.TempDir(), modelstest.NewClock(), prometheus.NewRegistry()
	const future = "linkwatch-20990101T000000Z.db"
	if err := os.WriteFile(filepath.Join(dir, future), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	folder := backup.Folder{Dir: dir, Interval: time.Hour, Keep: 1}
	if err := backupjobs.Register(folder, clock.Now, reg); err != nil {
		t.Fatal(err)
	}
	job := backupjobs.Backup(folder, modelstest.New(t), clock.Now, slog.New(slog.NewTextHandler(&lines, nil)))
	if !job.Overdue() || values(t, reg)["linkwatch_backup_last_success_timestamp_seconds"] != 0 {
		t.Error("it counts as a backup")
	}
	if _, err := job.Run(t.Context(), t.Context()); err != nil || !strings.Contains(lines.String(), future) {
		t.Errorf("%v, logged: %s", err, lines.String())
	}
	if job.Overdue() || values(t, reg)["linkwatch_backup_last_success_timestamp_seconds"] != float64(clock.Now().Unix()) {
		t.Error("the backup that was made does not count")
	}
}
