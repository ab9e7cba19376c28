// Package apitest writes what tests send and receive to files. The module tools/openapi compares them with the OpenAPI
// document of the API. It is a module of its own because its validator takes minutes to compile.
package apitest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"sync"
	"testing"
)

// Exchange is a request with its response, as a line of JSON.
type Exchange struct {
	Test           string
	Method, URL    string
	RequestHeader  http.Header
	RequestBody    []byte
	Status         int
	ResponseHeader http.Header
	ResponseBody   []byte // not compressed
}

// folder returns the folder for the exchanges, or "". The tests read it while they run, so that go test knows that their results
// depend on it.
func folder() string { return os.Getenv("TEST_EXCHANGES") }

// Record wraps a handler and records each exchange in the folder TEST_EXCHANGES, if it is set. It leaves out exchanges that
// passOver selects: requests that are not for the API of the document, such as those for SHORT_HOST.
func Record(t testing.TB, next http.Handler, passOver func(*http.Request) bool) http.Handler {
	t.Helper()
	if folder() == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if passOver(r) {
			next.ServeHTTP(w, r)
			return
		}
		sent := &bytes.Buffer{}
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = tee{io.TeeReader(r.Body, sent), r.Body}
		}
		e := Exchange{Test: t.Name(), Method: r.Method, URL: r.URL.String(), RequestHeader: r.Header.Clone()}
		rec := &recorder{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(rec, r)
		e.RequestBody, e.Status, e.ResponseHeader = sent.Bytes(), rec.status, rec.Header()
		var err error
		if e.ResponseBody, err = rec.text(); err == nil {
			err = write(e)
		}
		if err != nil {
			t.Errorf("record %s %s: %v", e.Method, e.URL, err)
		}
	})
}

var (
	// file has the exchanges of this process.
	file = sync.OnceValues(func() (*os.File, error) { return os.CreateTemp(folder(), "*.jsonl") })
	mu   sync.Mutex
)

func write(e Exchange) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	f, err := file()
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return err
}

type tee struct {
	io.Reader
	io.Closer
}

// recorder keeps a copy of a response.
type recorder struct {
	http.ResponseWriter
	status int
	wrote  bool
	body   bytes.Buffer
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Flush implements http.Flusher, for streams.
func (r *recorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if !r.wrote {
		r.status, r.wrote = status, true
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(b []byte) (int, error) {
	r.wrote = true
	r.body.Write(b)
	return r.ResponseWriter.Write(b)
}

func (r *recorder) text() ([]byte, error) {
	if r.Header().Get("Content-Encoding") != "gzip" {
		return r.body.Bytes(), nil
	}
	z, err := gzip.NewReader(&r.body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
