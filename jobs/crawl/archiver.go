package crawl

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/jobs"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/crawl/archive"
)

// Copy is a page to archive.
type Copy struct {
	Source int64 // Seq of the source
	URL    string
	Body   []byte      // HTML in UTF-8; must not be modified
	At     models.Time // when it was fetched
}

// ArchiverOptions are the settings of the archiver. Zero values use the default.
type ArchiverOptions struct {
	Archive  *archive.Archive // the caller closes it
	Log      *slog.Logger
	Registry prometheus.Registerer

	// For tests:

	Workers       int           // default 4
	MaxQueue      int           // queued copies, default 1,024
	MaxBytes      int           // of the bodies queued and being stored, default 32 MiB
	Pause         time.Duration // after consecutive failures, default 30 s; doubles up to 16 times as long
	PackDelay     time.Duration // how long a copy waits for more copies of the same pack, default 1 s
	SweepInterval time.Duration // between two searches for packs to delete, default 1 min
}

const (
	archiveBatch  = 64               // maximum number of copies in a pack
	archiveRecent = 10 * time.Minute // how long a body is known to be stored
	maxRecent     = 64 << 10         // bodies known to be stored, a few hundred bytes each
)

// Archiver is the Service that stores copies of crawled pages. It never delays a crawl: it drops
// and counts copies that it cannot queue or store. While the archive fails, it pauses and tries
// a single copy after each pause.
type Archiver struct {
	*jobs.Background
	store   *crawl.Store
	archive *archive.Archive
	log     *slog.Logger
	queue   *copyQueue
	breaker *breaker
	sweeps  *breaker // of deletes and moves, which must continue when the disk is full
	recent  models.Cache[crawl.BodyHash, struct{}]
	metrics archiveMetrics
	opts    ArchiverOptions
	taking  sync.Mutex // held by the worker that waits for copies, so that a batch is not split

	mu       sync.Mutex
	logged   time.Time // time of the last log line
	unlogged int       // lost copies since then
}

// NewArchiver returns an archiver. It fails if its metrics are already registered.
func NewArchiver(store *crawl.Store, o ArchiverOptions) (*Archiver, error) {
	o = o.withDefaults()
	a := &Archiver{
		store: store, archive: o.Archive, log: o.Log, opts: o, metrics: newArchiveMetrics(),
		queue: newCopyQueue(o.MaxQueue, o.MaxBytes), breaker: &breaker{pause: o.Pause}, sweeps: &breaker{pause: o.Pause},
		recent: otter.Must(&otter.Options[crawl.BodyHash, struct{}]{
			MaximumSize: maxRecent, ExpiryCalculator: otter.ExpiryWriting[crawl.BodyHash, struct{}](archiveRecent),
		}),
	}
	if err := a.metrics.register(o.Registry, a.queue); err != nil {
		return nil, err
	}
	a.Background = jobs.NewBackground(a.run)
	return a, nil
}

func (o ArchiverOptions) withDefaults() ArchiverOptions {
	for _, d := range []struct {
		field *int
		def   int
	}{{&o.Workers, 4}, {&o.MaxQueue, 1024}, {&o.MaxBytes, 32 << 20}} {
		if *d.field == 0 {
			*d.field = d.def
		}
	}
	for _, d := range []struct {
		field *time.Duration
		def   time.Duration
	}{{&o.Pause, 30 * time.Second}, {&o.PackDelay, time.Second}, {&o.SweepInterval, time.Minute}} {
		if *d.field == 0 {
			*d.field = d.def
		}
	}
	return o
}

// Add queues a copy, or drops it if the queue is full. It never blocks.
func (a *Archiver) Add(c Copy) {
	if !a.queue.add(c) {
		a.lost(1, "dropped", "the queue is full")
	}
}

// State returns the error of the archive and the time of the first one; "" = it works.
func (a *Archiver) State() (detail string, since models.Time) {
	reason, at := a.breaker.state()
	if reason == "" {
		reason, at = a.sweeps.state()
	}
	if reason == "" {
		return "", models.Time{}
	}
	return "The archive failed: " + reason + ".", models.At(at)
}

// run stores copies until taking is done and the queue is empty, or working is done. If the archive
// fails at that time, it drops the remaining copies.
func (a *Archiver) run(taking, working context.Context) {
	var all sync.WaitGroup
	for range a.opts.Workers {
		all.Go(func() { a.work(taking, working) })
	}
	all.Go(func() { a.sweep(taking) })
	all.Wait()
	if left := a.queue.close(); left > 0 {
		a.lost(left, "dropped", "the program stops")
	}
}

func (a *Archiver) work(taking, working context.Context) {
	var pack archive.Pack
	for working.Err() == nil {
		copies := a.next(taking)
		if len(copies) == 0 {
			return
		}
		a.storeAll(working, &pack, copies)
	}
}

// next waits for copies that may be stored. It returns none when taking is done and the queue is
// empty or the archive fails.
func (a *Archiver) next(taking context.Context) []Copy {
	a.taking.Lock()
	defer a.taking.Unlock()
	for a.queue.wait(taking) {
		n, wait := a.breaker.allow(archiveBatch)
		if n > 0 {
			return a.queue.take(taking, n, a.opts.PackDelay)
		}
		if taking.Err() != nil {
			return nil
		}
		sleep(taking, wait)
	}
	return nil
}

// sleep waits for d or until ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// lost counts copies that are not stored. It logs at most once a minute.
func (a *Archiver) lost(n int, outcome, reason string) {
	a.metrics.copies.WithLabelValues(outcome).Add(float64(n))
	if unlogged, ok := a.mayLog(n); ok {
		a.log.Warn("crawled pages not archived", "pages", unlogged, "reason", reason)
	}
}

// report logs an error, with the same limit.
func (a *Archiver) report(msg string, err error) {
	if _, ok := a.mayLog(0); ok {
		jobs.LogError(a.log, msg, err)
	}
}

const archiveLogInterval = time.Minute

// mayLog reports whether to log now, and how many copies were lost since the last line.
func (a *Archiver) mayLog(n int) (unlogged int, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.unlogged += n
	if now := time.Now(); a.logged.IsZero() || now.Sub(a.logged) >= archiveLogInterval {
		unlogged, a.unlogged, a.logged = a.unlogged, 0, now
		return unlogged, true
	}
	return 0, false
}
