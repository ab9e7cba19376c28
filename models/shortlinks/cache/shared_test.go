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

func (f fixture) move(key, longURL string) {
	f.Helper()
	_, err := f.Edit(f.Context(), key, shortlinks.Edit{LongURL: &longURL})
	f.must(err)
}

// A change shows on every instance at once.
func TestChangesReachOtherInstances(t *testing.T) {
	eachRedis(t, func(t *testing.T, url string) {
		f := newFixture(t, modelstest.New(t))
		a, b := f.sharing(url).inUse(), f.sharing(url).inUse()
		l := a.add()
		b.leads(l.Key, "https://example.com/page")

		a.move(l.Key, "https://example.com/new")
		b.eventually("the new address is there", func() bool { return b.held(l.Key) == "https://example.com/new" })
		b.leads(l.Key, "https://example.com/new")
		f.must(b.Delete(t.Context(), l.Key))
		a.eventually("the link is gone", func() bool { return a.held(l.Key) == "" })
		a.leads(l.Key, "gone")
		_, err := a.Restore(t.Context(), l.Key)
		f.must(err)
		b.eventually("the link is back", func() bool { return b.held(l.Key) != "" })
		b.leads(l.Key, "https://example.com/new")
	})
}

// What one instance has read of the database, the others need not read again.
func TestInstancesShareWhatTheyRead(t *testing.T) {
	eachRedis(t, func(t *testing.T, url string) {
		f := newFixture(t, modelstest.New(t))
		l := f.add(ttl(10 * time.Minute)) // no cache that is shared hears of it
		over := f.add(ttl(time.Second))
		f.clock.Advance(time.Second)
		a, b := f.sharing(url).inUse(), f.sharing(url).inUse()
		a.leads(l.Key, "https://example.com/page")
		a.leads(over.Key, "gone")
		queries := modelstest.Queries(t, f.db)
		b.leads(l.Key, "https://example.com/page")
		b.leads(over.Key, "gone")
		b.leads(l.Key, "https://example.com/page")
		if n := queries.Load(); n != 0 {
			t.Errorf("the second instance sent %d statements", n)
		}
		if h := b.cache.Hits(); h != 2 {
			t.Errorf("%d hits of Redis, want 2", h)
		}
		f.clock.Advance(10 * time.Minute)
		b.leads(l.Key, "gone") // whatever the caches hold

		// Other programs may read these members.
		content, err := a.redis.Get(t.Context(), redisKey+over.Key).Bytes()
		f.must(err)
		var e map[string]any
		f.must(json.Unmarshal(content, &e))
		if e["is_tombstone"] != true || e["reason"] != "expired" || e["created_at"] == nil || e["long_url"] != "" {
			t.Errorf("the tombstone is %s", content)
		}
		left, err := a.redis.PTTL(t.Context(), redisKey+over.Key).Result()
		f.must(err)
		if left <= 0 || left > f.opts.TombstoneTTL {
			t.Errorf("the tombstone stays for %s", left)
		}
	})
}

func TestEntriesLiveNoLongerThanTold(t *testing.T) {
	r := miniredis.RunT(t)
	f := newFixture(t, modelstest.New(t))
	a := f.sharing("redis://" + r.Addr()).inUse()
	l := a.add(ttl(10 * time.Minute))
	if left := r.TTL(redisKey + l.Key); left < 10*time.Minute || left > 11*time.Minute {
		t.Errorf("an entry of a link of 10 minutes stays for %s", left)
	}
	r.FastForward(11 * time.Minute)
	if r.Exists(redisKey + l.Key) {
		t.Error("it stays longer than its link")
	}
}

