package cache

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"linkwatch/models/shortlinks"
)

const (
	// maxBatches is the number of concurrent reads. Misses that come meanwhile wait and are read together, so a burst
	// of them costs few round trips, and a single one does not wait. Claims need the other connections of DB.Urgent.
	maxBatches = 2
	// maxBatch is the number of keys per read.
	maxBatch = 100
	// maxMissing is the number of keys that are being read or wait for it. While reads hang, further misses fail at once.
	maxMissing = 10_000
)

// reading are the misses that are being read or wait for it.
type reading struct {
	slots chan struct{} // a token per running batch

	timeout time.Duration // of a visit that waits

	mu      sync.Mutex
	missing map[string]*miss // by key
	waiting []*miss          // those of no batch yet
}

// miss is the read of a key. Concurrent misses of a key share it. Its other fields are valid when done is closed.
type miss struct {
	key   string
	done  chan struct{}
	found cached
	err   error
}

// join returns the read of a key; nil if too many others wait.
func (r *reading) join(key string) *miss {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.missing[key]
	if m == nil {
		if len(r.missing) >= maxMissing {
			return nil
		}
		m = &miss{key: key, done: make(chan struct{})}
		r.missing[key] = m
		r.waiting = append(r.waiting, m)
	}
	return m
}

// batch takes waiting misses.
func (r *reading) batch() []*miss {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.waiting), maxBatch)
	batch := r.waiting[:n:n]
	r.waiting = r.waiting[n:]
	return batch
}

// end ends the reads of a batch.
func (r *reading) end(batch []*miss) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range batch {
		delete(r.missing, m.key)
		close(m.done)
	}
}

// find is Get after a miss. It waits at most shortlinks.LoadTimeout.
func (m *Memory) find(ctx context.Context, key string, at time.Duration, load shortlinks.Load) (shortlinks.Entry, error) {
	timeout := time.NewTimer(m.reading.timeout)
	defer timeout.Stop()
	for {
		own := m.reading.join(key)
		if own == nil {
			return shortlinks.Entry{}, fmt.Errorf("read short link: too many others wait: %w", context.DeadlineExceeded)
		}
		for slots, read := m.reading.slots, false; !read; {
			select {
			case slots <- struct{}{}:
				go m.readWaiting(context.WithoutCancel(ctx), load) // without cancellation: others wait for it too
				slots = nil
			case <-own.done:
				read = true
			case <-timeout.C:
				return shortlinks.Entry{}, fmt.Errorf("wait to read short link: %w", context.DeadlineExceeded)
			}
		}
		if own.err != nil {
			return shortlinks.Entry{}, own.err
		}
		// A shared read may be too old, if the process was stopped in between.
		if at-own.found.asOf < shortlinks.MaxStale {
			return own.found.Entry, nil
		}
	}
}

// readWaiting reads the waiting misses, until there are none, and frees a slot.
func (m *Memory) readWaiting(ctx context.Context, load shortlinks.Load) {
	defer func() { <-m.reading.slots }()
	for batch := m.reading.batch(); len(batch) > 0; batch = m.reading.batch() {
		m.readBatch(ctx, batch, load)
	}
}

// readBatch reads misses and ends them. All of them get the same error. Then it writes those from the database to Redis:
// their visits do not wait for that.
func (m *Memory) readBatch(ctx context.Context, batch []*miss, load shortlinks.Load) {
	loaded := m.readAndEnd(ctx, batch, load)
	if m.shared == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil { // here it would end the program
			m.shared.log.Error("short links not stored in Redis", "error", fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
		}
	}()
	m.shared.write(ctx, loaded)
}

// readAndEnd returns the misses that were read from the database.
func (m *Memory) readAndEnd(ctx context.Context, batch []*miss, load shortlinks.Load) (loaded []*miss) {
	defer m.reading.end(batch)
	defer func() {
		if v := recover(); v != nil {
			fail(batch, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
		}
	}()
	loaded, err := m.read(ctx, batch, load)
	if err != nil {
		fail(batch, err)
	}
	return loaded
}

func fail(batch []*miss, err error) {
	for _, b := range batch {
		b.err = err
	}
}

// read reads the entries of keys into the cache, from Redis or from the database. It returns those from the database.
func (m *Memory) read(ctx context.Context, batch []*miss, load shortlinks.Load) (stored []*miss, err error) {
	now, version := m.now(), m.horizon.Load().version
	var missing []*miss
	for _, b := range batch {
		h, ok := m.peek(b.key) // another visit may have read it since
		if h.asOf = m.asOf(&h); ok && now-h.asOf < shortlinks.MaxStale {
			b.found = h
			continue
		}
		missing = append(missing, b)
	}
	if m.shared != nil {
		missing = m.shared.read(ctx, missing, now)
	}
	if len(missing) == 0 {
		return nil, nil
	}
	keys := make([]string, len(missing))
	for i, b := range missing {
		keys[i] = b.key
	}
	asOf := m.now()
	loaded, err := load(ctx, keys)
	if err != nil {
		return nil, err
	}
	for i, b := range missing {
		b.found = cached{Entry: loaded[i].Entry, ttl: loaded[i].TTL, upTo: max(version, loaded[i].Version), asOf: asOf}
		if m.put(b.key, b.found) {
			stored = append(stored, b)
		}
	}
	return stored, nil
}
