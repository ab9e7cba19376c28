package crawl_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/prometheus/client_golang/prometheus"

	crawljobs "linkwatch/jobs/crawl"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/crawl/archive"
	"linkwatch/models/modelstest"
	"linkwatch/outbound"
)

type keeper struct {
	*crawljobs.Archiver
	t   *testing.T
	reg *prometheus.Registry
}

// keeper returns an archiver that is not started.
func (w *world) keeper(a *archive.Archive, change ...func(*crawljobs.ArchiverOptions)) *keeper {
	w.Helper()
	w.Cleanup(a.Close)
	k := &keeper{t: w.T, reg: prometheus.NewRegistry()}
	o := crawljobs.ArchiverOptions{Archive: a, Log: w.log, Registry: k.reg, Pause: 20 * time.Millisecond, PackDelay: time.Millisecond, SweepInterval: 10 * time.Millisecond}
	for _, f := range change {
		f(&o)
	}
	var err error
	if k.Archiver, err = crawljobs.NewArchiver(w.store, o); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(k.stop)
	return k
}

func (k *keeper) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	k.Stop(ctx)
}

// count returns the number of copies with an outcome.
func (k *keeper) count(outcome string) int {
	k.t.Helper()
	families, err := k.reg.Gather()
	if err != nil {
		k.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "linkwatch_crawl_archive_copies_total" && m.GetLabel()[0].GetValue() == outcome {
				return int(m.GetCounter().GetValue())
			}
			if f.GetName() == "linkwatch_crawl_archive_"+outcome {
				return int(m.GetCounter().GetValue() + m.GetGauge().GetValue())
			}
		}
	}
	k.t.Fatalf("no figure of %s", outcome)
	return 0
}

func (k *keeper) until(what string, is func() bool) {
	k.t.Helper()
	modelstest.Eventually(k.t, what, is)
}

// page adds a copy of a page. Its source need not exist.
func (k *keeper) page(n int, body string) {
	k.Add(crawljobs.Copy{Source: 1, URL: "http://a.test/" + strconv.Itoa(n), Body: []byte(body), At: models.At(time.Now())})
}

func folder(t *testing.T) (a *archive.Archive, dir string) {
	t.Helper()
	dir = t.TempDir()
	a, err := archive.Open(archive.Location{Folder: dir}, archive.Options{Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return a, dir
}

// bucket returns an archive on an S3 server. Its requests go through outbound.
func bucket(t *testing.T, server http.Handler) *archive.Archive {
	t.Helper()
	ts := httptest.NewServer(server)
	t.Cleanup(ts.Close)
	l, err := archive.ParseLocation("s3://access:secret@pages?endpoint=" + url.QueryEscape(ts.URL))
	if err != nil {
		t.Fatal(err)
	}
	o := outbound.Options{Endpoint: l.Endpoint, Timeout: 200 * time.Millisecond, MaxConcurrent: 16}
	a, err := archive.Open(l, archive.Options{Client: outbound.NewService(o)})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func s3(t *testing.T) http.Handler {
	t.Helper()
	b := s3mem.New()
	if err := b.CreateBucket("pages"); err != nil {
		t.Fatal(err)
	}
	return gofakes3.New(b).Server()
}

func (w *world) copies(n int) []crawl.Copy {
	w.Helper()
	all, err := w.store.Copies(w.Context(), crawl.Page{SourceSeq: 1, URL: "http://a.test/" + strconv.Itoa(n)}, 10)
	if err != nil {
		w.Fatal(err)
	}
	return all
}

// Each body is stored once, across pages and batches.
func TestArchiverStoresEachBodyOnce(t *testing.T) {
	each(t, func(w *world) {
		var puts atomic.Int64
		server := s3(w.T)
		a := bucket(w.T, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				puts.Add(1)
			}
			server.ServeHTTP(rw, r)
		}))
		k := w.keeper(a, func(o *crawljobs.ArchiverOptions) { o.Workers = 1 })
		for i := range 40 {
			k.page(i, "the same on all pages")
		}
		k.page(0, "another version")
		k.Start()
		k.until("all are stored", func() bool { return k.count("stored")+k.count("deduplicated") == 41 })
		if puts.Load() != 1 || k.count("stored") != 2 || len(w.copies(0)) != 2 || len(w.copies(39)) != 1 {
			t.Errorf("got %d requests, %d stored, %d copies of the first page", puts.Load(), k.count("stored"), len(w.copies(0)))
		}
		// Another instance finds it in the database.
		other := w.keeper(a)
		other.page(50, "the same on all pages")
		other.Start()
		other.until("it is recorded", func() bool { return other.count("deduplicated") == 1 })
		if puts.Load() != 1 {
			t.Errorf("got %d requests", puts.Load())
		}
		if n, bytes := k.count("queue_length"), k.count("queue_bytes"); n != 0 || bytes != 0 {
			t.Errorf("got %d copies and %d bytes in the queue, want 0", n, bytes)
		}
	})
}

