package crawl

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/jobs"
	"linkwatch/models/crawl"
)

const (
	indexBatch  = 250                    // pages indexed in one transaction
	indexGather = 250 * time.Millisecond // wait for more pages, so that batches are large
	indexPoll   = 2 * time.Second        // between two searches for pages that other instances have stored
	indexRetry  = time.Second            // after an error
)

// Indexer is the Service that updates the search index and the reports of completed crawls. Its
// work is recorded in the database, so nothing is lost when it stops, and several instances
// share it.
type Indexer struct {
	*jobs.Background
	store   *crawl.Store
	log     *slog.Logger
	indexed prometheus.Counter
	waiting prometheus.Gauge
	lag     prometheus.Gauge
}

// NewIndexer returns an indexer. It fails if its metrics are already registered.
func NewIndexer(store *crawl.Store, log *slog.Logger, reg prometheus.Registerer) (*Indexer, error) {
	x := &Indexer{
		store: store, log: log,
		indexed: prometheus.NewCounter(prometheus.CounterOpts{Name: "linkwatch_crawl_indexed_total", Help: "Total number of crawled pages updated in the search index."}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{Name: "linkwatch_crawl_index_waiting", Help: "Number of crawled pages waiting for the search index."}),
		lag:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "linkwatch_crawl_index_lag_seconds", Help: "Waiting time of the oldest crawled page in seconds."}),
	}
	for _, c := range []prometheus.Collector{x.indexed, x.waiting, x.lag} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	x.Background = jobs.NewBackground(x.run)
	return x, nil
}

// run works until taking is done.
func (x *Indexer) run(taking, working context.Context) {
	for taking.Err() == nil {
		wait := indexPoll
		more, err := x.pass(taking, working)
		switch {
		case err != nil && working.Err() == nil:
			jobs.LogError(x.log, "index crawled pages failed", err)
			wait = indexRetry
		case more:
			continue
		}
		select {
		case <-taking.Done():
			return
		case <-time.After(wait):
		case <-x.store.PagesStored():
			select {
			case <-taking.Done():
				return
			case <-time.After(indexGather):
			}
		}
	}
}

// pass indexes a batch of pages or writes a report. more reports whether there is more work.
func (x *Indexer) pass(taking, working context.Context) (more bool, err error) {
	n, err := x.store.IndexNext(working, indexBatch)
	x.indexed.Add(float64(n))
	if err != nil {
		return false, err
	}
	if err := x.measure(working); err != nil || n == indexBatch {
		return true, err
	}
	r, err := x.store.NextReport(working)
	if err != nil || r == nil {
		return false, err
	}
	for done := false; !done && taking.Err() == nil; {
		if done, err = r.Next(working); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (x *Indexer) measure(ctx context.Context) error {
	lag, err := x.store.IndexLag(ctx)
	if err != nil {
		return err
	}
	x.waiting.Set(float64(lag.Pages))
	x.lag.Set(0)
	if !lag.Oldest.IsZero() {
		x.lag.Set(max(0, x.store.Now().Sub(lag.Oldest.Time).Seconds()))
	}
	return nil
}
