// Package alerts is the alert worker: it turns events into alerts and sends their messages.
package alerts

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"linkwatch/jobs"
	"linkwatch/jobs/alerts/send"
	"linkwatch/models/alerts"
	"linkwatch/models/lease"
)

const (
	eventBatch  = 1000            // events per transaction
	noticeBatch = 500             // notices per transaction
	expireEvery = time.Minute     // interval of expiring old messages
	pauseFailed = time.Second     // after a database error
	recordTime  = 5 * time.Second // timeout of recording a result after shutdown started
)

// Options configure a Worker.
type Options struct {
	Store  *alerts.Store
	Lease  *lease.Lease
	Sender *send.Sender
	Log    *slog.Logger
	// HTML renders a message as the HTML part of an email. nil for emails of plain text.
	HTML func(ctx context.Context, n alerts.Notification, links []alerts.Link) (string, error)
}

// Worker is a service that turns events into alerts, queues their messages and sends them. Any number of instances may run: locks and
// claims make sure that no two of them do the same work.
type Worker struct {
	*jobs.Background
	Options
	metrics *metrics
	ready   chan struct{} // signals new messages

	mu      sync.Mutex
	running map[int64]bool // claimed channels by Channel.Seq
	limits  map[int64]*rate.Limiter
	unsure  bool // a claim or a release failed, so other channels may be claimed too
}

// New returns a worker. It fails if its metrics are already registered with reg.
func New(o Options, reg prometheus.Registerer) (*Worker, error) {
	w := &Worker{Options: o, ready: make(chan struct{}, 1), running: map[int64]bool{}, limits: map[int64]*rate.Limiter{}}
	var err error
	if w.metrics, err = newMetrics(o.Store, reg); err != nil {
		return nil, err
	}
	w.Background = jobs.NewBackground(w.run)
	return w, nil
}

// run processes events and sends messages in separate loops, so that slow processing of events does not delay queued messages.
func (w *Worker) run(taking, working context.Context) {
	var all sync.WaitGroup
	all.Go(func() { w.prepare(taking, working) })
	w.deliver(taking, working)
	all.Wait()
}

// prepare processes events, queues messages and expires old ones until taking ends. The steps are independent: if one fails, the others
// still run.
func (w *Worker) prepare(taking, working context.Context) {
	var expired time.Time
	for taking.Err() == nil {
		taken, err := w.Store.ProcessEvents(working, eventBatch)
		sent, e := w.Store.QueueMessages(working, noticeBatch)
		err = errors.Join(err, e)
		if time.Since(expired) > expireEvery {
			expired = time.Now()
			n, e := w.Store.ExpireMessages(working)
			err = errors.Join(err, e)
			w.metrics.add("failed", int(n))
		}
		if sent > 0 {
			w.signalReady()
		}
		pause := alerts.PollInterval
		switch {
		case err != nil && working.Err() == nil:
			jobs.LogError(w.Log, "alert processing failed", err)
			pause = pauseFailed
		case taken == eventBatch || sent == noticeBatch:
			continue
		}
		wait(taking, nil, pause)
	}
}

// deliver sends the messages of all channels. Each channel has its own goroutine, so that a slow service does not delay the others. There
// are at most alerts.MaxChannels.
func (w *Worker) deliver(taking, working context.Context) {
	var channels sync.WaitGroup
	defer channels.Wait()
	for taking.Err() == nil {
		pause := alerts.PollInterval
		if holder, leased, ok := w.Lease.Current(); ok {
			cs, err := w.claim(working, holder)
			if err != nil && !errors.Is(err, lease.ErrLost) && working.Err() == nil {
				jobs.LogError(w.Log, "claim of channels failed", err)
				pause = pauseFailed
			}
			for _, c := range cs {
				channels.Go(func() { w.channel(taking, working, leased, holder, c) })
			}
		}
		wait(taking, w.ready, pause)
	}
}

// claim claims the channels that have messages. After an error it first releases channels that may have been claimed without its
// knowledge.
func (w *Worker) claim(ctx context.Context, holder lease.ID) ([]alerts.Channel, error) {
	w.mu.Lock()
	unsure, keep := w.unsure, slices.Collect(maps.Keys(w.running))
	w.mu.Unlock()
	if unsure {
		if err := w.Store.ReleaseOthers(ctx, holder, keep); err != nil {
			return nil, err
		}
	}
	cs, err := w.Store.ClaimChannels(ctx, holder, alerts.MaxChannels)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unsure = err != nil
	for _, c := range cs {
		w.running[c.Seq] = true
	}
	return cs, err
}

func (w *Worker) signalReady() {
	select {
	case w.ready <- struct{}{}:
	default: // already signaled
	}
}

// wait waits until ctx ends, ready receives, or d has passed.
func wait(ctx context.Context, ready <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-ready:
	case <-timer.C:
	}
}
