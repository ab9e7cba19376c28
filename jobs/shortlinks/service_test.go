package shortlinks_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/prometheus/client_golang/prometheus"

	shortlinkjobs "linkwatch/jobs/shortlinks"
	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
	"linkwatch/models/shortlinks/visits"
)

// each runs a test on every engine. It may leave no goroutine running.
func each(t *testing.T, test func(t *testing.T, db *models.DB)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		modelstest.NoLeaks(t)
		test(t, db)
	})
}

// instance is an instance of the program, as far as short links need one.
type instance struct {
	*shortlinks.Store
	*shortlinkjobs.Service
	testing.TB
	shared *cache.Shared
	reg    *prometheus.Registry
	log    *modelstest.Log
}

// newInstance makes one that runs until the test ends. redis is the address of one, or "".
func newInstance(t testing.TB, db *models.DB, redis string) instance {
	t.Helper()
	i := instance{TB: t, reg: prometheus.NewRegistry(), log: modelstest.NewLog(t)}
	log := slog.New(slog.NewTextHandler(i.log, nil))
	memory, counter, opts := cache.NewMemory(1000, nil), visits.New(), shortlinks.Options{TombstoneTTL: time.Hour}
	t.Cleanup(memory.Close)
	i.Store = shortlinks.NewStore(db, nil, memory, counter, opts)
	if redis != "" {
		client, err := models.OpenRedis("redis://" + redis)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		i.shared = cache.NewShared(memory, client.WithTimeout(10*time.Second), opts, log)
	}
	var err error
	if i.Service, err = shortlinkjobs.NewService(i.Store, counter, memory, i.shared, log, i.reg); err != nil {
		t.Fatal(err)
	}
	i.Start()
	t.Cleanup(func() { i.Stop(context.Background()) })
	return i
}

// add makes a short link to https://example.com.
func (i instance) add() shortlinks.ShortLink {
	i.Helper()
	l, _, err := i.Add(i.Context(), shortlinks.New{LongURL: "https://example.com"})
	if err != nil {
		i.Fatal(err)
	}
	return l
}

func (i instance) visit(key string) string {
	i.Helper()
	to, err := i.Visit(i.Context(), key, shortlinks.Visitor{})
	if err != nil {
		i.Fatal(err)
	}
	return to
}

func (i instance) visits(key string) int64 {
	i.Helper()
	l, err := i.Get(i.Context(), key)
	if err != nil {
		i.Fatal(err)
	}
	return l.Visits
}

