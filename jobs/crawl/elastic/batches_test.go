package elastic

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"linkwatch/models/crawl"
)

// A request that is too large for the search engine is split. A document that is too
// large on its own is refused.
func TestRequestsThatAreTooLargeAreSplit(t *testing.T) {
	e := newEngine(t)
	docs := pages(9)
	docs[4].Text = strings.Repeat("long ", 1000)
	f := newFixture(t, e.URL, newQueue(docs...))
	e.fail = func(w http.ResponseWriter, r *http.Request) bool {
		if r.ContentLength > 2000 {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return true
		}
		return false
	}
	if _, _, err := f.batch(t.Context()); err != nil {
		t.Error(err)
	}
	if len(e.stored(news)) != 8 || !strings.Contains(f.store.refusal(5), "status 413") || f.store.left() != 0 {
		t.Errorf("got %d stored, %q", len(e.stored(news)), f.store.refusal(5))
	}
}

// Batches are limited by the size of the documents, and grow while documents are small.
func TestBatchesAreBounded(t *testing.T) {
	f := newFixture(t, "http://127.0.0.1:1", newQueue())
	small, large := make([]crawl.Document, firstBatch), make([]crawl.Document, 2)
	large[0].Text = strings.Repeat("x", maxBytes+1)
	f.resize(small[:1], nil)
	if f.limit != firstBatch {
		t.Errorf("after a batch that was not full: got %d", f.limit)
	}
	for range 20 {
		f.resize(make([]crawl.Document, f.limit), nil)
	}
	if f.limit != maxDocuments {
		t.Errorf("after small documents: got %d", f.limit)
	}
	f.resize(large, nil)
	if f.limit != maxDocuments/2 {
		t.Errorf("after large documents: got %d", f.limit)
	}
	for range 20 {
		f.resize(small, errors.New("timeout"))
	}
	if f.limit != 1 {
		t.Errorf("after failures: got %d", f.limit)
	}
}

// A request has about maxBytes at most, for documents of any size.
func TestRequestsAreBounded(t *testing.T) {
	e := newEngine(t)
	docs := pages(4)
	for i := range docs {
		docs[i].Text = strings.Repeat("x", maxBytes/2+1)
	}
	f := newFixture(t, e.URL, newQueue(docs...))
	f.start(t)
	f.empty(t)
	if e.bulks() != 2 {
		t.Errorf("got %d requests", e.bulks())
	}
}
