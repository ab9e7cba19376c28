//go:build e2e

package bench

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"linkwatch/e2e"
)

// crawlWithAll measures a crawl with an archive, a search engine and a client that searches all the time.
func crawlWithAll(t *testing.T, urls []string) {
	engine := newEngine(t)
	s := e2e.Start(t, "CRAWLER_POLL_INTERVAL=100ms", "CRAWLER_ARCHIVE_URL="+t.TempDir(), "CRAWLER_ELASTICSEARCH_URL="+engine.URL)
	defer s.Stop()
	var client sync.WaitGroup
	var ends atomic.Bool
	searches := 0
	client.Go(func() {
		for ; !ends.Load(); searches++ {
			if status := s.Call("GET", "/v1/crawled-pages?limit=50&q="+vocabulary[searches%1000], nil, nil); status != http.StatusOK {
				t.Errorf("search: status %d", status)
				return
			}
		}
	})
	measureCrawl(t, s, urls, "Linkwatch with the archive, a search engine and searches")
	ends.Store(true)
	client.Wait()
	row("searches meanwhile, one after the other", "", "%d", searches)
	row("pages sent to the search engine meanwhile", "", "%d", engine.got.Load())
}

// engine is a fake search engine that accepts everything.
type engine struct {
	*httptest.Server
	got atomic.Int64 // documents
}

func newEngine(t *testing.T) *engine {
	e := &engine{}
	e.Server = httptest.NewServer(http.HandlerFunc(e.serve))
	t.Cleanup(e.Close)
	return e
}

func (e *engine) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet { // create an index or mapping
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"status":404,"error":{"type":"index_not_found_exception","reason":"no such index"}}`))
		return
	}
	type result struct {
		Index  string `json:"_index"`
		ID     string `json:"_id"`
		Status int    `json:"status"`
	}
	answer := struct {
		Acknowledged bool                `json:"acknowledged"`
		Items        []map[string]result `json:"items"`
	}{Acknowledged: true}
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 16<<20)
	for r.Method == http.MethodPost && lines.Scan() {
		var action map[string]result
		if err := json.Unmarshal(lines.Bytes(), &action); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		for kind, to := range action {
			to.Status = http.StatusCreated
			answer.Items = append(answer.Items, map[string]result{kind: to})
		}
		lines.Scan() // the line after the action
	}
	e.got.Add(int64(len(answer.Items)))
	_ = json.NewEncoder(w).Encode(answer)
}
