//go:build e2e

package e2e

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"linkwatch/models/modelstest"
)

// searchEngine is a fake search engine that counts how often it gets each document.
type searchEngine struct {
	*httptest.Server
	mu   sync.Mutex
	away bool
	docs map[string]int // by id
}

func newSearchEngine(t *testing.T) *searchEngine {
	t.Helper()
	e := &searchEngine{docs: map[string]int{}}
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	return e
}

// setAway makes the engine close connections without a response, or respond again.
func (e *searchEngine) setAway(away bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.away = away
}

func (e *searchEngine) documents() map[string]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.docs)
}

func (e *searchEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.away {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet { // the index does not exist yet
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"type":"index_not_found_exception"},"status":404}`)
		return
	}
	if !strings.HasSuffix(r.URL.Path, "_bulk") {
		_, _ = io.WriteString(w, `{"acknowledged":true}`)
		return
	}
	lines := strings.Split(strings.TrimSpace(string(body)), "\n")
	var items []string
	for i := 0; i+1 < len(lines); i += 2 {
		_, rest, _ := strings.Cut(lines[i], `"_id":"`)
		id, _, _ := strings.Cut(rest, `"`)
		e.docs[id]++
		items = append(items, `{"index":{"_id":"`+id+`","status":201}}`)
	}
	_, _ = io.WriteString(w, `{"took":1,"errors":false,"items":[`+strings.Join(items, ",")+`]}`)
}

// gets waits until the engine has n documents, and checks that it got each once.
func (e *searchEngine) gets(t *testing.T, n int) {
	t.Helper()
	modelstest.Eventually(t, "all documents are sent", func() bool { return len(e.documents()) == n })
	for id, times := range e.documents() {
		if times != 1 || !strings.HasPrefix(id, "k_") {
			t.Errorf("%s: got %d times, want once", id, times)
		}
	}
}

// Crawled pages are sent to the search engine, each once.
func TestPagesAreSentToTheSearchEngine(t *testing.T) {
	t.Parallel() // waits for batches to the engine
	engine := newSearchEngine(t)
	s := Start(t, "CRAWLER_POLL_INTERVAL=100ms", "CRAWLER_ELASTICSEARCH_URL="+engine.URL)
	m := newMaze(t, 1, 25, 0)
	s.jobBecomes(s.addJob(m.urls[0]+"/", nil).ID, "completed")
	engine.gets(t, 25)
}

// While the search engine is unavailable, crawls complete and /health reports it. The engine
// gets all pages later.
func TestCrawlWithoutTheSearchEngine(t *testing.T) {
	t.Parallel() // waits for batches to the engine
	engine := newSearchEngine(t)
	engine.setAway(true)
	s := Start(t, "CRAWLER_POLL_INTERVAL=100ms", "CRAWLER_ELASTICSEARCH_URL="+engine.URL)
	m := newMaze(t, 1, 25, 0)
	j := s.addJob(m.urls[0]+"/", nil)
	s.jobBecomes(j.ID, "completed")
	if all := s.executions(j.ID); len(all) != 1 || all[0].ItemsCrawled != 25 || all[0].Failed != 0 {
		t.Errorf("got executions %+v", all)
	}
	health := func(status string) (detail string) {
		var h struct {
			Status        string
			Elasticsearch struct{ Status, Detail string }
		}
		modelstest.Eventually(t, "the search engine is "+status, func() bool {
			code := s.Call("GET", "/health", nil, &h)
			return code == http.StatusOK && h.Elasticsearch.Status == status && (h.Status == "degraded") == (status == "unavailable")
		})
		return h.Elasticsearch.Detail
	}
	if detail := health("unavailable"); detail != "The search engine is unavailable or its response is invalid." {
		t.Errorf("got detail %q", detail)
	}
	if n := len(engine.documents()); n != 0 {
		t.Errorf("got %d documents, want 0", n)
	}
	engine.setAway(false)
	engine.gets(t, 25)
	health("ok")
}
