package crawl_test

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"linkwatch/app/apptest"
	crawlhandlers "linkwatch/handlers/crawl"
	"linkwatch/models"
	"linkwatch/models/crawl"
)

const archivedBody = `<!doctype html><meta charset="windows-1252"><title>Ü</title><script>alert(1)</script><form action="https://evil.test"><img src="https://evil.test/x.png">`

// archivedSite returns a server with a page and its copy in a folder.
func archivedSite(t *testing.T) (s *site, dir, path string) {
	t.Helper()
	dir = t.TempDir()
	a := apptest.New(t, apptest.Set("CRAWLER_ARCHIVE_URL", dir))
	s = &site{a, a.Systems.Crawl.Store}
	s.run(s.AddJob("https://a.test"))
	list, err := s.Crawl.Pages(t.Context(), crawl.PageFilter{}, noCursor, 1)
	s.Must(err)
	page := list.Items[0].Page
	h := crawl.BodyHash(sha256.Sum256([]byte(archivedBody)))
	w, err := zstd.NewWriter(nil)
	s.Must(err)
	frame := w.EncodeAll([]byte(archivedBody), nil)
	seq, err := s.Crawl.ReservePack(t.Context(), "ab/pack", len(frame))
	s.Must(err)
	s.Must(os.MkdirAll(filepath.Join(dir, "ab"), 0o700))
	s.Must(os.WriteFile(filepath.Join(dir, "ab", "pack"), append([]byte("<script>alert(2)</script>"), frame...), 0o600))
	pack := crawl.StoredPack{Seq: seq, Bodies: []crawl.PackedBody{{Hash: h, Start: 25, Length: int64(len(frame))}}}
	_, err = s.Crawl.RecordCopies(t.Context(), pack, crawl.NewCopy{Source: page.SourceSeq, URL: page.URL, Hash: h, Bytes: len(archivedBody), At: s.Crawl.Now()})
	s.Must(err)
	return s, dir, "/crawl/pages/" + page.ID() + "/archive/" + h.String()
}

// A copy is shown unchanged, and its scripts do not run.
func TestArchivedCopy(t *testing.T) {
	t.Parallel()
	s, dir, path := archivedSite(t)
	a := s.Request("GET", path)
	if a.Status != http.StatusOK || a.Body != archivedBody {
		t.Errorf("got status %d: %s", a.Status, a.Body)
	}
	for name, want := range map[string]string{
		"Content-Security-Policy":      "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
		"Content-Type":                 "text/html; charset=utf-8",
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "SAMEORIGIN",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Cache-Control":                "no-store",
		"Set-Cookie":                   "",
	} {
		if got := strings.Join(a.Header.Values(name), "; "); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for _, wrong := range []string{path[:len(path)-1] + "x", path + "0", strings.ReplaceAll(path, "k_", "k_0"), path[:len(path)-64] + "..%2f..%2fetc%2fpasswd"} {
		if a := s.Request("GET", wrong); a.Status != http.StatusNotFound || strings.Contains(a.Body, "alert(1)") {
			t.Errorf("%s: status %d", wrong, a.Status)
		}
	}
	// A failing archive does not change the copy. A missing copy is no longer offered.
	away := dir + "-away"
	s.Must(os.Rename(dir, away))
	s.Must(os.WriteFile(dir, nil, 0o600))
	if a := s.Request("GET", path); a.Status != http.StatusServiceUnavailable || strings.Contains(a.Body, dir) {
		t.Errorf("broken folder: got status %d, %s", a.Status, a.Body)
	}
	s.Must(os.Remove(dir))
	s.Must(os.Rename(away, dir))
	if a := s.Request("GET", path); a.Status != http.StatusOK {
		t.Errorf("restored folder: got status %d", a.Status)
	}
	s.Must(os.RemoveAll(filepath.Join(dir, "ab")))
	for range 2 {
		if a := s.Request("GET", path); a.Status != http.StatusNotFound {
			t.Errorf("missing copy: got status %d", a.Status)
		}
	}
}

// Without an archive, its copies cannot be shown.
func TestArchivedCopyWithoutAnArchive(t *testing.T) {
	s, _, path := archivedSite(t)
	off := apptest.New(t, apptest.On(s.DB))
	if a := off.Request("GET", path); a.Status != http.StatusServiceUnavailable || !strings.Contains(a.Body, "CRAWLER_ARCHIVE_URL") {
		t.Errorf("got status %d: %s", a.Status, a.Body)
	}
}

func TestArchiveCheck(t *testing.T) {
	detail, since := "", models.Time{}
	state := func() (string, models.Time) { return detail, since }
	check := func(state func() (string, models.Time), want string, wantOK bool) {
		t.Helper()
		got, ok := crawlhandlers.ArchiveCheck(state).State()
		b, err := json.Marshal(got)
		if err != nil || string(b) != want || ok != wantOK {
			t.Errorf("%s %v %v", b, ok, err)
		}
	}
	check(nil, `{"status":"off","detail":null,"since":null}`, true)
	check(state, `{"status":"ok","detail":null,"since":null}`, true)
	detail, since = "The archive fails: timed out.", models.At(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	check(state, `{"status":"unavailable","detail":"The archive fails: timed out.","since":"2026-01-02T03:04:05Z"}`, false)
}