// Redis gone in mid-flight: the database is asked, nobody waits for Redis, and it is taken into use again without
// serving anything that it did not hear of.
func TestRedisGoesAndComesBack(t *testing.T) {
	r := miniredis.RunT(t)
	url := "redis://" + r.Addr()
	f := newFixture(t, modelstest.New(t))
	a, b := f.sharing(url).inUse(), f.sharing(url).inUse()
	edited, deleted, kept := a.add(), a.add(), a.add()
	b.leads(edited.Key, "https://example.com/page")

	r.Close()
	a.leads(edited.Key, "https://example.com/page")
	a.move(edited.Key, "https://example.com/new")
	f.must(a.Delete(t.Context(), deleted.Key))
	made := a.add()
	for _, i := range []instance{a, b} {
		i.eventually("Redis is away", func() bool { return !i.cache.Up() })
		i.leads(made.Key, "https://example.com/page")
		i.leads(kept.Key, "https://example.com/page")
		i.eventually("an error is counted", func() bool { return i.cache.Errors() > 0 })
	}
	a.leads(edited.Key, "https://example.com/new")
	a.leads(deleted.Key, "gone")

	f.must(r.Restart())
	if old, err := r.Get(redisKey + edited.Key); err != nil || !json.Valid([]byte(old)) {
		t.Fatalf("Redis has lost the old entry, so the test tests nothing: %q, %v", old, err)
	}
	a.inUse()
	b.inUse()
	for _, i := range []instance{a, b, f.sharing(url).inUse()} {
		i.leads(edited.Key, "https://example.com/new")
		i.leads(deleted.Key, "gone")
		i.leads(kept.Key, "https://example.com/page")
	}
	a.move(kept.Key, "https://example.com/again")
	b.eventually("b hears again", func() bool { return b.held(kept.Key) == "https://example.com/again" })
}

// While Redis is away nobody asks it: no visit waits for it to fail.
func TestNobodyAsksRedisWhileItIsAway(t *testing.T) {
	r := miniredis.RunT(t)
	f := newFixture(t, modelstest.New(t))
	a := f.sharing("redis://" + r.Addr()).inUse()
	a.deafen() // it would ask whether Redis is back
	before := r.CommandCount()
	l := a.add()
	a.move(l.Key, "https://example.com/new")
	a.leads(l.Key, "https://example.com/new")
	a.leads(f.another().add().Key, "https://example.com/page")
	a.leads("unknown", "unknown")
	if n := r.CommandCount() - before; n != 0 {
		t.Errorf("%d commands were sent", n)
	}
}

func TestRedisThatAnswersWithErrors(t *testing.T) {
	r := miniredis.RunT(t)
	f := newFixture(t, modelstest.New(t))
	a := f.sharing("redis://" + r.Addr()).inUse()
	l := f.another().add()
	r.SetError("LOADING Redis is loading the dataset in memory")
	a.leads(l.Key, "https://example.com/page")
	if a.cache.Up() {
		t.Error("Redis is in use still")
	}
	r.SetError("")
	a.inUse()
	r.FlushAll()
	f.must(a.redis.ScriptFlush(t.Context()).Err()) // as when another Redis answers at the same address
	a.move(l.Key, "https://example.com/new")
	a.inUse()
	a.leads(l.Key, "https://example.com/new")
}

// What is lost is the subscription alone: what was announced meanwhile is read up.
func TestSubscriptionIsLost(t *testing.T) {
	r := miniredis.RunT(t)
	f := newFixture(t, modelstest.New(t))
	a, b := f.sharing("redis://"+r.Addr()).inUse(), f.sharing("redis://"+r.Addr()).inUse()
	l := a.add()
	b.leads(l.Key, "https://example.com/page")
	b.deafen() // that is how it is for b in between
	a.move(l.Key, "https://example.com/new")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	listened := make(chan struct{})
	go func() { b.cache.Listen(ctx, b.Store); close(listened) }()
	b.inUse()
	b.leads(l.Key, "https://example.com/new")
	cancel()
	<-listened
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
	t.Run("it comes later", func(t *testing.T) {
		f := newFixture(t, db)
		a := f.sharing("redis://" + address)
		l := a.add()
		a.leads(l.Key, "https://example.com/page")
		if a.cache.Up() {
			t.Error("a Redis is in use that is not there")
		}
		r := miniredis.NewMiniRedis()
		f.must(r.StartAddr(address))
		defer r.Close()
		a.inUse()
		a.move(l.Key, "https://example.com/new")
		if !r.Exists(redisKey + l.Key) {
			t.Error("Redis was not told")
		}
	})
}

