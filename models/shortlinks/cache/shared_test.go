package cache_test

import (
	"context"
	"encoding/json"
	"net"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"go.uber.org/goleak"

	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
)

const redisKey = "linkwatch:short:"

// A change reaches all instances at once.
func TestChangesReachOtherInstances(t *testing.T) {
	eachRedis(t, func(t *testing.T, url string) {
		f := newFixture(t, modelstest.New(t))
		a, b := f.sharing(url).inUse(), f.sharing(url).inUse()
		l := a.add()
		b.redirectsTo(l.Key, "https://example.com/page")

		a.move(l.Key, "https://example.com/new")
		b.soon(l.Key, "https://example.com/new")
		f.must(b.Delete(t.Context(), l.Key))
		a.soon(l.Key, "gone")
		_, err := a.Restore(t.Context(), l.Key)
		f.must(err)
		b.soon(l.Key, "https://example.com/new")
	})
}

// Instances do not read what another instance has cached in Redis.
func TestInstancesShareReads(t *testing.T) {
	eachRedis(t, func(t *testing.T, url string) {
		f := newFixture(t, modelstest.New(t))
		l := f.add(ttl(10 * time.Minute)) // without Redis
		ended := f.add(ttl(time.Second))
		f.clock.Advance(time.Second)
		a, b := f.sharing(url).inUse(), f.sharing(url).inUse()
		a.redirectsTo(l.Key, "https://example.com/page")
		a.redirectsTo(ended.Key, "gone")
		modelstest.Eventually(t, "both entries are in Redis", func() bool { // they are written after the visits
			n, err := a.redis.Exists(t.Context(), redisKey+l.Key, redisKey+ended.Key).Result()
			f.must(err)
			return n == 2
		})
		queries := modelstest.Queries(t, f.db)
		b.redirectsTo(l.Key, "https://example.com/page")
		b.redirectsTo(ended.Key, "gone")
		b.redirectsTo(l.Key, "https://example.com/page")
		if n := queries.Load(); n != 0 {
			t.Errorf("got %d statements of the second instance", n)
		}
		if h := b.shared.Hits(); h != 2 {
			t.Errorf("got %d hits of Redis, want 2", h)
		}
		f.clock.Advance(10 * time.Minute)
		b.redirectsTo(l.Key, "gone") // for any state of the caches

		// Other programs may read these members.
		content, err := a.redis.Get(t.Context(), redisKey+ended.Key).Bytes()
		f.must(err)
		var e map[string]any
		f.must(json.Unmarshal(content, &e))
		if e["is_tombstone"] != true || e["reason"] != "expired" || e["created_at"] == nil || e["long_url"] != "" {
			t.Errorf("got tombstone %s", content)
		}
		left, err := a.redis.PTTL(t.Context(), redisKey+ended.Key).Result()
		f.must(err)
		if left <= 0 || left > f.opts.TombstoneTTL {
			t.Errorf("got a tombstone for %s", left)
		}
	})
}

// An entry in Redis stays valid while other links change.
func TestRedisAndChangesOfOtherLinks(t *testing.T) {
	r := miniredis.RunT(t)
	f := newFixture(t, modelstest.New(t))
	a, b := f.sharing("redis://"+r.Addr()).inUse(), f.sharing("redis://"+r.Addr()).inUse()
	l := a.add()
	for range 10 {
		f.add()
		b.poll()
	}
	queries := modelstest.Queries(t, f.db)
	b.redirectsTo(l.Key, "https://example.com/page")
	if n := queries.Load(); n != 0 {
		t.Errorf("got %d queries", n)
	}
}