// The queue is limited by number and by memory. Add never waits.
func TestArchiverDropsCopiesBeyondTheQueue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	a, _ := folder(t)
	k := w.keeper(a, func(o *crawljobs.ArchiverOptions) { o.MaxQueue, o.MaxBytes = 3, 1000 })
	for i := range 5 {
		k.page(i, "x")
	}
	if k.count("dropped") != 2 || k.count("queue_length") != 3 {
		t.Errorf("got %d dropped", k.count("dropped"))
	}
	k.page(9, strings.Repeat("x", 2000))
	if k.count("dropped") != 3 {
		t.Errorf("got %d dropped", k.count("dropped"))
	}
	k.Start()
	k.stop() // stores the rest of the queue
	if k.count("stored")+k.count("deduplicated") != 3 || k.count("queue_bytes") != 0 {
		t.Errorf("got %d stored", k.count("stored"))
	}
	k.page(10, "late")
	if k.count("dropped") != 4 {
		t.Error("a copy after the stop is not counted as dropped")
	}
}

// Large bodies get their own packs, so that a pack has at most a few MiB.
func TestArchiverBoundsPacks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	a, dir := folder(t)
	k := w.keeper(a, func(o *crawljobs.ArchiverOptions) { o.Workers = 1 })
	for i := range 3 {
		k.page(i, strings.Repeat(strconv.Itoa(i), archive.MaxPack/2+1))
	}
	for i := range 5 {
		k.page(i, "small "+strconv.Itoa(i))
	}
	k.page(9, strings.Repeat("x", archive.MaxBody+1))
	k.Start()
	k.stop()
	if packs, err := filepath.Glob(dir + "/*/*"); k.count("stored") != 8 || k.count("failed") != 1 || len(packs) != 3 || err != nil {
		t.Errorf("got %d stored in %d packs, %d failed, %v", k.count("stored"), len(packs), k.count("failed"), err)
	}
}

// A failing archive is reported, gets few requests, and is used again after it recovers.
func TestArchiverPausesWhileTheArchiveFails(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]http.HandlerFunc{
		"answers 503":       func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusServiceUnavailable) },
		"drops connections": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"hangs":             func(_ http.ResponseWriter, r *http.Request) { r.Body.Close(); <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, modelstest.New(t))
			var works atomic.Bool
			var requests atomic.Int64
			server := s3(t)
			k := w.keeper(bucket(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				if works.Load() {
					server.ServeHTTP(rw, r)
					return
				}
				fail(rw, r)
			})))
			if detail, _ := k.State(); detail != "" {
				t.Errorf("before the failure: got %s", detail)
			}
			for i := range 100 {
				k.page(i, strconv.Itoa(i))
			}
			k.Start()
			k.until("it fails", func() bool { return k.count("failed") >= 5 })
			detail, since := k.State()
			if !strings.HasPrefix(detail, "The archive failed: ") || since.IsZero() {
				t.Errorf("got detail %q since %v", detail, since)
			}
			// Each copy costs at most three requests. After the first copies, they are sent one at a time.
			if n := requests.Load(); n > 3*int64(k.count("failed")+8) {
				t.Errorf("got %d requests for %d copies", n, k.count("failed"))
			}
			works.Store(true)
			k.until("it works", func() bool { return k.count("stored")+k.count("failed") == 100 })
			if detail, _ := k.State(); detail != "" || k.count("stored") == 0 {
				t.Errorf("after recovery: got %s, %d stored", detail, k.count("stored"))
			}
		})
	}
}

// Sweeps run even if the disk is full, because they free space. A failed archive is retried
// even if the queue is empty.
func TestArchiverSweepsWhileNothingCanBeStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	var full atomic.Bool
	server := s3(t)
	k := w.keeper(bucket(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if full.Load() && r.Method == http.MethodPut {
			rw.WriteHeader(http.StatusInsufficientStorage)
			return
		}
		server.ServeHTTP(rw, r)
	})))
	k.page(0, "first")
	k.Start()
	k.until("it is stored", func() bool { return k.count("stored") == 1 })
	full.Store(true)
	for i := range 5 {
		k.page(i, strconv.Itoa(i))
	}
	k.until("it fails", func() bool { return k.count("failed") > 0 })
	modelstest.Exec(t, w.db, "DELETE FROM archived_pages")
	modelstest.Exec(t, w.db, "DELETE FROM archived_bodies")
	modelstest.Exec(t, w.db, "UPDATE archive_packs SET due_at = 1")
	k.until("its object is deleted", func() bool { return k.count("deleted_total") >= 1 })
	if detail, _ := k.State(); !strings.Contains(detail, "507") {
		t.Errorf("full disk: got %q", detail)
	}
	k.until("no copy waits", func() bool { return k.count("failed") == 5 })
	full.Store(false)
	k.until("it works again", func() bool { detail, _ := k.State(); return detail == "" })
}

