package archive_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"gocloud.dev/blob/fileblob"

	"linkwatch/models/crawl/archive"
)

const secret = "hunter2hunter2"

// folder is an archive in a folder of the test's own.
func folder(t *testing.T) (*archive.Archive, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "new", "archive")
	a, err := archive.Open(t.Context(), archive.Location{Folder: dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a, dir
}

// bucket is an archive in a bucket of a server.
func bucket(t *testing.T, server http.Handler, timeout time.Duration) *archive.Archive {
	t.Helper()
	ts := httptest.NewServer(server)
	t.Cleanup(ts.Close)
	l, err := archive.Locate("s3://access:" + secret + "@pages/some/prefix?endpoint=" + url.QueryEscape(ts.URL))
	if err != nil {
		t.Fatal(err)
	}
	a, err := archive.Open(t.Context(), l, &http.Client{Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// s3 is an S3 server with the bucket pages.
func s3(t *testing.T) (http.Handler, *s3mem.Backend) {
	t.Helper()
	b := s3mem.New()
	if err := b.CreateBucket("pages"); err != nil {
		t.Fatal(err)
	}
	return gofakes3.New(b, gofakes3.WithoutVersioning()).Server(), b
}

// conforms checks what every archive does.
func conforms(t *testing.T, a *archive.Archive) {
	t.Helper()
	body := []byte("<!doctype html><title>Page</title>" + strings.Repeat("<p>text</p>", 5000))
	h := archive.HashOf(body)
	if _, err := a.Get(t.Context(), h); !errors.Is(err, archive.ErrMissing) {
		t.Errorf("before it is stored: %v", err)
	}
	for range 2 {
		if n, err := a.Put(t.Context(), h, body); err != nil || n == 0 || n > len(body)/10 {
			t.Errorf("stored in %d bytes: %v", n, err)
		}
	}
	if got, err := a.Get(t.Context(), h); err != nil || !bytes.Equal(got, body) {
		t.Errorf("got %d bytes: %v", len(got), err)
	}
	if _, err := a.Put(t.Context(), archive.HashOf(nil), nil); err != nil {
		t.Errorf("an empty body: %v", err)
	}
	if got, err := a.Get(t.Context(), archive.HashOf(nil)); err != nil || len(got) != 0 {
		t.Errorf("an empty body: %d bytes, %v", len(got), err)
	}
	for range 2 {
		if err := a.Delete(t.Context(), h); err != nil {
			t.Errorf("deleting: %v", err)
		}
	}
	if _, err := a.Get(t.Context(), h); !errors.Is(err, archive.ErrMissing) {
		t.Errorf("after it was deleted: %v", err)
	}
	large := make([]byte, archive.MaxBody)
	_, _ = rand.Read(large) // it cannot be compressed
	if _, err := a.Put(t.Context(), archive.HashOf(large), large); !errors.Is(err, archive.ErrTooLarge) {
		t.Errorf("a body that takes more than an object: %v", err)
	}
	large = make([]byte, archive.MaxBody)
	if _, err := a.Put(t.Context(), archive.HashOf(large), large); err != nil {
		t.Errorf("the largest body: %v", err)
	}
	if got, err := a.Get(t.Context(), archive.HashOf(large)); err != nil || len(got) != len(large) {
		t.Errorf("the largest body: %d bytes, %v", len(got), err)
	}
	if _, err := a.Put(t.Context(), archive.HashOf(large), make([]byte, archive.MaxBody+1)); !errors.Is(err, archive.ErrTooLarge) {
		t.Errorf("a larger one: %v", err)
	}
}

func TestFolder(t *testing.T) {
	a, dir := folder(t)
	conforms(t, a)
	body := []byte("hello")
	h := archive.HashOf(body)
	if _, err := a.Put(t.Context(), h, body); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, h.String()[:2], h.String()+".html.zst")
	if info, err := os.Stat(filepath.Dir(name)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
	// No temporary file and no metadata is left behind.
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() && !strings.HasSuffix(path, ".html.zst") {
			t.Errorf("%s: %v", path, err)
		}
		return nil
	})
	// A file that is not what its name says is never served.
	other := filepath.Join(dir, "other")
	for what, content := range map[string][]byte{"cut short": []byte("\x28\xb5\x2f\xfd"), "empty": nil, "no zstd": []byte("<script>alert(1)</script>"), "too large": bytes.Repeat([]byte{0}, archive.MaxBody+1)} {
		if err := os.WriteFile(other, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(other, name); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Get(t.Context(), h); !errors.Is(err, archive.ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	// One of another page, too.
	if _, err := a.Put(t.Context(), h, []byte("not hello")); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Get(t.Context(), h); !errors.Is(err, archive.ErrDamaged) {
		t.Errorf("another body: %v", err)
	}
}

// A file of zeros unpacks to at most MaxBody bytes.
func TestBomb(t *testing.T) {
	dir := t.TempDir()
	b, err := fileblob.OpenBucket(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := archive.New(b, 0)
	t.Cleanup(func() { _ = a.Close() })
	h := archive.HashOf([]byte("x"))
	if err := b.WriteAll(t.Context(), h.String()[:2]+"/"+h.String()+".html.zst", bomb(t, 64<<20), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Get(t.Context(), h); !errors.Is(err, archive.ErrDamaged) {
		t.Errorf("a bomb: %v", err)
	}
}

func TestBucket(t *testing.T) {
	server, backend := s3(t)
	a := bucket(t, server, time.Minute)
	conforms(t, a)
	body := []byte("hello")
	h := archive.HashOf(body)
	if _, err := a.Put(t.Context(), h, body); err != nil {
		t.Fatal(err)
	}
	o, err := backend.HeadObject("pages", "some/prefix/"+h.String()[:2]+"/"+h.String()+".html.zst")
	if err != nil || o.Size == 0 {
		t.Errorf("its name: %v", err)
	}
	// Without its bucket nothing can be read, but that says nothing about a copy.
	none := bucket(t, gofakes3.New(s3mem.New()).Server(), time.Minute)
	if _, err := none.Get(t.Context(), h); err == nil || errors.Is(err, archive.ErrMissing) {
		t.Errorf("no bucket: %v", err)
	}
	if err := none.Delete(t.Context(), h); err == nil {
		t.Error("no bucket: deleted")
	}
}

// What fails is tried three times, and told in words without keys and URLs.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name, want string
		attempts   int64
		answer     func(w http.ResponseWriter, r *http.Request)
	}{
		{"overloaded", "archive: storing a copy: status 503 SlowDown", 3, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>` + secret + `</Message></Error>`))
		}},
		{"hostile", "archive: storing a copy: status 500", 3, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(`<Error><Code>` + secret + ` </Code></Error>`))
		}},
		{"forbidden", "archive: storing a copy: status 403 InvalidAccessKeyId", 3, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`<Error><Code>InvalidAccessKeyId</Code><AWSAccessKeyId>access</AWSAccessKeyId></Error>`))
		}},
		{"drops connections", "archive: storing a copy: the connection was closed", 3, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		{"hangs", "archive: storing a copy: timed out", 3, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
		{"redirects", "archive: storing a copy: status 307 TemporaryRedirect", 3, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64
			a := bucket(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n.Add(1)
				if c.name == "hangs" {
					r.Body.Close()
				}
				c.answer(w, r)
			}), 200*time.Millisecond)
			body := []byte("hello")
			_, err := a.Put(t.Context(), archive.HashOf(body), body)
			if err == nil || err.Error() != c.want || strings.Contains(err.Error(), secret) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if n.Load() != c.attempts {
				t.Errorf("%d attempts", n.Load())
			}
			if _, err := a.Get(t.Context(), archive.HashOf(body)); err == nil || errors.Is(err, archive.ErrMissing) || errors.Is(err, archive.ErrDamaged) {
				t.Errorf("reading: %v", err)
			}
		})
	}
}

// A folder in which nothing can be stored.
func TestBrokenFolder(t *testing.T) {
	a, dir := folder(t)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	body := []byte("hello")
	_, err := a.Put(t.Context(), archive.HashOf(body), body)
	if err == nil || err.Error() != "archive: storing a copy: not a directory" {
		t.Errorf("%v", err)
	}
	if _, err := archive.Open(t.Context(), archive.Location{Folder: dir}, nil); err == nil {
		t.Error("a file is opened as an archive")
	}
}

// An operation ends with its context, and a store that works again is used again.
func TestContextAndRetry(t *testing.T) {
	server, _ := s3(t)
	var n atomic.Int64
	a := bucket(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) < archive.Attempts {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		server.ServeHTTP(w, r)
	}), time.Minute)
	body := []byte("hello")
	if _, err := a.Put(t.Context(), archive.HashOf(body), body); err != nil || n.Load() != archive.Attempts {
		t.Errorf("%d attempts: %v", n.Load(), err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := a.Put(ended, archive.HashOf(body), body); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestLocate(t *testing.T) {
	for raw, want := range map[string]archive.Location{
		"archive":             {Folder: "archive"},
		"/var/a":              {Folder: "/var/a"},
		"file:///var/a":       {Folder: "/var/a"},
		"s3://b":              {Bucket: "b"},
		"s3://b/?region=eu-1": {Bucket: "b", Region: "eu-1"},
		"s3://k:a%2Fb@b/x/y/": {Bucket: "b", Prefix: "x/y/", AccessKey: "k", SecretKey: "a/b"},
	} {
		if got, err := archive.Locate(raw); err != nil || got != want {
			t.Errorf("%s: %+v %v", raw, got, err)
		}
	}
	for _, raw := range []string{"http://h", "s3://k:" + secret + "@%zz", "s3://b?endpoint=" + secret} {
		if _, err := archive.Locate(raw); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
