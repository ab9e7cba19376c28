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
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"linkwatch/models/crawl"
	"linkwatch/models/crawl/archive"
)

const secret = "hunter2hunter2"

func folder(t *testing.T) (*archive.Archive, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "new", "archive")
	a, err := archive.Open(archive.Location{Folder: dir}, archive.Options{Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a, dir
}

func bucket(t *testing.T, server http.Handler, timeout time.Duration) *archive.Archive {
	t.Helper()
	ts := httptest.NewServer(server)
	t.Cleanup(ts.Close)
	l, err := archive.ParseLocation("s3://access:" + secret + "@pages/some/prefix?endpoint=" + url.QueryEscape(ts.URL))
	if err != nil {
		t.Fatal(err)
	}
	a, err := archive.Open(l, archive.Options{Client: &http.Client{Timeout: timeout}, Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// s3 returns an S3 server with the bucket pages.
func s3(t *testing.T) (http.Handler, *s3mem.Backend) {
	t.Helper()
	b := s3mem.New()
	if err := b.CreateBucket("pages"); err != nil {
		t.Fatal(err)
	}
	return gofakes3.New(b, gofakes3.WithoutVersioning()).Server(), b
}

// put stores bodies in one pack and returns their locations.
func put(t *testing.T, a *archive.Archive, bodies ...[]byte) (at []crawl.BodyLocation) {
	t.Helper()
	var p archive.Pack
	key := archive.NewKey()
	for _, b := range bodies {
		if err := p.Add(archive.HashOf(b), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Put(t.Context(), key, &p); err != nil {
		t.Fatal(err)
	}
	for _, b := range p.Bodies() {
		at = append(at, crawl.BodyLocation{Key: key, Start: b.Start, Length: b.Length})
	}
	return at
}

// conforms checks the behavior that all archives share.
func conforms(t *testing.T, a *archive.Archive) {
	t.Helper()
	body := []byte("<!doctype html><title>Page</title>" + strings.Repeat("<p>text</p>", 5000))
	bodies := [][]byte{[]byte("first"), body, nil, make([]byte, archive.MaxBody)}
	at := put(t, a, bodies...)
	if at[1].Length > int64(len(body)/10) {
		t.Errorf("got %d bytes", at[1].Length)
	}
	for i, b := range bodies {
		if got, err := a.Get(t.Context(), at[i], archive.HashOf(b)); err != nil || !bytes.Equal(got, b) {
			t.Errorf("got %d bytes, want %d, error %v", len(got), len(b), err)
		}
	}
	h := archive.HashOf(body)
	end := at[3].Start + at[3].Length
	for what, wrong := range map[string]crawl.BodyLocation{
		"another body": at[0], "too short": {Key: at[1].Key, Start: at[1].Start, Length: 5}, "the end": {Key: at[1].Key, Start: end, Length: 5}, "beyond": {Key: at[1].Key, Start: end + 5, Length: 5},
		"before": {Key: at[1].Key, Start: -1, Length: 5}, "negative": {Key: at[1].Key, Length: -1}, "large": {Key: at[1].Key, Length: archive.MaxBody + 1}, "all": {Key: at[1].Key},
	} {
		if _, err := a.Get(t.Context(), wrong, h); !errors.Is(err, archive.ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	moves(t, a, at[1], h)
	for range 2 {
		if err := a.Delete(t.Context(), at[1].Key); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
	if _, err := a.Get(t.Context(), at[1], h); !errors.Is(err, archive.ErrMissing) {
		t.Errorf("after the deletion: got %v", err)
	}
	if _, err := a.OpenPack(t.Context(), at[1].Key); !errors.Is(err, archive.ErrMissing) {
		t.Errorf("after the deletion: got %v", err)
	}
}

// moves checks that a body can be moved to another pack, and only as a whole.
func moves(t *testing.T, a *archive.Archive, at crawl.BodyLocation, h crawl.BodyHash) {
	t.Helper()
	opened, err := a.OpenPack(t.Context(), at.Key)
	if err != nil {
		t.Fatal(err)
	}
	var p archive.Pack
	if err := p.CopyFrom(opened, crawl.PackedBody{Hash: h, Start: at.Start, Length: at.Length}); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []crawl.PackedBody{
		{Hash: h, Start: at.Start + 1, Length: at.Length}, {Hash: archive.HashOf(nil), Start: at.Start, Length: at.Length}, {Hash: h, Start: -1, Length: 5}, {Hash: h, Start: at.Start},
		{Hash: h, Start: 1 << 40, Length: 5}, {Hash: h, Start: at.Start, Length: 1 << 40},
	} {
		if err := p.CopyFrom(opened, wrong); !errors.Is(err, archive.ErrDamaged) {
			t.Errorf("%+v: got %v", wrong, err)
		}
	}
	key := archive.NewKey()
	if err := a.Put(t.Context(), key, &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Bodies()) != 1 || p.Bodies()[0].Start != 0 || p.Len() != int(at.Length) {
		t.Errorf("got moved bodies %+v", p.Bodies())
	}
	if _, err := a.Get(t.Context(), crawl.BodyLocation{Key: key, Length: at.Length}, h); err != nil {
		t.Errorf("read a moved body: %v", err)
	}
}

// TestPack checks the limits of a pack and of a body.
func TestPack(t *testing.T) {
	var p archive.Pack
	large := make([]byte, archive.MaxBody)
	_, _ = rand.Read(large) // incompressible
	for _, body := range [][]byte{large, make([]byte, archive.MaxBody+1)} {
		if err := p.Add(archive.HashOf(body), body); !errors.Is(err, archive.ErrTooLarge) || p.Len() != 0 || len(p.Bodies()) != 0 {
			t.Errorf("got %d bytes, %v", p.Len(), err)
		}
	}
	next := crawl.PackedBody{Length: archive.MaxPack}
	if !p.Fits(next) {
		t.Error("one body does not fit")
	}
	small := large[:1000]
	if err := p.Add(archive.HashOf(small), small); err != nil || p.Fits(next) || !p.Fits(crawl.PackedBody{Length: 5}) {
		t.Errorf("second body: got %v", err)
	}
	p.Reset()
	if p.Len() != 0 || !p.Fits(next) {
		t.Error("the pack is not empty")
	}
}

func TestFolder(t *testing.T) {
	a, dir := folder(t)
	conforms(t, a)
	body := []byte("hello")
	h := archive.HashOf(body)
	at := put(t, a, []byte("before"), body, []byte("after"))[1]
	name := filepath.Join(dir, at.Key)
	if info, err := os.Stat(filepath.Dir(name)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("got %v, %v", info, err)
	}
	// No temporary or metadata files are left.
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() && !strings.HasSuffix(path, ".pack.zst") {
			t.Errorf("unexpected file %s, %v", path, err)
		}
		return nil
	})
	// A file whose content does not match its name is never returned.
	other := filepath.Join(dir, "other")
	for what, content := range map[string][]byte{"cut short": make([]byte, at.Start+2), "empty": nil, "no zstd": []byte("<script>alert(1)</script> is in its place")} {
		if err := os.WriteFile(other, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(other, name); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Get(t.Context(), at, h); !errors.Is(err, archive.ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	// A file that is too large is not read completely.
	if err := os.WriteFile(name, bytes.Repeat([]byte{0}, archive.MaxBody+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Get(t.Context(), crawl.BodyLocation{Key: at.Key}, h); !errors.Is(err, archive.ErrDamaged) {
		t.Errorf("too large: got %v", err)
	}
}

// TestObjectOfOneBody checks that an older object with a single body is read to its end.
func TestObjectOfOneBody(t *testing.T) {
	a, dir := folder(t)
	body := []byte("hello")
	at := put(t, a, body)[0]
	at.Length = 0
	if got, err := a.Get(t.Context(), at, archive.HashOf(body)); err != nil || string(got) != "hello" {
		t.Errorf("got %s, %v", got, err)
	}
	if err := os.Truncate(filepath.Join(dir, at.Key), 0); err != nil { // an empty body was an empty object
		t.Fatal(err)
	}
	if got, err := a.Get(t.Context(), at, archive.HashOf(nil)); err != nil || len(got) != 0 {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestDeleteTemporary checks that only temporary files of killed processes are deleted.
func TestDeleteTemporary(t *testing.T) {
	a, dir := folder(t)
	at := put(t, a, []byte("x"))[0]
	name := filepath.Join(dir, at.Key)
	for path, age := range map[string]time.Duration{
		name: 2 * time.Hour, name + ".17a.tmp": 2 * time.Hour, name + ".17b.tmp": time.Minute, filepath.Dir(name) + "/mine.tmp": 2 * time.Hour,
		dir + "/try.17a.tmp": 2 * time.Hour, dir + "/try.17b.tmp": time.Minute, dir + "/mine.tmp": 2 * time.Hour,
	} {
		f, err := os.OpenFile(path, os.O_CREATE, 0o600)
		if err == nil {
			err = errors.Join(f.Close(), os.Chtimes(path, time.Time{}, time.Now().Add(-age)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := a.DeleteTempFiles(); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(dir + "/*/*"); err != nil || len(left) != 3 || slices.Contains(left, name+".17a.tmp") {
		t.Errorf("got files %v, %v", left, err)
	}
	if left, err := filepath.Glob(dir + "/*.tmp"); err != nil || len(left) != 2 || slices.Contains(left, dir+"/try.17a.tmp") {
		t.Errorf("got files %v, %v", left, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := a.DeleteTempFiles(); err == nil || strings.Contains(err.Error(), dir) {
		t.Errorf("missing folder: got %v", err)
	}
}

// TestBomb checks that a file of zeros unpacks to at most MaxBody bytes.
func TestBomb(t *testing.T) {
	a, dir := folder(t)
	at := put(t, a, []byte("x"))[0]
	packed := bomb(t, 64<<20)
	if err := os.WriteFile(filepath.Join(dir, at.Key), packed, 0o600); err != nil {
		t.Fatal(err)
	}
	at.Length = int64(len(packed))
	if _, err := a.Get(t.Context(), at, archive.HashOf([]byte("x"))); !errors.Is(err, archive.ErrDamaged) {
		t.Errorf("got %v", err)
	}
}

func TestBucket(t *testing.T) {
	server, backend := s3(t)
	a := bucket(t, server, time.Minute)
	conforms(t, a)
	body := []byte("hello")
	h := archive.HashOf(body)
	at := put(t, a, body)[0]
	o, err := backend.HeadObject("pages", "some/prefix/"+at.Key)
	if err != nil || o.Size == 0 {
		t.Errorf("bucket name: got %v", err)
	}
	// Some services send the whole object instead of the range.
	whole := bucket(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Range")
		server.ServeHTTP(w, r)
	}), time.Minute)
	for i, at := range put(t, whole, []byte("first"), []byte("second"), []byte("third")) {
		want := []string{"first", "second", "third"}[i]
		if got, err := whole.Get(t.Context(), at, archive.HashOf([]byte(want))); err != nil || string(got) != want {
			t.Errorf("range ignored: got %q, %v", got, err)
		}
		at.Start += 1 << 20
		if _, err := whole.Get(t.Context(), at, archive.HashOf([]byte(want))); !errors.Is(err, archive.ErrDamaged) {
			t.Errorf("range behind the end: got %v", err)
		}
	}
	// Without the bucket nothing can be read, but that does not mean that a copy is missing.
	none := bucket(t, gofakes3.New(s3mem.New()).Server(), time.Minute)
	if _, err := none.Get(t.Context(), at, h); err == nil || errors.Is(err, archive.ErrMissing) {
		t.Errorf("missing bucket: got %v", err)
	}
	if err := none.Delete(t.Context(), at.Key); err == nil {
		t.Error("missing bucket: got a successful deletion")
	}
}

// hello stores a pack of one body.
func hello(ctx context.Context, a *archive.Archive) error {
	var p archive.Pack
	body := []byte("hello")
	if err := p.Add(archive.HashOf(body), body); err != nil {
		return err
	}
	return a.Put(ctx, archive.NewKey(), &p)
}

// TestFailures checks that failed operations are tried three times, and that their errors contain no keys or URLs.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name, want string
		attempts   int64
		answer     func(w http.ResponseWriter, r *http.Request)
	}{
		{"overloaded", "archive: store copies: status 503 SlowDown", 3, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>` + secret + `</Message></Error>`))
		}},
		{"hostile", "archive: store copies: status 500", 3, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(`<Error><Code>` + secret + ` </Code></Error>`))
		}},
		{"forbidden", "archive: store copies: status 403 InvalidAccessKeyId", 3, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`<Error><Code>InvalidAccessKeyId</Code><AWSAccessKeyId>access</AWSAccessKeyId></Error>`))
		}},
		{"drops connections", "archive: store copies: connection closed", 3, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		{"hangs", "archive: store copies: timed out", 3, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
		{"redirects", "archive: store copies: status 307 TemporaryRedirect", 3, func(w http.ResponseWriter, r *http.Request) {
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
			err := hello(t.Context(), a)
			if err == nil || err.Error() != c.want || strings.Contains(err.Error(), secret) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if n.Load() != c.attempts {
				t.Errorf("got %d attempts", n.Load())
			}
			if _, err := a.Get(t.Context(), crawl.BodyLocation{Key: archive.NewKey(), Length: 5}, archive.HashOf(nil)); err == nil || errors.Is(err, archive.ErrMissing) || errors.Is(err, archive.ErrDamaged) {
				t.Errorf("read: got %v", err)
			}
		})
	}
}

// TestBrokenFolder uses a folder that cannot store anything.
func TestBrokenFolder(t *testing.T) {
	a, dir := folder(t)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := hello(t.Context(), a)
	if err == nil || err.Error() != "archive: store copies: not a directory" {
		t.Errorf("got %v", err)
	}
	if _, err := archive.Open(archive.Location{Folder: dir}, archive.Options{}); err == nil {
		t.Error("a file was opened as an archive")
	}
}

// TestMissingFolder checks that copies do not count as missing while the whole folder is missing.
func TestMissingFolder(t *testing.T) {
	a, dir := folder(t)
	body := []byte("hello")
	place := put(t, a, body)[0]
	if err := os.Rename(dir, dir+" away"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Get(t.Context(), place, archive.HashOf(body)); err == nil || errors.Is(err, archive.ErrMissing) {
		t.Errorf("read: got %v", err)
	}
	if _, err := a.OpenPack(t.Context(), place.Key); err == nil || errors.Is(err, archive.ErrMissing) {
		t.Errorf("move: got %v", err)
	}
	if err := os.Rename(dir+" away", dir); err != nil {
		t.Fatal(err)
	}
	if got, err := a.Get(t.Context(), place, archive.HashOf(body)); err != nil || !bytes.Equal(got, body) {
		t.Errorf("after it is restored: got %q, %v", got, err)
	}
}

// TestProbe checks that the object of Probe has the size of a copy and is deleted.
func TestProbe(t *testing.T) {
	a, dir := folder(t)
	if err := a.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("got files %v, %v", left, err)
	}
	server, _ := s3(t)
	small := bucket(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && r.ContentLength > 1<<10 { // simulates an almost full disk
			w.WriteHeader(http.StatusInsufficientStorage)
			return
		}
		server.ServeHTTP(w, r)
	}), time.Minute)
	if err := small.Probe(t.Context()); err == nil {
		t.Error("got no error, but nothing can be stored")
	}
}

// TestContextAndRetry checks that an operation ends with its context, and that a store is used again after it recovers.
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
	if err := hello(t.Context(), a); err != nil || n.Load() != archive.Attempts {
		t.Errorf("got %d attempts, %v", n.Load(), err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := hello(ended, a); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
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
		if got, err := archive.ParseLocation(raw); err != nil || got != want {
			t.Errorf("%s: got %+v, %v", raw, got, err)
		}
	}
	for _, raw := range []string{"http://h", "s3://k:" + secret + "@%zz", "s3://b?endpoint=" + secret} {
		if _, err := archive.ParseLocation(raw); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v", raw, err)
		}
	}
}
