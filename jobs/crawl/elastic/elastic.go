// Package elastic sends crawled pages to Elasticsearch or OpenSearch.
//
// The database is the queue: the store knows which pages have to be sent, so no page
// is lost if the search engine or this program ends, and no crawl waits.
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

// Store holds the documents to send.
type Store interface {
	// Unsent returns up to limit documents that have to be sent, with Seq above
	// after and in its order.
	Unsent(ctx context.Context, after int64, limit int) ([]crawl.Document, error)
	// Sent records documents that need not be sent again. It passes over those
	// whose page has another Version meanwhile.
	Sent(ctx context.Context, done []crawl.SentDocument) error
}

// Options are the settings of the service. Zero durations and limits are replaced by
// the defaults.
type Options struct {
	URL    string       // http:// or https://; with user, password and path as needed (CRAWLER_ELASTICSEARCH_URL)
	APIKey string       // goes before user and password; "" = there is none (CRAWLER_ELASTICSEARCH_API_KEY)
	Client *http.Client // connects to URL, and bounds requests and responses; its idle connections are closed at the end
	Clock  models.Clock
	Log    *slog.Logger

	Registry  prometheus.Registerer
	Documents int           // in a batch; 0 = 500
	Poll      time.Duration // between two looks for documents; 0 = 5 s
	MinWait   time.Duration // after the first failure in a row; 0 = 1 s
	MaxWait   time.Duration // after many failures in a row; 0 = 5 min
}

const (
	maxDocuments = 500
	firstBatch   = 50 // documents: it is not known how large they are
	poll         = 5 * time.Second
	minWait      = time.Second
	maxWait      = 5 * time.Minute
)

// Service is the Service that sends documents. One loop reads a batch, sends it and
// records what became of it, so a slow search engine has it read no more.
type Service struct {
	*jobs.Background
	store   Store
	opts    Options
	indexes *indexes
	metrics *metrics

	after int64 // Seq of the last document of the pass
	limit int   // documents of the next batch

	failures  minutely // log lines of failures
	refusals  minutely // log lines of refusals
	unlogged  int      // refusals since the last line
	isFailing bool     // the last line was of a failure

	mu     sync.Mutex
	status Status
}

// New makes the service. It fails if the URL is invalid, or the registry has metrics
// of these names.
func New(store Store, o Options) (*Service, error) {
	o.Documents, o.Poll = cmp.Or(o.Documents, maxDocuments), cmp.Or(o.Poll, poll)
	o.MinWait, o.MaxWait = cmp.Or(o.MinWait, minWait), cmp.Or(o.MaxWait, maxWait)
	client, err := newClient(o.Client, o.URL, o.APIKey)
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(o.Registry)
	if err != nil {
		return nil, fmt.Errorf("registering the metrics of the search engine: %w", err)
	}
	s := &Service{
		store: store, opts: o, metrics: m, limit: min(firstBatch, o.Documents),
		indexes: &indexes{client: client, clock: o.Clock, log: o.Log, known: map[string]time.Time{}, warned: map[string]bool{}},
	}
	s.Background = jobs.NewBackground(s.run)
	return s, nil
}

// run sends batches until taking ends. The batch under way is finished then, unless
// working ends too.
func (s *Service) run(taking, working context.Context) {
	defer s.opts.Client.CloseIdleConnections()
	failures := 0
	for taking.Err() == nil {
		more, some, err := s.batch(working)
		if err == nil || some {
			failures = 0
		}
		wait := s.opts.Poll
		switch {
		case err != nil:
			failures++
			wait = s.pause(failures)
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

// pause is how long to wait after that many failures in a row: it doubles, with
// jitter, so that several instances do not ask at the same time.
func (s *Service) pause(failures int) time.Duration {
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

// batch reads the next documents, sends them and records what became of them. There
// may be more to send at once. On an error, some documents may be sent nevertheless.
// Documents that fail do not hold up those behind them: they are read again by the
// next pass.
func (s *Service) batch(ctx context.Context) (more, some bool, err error) {
	docs, err := s.store.Unsent(ctx, s.after, s.limit)
	if err != nil {
		return false, false, s.storeFailed(ctx, "reading documents for the search engine failed", err)
	}
	if len(docs) == 0 {
		s.after = 0
		return false, false, nil
	}
	answers := s.send(ctx, docs)
	if ctx.Err() != nil {
		return false, false, ctx.Err()
	}
	failure := summary(answers)
	more = len(docs) == s.limit
	if s.after = 0; more {
		s.after = docs[len(docs)-1].Seq
	}
	s.resize(docs, failure)
	var done []crawl.SentDocument
	for i, a := range answers {
		s.metrics.documents.WithLabelValues(a.outcome).Inc()
		if a.outcome == failed {
			continue
		}
		sent := crawl.SentDocument{Seq: docs[i].Seq, Version: docs[i].Version}
		if a.outcome == refused {
			sent.Error = clip(a.err.Error())
			s.logRefused(docs[i], sent.Error)
		}
		done = append(done, sent)
	}
	s.note(failure)
	if len(done) > 0 {
		if err := s.store.Sent(ctx, done); err != nil {
			return false, false, s.storeFailed(ctx, "recording documents of the search engine failed", err)
		}
	}
	return more, len(done) > 0, failure
}

// resize chooses the size of the next batch: about maxBytes, so that memory is
// bounded, and less after a failure, so that a slow search engine gets less at once.
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
