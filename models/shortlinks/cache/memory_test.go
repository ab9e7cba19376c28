package cache

import (
	"sync/atomic"
	"testing"
	"time"

	"linkwatch/models/shortlinks"
)

// hand is a clock that is moved by hand.
type hand struct{ now atomic.Int64 }

func (h *hand) NowNano() int64                      { return h.now.Load() }
func (h *hand) Tick(time.Duration) <-chan time.Time { return nil }

func TestMemoryForgetsInTime(t *testing.T) {
	clock := &hand{}
	m := newMemory(100, nil, clock)
	defer m.Close()
	e := shortlinks.Entry{LongURL: "https://example.com", Link: 1, Version: 1}
	newer := shortlinks.Entry{LongURL: "https://example.com/new", Link: 1, Version: 2}
	m.Put(t.Context(), "short", e, time.Minute, time.Now())
	m.Put(t.Context(), "long", e, time.Hour, time.Now())
	m.Put(t.Context(), "unknown", shortlinks.UnknownEntry(), 10*time.Second, time.Now())
	m.Put(t.Context(), "kept-on", e, time.Minute, time.Now())
	for at, want := range []string{"short", "long", "unknown", "kept-on"} {
		if _, ok := m.Get(t.Context(), want, time.Now()); !ok {
			t.Errorf("%d: %s is not there", at, want)
		}
	}
	clock.now.Store(int64(30 * time.Second))
	m.Refresh(t.Context(), []shortlinks.Change{{Key: "kept-on", Entry: newer, TTL: time.Minute}})
	there := func(at time.Duration, keys ...string) {
		t.Helper()
		clock.now.Store(int64(at))
		got := map[string]bool{}
		for _, k := range []string{"short", "long", "unknown", "kept-on"} {
			_, got[k] = m.Get(t.Context(), k, time.Now())
		}
		for _, k := range keys {
			if !got[k] {
				t.Errorf("after %s %s is not there", at, k)
			}
			delete(got, k)
		}
		for k, is := range got {
			if is {
				t.Errorf("after %s %s is still there", at, k)
			}
		}
	}
	there(30*time.Second, "short", "long", "kept-on")
	there(time.Minute, "long", "kept-on")
	there(90*time.Second, "long")
	there(time.Hour)
	m.Refresh(t.Context(), []shortlinks.Change{{Key: "long", Entry: newer, TTL: time.Minute}})
	there(time.Hour)
	m.Put(t.Context(), "long", e, time.Minute, time.Now()) // nothing newer is known any more
	there(time.Hour, "long")
}
