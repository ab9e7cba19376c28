// Package jobs runs background work: services that work from start to stop, and
// scheduled jobs with overlap protection and statistics.
package jobs

import (
	"context"
	"sync"
)

// Service works in the background between Start and Stop.
type Service interface {
	// Start begins the work and returns at once. Further calls, and calls after
	// Stop, do nothing.
	Start()
	// Stop starts no new work and waits for running work, which is canceled when
	// ctx ends. Stop returns when nothing runs. It may be called before Start,
	// and more than once.
	Stop(ctx context.Context)
}

// Services combines several services into one. They stop together, so that none starts new work while another
// finishes.
type Services []Service

// Start starts the services in order.
func (all Services) Start() {
	for _, s := range all {
		s.Start()
	}
}

// Stop stops all services at the same time and returns when the last has stopped.
func (all Services) Stop(ctx context.Context) {
	var wg sync.WaitGroup
	for _, s := range all {
		wg.Go(func() { s.Stop(ctx) })
	}
	wg.Wait()
}

// Background is a Service that runs one function with two contexts. taking ends when no new work may start,
// working when running work must be canceled. The function must return soon after taking has ended and its work is
// done.
type Background struct {
	run func(taking, working context.Context)

	taking, working context.Context // they live as long as the service
	stop, giveUp    context.CancelFunc

	mu   sync.Mutex
	done chan struct{} // nil until Start; closed when run has returned
}

// NewBackground returns a Service that runs run.
func NewBackground(run func(taking, working context.Context)) *Background {
	b := &Background{run: run}
	b.working, b.giveUp = context.WithCancel(context.Background())
	b.taking, b.stop = context.WithCancel(b.working)
	return b
}

// Start implements Service.
func (b *Background) Start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done != nil || b.taking.Err() != nil {
		return
	}
	done := make(chan struct{})
	b.done = done
	go func() {
		defer close(done)
		b.run(b.taking, b.working)
	}()
}

// Stop implements Service.
func (b *Background) Stop(ctx context.Context) {
	b.stop()
	b.mu.Lock()
	done := b.done
	b.mu.Unlock()
	if done != nil {
		select {
		case <-done:
		case <-ctx.Done():
			b.giveUp()
			<-done
		}
	}
	b.giveUp()
}