// Stop does not wait for a failing archive.
func TestArchiverStopsWhileTheArchiveFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	a, dir := folder(t)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // a file instead of the folder
		t.Fatal(err)
	}
	k := w.keeper(a, func(o *crawljobs.ArchiverOptions) { o.Pause = time.Hour })
	for i := range 100 {
		k.page(i, strconv.Itoa(i))
	}
	k.Start()
	k.until("it pauses", func() bool { return k.count("failed") >= 5 })
	if detail, _ := k.State(); detail != "The archive failed: not a directory." {
		t.Error(detail)
	}
	k.stop()
	if k.count("failed")+k.count("dropped") != 100 || k.count("queue_bytes") != 0 {
		t.Errorf("got %d failed, %d dropped, %d bytes", k.count("failed"), k.count("dropped"), k.count("queue_bytes"))
	}
}

// The bodies of a mostly unused pack move to another pack. Unused packs are deleted.
func TestArchiverSweepsPacks(t *testing.T) {
	each(t, func(w *world) {
		a, dir := folder(w.T)
		k := w.keeper(a, func(o *crawljobs.ArchiverOptions) { o.Workers = 1 })
		for i := range 4 {
			k.page(i, "body "+strconv.Itoa(i))
		}
		k.Start()
		k.until("they are stored", func() bool { return k.count("stored") == 4 })
		files := func() []string {
			found, err := filepath.Glob(dir + "/*/*")
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		if n := len(files()); n != 1 {
			t.Errorf("got %d packs", n)
		}
		drop := func(pages int) {
			modelstest.Exec(t, w.db, "DELETE FROM archived_pages WHERE seq <= ?", pages)
			modelstest.Exec(t, w.db, "DELETE FROM archived_bodies WHERE hash NOT IN (SELECT hash FROM archived_pages)")
			modelstest.Exec(t, w.db, "UPDATE archive_packs SET due_at = 1 WHERE seq = (SELECT min(seq) FROM archive_packs)")
		}
		last := func() (left crawl.Copy) {
			for i := range 4 {
				for _, c := range w.copies(i) {
					left = c
				}
			}
			return left
		}
		before := last()
		drop(3)
		k.until("the one in use is moved", func() bool { return last().Location.Key != before.Location.Key })
		if body, err := a.Get(t.Context(), last().Location, last().Hash); err != nil || !strings.HasPrefix(string(body), "body ") {
			t.Errorf("got body %s, %v", body, err)
		}
		if n := len(files()); n != 2 {
			t.Errorf("got %d packs: readers may still use the old one", n)
		}
		drop(0)
		k.until("the empty one is deleted", func() bool { return k.count("deleted_total") == 1 && len(files()) == 1 })
		drop(4)
		k.until("the other is deleted", func() bool { return k.count("deleted_total") == 2 && len(files()) == 0 })
	})
}

// A crawl does not depend on the archive. Stored pages are archived.
func TestCrawlWithAnArchive(t *testing.T) {
	each(t, func(w *world) {
		s := newSite(w.T, map[string]http.HandlerFunc{"/": html("Home", "/a", "/b", "/text"), "/a": html("A"), "/text": func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "text/plain")
			_, _ = rw.Write([]byte("no page"))
		}})
		a, dir := folder(w.T)
		k := w.keeper(a)
		k.Start()
		w.start(func(o *crawljobs.Options) { o.Archive = k.Add })
		if e := w.ended(w.job(s.URL + "/")); e.Status != crawl.ExecutionCompleted {
			t.Errorf("got %+v", e)
		}
		k.until("both pages are archived", func() bool { return k.count("stored") == 2 })
		list, err := w.store.Pages(t.Context(), crawl.PageFilter{}, models.Cursor{}, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list.Items {
			copies, err := w.store.Copies(t.Context(), p.Page, 10)
			if err != nil || (len(copies) == 1) != (strings.HasSuffix(p.URL, "/") || strings.HasSuffix(p.URL, "/a")) {
				t.Errorf("%s: got %d copies, %v", p.URL, len(copies), err)
			}
			if len(copies) == 1 {
				if body, err := a.Get(t.Context(), copies[0].Location, copies[0].Hash); err != nil || !strings.Contains(string(body), "Text of "+p.Title) {
					t.Errorf("%s: got %s, %v", p.URL, body, err)
				}
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		other := newSite(w.T, map[string]http.HandlerFunc{"/": html("Other", "/x"), "/x": html("X")})
		if e := w.ended(w.job(other.URL + "/")); e.Status != crawl.ExecutionCompleted || e.ItemsCrawled != 2 {
			t.Errorf("without the archive: got %+v", e)
		}
		k.until("the failure is told", func() bool { detail, _ := k.State(); return detail != "" })
	})
}