// An instance does not use an entry of Redis that may lack a change.
func TestOldEntriesInRedis(t *testing.T) {
	r := miniredis.RunT(t)
	url := "redis://" + r.Addr()
	f := newFixture(t, modelstest.New(t))
	a, b := f.sharing(url).inUse(), f.sharing(url).inUse()
	l := a.add()
	old, err := r.Get(redisKey + l.Key)
	f.must(err)
	restore := func() { // from a slow reader or a backup
		f.must(r.Set(redisKey+l.Key, old))
		r.SetTTL(redisKey+l.Key, time.Hour)
	}
	a.move(l.Key, "https://example.com/1")
	b.soon(l.Key, "https://example.com/1")
	restore()
	f.move(l.Key, "https://example.com/2") // without Redis
	a.poll().redirectsTo(l.Key, "https://example.com/2")
	restore()
	b.poll().redirectsTo(l.Key, "https://example.com/2")
	restore()
	f.sharing(url).inUse().redirectsTo(l.Key, "https://example.com/2")
}

// An instance that has not polled for MaxStale does not use Redis.
func TestRedisIsAsCurrentAsTheLastPoll(t *testing.T) {
	r := miniredis.RunT(t)
	f := newFixture(t, modelstest.New(t))
	a, b := f.sharing("redis://"+r.Addr()).inUse(), f.sharing("redis://"+r.Addr()).inUse()
	l := a.add()
	f.move(l.Key, "https://example.com/new") // without Redis
	f.clock.Advance(shortlinks.MaxStale - time.Millisecond)
	b.redirectsTo(l.Key, "https://example.com/page")
	f.clock.Advance(time.Millisecond)
	b.redirectsTo(l.Key, "https://example.com/new")
}

func TestEntriesLiveNoLongerThanTheirLinks(t *testing.T) {
	r := miniredis.RunT(t)
	f := newFixture(t, modelstest.New(t))
	a := f.sharing("redis://" + r.Addr()).inUse()
	l := a.add(ttl(10 * time.Minute))
	if left := r.TTL(redisKey + l.Key); left < 10*time.Minute || left > 11*time.Minute {
		t.Errorf("got an entry for %s of a link that expires in 10 minutes", left)
	}
	r.FastForward(11 * time.Minute)
	if r.Exists(redisKey + l.Key) {
		t.Error("the entry outlives its link")
	}
}

// Unknown keys are not stored in Redis.
func TestUnknownKeysAreNotInRedis(t *testing.T) {
	r := miniredis.RunT(t)
	a := newFixture(t, modelstest.New(t)).sharing("redis://" + r.Addr()).inUse()
	a.redirectsTo("unknown", "unknown")
	if keys := r.Keys(); len(keys) > 0 {
		t.Errorf("got keys %q", keys)
	}
}

// Without Redis, visits use the database and do not wait. When Redis is in use again, no
// entry is stale.
func TestRedisFailsAndRecovers(t *testing.T) {
	r := miniredis.RunT(t)
	url := "redis://" + r.Addr()
	f := newFixture(t, modelstest.New(t))
	a, b := f.sharing(url).inUse(), f.sharing(url).inUse()
	edited, deleted, kept := a.add(), a.add(), a.add()
	b.redirectsTo(edited.Key, "https://example.com/page")

	r.Close()
	a.redirectsTo(edited.Key, "https://example.com/page")
	a.move(edited.Key, "https://example.com/new")
	f.must(a.Delete(t.Context(), deleted.Key))
	made := a.add()
	for _, i := range []instance{a, b} {
		modelstest.Eventually(i, "Redis unavailable", func() bool { return !i.shared.Up() })
		i.redirectsTo(made.Key, "https://example.com/page")
		i.redirectsTo(kept.Key, "https://example.com/page")
		modelstest.Eventually(i, "an error is counted", func() bool { return i.shared.Errors() > 0 })
	}
	a.redirectsTo(edited.Key, "https://example.com/new")
	a.redirectsTo(deleted.Key, "gone")

	f.must(r.Restart())
	if old, err := r.Get(redisKey + edited.Key); err != nil || !json.Valid([]byte(old)) {
		t.Fatalf("Redis lost the old entry, so this test proves nothing: %q, %v", old, err)
	}
	a.inUse()
	b.inUse()
	for _, i := range []instance{a, b, f.sharing(url).inUse()} {
		i.redirectsTo(edited.Key, "https://example.com/new")
		i.redirectsTo(deleted.Key, "gone")
		i.redirectsTo(kept.Key, "https://example.com/page")
	}
	a.move(kept.Key, "https://example.com/again")
	b.soon(kept.Key, "https://example.com/again")
}