// A visitor who leaves says nothing about Redis.
func TestVisitorLeaves(t *testing.T) {
	eachRedis(t, func(t *testing.T, url string) {
		f := newFixture(t, modelstest.New(t))
		a := f.sharing(url).inUse()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		a.cache.Get(ctx, randomKey(), start())
		a.cache.Put(ctx, randomKey(), leading("", 1, 1), time.Minute, start())
		if !a.cache.Up() || a.cache.Errors() != 0 {
			t.Error("Redis is said to fail")
		}
	})
}

// What is in Redis comes from outside.
func TestNonsenseInRedis(t *testing.T) {
	eachRedis(t, func(t *testing.T, url string) {
		f := newFixture(t, modelstest.New(t))
		a := f.sharing(url).inUse()
		for name, content := range map[string]string{
			"nothing":                 ``,
			"half":                    `{"long_url":"https://exam`,
			"another type":            `[]`,
			"an empty object":         `{}`,
			"no address":              `{"link":9,"version":9}`,
			"a script":                `{"link":9,"version":9,"long_url":"javascript:alert(1)"}`,
			"a password":              `{"link":9,"version":9,"long_url":"https://a:b@example.com/"}`,
			"a header":                `{"link":9,"version":9,"long_url":"https://example.com/\r\nSet-Cookie: a=b"}`,
			"not as a header has it":  `{"link":9,"version":9,"long_url":"https://example.com/ö"}`,
			"a blocked host":          `{"link":9,"version":9,"long_url":"https://a.spam.example/"}`,
			"a short link of ours":    `{"link":9,"version":9,"long_url":"https://links.example/s/abcd"}`,
			"ours, spelled otherwise": `{"link":9,"version":9,"long_url":"https://links.example./s/abcd"}`,
			"no link":                 `{"link":0,"version":9,"long_url":"https://example.com/evil"}`,
			"no version":              `{"link":9,"long_url":"https://example.com/evil"}`,
			"a reason that is none":   `{"link":9,"version":9,"is_tombstone":true,"reason":"bored"}`,
			"no reason":               `{"link":9,"version":9,"is_tombstone":true}`,
			"blocked by other people": `{"link":9,"version":9,"is_tombstone":true,"reason":"blocked"}`,
			"an unknown key":          `{"link":9,"version":9,"is_tombstone":true,"reason":"unknown"}`,
			"no end":                  `{"link":9,"version":9,"long_url":"https://example.com/evil"}`,
			"a list":                  ``,
		} {
			t.Run(name, func(t *testing.T) {
				a.TB = t
				l := f.another().add()
				k := redisKey + l.Key
				switch name {
				case "a list":
					a.must(a.redis.LPush(t.Context(), k, "x").Err())
				case "no end":
					a.must(a.redis.Set(t.Context(), k, content, 0).Err())
				default:
					a.must(a.redis.Set(t.Context(), k, content, time.Minute).Err())
				}
				a.leads(l.Key, "https://example.com/page")
				if !a.cache.Up() {
					t.Error("Redis is left alone for it")
				}
				// Announced it is no better.
				other := f.another().add()
				a.must(a.redis.Publish(t.Context(), "linkwatch:short", `{"Key":"`+other.Key+`","Entry":`+content+`,"TTL":60000000000}`).Err())
				a.must(a.redis.Publish(t.Context(), "linkwatch:short", content).Err())
				b := f.sharing(url).inUse()
				b.move(l.Key, "https://example.com/last")
				a.eventually("what comes after is heard", func() bool { return a.held(l.Key) == "https://example.com/last" })
				if name != "no end" { // which is all right here
					a.leads(other.Key, "https://example.com/page")
				}
			})
		}
	})
}
