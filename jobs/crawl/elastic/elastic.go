// Package elastic sends crawled pages to Elasticsearch or OpenSearch.
//
// The database is the queue: it records which pages are unsent. No page is lost if the search
// engine or this program stops, and crawls never wait.
package elastic

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/jobs"
	"linkwatch/models"
	"linkwatch/models/crawl"
)

// Store provides the documents to send.
type Store interface {
	// UnsentDocuments returns up to limit unsent documents with Seq above after, ordered by Seq.
	UnsentDocuments(ctx context.Context, after int64, limit int) ([]crawl.Document, error)
	// Sent marks documents as sent. It ignores documents whose page has a newer Version.
	MarkSent(ctx context.Context, done []crawl.SentDocument) error
}

// Options are the settings of the service. Zero durations and limits use the defaults.
type Options struct {
	URL    string       // http:// or https://; with user, password and path as needed (CRAWLER_ELASTICSEARCH_URL)
	APIKey string       // takes precedence over user and password; "" = none (CRAWLER_ELASTICSEARCH_API_KEY)
	Client *http.Client // connects only to URL, and limits the size of responses; the service closes its idle connections
	Clock  models.Clock
	Log    *slog.Logger

	Registry  prometheus.Registerer
	Documents int           // per batch; 0 = 500
	Poll      time.Duration // between two searches for unsent documents; 0 = 5 s
	MinWait   time.Duration // after the first failure; 0 = 1 s
	MaxWait   time.Duration // after many consecutive failures; 0 = 5 min
}

const (
	maxDocuments = 500
	firstBatch   = 50 // documents; small, because their size is unknown
	poll         = 5 * time.Second
	minWait      = time.Second
	maxWait      = 5 * time.Minute
)

// Service is the Service that sends documents. A single loop reads a batch, sends it and records
// the result, so a slow search engine slows down reading too.
type Service struct {
	*jobs.Background
	store   Store
	opts    Options
	indexes *indexes
	metrics *metrics

	after int64 // Seq of the last document in this pass
	limit int   // size of the next batch

	failures  minutely // log lines about failures
	refusals  minutely // log lines about refused documents
	unlogged  int      // refused documents since the last line
	isFailing bool     // a failure was logged last

	mu     sync.Mutex
	status Status
}

// New returns the service. It fails if the URL is invalid, or its metrics are already registered.
func New(store Store, o Options) (*Service, error) {
	o.Documents, o.Poll = cmp.Or(o.Documents, maxDocuments), cmp.Or(o.Poll, poll)
	o.MinWait, o.MaxWait = cmp.Or(o.MinWait, minWait), cmp.Or(o.MaxWait, maxWait)
	client, err := newClient(o.Client, o.URL, o.APIKey)
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(o.Registry)
	if err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	s := &Service{
		store: store, opts: o, metrics: m, limit: min(firstBatch, o.Documents),
		indexes: &indexes{client: client, clock: o.Clock, log: o.Log, known: map[string]time.Time{}, warned: map[string]bool{}},
	}
	s.Background = jobs.NewBackground(s.run)
	return s, nil
}

// run sends batches until taking is done. It then finishes the current batch, unless working is done
// too.
func (s *Service) run(taking, working context.Context) {
	defer s.opts.Client.CloseIdleConnections()
	failures := 0
	for taking.Err() == nil {
		more, progress, err := s.batch(working)
		if err == nil || progress {
			failures = 0
		}
		wait := s.opts.Poll
		switch {
		case err != nil:
			failures++
			wait = s.backoff(failures)
		case more:
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-taking.Done():
		}
		timer.Stop()
	}
}

// backoff returns how long to wait after a number of consecutive failures. It doubles, with jitter so
// that several instances do not retry at the same time.
func (s *Service) backoff(failures int) time.Duration {
	wait := s.opts.MinWait
	for range failures - 1 {
		if wait >= s.opts.MaxWait/2 {
			wait = s.opts.MaxWait
			break
		}
		wait *= 2
	}
	return wait/2 + rand.N(wait/2+1)
}

// batch reads the next documents, sends them and records the results. more reports whether there may
// be further documents. progress reports whether some documents need not be sent again, even if
// there is an error. Failed documents do not block later ones: the next pass reads them again.
func (s *Service) batch(ctx context.Context) (more, progress bool, err error) {
	docs, err := s.store.UnsentDocuments(ctx, s.after, s.limit)
	if err != nil {
		return false, false, s.storeFailed(ctx, "read unsent documents failed", err)
	}
	if len(docs) == 0 {
		s.after = 0
		return false, false, nil
	}
	results := s.send(ctx, docs)
	if ctx.Err() != nil {
		return false, false, ctx.Err()
	}
	failure := summary(results)
	more = len(docs) == s.limit
	if s.after = 0; more {
		s.after = docs[len(docs)-1].Seq
	}
	s.resize(docs, failure)
	var done []crawl.SentDocument
	for i, r := range results {
		s.metrics.documents.WithLabelValues(r.outcome).Inc()
		if r.outcome == failed {
			continue
		}
		sent := crawl.SentDocument{Seq: docs[i].Seq, Version: docs[i].Version}
		if r.outcome == refused {
			sent.Error = clip(r.err.Error())
			s.logRefused(docs[i], sent.Error)
		}
		done = append(done, sent)
	}
	s.note(failure)
	if len(done) > 0 {
		if err := s.store.MarkSent(ctx, done); err != nil {
			return false, false, s.storeFailed(ctx, "record sent documents failed", err)
		}
	}
	return more, len(done) > 0, failure
}

// resize sets the size of the next batch: about maxBytes to limit memory, and less after a failure
// to relieve a slow search engine.
func (s *Service) resize(docs []crawl.Document, failure error) {
	size := 0
	for _, d := range docs {
		size += len(d.Text) + len(d.JSONLD)
	}
	switch {
	case failure != nil, size > maxBytes:
		s.limit = max(1, s.limit/2)
	case size < maxBytes/2 && len(docs) == s.limit:
		s.limit = min(s.opts.Documents, s.limit*2)
	}
}

func (s *Service) storeFailed(ctx context.Context, msg string, err error) error {
	if ctx.Err() == nil {
		jobs.LogError(s.opts.Log, msg, err)
	}
	return err
}
