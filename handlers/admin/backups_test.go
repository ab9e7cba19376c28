package admin_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/disk"
)

// The page of jobs shows the age of the newest backup, and if a backup is overdue.
func TestJobsPageShowsBackups(t *testing.T) {
	apptest.WantText(t, apptest.New(t).Get("/admin/jobs"), "#jobs", "No backups are scheduled: BACKUP_DIR is not set.")
	dir := t.TempDir()
	s := apptest.New(t, apptest.Set("BACKUP_DIR", dir), apptest.Set("BACKUP_KEEP", "3"))
	apptest.WantText(t, s.Get("/admin/jobs"), "#jobs", "No backups yet.")
	name := s.Clock.Now().Add(-3 * time.Hour).UTC().Format("linkwatch-20060102T150405Z.db")
	if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 12_000), 0o600); err != nil {
		t.Fatal(err)
	}
	a := s.Get("/admin/jobs")
	apptest.WantText(t, a, "#jobs", "Newest backup: · 12 kB · kept: 3 3 h ago")
	apptest.WantCount(t, a, "#jobs .failure", 0)
	const future = "linkwatch-20990101T000000Z.db"
	if err := os.WriteFile(filepath.Join(dir, future), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a = s.Get("/admin/jobs")
	apptest.WantText(t, a, "#jobs", "Newest backup: · 12 kB · kept: 3 3 h ago")
	apptest.WantText(t, a, "#jobs .failure", "1 file in BACKUP_DIR with a time in the future in the name: "+future)
	if err := os.Remove(filepath.Join(dir, future)); err != nil {
		t.Fatal(err)
	}
	s.Clock.Advance(46 * time.Hour)
	apptest.WantText(t, s.Get("/admin/jobs"), "#jobs .failure", "A backup is overdue. Newest backup:")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	apptest.WantText(t, s.Get("/admin/jobs"), "#jobs .failure", "The backup folder is not readable. Check BACKUP_DIR.")
}

// The overview, the page of jobs, the health report and the metrics show an almost full disk.
func TestAlmostFullDisk(t *testing.T) {
	disks := []disk.Space{{Of: disk.Database, Free: 50e9, Size: 100e9}, {Of: disk.Backup, Free: 2e9, Size: 100e9}}
	s := apptest.New(t, func(o *apptest.Setup) { o.Disks = func() []disk.Space { return disks } })
	a := s.Get("/") // instead of the first steps
	apptest.WantText(t, a, "main", "1 disk almost full")
	apptest.WantText(t, a, "main", "Disk of the backup is 98% full 2.0 GB of 100 GB free. Linkwatch cannot save data when the disk is full.")
	a = s.Get("/admin/jobs")
	apptest.WantText(t, a, "#jobs .failure", "Disk of the backup: 2.0 GB of 100 GB free")
	apptest.WantText(t, a, "#jobs", "Disk of the database: 50 GB of 100 GB free")
	health := s.Do(http.MethodGet, "/health", "").Want(http.StatusOK)
	apptest.Has(t, health, map[string]any{"status": "degraded"})
	state, _ := health["disk"].(map[string]any)
	apptest.Has(t, state, map[string]any{"status": "filling"})
	if got := apptest.Objects(state["disks"]); len(got) != 2 || got[0]["filling"] != false || got[1]["filling"] != true || got[1]["free_bytes"] != 2e9 {
		t.Errorf("/health: got %v", got)
	}
	metrics := s.Do(http.MethodGet, "/metrics", "").Body
	for _, want := range []string{
		`linkwatch_disk_free_bytes{of="backup"} 2e+09`, `linkwatch_disk_free_bytes{of="database"} 5e+10`, `linkwatch_disk_size_bytes{of="backup"} 1e+11`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	disks = disks[:1]
	apptest.WantCount(t, s.Get("/"), `main a.title[href="/admin/jobs"]`, 0)
}