// While Redis is unavailable, visits and changes do not wait for it.
func TestUnavailableRedisIsNotUsed(t *testing.T) {
	r := miniredis.RunT(t)
	f := newFixture(t, modelstest.New(t))
	a := f.sharing("redis://" + r.Addr()).inUse()
	a.stop() // listening would reconnect
	before := r.CommandCount()
	l := a.add()
	a.move(l.Key, "https://example.com/new")
	a.redirectsTo(l.Key, "https://example.com/new")
	a.redirectsTo(f.add().Key, "https://example.com/page")
	a.redirectsTo("unknown", "unknown")
	if n := r.CommandCount() - before; n != 0 {
		t.Errorf("got %d commands, want 0", n)
	}
}

func TestRedisThatRespondsWithErrors(t *testing.T) {
	r := miniredis.RunT(t)
	f := newFixture(t, modelstest.New(t))
	a := f.sharing("redis://" + r.Addr()).inUse()
	l := f.add()
	r.SetError("LOADING Redis is loading the dataset in memory")
	a.redirectsTo(l.Key, "https://example.com/page")
	if a.shared.Up() {
		t.Error("Redis is still in use")
	}
	r.SetError("")
	a.inUse()
	r.FlushAll()
	a.move(l.Key, "https://example.com/new")
	a.inUse().redirectsTo(l.Key, "https://example.com/new")
}

// After a lost subscription, missed changes are found before Redis is in use again.
func TestLostSubscription(t *testing.T) {
	r := miniredis.RunT(t)
	f := newFixture(t, modelstest.New(t))
	a, b := f.sharing("redis://"+r.Addr()).inUse(), f.sharing("redis://"+r.Addr()).inUse()
	l := a.add()
	b.redirectsTo(l.Key, "https://example.com/page")
	b.stop()
	a.move(l.Key, "https://example.com/new")
	b.redirectsTo(l.Key, "https://example.com/page") // it missed the change
	b.listen()
	defer b.stop()
	b.inUse().redirectsTo(l.Key, "https://example.com/new")
}

