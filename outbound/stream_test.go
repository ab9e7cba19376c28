package outbound

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"
)

// reader returns a function for Request.Stream that reads all into b.
func reader(b *bytes.Buffer) func(io.Reader) error {
	return func(r io.Reader) error {
		_, err := b.ReadFrom(r)
		return err
	}
}

func TestStream(t *testing.T) {
	text := strings.Repeat("é\xe9\n", 25_000) // neither UTF-8 nor converted
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=windows-1252")
		switch r.URL.Path {
		case "/plain":
			_, _ = io.WriteString(w, text)
		case "/s.xml.gz":
			_, _ = w.Write(gzipped(t, text))
		case "/twice.xml.gz":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(gzipped(t, string(gzipped(t, text))))
		case "/moved":
			w.Header().Set("Location", "/plain")
			w.WriteHeader(http.StatusFound)
			_, _ = io.WriteString(w, "not this one")
		case "/304":
			w.WriteHeader(http.StatusNotModified)
		case "/404":
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "not this one")
		case "/201":
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, "not this one")
		case "/endless404":
			w.WriteHeader(http.StatusNotFound)
			for {
				if _, err := io.WriteString(w, text); err != nil {
					return
				}
			}
		}
	})
	c := testClient(t, Options{Timeout: time.Minute})
	size := int64(len(text))
	for _, tc := range []struct {
		path      string
		max       int64
		status    int
		want      string
		truncated bool
	}{
		{"/plain", 0, 200, text, false},
		{"/plain", size + 1, 200, text, false},
		{"/plain", size, 200, text, false},
		{"/plain", size - 1, 200, text[:size-1], true},
		{"/plain", 1, 200, text[:1], true},
		{"/s.xml.gz", 0, 200, text, false},
		{"/s.xml.gz", 1000, 200, text[:1000], true},
		{"/twice.xml.gz", 0, 200, text, false},
		{"/moved", 0, 200, text, false},
		{"/empty", 0, 200, "", false},
		{"/304", 0, 304, "", false},
		{"/404", 0, 404, "", false},
		{"/201", 0, 201, "", false},
		{"/endless404", 50 << 20, 404, "", true},
	} {
		var got bytes.Buffer
		res := get(t, c, Request{URL: srv.URL + tc.path, MaxBytes: tc.max, MaxRedirects: 1, Stream: reader(&got),
			Until: func([]byte) bool { t.Error("Until was called"); return true }})
		if got.String() != tc.want || res.StatusCode != tc.status || res.Truncated != tc.truncated || res.Body != nil {
			t.Errorf("%s, %d: %d, %d bytes, %d kept, truncated %v", tc.path, tc.max, res.StatusCode, got.Len(), len(res.Body), res.Truncated)
		}
	}
	called := false
	get(t, c, Request{URL: srv.URL + "/plain", Method: http.MethodHead, Stream: func(io.Reader) error { called = true; return nil }})
	if called {
		t.Error("the answer to HEAD was streamed")
	}
	// Read follows the rules of io.Reader, also at the limit.
	get(t, c, Request{URL: srv.URL + "/plain", MaxBytes: 1001, Stream: func(r io.Reader) error {
		return iotest.TestReader(r, []byte(text[:1001]))
	}})
}

