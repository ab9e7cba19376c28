package cache

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"linkwatch/models/shortlinks"
)

// manual is a clock that tests advance.
type manual struct{ now atomic.Int64 }

func (c *manual) NowNano() int64                      { return c.now.Load() }
func (c *manual) Tick(time.Duration) <-chan time.Time { return nil }

// get returns the cached destination or reason of a key; "" on a miss.
func (m *Memory) get(key string) string {
	e, err := m.Get(context.Background(), key, time.Now(), func(context.Context, []string) ([]shortlinks.Loaded, error) {
		return nil, errors.New("a miss")
	})
	if err != nil {
		return ""
	}
	return e.LongURL + string(e.Reason)
}

// entry returns a cached read of a link at a version, by a process that knew all changes up to
// the version seen.
func entry(to string, version, seen int64) cached {
	h := cached{Entry: shortlinks.Entry{LongURL: to, Link: 1, Version: version}, ttl: time.Hour, upTo: max(version, seen)}
	if to == "" {
		h.Entry = shortlinks.UnknownEntry()
	}
	return h
}

func TestMemoryExpiresEntries(t *testing.T) {
	clock := &manual{}
	m := newMemory(100, nil, clock)
	defer m.Close()
	for key, ttl := range map[string]time.Duration{"short": time.Minute, "long": time.Hour} {
		h := entry("https://example.com", 1, 1)
		h.ttl = ttl
		m.put(key, h)
	}
	h := entry("", 0, 1)
	h.ttl = 10 * time.Second
	m.put("unknown", h)
	for _, c := range []struct {
		at     time.Duration
		cached []string
	}{
		{0, []string{"short", "long", "unknown"}},
		{10 * time.Second, []string{"short", "long"}},
		{time.Minute, []string{"long"}},
		{time.Hour, nil},
	} {
		clock.now.Store(int64(c.at))
		cached := map[string]bool{}
		for _, key := range c.cached {
			cached[key] = true
		}
		for _, key := range []string{"short", "long", "unknown"} {
			if got := m.get(key); (got != "") != cached[key] {
				t.Errorf("after %s, %s: got %q", c.at, key, got)
			}
		}
	}
}

// An entry is cached only if it has all known changes of its key.
func TestMemoryKeepsTheNewest(t *testing.T) {
	const old, newer = "https://example.com/old", "https://example.com/new"
	put := func(h cached) func(*Memory) { return func(m *Memory) { m.put("key", h) } }
	invalidate := func(version int64) func(*Memory) { return func(m *Memory) { m.invalidate("key", version) } }
	end := func(version int64) func(*Memory) {
		return func(m *Memory) {
			e := shortlinks.Entry{IsTombstone: true, Reason: shortlinks.ReasonExpired, Link: 1, Version: version}
			m.End("key", version, e, time.Hour)
		}
	}
	for name, c := range map[string]struct {
		steps []func(*Memory)
		want  string
	}{
		"nothing":                                   {nil, ""},
		"a read":                                    {[]func(*Memory){put(entry(old, 5, 0))}, old},
		"a newer read":                              {[]func(*Memory){put(entry(old, 5, 0)), put(entry(newer, 6, 0))}, newer},
		"an older read that comes later":            {[]func(*Memory){put(entry(newer, 6, 0)), put(entry(old, 5, 0))}, newer},
		"a change":                                  {[]func(*Memory){put(entry(old, 5, 0)), invalidate(6)}, ""},
		"a change that the read has":                {[]func(*Memory){put(entry(newer, 6, 0)), invalidate(6)}, newer},
		"a change that a read came after":           {[]func(*Memory){put(entry(old, 5, 7)), invalidate(6)}, old},
		"a read from before a change":               {[]func(*Memory){invalidate(6), put(entry(old, 5, 5))}, ""},
		"a read from before two changes":            {[]func(*Memory){invalidate(7), invalidate(6), put(entry(old, 6, 5))}, ""},
		"a read from after a change":                {[]func(*Memory){invalidate(6), put(entry(newer, 6, 5))}, newer},
		"a change of another key":                   {[]func(*Memory){func(m *Memory) { m.invalidate("other", 6) }, put(entry(old, 5, 5))}, old},
		"an unknown key":                            {[]func(*Memory){put(entry("", 0, 5))}, "unknown"},
		"an unknown key that was added":             {[]func(*Memory){put(entry("", 0, 5)), invalidate(6)}, ""},
		"a read from before the key was added":      {[]func(*Memory){invalidate(6), put(entry("", 0, 5))}, ""},
		"an unknown key that was reaped":            {[]func(*Memory){put(entry(old, 5, 0)), invalidate(6), put(entry("", 0, 6))}, "unknown"},
		"an unknown key instead of a link":          {[]func(*Memory){put(entry(old, 5, 0)), put(entry("", 0, 6))}, "unknown"},
		"an unknown key, and then a link":           {[]func(*Memory){put(entry("", 0, 5)), put(entry(newer, 6, 0))}, newer},
		"an end":                                    {[]func(*Memory){put(entry(old, 5, 0)), end(5)}, "expired"},
		"an end of what a link was before a change": {[]func(*Memory){put(entry(newer, 6, 0)), end(5)}, newer},
		"an end of nothing":                         {[]func(*Memory){end(5)}, ""},
	} {
		m := NewMemory(100, nil)
		defer m.Close()
		for _, step := range c.steps {
			step(m)
		}
		if got := m.get("key"); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A change of this instance is known even if its entry is evicted at once.
func TestEvictedChange(t *testing.T) {
	m := NewMemory(100, nil)
	defer m.Close()
	e := entry("https://example.com/new", 6, 0).Entry
	m.Announce(t.Context(), "key", e, time.Hour, time.Now())
	if got := m.get("key"); got != e.LongURL {
		t.Errorf("got %q", got)
	}
	m.links.Invalidate("key")
	m.put("key", entry("https://example.com/old", 5, 5))
	if got := m.get("key"); got != "" {
		t.Errorf("got %q", got)
	}
}

// Visits that miss share one read, even if they start it one after the other.
func TestLateMiss(t *testing.T) {
	m := NewMemory(100, nil)
	defer m.Close()
	for key, e := range map[string]shortlinks.Entry{"key": {LongURL: "https://example.com", Link: 1, Version: 1}, "unknown": shortlinks.UnknownEntry()} {
		missed, n := m.now(), 0
		for range 3 {
			_, err := m.find(t.Context(), key, missed, func(context.Context, []string) ([]shortlinks.Loaded, error) {
				n++
				return []shortlinks.Loaded{{Entry: e, TTL: time.Hour}}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if n != 1 {
			t.Errorf("%s: got %d reads", key, n)
		}
	}
}
