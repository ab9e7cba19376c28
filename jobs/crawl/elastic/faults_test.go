package elastic

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"linkwatch/models/modelstest"
)

// After any error of a search engine, documents stay queued until it works again.
func TestDocumentsWaitForTheSearchEngine(t *testing.T) {
	answer := func(status int, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, fail := range map[string]func(http.ResponseWriter){
		"503":         answer(503, `{"error":{"type":"cluster_block_exception","reason":"no master"},"status":503}`),
		"429":         answer(429, ""),
		"401":         answer(401, `{"error":"no"}`),
		"400":         answer(400, `{"error":{"type":"illegal_argument_exception"}}`),
		"a redirect":  answer(302, ""),
		"a page":      answer(200, "<html>Welcome to nginx!"),
		"nothing":     answer(200, ""),
		"no items":    answer(200, `{"errors":false,"items":[]}`),
		"empty items": answer(200, `{"items":[{},{"index":{}},{"index":{"_id":"k_9","status":201}}]}`),
		"too many":    answer(200, `{"items":[{},{},{},{},{}]}`),
		"an array":    answer(200, `[[[[[`),
		"huge":        answer(200, `{"items":[{"index":{"_id":"`+strings.Repeat("x", 6<<20)),
		"an abort":    func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"half": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"items":[`)
			panic(http.ErrAbortHandler)
		},
	} {
		for _, part := range []string{"_mapping", "_bulk"} {
			if part == "_mapping" && (name == "no items" || strings.HasSuffix(name, "items") || name == "too many") {
				continue // valid JSON, but not mappings
			}
			t.Run(name+" for "+part, func(t *testing.T) {
				t.Parallel()
				e := newEngine(t)
				f := newFixture(t, e.URL, newQueue(pages(3)...))
				e.fail = func(w http.ResponseWriter, r *http.Request) bool {
					if strings.HasSuffix(r.URL.Path, part) {
						_, _ = io.Copy(io.Discard, r.Body)
						fail(w)
						return true
					}
					return false
				}
				f.start(t)
				modelstest.Eventually(t, "it failed twice", func() bool { return f.count(failed) >= 6 })
				if s := f.Status(); f.store.left() != 3 || s.Error == "" || len(s.Error) > 600 || s.Detail == "" || s.Since.IsZero() {
					t.Errorf("got %d unsent, %+v", f.store.left(), s)
				}
				e.change(nil, nil)
				f.empty(t)
				modelstest.Eventually(t, "it works", func() bool { return f.Status().Error == "" })
				modelstest.Eventually(t, "the recovery is logged", func() bool { return f.log.Count("search engine available again") == 1 })
				if n := f.log.Count("send documents failed"); n != 1 || len(f.log.String()) > 5000 {
					t.Errorf("got %d log lines", n)
				}
			})
		}
	}
}

func TestDocumentsWaitForAnUnavailableSearchEngine(t *testing.T) {
	e := newEngine(t)
	e.Close()
	f := newFixture(t, e.URL, newQueue(page(1)))
	f.start(t)
	modelstest.Eventually(t, "it failed twice", func() bool { return f.count(failed) >= 2 })
	if s := f.Status(); f.store.left() != 1 || s.Detail != "The search engine is unavailable or its response is invalid." {
		t.Errorf("got status %+v", s)
	}
}

// A slow search engine gets no other request, and no more documents are read. Stop does
// not wait for it.
func TestSlowSearchEngineBlocksNothing(t *testing.T) {
	modelstest.NoLeaks(t)
	e := newEngine(t)
	f := newFixture(t, e.URL, newQueue(pages(3)...), func(o *Options) { o.Documents = 1 })
	asked, hang := make(chan struct{}, 9), make(chan struct{})
	e.fail = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "_bulk") {
			_, _ = io.Copy(io.Discard, r.Body)
			asked <- struct{}{}
			<-hang
			return true
		}
		return false
	}
	f.Start()
	<-asked
	over, cancel := context.WithCancel(context.Background())
	cancel()
	f.Stop(over)
	close(hang)
	if f.store.reads != 1 || f.store.left() != 3 || len(asked) != 0 || f.Status().Error != "" {
		t.Errorf("got %d reads, %d unsent, %+v", f.store.reads, f.store.left(), f.Status())
	}
}

// Stop waits for the current batch.
func TestStopFinishesTheBatch(t *testing.T) {
	modelstest.NoLeaks(t)
	e := newEngine(t)
	f := newFixture(t, e.URL, newQueue(pages(3)...))
	asked, proceed := make(chan struct{}), make(chan struct{})
	e.fail = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "_bulk") {
			close(asked)
			<-proceed
		}
		return false
	}
	f.Start()
	<-asked
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		f.Stop(context.Background())
	}()
	close(proceed)
	<-stopped
	if f.store.left() != 0 {
		t.Errorf("got %d unsent", f.store.left())
	}
}

// Failing documents do not block the next ones.
func TestDocumentsAfterFailingOnesAreSent(t *testing.T) {
	e := newEngine(t)
	e.item = func(id string) (int, string) {
		if id == "k_1" || id == "k_2" {
			return 503, "unavailable_shards_exception"
		}
		return 0, ""
	}
	f := newFixture(t, e.URL, newQueue(pages(20)...), func(o *Options) { o.Documents = 2 })
	f.start(t)
	modelstest.Eventually(t, "all others are sent", func() bool { return f.store.left() == 2 })
	e.change(nil, nil)
	f.empty(t)
}

func TestPausesDoubleUpToALimit(t *testing.T) {
	f := newFixture(t, "http://127.0.0.1:1", newQueue(), func(o *Options) { o.MinWait, o.MaxWait = 0, 0 })
	for failures, want := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 9: 256 * time.Second, 10: 5 * time.Minute, 1000: 5 * time.Minute} {
		for range 100 {
			if got := f.backoff(failures); got < want/2 || got > want {
				t.Errorf("after %d failures: got %s", failures, got)
			}
		}
	}
}

func TestDatabaseErrorsAreNotErrorsOfTheSearchEngine(t *testing.T) {
	e := newEngine(t)
	f := newFixture(t, e.URL, newQueue(page(1)))
	f.store.breakWith(errors.New("database away"))
	f.start(t)
	modelstest.Eventually(t, "it is logged", func() bool {
		return f.log.Count("read unsent documents failed") > 0
	})
	if f.Status().Error != "" {
		t.Errorf("got status %+v", f.Status())
	}
	f.store.breakWith(nil)
	f.empty(t)
}

func TestCredentials(t *testing.T) {
	e := newEngine(t)
	withUser := strings.Replace(e.URL, "http://", "http://ann:p%40ss@", 1) + "/prefix"
	for key, want := range map[string]string{"": "Basic YW5uOnBAc3M=", "secret": "ApiKey secret"} {
		f := newFixture(t, withUser, newQueue(page(1)), func(o *Options) { o.APIKey = key })
		if _, _, err := f.batch(t.Context()); err != nil || e.auth != want {
			t.Errorf("got %v, authorization %q", err, e.auth)
		}
	}
	e.change(func(w http.ResponseWriter, _ *http.Request) bool { panic(http.ErrAbortHandler) }, nil)
	f := newFixture(t, withUser, newQueue(page(1)))
	if _, _, err := f.batch(t.Context()); err == nil || strings.Contains(err.Error()+f.Status().Error+f.log.String(), "p%40ss") {
		t.Errorf("the error contains the password: %v", err)
	}
	if _, err := New(newQueue(), Options{URL: "http://ann:p%40ss@h:port"}); err == nil || strings.Contains(err.Error(), "p%40ss") {
		t.Errorf("the error contains the password: %v", err)
	}
}
