// Package alerts makes alerts of events and sends their messages.
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
	eventBatch  = 1000            // events that become alerts in one transaction
	noticeBatch = 500             // notices that become messages in one transaction
	expireEvery = time.Minute     // between looks for messages to give up
	pauseFailed = time.Second     // after an error of the database
	recordTime  = 5 * time.Second // to store what became of a message when a context has ended
)

// Options are what the work needs.
type Options struct {
	Store  *alerts.Store
	Lease  *lease.Lease
	Sender *send.Sender
	Log    *slog.Logger
}

// Worker is a service: it makes alerts of events, puts their messages into the outbox, and
// sends these. Any number of instances may do so: each step takes what no other one has.
type Worker struct {
	*jobs.Background
	Options
	metrics *metrics
	ready   chan struct{} // rings when there are new messages

	mu      sync.Mutex
	running map[int64]bool // channels whose messages this process sends, by Channel.Seq
	limits  map[int64]*rate.Limiter
	unsure  bool // others may be claimed too: a claim or a release failed
}

// New makes the worker. It fails if reg has a metric of its name.
func New(o Options, reg prometheus.Registerer) (*Worker, error) {
	w := &Worker{Options: o, ready: make(chan struct{}, 1), running: map[int64]bool{}, limits: map[int64]*rate.Limiter{}}
	var err error
	if w.metrics, err = newMetrics(o.Store, reg); err != nil {
		return nil, err
	}
	w.Background = jobs.NewBackground(w.run)
	return w, nil
}

// run makes alerts and sends their messages, each in a loop of its own: a database that is
// slow to take events does not delay messages that are ready.
func (w *Worker) run(taking, working context.Context) {
	var all sync.WaitGroup
	all.Go(func() { w.prepare(taking, working) })
	w.deliver(taking, working)
	all.Wait()
}

// prepare makes alerts of events and messages of alerts, and gives up old messages, until taking ends. A step that fails
// does not stop the others.
func (w *Worker) prepare(taking, working context.Context) {
	var expired time.Time
	for taking.Err() == nil {
		taken, err := w.Store.Take(working, eventBatch)
		sent, e := w.Store.Send(working, noticeBatch)
		err = errors.Join(err, e)
		if time.Since(expired) > expireEvery {
			expired = time.Now()
			n, e := w.Store.Expire(working)
			err = errors.Join(err, e)
			w.metrics.add("failed", int(n))
		}
		if sent > 0 {
			w.ring()
		}
		pause := alerts.Every
		switch {
		case err != nil && working.Err() == nil:
			jobs.LogError(w.Log, "alerts not prepared", err)
			pause = pauseFailed
		case taken == eventBatch || sent == noticeBatch:
			continue
		}
		wait(taking, nil, pause)
	}
}

// deliver sends the messages of all channels, each in a goroutine of its own, so that none
// waits for a service that hangs. There are alerts.MaxChannels at most.
func (w *Worker) deliver(taking, working context.Context) {
	var channels sync.WaitGroup
	defer channels.Wait()
	for taking.Err() == nil {
		pause := alerts.Every
		if holder, held, ok := w.Lease.Current(); ok {
			cs, err := w.claim(working, holder)
			if err != nil && !errors.Is(err, lease.ErrLost) && working.Err() == nil {
				jobs.LogError(w.Log, "channels not claimed", err)
				pause = pauseFailed
			}
			for _, c := range cs {
				channels.Go(func() { w.channel(taking, working, held, holder, c) })
			}
		}
		wait(taking, w.ready, pause)
	}
}

// claim claims the channels that have messages. After an error it first releases those that
// may have been claimed unnoticed.
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

func (w *Worker) ring() {
	select {
	case w.ready <- struct{}{}:
	default: // it rings already
	}
}

// wait waits until ctx ends, a bell rings, or a time is over.
func wait(ctx context.Context, bell <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-bell:
	case <-timer.C:
	}
}
