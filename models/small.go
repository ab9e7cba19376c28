package models

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"gorm.io/gorm"
)

// maxSmall is the maximum number of small transactions that share a commit. It bounds how long the first one waits for
// the others.
const maxSmall = 64

// WriteSmall is Write for a transaction of a few rows that many requests make at the same time. On SQLite, those that wait
// for the one writer share a commit, which is half of the cost of such a transaction (ADR 32). Each succeeds or fails
// alone, unless the commit fails.
//
// On SQLite, fn runs in another goroutine, and to its end even if ctx ends meanwhile: an interrupted statement would undo
// the changes of all. ctx only ends the wait for the writer.
func (db *DB) WriteSmall(ctx context.Context, fn func(tx *gorm.DB) error) error {
	if db.Engine != SQLite {
		return db.Write(ctx, fn)
	}
	if err := Again(ctx); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("wait for other writers: %w", ctx.Err())
	}
	expect := expected(ctx)
	w := &smallWrite{ctx: ctx, fn: expect.before(context.WithoutCancel(ctx), fn), done: make(chan struct{})}
	if db.small.add(w) {
		go db.writeSmall() //nolint:gosec,contextcheck // without ctx: it works for other requests too
	}
	select {
	case <-w.done:
	case <-ctx.Done():
		if db.small.remove(w) {
			return fmt.Errorf("wait for other writers: %w", ctx.Err())
		}
		<-w.done
	}
	if w.panicked != nil {
		panic(w.panicked)
	}
	if w.err == nil {
		expect.met()
	}
	return w.err
}

// writeSmall runs waiting transactions until there are none.
func (db *DB) writeSmall() {
	for {
		var some []*smallWrite
		err := db.Write(context.Background(), func(tx *gorm.DB) error {
			some = db.small.take() // as many as wait when the writer is free
			for _, w := range some {
				if err := w.run(tx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil && some == nil { // no transaction has begun
			some = db.small.take()
		}
		for _, w := range some {
			if w.err == nil {
				w.err = err
			}
			close(w.done)
		}
		if db.small.end() {
			return
		}
	}
}

// smallWrite is a call of WriteSmall.
type smallWrite struct {
	ctx      context.Context
	fn       func(tx *gorm.DB) error
	done     chan struct{} // closed when err and panicked are set
	err      error
	panicked error // what fn panicked with, and where
}

// run runs fn in a savepoint. It returns an error if the whole transaction failed.
func (w *smallWrite) run(tx *gorm.DB) error {
	if err := tx.Exec("SAVEPOINT small").Error; err != nil {
		return err
	}
	if w.err = w.call(tx.WithContext(context.WithoutCancel(w.ctx))); w.err != nil {
		if tx.Exec("ROLLBACK TO small").Error != nil { // after a full disk, for example, there is no transaction
			return w.err
		}
	}
	return tx.Exec("RELEASE small").Error
}

// call calls fn. A panic must not end the goroutine, which works for others too.
func (w *smallWrite) call(tx *gorm.DB) (err error) {
	defer func() {
		if r := recover(); r != nil {
			w.panicked = fmt.Errorf("%v\n\n%s", r, debug.Stack())
			err = w.panicked
		}
	}()
	return w.fn(tx)
}

// smallWrites are the calls of WriteSmall that wait for the writer.
type smallWrites struct {
	mu      sync.Mutex
	waiting []*smallWrite
	running bool // a goroutine runs writeSmall
}

// add adds a call. start is true if writeSmall must be started.
func (s *smallWrites) add(w *smallWrite) (start bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, w)
	start = !s.running
	s.running = true
	return start
}

// remove removes a call. It returns false if the call no longer waits.
func (s *smallWrites) remove(w *smallWrite) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.waiting, w)
	if i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	return i >= 0
}

// take removes and returns the first calls.
func (s *smallWrites) take() []*smallWrite {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.waiting), maxSmall)
	some := slices.Clone(s.waiting[:n])
	s.waiting = slices.Delete(s.waiting, 0, n)
	return some
}

// end reports whether writeSmall may end because no call waits.
func (s *smallWrites) end() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = len(s.waiting) > 0
	return !s.running
}