// The timeout and the context of an exchange end its Stream. An error of the body has priority over that of Stream.
func TestStreamFailures(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/half":
			w.Header().Set("Content-Length", "500")
			_, _ = io.WriteString(w, "half")
		case "/stall":
			_, _ = io.WriteString(w, strings.Repeat("x", 1000))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/bad.xml.gz":
			b := gzipped(t, strings.Repeat("x", 1000))
			b[10] = 0xff // a block of a reserved type
			_, _ = w.Write(b)
		}
	})
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	c := testClient(t, Options{Timeout: time.Minute})
	defer c.Close()
	defer srv.CloseClientConnections()
	for _, swallow := range []bool{false, true} {
		read := func(r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			if n, again := r.Read(make([]byte, 1)); n != 0 || !errors.Is(again, err) {
				t.Errorf("%d bytes and %v after %v", n, again, err)
			}
			if swallow {
				return nil
			}
			return fmt.Errorf("wrapped: %w", err)
		}
		_, err := c.Fetch(t.Context(), Request{URL: srv.URL + "/half", Stream: read})
		fails(t, err, KindReset, "connection closed early")
		_, err = c.Fetch(t.Context(), Request{URL: srv.URL + "/bad.xml.gz", Stream: read})
		fails(t, err, KindProtocol, "bad compression")
		_, err = c.Fetch(t.Context(), Request{URL: srv.URL + "/stall", Stream: read, Timeout: 50 * time.Millisecond})
		fails(t, err, KindTimeout, "timed out")
		ctx, cancel := context.WithCancel(t.Context())
		_, err = c.Fetch(ctx, Request{URL: srv.URL + "/stall", Stream: func(r io.Reader) error {
			if _, err := io.ReadFull(r, make([]byte, 1000)); err != nil {
				t.Error(err)
			}
			cancel()
			return read(r)
		}})
		fails(t, err, KindCanceled, "canceled")
	}
	// A body that stalls exactly at the limit counts as longer.
	var got bytes.Buffer
	res := get(t, c, Request{URL: srv.URL + "/stall", Stream: reader(&got), MaxBytes: 1000, Timeout: 50 * time.Millisecond})
	if !res.Truncated || got.Len() != 1000 {
		t.Errorf("%d bytes, truncated %v", got.Len(), res.Truncated)
	}
}

// A Stream that returns early ends the exchange, and the rest of the body is not read.
func TestStreamStops(t *testing.T) {
	enough := errors.New("enough")
	for _, stop := range []error{enough, nil} {
		var away atomic.Int64
		done := make(chan struct{})
		srv := serve(t, pour(200<<20, &away, done))
		res, err := testClient(t, Options{Timeout: time.Minute}).Fetch(t.Context(), Request{URL: srv.URL, MaxBytes: 100 << 20,
			Stream: func(r io.Reader) error {
				if _, err := io.ReadFull(r, make([]byte, 10_000)); err != nil {
					t.Error(err)
				}
				return stop
			}})
		<-done
		if away.Load() > 20<<20 {
			t.Errorf("the server got rid of %d bytes", away.Load())
		}
		if stop == nil {
			if err != nil || res.Truncated {
				t.Errorf("got %+v, %v", res, err)
			}
			continue
		}
		if fails(t, err, KindStream, "response body refused"); !errors.Is(err, enough) {
			t.Errorf("got %v", err)
		}
	}
}

func TestStreamKeepsNothing(t *testing.T) {
	const size = 60 << 20
	bomb := gzipped(t, strings.Repeat("\x00", size))
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb)
	})
	c := testClient(t, Options{Timeout: time.Minute})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var n int64
	res := get(t, c, Request{URL: srv.URL, MaxBytes: 50 << 20, Stream: func(r io.Reader) (err error) {
		n, err = io.Copy(io.Discard, r)
		return err
	}})
	runtime.ReadMemStats(&after)
	if n != 50<<20 || !res.Truncated {
		t.Errorf("%d bytes, truncated %v", n, res.Truncated)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("allocated %d KiB in all", used>>10)
	}
}

// A body that is too long to discard may be streamed.
func TestStreamOfALongBody(t *testing.T) {
	const size = int(PageLimit) + 1
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(size))
		_, _ = w.Write(make([]byte, size))
	})
	var got bytes.Buffer
	res := get(t, testClient(t, Options{Timeout: time.Minute}), Request{URL: srv.URL, MaxBytes: 50 << 20, Stream: reader(&got)})
	if got.Len() != size || res.Truncated {
		t.Errorf("%d bytes, truncated %v", got.Len(), res.Truncated)
	}
}
