package targets_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

func TestAdd(t *testing.T) {
	each(t, func(f fixture) {
		got, created, err := f.Add(f.Context(), targets.New{
			URL: "HTTPS://Example.com:443/path/?a=1#section", Name: " My  site ", IntervalSeconds: 90,
			Expect: targets.Expect{Status: " 200 - 299 ,404", Keyword: "hello", KeywordAbsent: "error", MaxLatencyMS: 800},
		})
		f.must(err)
		if !created || got.CanonicalURL != "https://example.com/path?a=1" || got.Host != "example.com" || got.Name != "My site" {
			t.Errorf("%v %+v", created, got)
		}
		want := targets.Expect{Status: "200-299,404", Keyword: "hello", KeywordAbsent: "error", MaxLatencyMS: 800}
		if got.Expect != want || got.Status() != targets.Pending || got.NextCheckAt != f.Now() || f.Interval(got) != 90*time.Second {
			t.Errorf("%+v", got)
		}
		if plain := f.add("http://other.test"); f.Interval(plain) != time.Minute || plain.Expect.Statuses() != "200-399" {
			t.Errorf("%+v", plain)
		}
	})
}

func TestAddRejectsInvalidInput(t *testing.T) {
	each(t, func(f fixture) {
		for _, c := range []struct {
			location string
			n        targets.New
		}{
			{"url", targets.New{URL: "ftp://x.test"}},
			{"url", targets.New{}},
			{"name", targets.New{Name: strings.Repeat("n", 201)}},
			{"interval_seconds", targets.New{IntervalSeconds: -1}},
			{"interval_seconds", targets.New{IntervalSeconds: targets.MaxInterval + 1}},
			{"expect.status", targets.New{Expect: targets.Expect{Status: "200-"}}},
			{"expect.status", targets.New{Expect: targets.Expect{Status: "300-200"}}},
			{"expect.status", targets.New{Expect: targets.Expect{Status: "99"}}},
			{"expect.status", targets.New{Expect: targets.Expect{Status: "200," + strings.Repeat("200,", 20)}}},
			{"expect.keyword", targets.New{Expect: targets.Expect{Keyword: strings.Repeat("k", 201)}}},
			{"expect.keyword_absent", targets.New{Expect: targets.Expect{KeywordAbsent: "a\x00b"}}},
			{"expect.max_latency_ms", targets.New{Expect: targets.Expect{MaxLatencyMS: -5}}},
			{"header.Idempotency-Key", targets.New{IdempotencyKey: "two words"}},
			{"header.Idempotency-Key", targets.New{IdempotencyKey: strings.Repeat("k", 256)}},
		} {
			if c.location != "url" {
				c.n.URL = "https://fine.test"
			}
			_, _, err := f.Add(f.Context(), c.n)
			f.is(err, models.CodeInvalid, c.location)
		}
		if counts, err := f.Counts(f.Context()); err != nil || counts.All() != 0 {
			t.Errorf("something was stored: %v %v", counts, err)
		}
	})
}

func TestAddIdempotencyByCanonicalURL(t *testing.T) {
	each(t, func(f fixture) {
		first := f.add("http://example.com/")
		again, created, err := f.Add(f.Context(), targets.New{URL: "HTTP://EXAMPLE.com:80#x", Name: "Other"})
		f.must(err)
		if created || again.ID != first.ID || again.Name != "" {
			t.Errorf("created %v: %+v", created, again)
		}
	})
}

func TestAddIdempotencyByKey(t *testing.T) {
	each(t, func(f fixture) {
		add := func(url, key string) (string, bool) {
			t.Helper()
			got, created, err := f.Add(f.Context(), targets.New{URL: url, IdempotencyKey: key})
			f.must(err)
			return got.ID, created
		}
		first, created := add("https://a.test", "key-1")
		if !created {
			t.Error("the first use did not create")
		}
		if again, created := add("https://b.test", "key-1"); created || again != first {
			t.Error("a later use with another URL made another target")
		}
		restarted := targets.NewStore(f.db, f.clock.Now, targets.Options{CheckInterval: time.Minute})
		if again, created, err := restarted.Add(f.Context(), targets.New{URL: "https://a.test", IdempotencyKey: "key-1"}); err != nil || created || again.ID != first {
			t.Error("the key does not work after a restart", err)
		}
		known, created := add("https://a.test", "key-2")
		if created || known != first {
			t.Error("a new key for a known URL made a target")
		}
		f.must(f.Delete(f.Context(), first))
		if other, created := add("https://c.test", "key-2"); !created || other == first {
			t.Error("the key of a deleted target does not add a target")
		}
		f.clock.Advance(models.KeyRetention)
		if _, created := add("https://d.test", "key-2"); !created {
			t.Error("a key works for more than a day")
		}
	})
}

func TestAddIdempotencyUnderConcurrentUse(t *testing.T) {
	each(t, func(f fixture) {
		for _, same := range []targets.New{{URL: "https://same.test"}, {URL: "https://keyed.test", IdempotencyKey: "k"}} {
			var created atomic.Int64
			var ids sync.Map
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					n := same
					if n.IdempotencyKey != "" && i%2 == 1 {
						n.URL += "/other"
					}
					got, isNew, err := f.Add(t.Context(), n)
					if err != nil {
						t.Error(err)
					}
					if isNew {
						created.Add(1)
					}
					ids.Store(got.ID, true)
				})
			}
			wg.Wait()
			different := 0
			ids.Range(func(any, any) bool { different++; return true })
			if created.Load() != 1 || different != 1 {
				t.Errorf("%+v: %d created, %d different ids", same, created.Load(), different)
			}
		}
		if counts, err := f.Counts(t.Context()); err != nil || counts.All() != 2 {
			t.Error(counts, err)
		}
	})
}

// A failed request does not use up its key.
func TestKeyOfFailedAddIsFree(t *testing.T) {
	each(t, func(f fixture) {
		_, _, err := f.Add(f.Context(), targets.New{URL: "nonsense", IdempotencyKey: "key"})
		f.is(err, models.CodeInvalid, "url")
		if _, created, err := f.Add(f.Context(), targets.New{URL: "https://a.test", IdempotencyKey: "key"}); err != nil || !created {
			t.Error(created, err)
		}
	})
}

// Targets that are added at the same time are dated in the order in which they are stored, so that a client that
// follows the list misses none. PostgreSQL has several writers and cannot promise that.
func TestTargetsAreDatedInOrder(t *testing.T) {
	var ticks atomic.Int64
	store := targets.NewStore(modelstest.New(t), func() time.Time { return time.UnixMilli(1_700_000_000_000 + ticks.Add(1)) }, targets.Options{CheckInterval: time.Minute})
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 20 {
				if _, _, err := store.Add(t.Context(), targets.New{URL: fmt.Sprintf("https://h%d.test/%d", i, j)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	list, err := store.List(t.Context(), targets.Filter{}, models.Cursor{}, 160)
	if err != nil || len(list.Items) != 160 {
		t.Fatalf("got %d targets, %v", len(list.Items), err)
	}
	if !slices.IsSortedFunc(list.Items, func(a, b targets.Target) int { return cmp.Compare(a.Seq, b.Seq) }) {
		t.Error("the order of the list is not the order in which the targets were stored")
	}
}
