package elastic

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
	"linkwatch/outbound"
)

// queue is a Store in memory.
type queue struct {
	mu     sync.Mutex
	unsent map[int64]crawl.Document
	sent   map[int64]crawl.SentDocument // errors of refused documents
	reads  int
	fail   error
}

func newQueue(docs ...crawl.Document) *queue {
	q := &queue{unsent: map[int64]crawl.Document{}, sent: map[int64]crawl.SentDocument{}}
	q.add(docs...)
	return q
}

func (q *queue) add(docs ...crawl.Document) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range docs {
		q.unsent[d.Seq] = d
	}
}

func (q *queue) UnsentDocuments(_ context.Context, after int64, limit int) ([]crawl.Document, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.reads++
	var docs []crawl.Document
	for _, d := range q.unsent {
		if d.Seq > after {
			docs = append(docs, d)
		}
	}
	slices.SortFunc(docs, func(a, b crawl.Document) int { return cmp.Compare(a.Seq, b.Seq) })
	return docs[:min(limit, len(docs))], q.fail
}

func (q *queue) MarkSent(_ context.Context, done []crawl.SentDocument) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.fail != nil {
		return q.fail
	}
	for _, d := range done {
		if q.unsent[d.Seq].Version == d.Version {
			delete(q.unsent, d.Seq)
			q.sent[d.Seq] = d
		}
	}
	return nil
}

// left returns the number of unsent documents.
func (q *queue) left() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.unsent)
}

// refusal returns the error of a refused document; "" = not refused.
func (q *queue) refusal(seq int64) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.sent[seq].Error
}

// breakWith makes all calls fail; nil = none.
func (q *queue) breakWith(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.fail = err
}

// page returns a document of the source News.
func page(seq int64) crawl.Document {
	at := models.At(time.Date(2026, 3, 4, 5, 6, 7, 89000, time.UTC))
	return crawl.Document{
		Seq: seq, Version: 1, ID: fmt.Sprintf("k_%d", seq), SourceID: "s_1", SourceName: "News", URL: fmt.Sprintf("https://news.example/%d", seq),
		Title: "A <title> & more", Text: "one\ntwo\u2028three", StatusCode: 200, WordCount: 3, FetchedAt: at, ChangedAt: at,
	}
}

func pages(n int64) (docs []crawl.Document) {
	for seq := range n {
		docs = append(docs, page(seq+1))
	}
	return docs
}

// fixture is a service with a fake engine. It is not started.
type fixture struct {
	*Service
	store *queue
	log   *modelstest.Log
}

func newFixture(t *testing.T, address string, store *queue, change ...func(*Options)) *fixture {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	client := outbound.NewService(outbound.Options{Endpoint: u})
	t.Cleanup(client.CloseIdleConnections)
	log := modelstest.NewLog(t)
	o := Options{
		URL: address, Client: client, Clock: time.Now, Log: slog.New(slog.NewTextHandler(log, nil)), Registry: prometheus.NewRegistry(),
		Poll: time.Millisecond, MinWait: time.Millisecond, MaxWait: 2 * time.Millisecond,
	}
	for _, f := range change {
		f(&o)
	}
	s, err := New(store, o)
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{s, store, log}
}

// start runs the service until the test ends.
func (f *fixture) start(t *testing.T) {
	t.Helper()
	f.Start()
	t.Cleanup(func() { f.Stop(context.Background()) })
}

// empty waits until all documents are sent or refused.
func (f *fixture) empty(t *testing.T) {
	t.Helper()
	modelstest.Eventually(t, "all documents are sent", func() bool { return f.store.left() == 0 })
}

func (f *fixture) count(outcome string) float64 {
	return testutil.ToFloat64(f.metrics.documents.WithLabelValues(outcome))
}
