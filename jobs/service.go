// Package jobs runs what happens in the background: services that work from
// start to stop, and the scheduled jobs with their overlap guard and statistics.
package jobs

import (
	"context"
	"sync"
)

// Service works in the background between Start and Stop.
type Service interface {
	// Start begins the work and returns at once. Starting twice is starting
	// once, and after Stop it does nothing.
	Start()
	// Stop lets no new work begin and waits for what is running. When ctx ends
	// it is told to give up. Stop returns when nothing runs any more; it may be
	// called before Start, and more than once.
	Stop(ctx context.Context)
}

// Services are several as one. They stop together, so that none begins new
// work while another finishes its own.
type Services []Service

// Start starts each, in order.
func (all Services) Start() {
	for _, s := range all {
		s.Start()
	}
}

// Stop stops all of them at once and returns when the last has stopped.
func (all Services) Stop(ctx context.Context) {
	var wg sync.WaitGroup
	for _, s := range all {
		wg.Go(func() { s.Stop(ctx) })
	}
	wg.Wait()
}

// Background is the Service of one function with two contexts: taking ends when
// no new work may be taken, working when the work under way must be given up.
// The function returns soon after taking has ended and its work is done.
type Background struct {
	run func(taking, working context.Context)

	taking, working context.Context // their life is that of the service
	stop, giveUp    context.CancelFunc

	mu   sync.Mutex
	done chan struct{} // nil: never started; closed when run has returned
}

// NewBackground makes a Service of run.
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
