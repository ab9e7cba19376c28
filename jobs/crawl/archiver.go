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
	Source int64 // the seq of its source
	URL    string
	Body   []byte      // its HTML in UTF-8; it must not be changed any more
	At     models.Time // when it was fetched
}

// ArchiverOptions are the settings of the archiver. Those that are 0 have a default.
type ArchiverOptions struct {
	Archive  *archive.Archive // stays the caller's to close
	Log      *slog.Logger
	Registry prometheus.Registerer

	// For tests:

	Workers   int           // 4
	MaxQueue  int           // copies, 1,024
	MaxBytes  int           // of the bodies in the queue and in work, 32 MiB
	Pause     time.Duration // after failures in a row, half a minute; it doubles up to 16 times as long
	Gather    time.Duration // that a copy waits for others, so that packs are large; a second
	SweepTime time.Duration // between two looks for packs to delete, a minute
}

const (
	archiveBatch  = 64               // copies that are stored in one pack
	archiveRecent = 10 * time.Minute // that a body is known to be stored
	maxRecent     = 64 << 10         // bodies that are remembered, some hundred bytes each
)

// Archiver is the Service that stores copies of crawled pages. It never delays a crawl:
// a copy that it cannot take or store is dropped and counted. While the archive fails
// it pauses, and tries a single copy after each pause.
type Archiver struct {
	*jobs.Background
	store   *crawl.Store
	archive *archive.Archive
	log     *slog.Logger
	queue   *copyQueue
	breaker *breaker
	sweeps  *breaker // of deleting and moving, for which a full disk is no reason to pause
	recent  *otter.Cache[crawl.BodyHash, struct{}]
	metrics archiveMetrics
	opts    ArchiverOptions
	taking  sync.Mutex // held by the worker that waits for copies: several would share them

	mu     sync.Mutex
	logged time.Time // when a loss was last logged
	unsaid int       // losses since then
}

// NewArchiver makes the archiver. It fails if the registry has metrics of these names.
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
		of    *int
		usual int
	}{{&o.Workers, 4}, {&o.MaxQueue, 1024}, {&o.MaxBytes, 32 << 20}} {
		if *d.of == 0 {
			*d.of = d.usual
		}
	}
	for _, d := range []struct {
		of    *time.Duration
		usual time.Duration
	}{{&o.Pause, 30 * time.Second}, {&o.Gather, time.Second}, {&o.SweepTime, time.Minute}} {
		if *d.of == 0 {
			*d.of = d.usual
		}
	}
	return o
}

// Add takes a copy, or drops it if there is no room. It never blocks.
func (a *Archiver) Add(c Copy) {
	if !a.queue.add(c) {
		a.lost(1, "dropped", "the queue is full")
	}
}

// State is why the archive takes or deletes no copies, "" = it does, and since when.
func (a *Archiver) State() (detail string, since models.Time) {
	reason, at := a.breaker.state()
	if reason == "" {
		reason, at = a.sweeps.state()
	}
	if reason == "" {
		return "", models.Time{}
	}
	return "The archive fails: " + reason + ".", models.At(at)
}

// run stores copies until taking ends and the queue is empty, or working ends. While
// the archive fails at that time, what is left is dropped.
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

// work is one worker.
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

// next waits for copies that may be stored. There are none once taking has ended and
// the queue is empty, or the archive fails.
func (a *Archiver) next(taking context.Context) []Copy {
	a.taking.Lock()
	defer a.taking.Unlock()
	for a.queue.wait(taking) {
		n, wait := a.breaker.allow(archiveBatch)
		if n > 0 {
			return a.queue.take(taking, n, a.opts.Gather)
		}
		if taking.Err() != nil {
			return nil
		}
		rest(taking, wait)
	}
	return nil
}

// rest waits, but not beyond the end of ctx.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// lost counts copies that are not stored, and logs them once a minute at most.
func (a *Archiver) lost(n int, outcome, reason string) {
	a.metrics.copies.WithLabelValues(outcome).Add(float64(n))
	if unsaid, ok := a.mayLog(n); ok {
		a.log.Warn("crawled pages were not archived", "pages", unsaid, "reason", reason)
	}
}

// report logs an error under the same limit.
func (a *Archiver) report(msg string, err error) {
	if _, ok := a.mayLog(0); ok {
		jobs.LogError(a.log, msg, err)
	}
}

const logArchiveEvery = time.Minute

// mayLog says whether it is time to log, and how many copies were lost meanwhile.
func (a *Archiver) mayLog(n int) (unsaid int, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.unsaid += n
	if now := time.Now(); a.logged.IsZero() || now.Sub(a.logged) >= logArchiveEvery {
		unsaid, a.unsaid, a.logged = a.unsaid, 0, now
		return unsaid, true
	}
	return 0, false
}