func TestStartWithoutRedis(t *testing.T) {
	db := modelstest.New(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	free, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	t.Run("it starts later", func(t *testing.T) {
		f := newFixture(t, db)
		a := f.sharing("redis://" + address)
		l := a.add()
		a.redirectsTo(l.Key, "https://example.com/page")
		if a.shared.Up() {
			t.Error("Redis is in use, but does not run")
		}
		r := miniredis.NewMiniRedis()
		f.must(r.StartAddr(address))
		defer r.Close()
		a.inUse()
		a.move(l.Key, "https://example.com/new")
		if !r.Exists(redisKey + l.Key) {
			t.Error("the change was not written to Redis")
		}
	})
}

// A canceled request is not a failure of Redis.
func TestCanceledVisit(t *testing.T) {
	eachRedis(t, func(t *testing.T, url string) {
		a := newFixture(t, modelstest.New(t)).sharing(url).inUse()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		e := shortlinks.Entry{LongURL: "https://example.com/page", Link: 1, Version: 1}
		if got, err := a.cache.Get(ctx, randomKey(), a.clock.Now(), reads(e)); err != nil || got != e {
			t.Errorf("got %v, %v", got, err)
		}
		if !a.shared.Up() || a.shared.Errors() != 0 {
			t.Error("Redis counts as failed")
		}
	})
}

// Invalid entries in Redis are ignored.
func TestInvalidEntriesInRedis(t *testing.T) {
	eachRedis(t, func(t *testing.T, url string) {
		f := newFixture(t, modelstest.New(t))
		a := f.sharing(url).inUse()
		for name, content := range map[string]string{
			"nothing":                 ``,
			"half":                    `{"long_url":"https://exam`,
			"another type":            `[]`,
			"an empty object":         `{}`,
			"no address":              `{"up_to":4000000000000000,"link":9,"version":9}`,
			"a script":                `{"up_to":4000000000000000,"link":9,"version":9,"long_url":"javascript:alert(1)"}`,
			"a password":              `{"up_to":4000000000000000,"link":9,"version":9,"long_url":"https://a:b@example.com/"}`,
			"a header":                `{"up_to":4000000000000000,"link":9,"version":9,"long_url":"https://example.com/\r\nSet-Cookie: a=b"}`,
			"not as a header has it":  `{"up_to":4000000000000000,"link":9,"version":9,"long_url":"https://example.com/ö"}`,
			"a blocked host":          `{"up_to":4000000000000000,"link":9,"version":9,"long_url":"https://a.spam.example/"}`,
			"a short link of ours":    `{"up_to":4000000000000000,"link":9,"version":9,"long_url":"https://links.example/s/abcd"}`,
			"ours, spelled otherwise": `{"up_to":4000000000000000,"link":9,"version":9,"long_url":"https://links.example./s/abcd"}`,
			"no link":                 `{"up_to":4000000000000000,"link":0,"version":9,"long_url":"https://example.com/evil"}`,
			"no version":              `{"link":9,"long_url":"https://example.com/evil"}`,
			"an old version":          `{"link":9,"version":9,"up_to":9,"long_url":"https://example.com/evil"}`,
			"a reason that is none":   `{"up_to":4000000000000000,"link":9,"version":9,"is_tombstone":true,"reason":"bored"}`,
			"no reason":               `{"up_to":4000000000000000,"link":9,"version":9,"is_tombstone":true}`,
			"blocked by other people": `{"up_to":4000000000000000,"link":9,"version":9,"is_tombstone":true,"reason":"blocked"}`,
			"an unknown key":          `{"up_to":4000000000000000,"link":9,"version":9,"is_tombstone":true,"reason":"unknown"}`,
			"no end":                  `{"up_to":4000000000000000,"link":9,"version":9,"long_url":"https://example.com/evil"}`,
			"a list":                  ``,
		} {
			t.Run(name, func(t *testing.T) {
				a.TB = t
				l := f.add()
				k := redisKey + l.Key
				switch name {
				case "a list":
					a.must(a.redis.LPush(t.Context(), k, "x").Err())
				case "no end":
					a.must(a.redis.Set(t.Context(), k, content, 0).Err())
				default:
					a.must(a.redis.Set(t.Context(), k, content, time.Minute).Err())
				}
				a.poll().redirectsTo(l.Key, "https://example.com/page")
				if !a.shared.Up() {
					t.Error("Redis is no longer in use")
				}
			})
		}
	})
}

// Invalid messages are ignored.
func TestInvalidMessages(t *testing.T) {
	eachRedis(t, func(t *testing.T, url string) {
		f := newFixture(t, modelstest.New(t))
		a, b := f.sharing(url).inUse(), f.sharing(url).inUse()
		l := a.add()
		b.redirectsTo(l.Key, "https://example.com/page")
		for _, payload := range []string{"", " ", "x", "1", "1 ", " " + l.Key, "x " + l.Key, "-1 " + l.Key, "1 " + l.Key, "1 ../x", "99999999999999999999 " + l.Key} {
			f.must(a.redis.Publish(t.Context(), "linkwatch:short", payload).Err())
		}
		a.move(l.Key, "https://example.com/new") // its message comes after them
		b.soon(l.Key, "https://example.com/new")
	})
}
