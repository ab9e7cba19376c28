package cache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
)

// blocked is a database that responds when allowed.
type blocked struct {
	mu    sync.Mutex
	reads [][]string
	allow chan struct{}
}

func (b *blocked) load(_ context.Context, keys []string) ([]shortlinks.Loaded, error) {
	b.mu.Lock()
	b.reads = append(b.reads, keys)
	b.mu.Unlock()
	<-b.allow
	loaded := make([]shortlinks.Loaded, len(keys))
	for i, key := range keys {
		loaded[i] = shortlinks.Loaded{Entry: shortlinks.Entry{LongURL: "https://example.com/" + key, Link: 1, Version: 1}, TTL: time.Hour}
	}
	return loaded, nil
}

func (b *blocked) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.reads)
}

// Misses that come while others are read are read together, and each visit gets its own entry.
func TestMissesAreReadTogether(t *testing.T) {
	modelstest.NoLeaks(t)
	m := NewMemory(1000, nil)
	defer m.Close()
	db := &blocked{allow: make(chan struct{})}
	var visits sync.WaitGroup
	visit := func(key string) {
		visits.Go(func() {
			e, err := m.Get(t.Context(), key, time.Now(), db.load)
			if err != nil || e.LongURL != "https://example.com/"+key {
				t.Errorf("%s: got %+v, %v", key, e, err)
			}
		})
	}
	for i := range maxBatches { // one after the other, so that each is read alone
		visit(fmt.Sprint("first", i))
		modelstest.Eventually(t, "it is read", func() bool { return db.count() == i+1 })
	}
	const others = maxBatch + maxBatch/2
	for i := range others {
		visit(fmt.Sprint("other", i))
		visit(fmt.Sprint("other", i))
	}
	modelstest.Eventually(t, "all others wait", func() bool {
		m.reading.mu.Lock()
		defer m.reading.mu.Unlock()
		return len(m.reading.waiting) == others
	})
	close(db.allow)
	visits.Wait()
	if n := db.count(); n != maxBatches+2 {
		t.Errorf("got %d reads, want %d", n, maxBatches+2)
	}
	if n := len(slices.MaxFunc(db.reads, func(a, b []string) int { return len(a) - len(b) })); n != maxBatch {
		t.Errorf("got a read of %d keys, want at most %d", n, maxBatch)
	}
}

// A failed read fails its visits only.
func TestFailedReads(t *testing.T) {
	m := NewMemory(1000, nil)
	defer m.Close()
	for want, load := range map[string]shortlinks.Load{
		"no database":       func(context.Context, []string) ([]shortlinks.Loaded, error) { return nil, errors.New("no database") },
		"panic: impossible": func(context.Context, []string) ([]shortlinks.Loaded, error) { panic("impossible") },
	} {
		if _, err := m.Get(t.Context(), "key", time.Now(), load); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	db := &blocked{allow: make(chan struct{})}
	close(db.allow)
	if _, err := m.Get(t.Context(), "key", time.Now(), db.load); err != nil {
		t.Error("the next visit: ", err)
	}
}

// A visit does not wait longer than its timeout, whatever the database does.
func TestVisitsStopWaiting(t *testing.T) {
	m := NewMemory(1000, nil)
	defer m.Close()
	m.reading.timeout = time.Millisecond
	db := &blocked{allow: make(chan struct{})}
	defer close(db.allow)
	for i := range maxBatches + 1 {
		if _, err := m.Get(t.Context(), fmt.Sprint("key", i), time.Now(), db.load); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got error %v, want a timeout", err)
		}
	}
}

// While reads hang, the number of keys that wait is limited, and further visits fail at once.
func TestMissesThatWaitAreLimited(t *testing.T) {
	modelstest.NoLeaks(t)
	m := NewMemory(1000, nil)
	defer m.Close()
	for i := range maxMissing {
		if m.reading.join(fmt.Sprint(i)) == nil {
			t.Fatalf("key %d does not wait", i)
		}
	}
	if m.reading.join("0") == nil {
		t.Error("a visit of a key that is waiting does not wait")
	}
	_, err := m.Get(t.Context(), "more", time.Now(), func(context.Context, []string) ([]shortlinks.Loaded, error) {
		t.Error("a key beyond the limit was read")
		return nil, nil
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// A visit that starts after a change does not use the older read of another visit, if the process was stopped
// meanwhile.
func TestReadOfAnotherVisitIsTooOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := modelstest.NewClock()
		m := NewMemory(1000, clock.Now)
		defer m.Close()
		reads := make(chan chan string) // a read takes its destination from here
		load := func(context.Context, []string) ([]shortlinks.Loaded, error) {
			read := make(chan string)
			reads <- read
			e := shortlinks.Entry{LongURL: <-read, Link: 1, Version: 1}
			return []shortlinks.Loaded{{Entry: e, TTL: time.Hour}}, nil
		}
		visit := func() <-chan string {
			got := make(chan string, 1)
			go func() {
				e, err := m.Get(t.Context(), "key", clock.Now(), load)
				if err != nil {
					t.Error(err)
				}
				got <- e.LongURL
			}()
			return got
		}
		first := visit()
		old := <-reads
		clock.Advance(shortlinks.MaxStale)
		second := visit()
		synctest.Wait() // the second visit waits for the read of the first
		old <- "https://example.com/page"
		if to := <-first; to != "https://example.com/page" {
			t.Errorf("first visit: got %s", to)
		}
		synctest.Wait()
		select {
		case newer := <-reads:
			newer <- "https://example.com/new"
		default:
			t.Error("the second visit reads nothing")
		}
		if to := <-second; to != "https://example.com/new" {
			t.Errorf("second visit: got %s", to)
		}
	})
}