// metric is the value of a metric by its name and its tier, if it has one.
func (i instance) metric(name, tier string) float64 {
	i.Helper()
	families, err := i.reg.Gather()
	if err != nil {
		i.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && (tier == "" || m.GetLabel()[0].GetValue() == tier) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	i.Fatalf("there is no metric %s of tier %q", name, tier)
	return 0
}

func TestVisitsAreWrittenDown(t *testing.T) {
	each(t, func(t *testing.T, db *models.DB) {
		i := newInstance(t, db, "")
		l := i.add()
		for range 10 {
			i.visit(l.Key)
		}
		// They are counted when the database has them.
		modelstest.Eventually(i, "the visits are stored", func() bool { return i.metric("linkwatch_shortlink_visits_written_total", "") == 10 })
		if n := i.visits(l.Key); n != 10 {
			t.Errorf("the link has %d visits", n)
		}
		if i.metric("linkwatch_shortlink_visits_waiting", "") != 0 || i.metric("linkwatch_shortlink_visits_dropped_total", "") != 0 {
			t.Error("the metrics tell of more")
		}
		if h, m := i.metric("linkwatch_shortlink_cache_hits_total", "memory"), i.metric("linkwatch_shortlink_cache_misses_total", "memory"); h != 10 || m != 0 {
			t.Errorf("the metrics tell of %v hits and %v misses", h, m)
		}
		if n := i.metric("linkwatch_shortlink_cache_entries", ""); n != 1 {
			t.Errorf("the metrics tell of %v entries", n)
		}
	})
}

func TestLastVisitsAreWrittenDown(t *testing.T) {
	each(t, func(t *testing.T, db *models.DB) {
		over, cancel := context.WithCancel(t.Context())
		cancel()
		for name, grace := range map[string]context.Context{"in time": t.Context(), "when the grace is over": over} {
			i := newInstance(t, db, "")
			l := i.add()
			for range 1000 {
				i.visit(l.Key)
			}
			i.Stop(grace)
			if n := i.visits(l.Key); n != 1000 {
				t.Errorf("%s: %d of 1000 visits are counted", name, n)
			}
			i.Stop(grace)
		}
	})
}

func TestBadDatabase(t *testing.T) {
	t.Parallel()
	db := modelstest.New(t)
	i := newInstance(t, db, "")
	l := i.add()
	modelstest.Exec(t, db, "ALTER TABLE short_link_days RENAME TO elsewhere") // which only writing visits down needs
	i.visit(l.Key)
	i.visit(l.Key)
	modelstest.Eventually(i, "it is logged", func() bool { return strings.Contains(i.log.String(), `msg="store visits failed"`) })
	modelstest.Exec(t, db, "ALTER TABLE elsewhere RENAME TO short_link_days")
	modelstest.Eventually(i, "the visits are stored", func() bool { return i.visits(l.Key) == 2 })
	if n := strings.Count(i.log.String(), `msg="store visits failed"`); n != 1 {
		t.Errorf("it is logged %d times: %s", n, i.log)
	}

	modelstest.Exec(t, db, "ALTER TABLE short_link_days RENAME TO elsewhere")
	i.visit(l.Key)
	i.Stop(t.Context())
	if !strings.Contains(i.log.String(), "visits lost at shutdown") {
		t.Errorf("nothing is logged of what is lost: %s", i.log)
	}
}

// Without Redis a change shows on every instance within seconds, for each looks
// for changes.
func TestOtherInstances(t *testing.T) {
	each(t, func(t *testing.T, db *models.DB) {
		a, b := newInstance(t, db, ""), newInstance(t, db, "")
		l := a.add()
		b.visit(l.Key)
		to := "https://example.com/new"
		if _, err := a.Edit(t.Context(), l.Key, shortlinks.Edit{LongURL: &to}); err != nil {
			t.Fatal(err)
		}
		modelstest.Eventually(b, "the change shows", func() bool { return b.visit(l.Key) == to })
		a.Stop(t.Context())
		b.Stop(t.Context())

		looks := modelstest.Queries(t, db)
		c := newInstance(t, db, "")
		modelstest.Eventually(c, "it polls repeatedly", func() bool { return looks.Load() > 1 })
		c.Stop(t.Context())
	})
}

func TestRedisOfAnInstance(t *testing.T) {
	each(t, func(t *testing.T, db *models.DB) {
		r := miniredis.NewMiniRedis()
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		a, b := newInstance(t, db, r.Addr()), newInstance(t, db, r.Addr())
		for _, i := range []instance{a, b} {
			modelstest.Eventually(i, "Redis connected", func() bool { return i.metric("linkwatch_redis_up", "") == 1 })
		}
		l := a.add()
		for _, c := range []struct{ metric, key string }{
			{"linkwatch_shortlink_cache_hits_total", ""}, {"linkwatch_shortlink_cache_misses_total", "not-there"},
		} {
			modelstest.Eventually(b, c.metric, func() bool { // on a slow machine Redis may be away for a moment
				key := c.key
				if key == "" {
					key = a.add().Key
				}
				_, _ = b.Visit(t.Context(), key, shortlinks.Visitor{})
				return b.metric(c.metric, "redis") > 0
			})
		}
		r.Close()
		modelstest.Eventually(a, "Redis unavailable", func() bool { return a.metric("linkwatch_redis_up", "") == 0 })
		modelstest.Eventually(a, "that is counted", func() bool { return a.metric("linkwatch_redis_errors_total", "") > 0 })
		a.visit(l.Key)
		if !strings.Contains(a.log.String(), "Redis unavailable") {
			t.Errorf("nothing is logged: %s", a.log)
		}
		a.Stop(t.Context()) // before goleak looks
		b.Stop(t.Context())
	})
}

func TestMetricsOfOneName(t *testing.T) {
	i := newInstance(t, modelstest.New(t), "")
	memory := cache.NewMemory(10, nil)
	defer memory.Close()
	if _, err := shortlinkjobs.NewService(i.Store, visits.New(), memory, nil, slog.New(slog.DiscardHandler), i.reg); err == nil {
		t.Error("metrics of the same names are registered twice")
	}
}
