//go:build e2e

package bench

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/e2e"
	"linkwatch/models"
	"linkwatch/models/links"
)

var (
	minutes   = flag.Int("minutes", 8, "how long TestMemoryFigures/steady runs")
	largeFile = flag.String("large", "", "SQLite `file` for TestMemoryFigures/idle, filled if it does not exist, and kept")
)

const (
	memoryTargets   = 500 // checks per second
	memoryRedirects = 560 // per second
	memoryKeys      = 10_000
	idleLinks       = 1_000_000
)

// TestMemoryFigures measures the memory of the real binary over time, and when idle on a large database. It asserts no
// times.
func TestMemoryFigures(t *testing.T) {
	if !*figures {
		t.Skip("skipped without -figures (task bench)")
	}
	t.Run("idle", idleMemory)
	t.Run("steady", steadyMemory)
}

// steadyMemory prints the memory each minute under a steady load of checks and redirects.
func steadyMemory(t *testing.T) {
	hosts := farm(t, 6, figureHosts, func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, "<!doctype html><title>Well</title>") // the client may have disconnected
	})
	var urls []string
	for i := range memoryTargets {
		urls = append(urls, fmt.Sprintf("%s/%d", hosts[i%figureHosts], i))
	}
	file := filepath.Join(t.TempDir(), "memory.db")
	addTargets(t, file, urls, nil)
	addShortLinks(t, file, memoryKeys)
	s := e2e.Start(t, "DATABASE_URL="+file, "CHECK_INTERVAL=1s", "MAX_CONCURRENCY=64")
	table("%d checks and %d redirects per second, SQLite", memoryTargets, memoryRedirects)
	memoryRow(t, s, "after start")
	for minute := range *minutes {
		l := load{Address: address(s), Path: "/s/key%07d", Keys: memoryKeys, Rate: memoryRedirects, Seconds: 60}.send(t)
		memoryRow(t, s, fmt.Sprintf("after %d min", minute+1))
		if l.Failed > 0 {
			t.Errorf("%d redirects failed", l.Failed)
		}
	}
	row("checks", "", "%.0f", metric(t, s, "linkwatch_checks_total"))
	row("skipped checks", "0", "%.0f", metric(t, s, "linkwatch_checks_skipped_total"))
}

// idleMemory measures the start and the memory of an idle program on a large database.
func idleMemory(t *testing.T) {
	file := *largeFile
	if file == "" {
		file = filepath.Join(t.TempDir(), "large.db")
	}
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		fillLarge(t, file)
	}
	table("%d links, %d targets and %d short links in a file of %s", idleLinks, storedTargets, storedShortLinks, gigabytes(t, file))
	var ready []float64
	s := e2e.Start(t, "DATABASE_URL="+file) // updates the schema of a kept file
	for range 10 {
		s.Stop()
		started := time.Now()
		s = e2e.Start(t, "DATABASE_URL="+file, "LINK_CHECK_INTERVAL=720h", "CHECK_INTERVAL=24h")
		untilReady(t, s)
		ready = append(ready, time.Since(started).Seconds()*1000)
	}
	quantiles("time to ready after start", "≤ 500 ms", ready)
	residentRow(s, "memory after start", "")
	time.Sleep(20 * time.Second) // until the jobs of the startup have run
	residentRow(s, "memory, idle", "≤ 60 MB")
	for range 10 {
		for _, path := range mainPages {
			timeGET(t, s.URL+path)
		}
	}
	residentRow(s, "memory after ten visits of each main page", "")
	time.Sleep(2*time.Minute + 10*time.Second) // the runtime collects garbage every two minutes
	residentRow(s, "memory, idle again", "")
	memoryRow(t, s, "after that, before a scrape of the metrics")
	residentRow(s, "memory after scrapes of the metrics", "")
}

// residentRow prints the resident memory and its parts, without a request.
func residentRow(s *e2e.Server, name, target string) {
	all, anonymous := s.Memory(), s.AnonymousMemory()
	row(name, target, "%.0f MB: %.0f anonymous, %.0f files", float64(all)/1e6, float64(anonymous)/1e6, float64(all-anonymous)/1e6)
}

var mainPages = []string{"/", "/links", "/tags", "/watch", "/short", "/crawl", "/sites", "/alerts", "/v1/links", "/v1/targets", "/v1/shortlinks"}

// fillLarge fills a new file with links, targets and short links.
func fillLarge(t *testing.T, file string) {
	t.Helper()
	db, closeDB := e2e.OpenDatabase(t, file)
	c := newCorpus()
	store := links.NewStore(db, nil, nil, links.Options{CheckInterval: 30 * models.Day})
	all := make([]links.New, 10_000)
	for i := 0; i < idleLinks; i += len(all) {
		for j := range all {
			all[j] = c.link(i + j)
		}
		if n, err := store.Import(t.Context(), all); err != nil || n != len(all) {
			t.Fatalf("got %d links stored, %v", n, err)
		}
	}
	e2e.AddShortLinks(t, db, "key", storedShortLinks, time.Time{})
	err := db.Write(t.Context(), func(tx *gorm.DB) error { // none is due soon
		return tx.Exec("UPDATE links SET next_check_at = ? + seq", time.Now().Add(30*models.Day).UnixMicro()).Error
	})
	if err != nil {
		t.Fatal(err)
	}
	closeDB()
	fillTargets(t, file)
}

// memoryRow prints the resident memory, its parts and the parts of the Go runtime, in MB. The anonymous part is what the
// program has allocated. The other part is files, such as the program itself, which the system can drop at any time.
func memoryRow(t *testing.T, s *e2e.Server, name string) {
	t.Helper()
	mb := func(n float64) string { return fmt.Sprintf("%.0f", n/1e6) }
	anonymous := s.AnonymousMemory()
	row(name, "", "%s MB: %s anonymous, %s files; Go: %s live heap, %s in use, %s stacks, %s mapped", mb(float64(s.Memory())), mb(float64(anonymous)),
		mb(float64(s.Memory()-anonymous)), mb(metric(t, s, "go_memstats_heap_alloc_bytes")), mb(metric(t, s, "go_memstats_heap_inuse_bytes")),
		mb(metric(t, s, "go_memstats_stack_inuse_bytes")), mb(metric(t, s, "go_memstats_sys_bytes")-metric(t, s, "go_memstats_heap_released_bytes")))
}

// addShortLinks adds n short links to a file.
func addShortLinks(t *testing.T, file string, n int) {
	t.Helper()
	db, closeDB := e2e.OpenDatabase(t, file)
	defer closeDB()
	e2e.AddShortLinks(t, db, "key", n, time.Time{})
}
