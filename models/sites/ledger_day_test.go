package sites_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

// Three instances with 16 goroutines each on one database get exactly the limit.
func TestRacingInstances(t *testing.T) {
	t.Parallel()
	url := modelstest.NewPostgres(t)
	var instances []*ledger
	for i := range 3 {
		db, err := models.Open(t.Context(), models.Postgres, url, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		if i == 0 {
			if err := db.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		b := newLedger(t, db, many)
		b.me = modelstest.Lease(t, db, fmt.Sprintf("i_%d", i))
		instances = append(instances, b)
	}
	raceAll(t, instances...)
}

// arrival is a request as Google sees it.
type arrival struct {
	scope string
	call  sites.Call
	at    time.Time
}

// Two instances whose clocks differ by 5 s acquire permits at random over a day, with bursts and around the reset. Requests arrive
// within 5 s. Google never sees more than a limit within 60 s or within a quota day.
func TestRandomDay(t *testing.T) {
	for name, start := range map[string]string{"23 hours": "2026-03-08T07:58:00Z", "24 hours": "2026-06-10T06:58:00Z", "25 hours": "2026-11-01T06:58:00Z"} {
		t.Run(name, func(t *testing.T) {
			limits := sites.Limits{PublishPerDay: 60, MetadataPerMinute: 5, RequestsPerMinute: 8, InspectionsPerDay: 70, InspectionsPerMinute: 6, Concurrency: 100}
			eachLedger(t, limits, func(b *ledger) { randomDay(b, start, limits) })
		})
	}
}

func randomDay(b *ledger, start string, limits sites.Limits) {
	const slow = 5 * time.Second
	r := rand.New(rand.NewPCG(1, 2))
	b.to(start)
	behind := sites.NewStore(b.db, func() time.Time { return b.clock.Now().Add(-slow) }, sites.Options{Limits: limits})
	var arrivals []arrival
	end := b.clock.Now().Add(27 * time.Hour)
	reset := sites.DayEnd(b.Now())
	for b.clock.Now().Before(end) {
		switch until := reset.Sub(b.clock.Now()); {
		case until < -time.Minute:
			reset = sites.DayEnd(b.Now())
		case until < 2*time.Minute: // more often around the reset
			b.clock.Advance(time.Duration(r.Int64N(int64(2 * time.Second))))
		default:
			wait := time.Duration(r.Int64N(int64(4 * time.Second)))
			if r.IntN(15) == 0 {
				wait = time.Duration(r.Int64N(int64(90 * time.Minute)))
			}
			b.clock.Advance(min(wait, until-time.Minute))
		}
		for range r.IntN(4) {
			w := []sites.Website{one, two, three}[r.IntN(3)]
			call := []sites.Call{sites.CallPublish, sites.CallMetadata, sites.CallInspect}[r.IntN(3)]
			store := []*sites.Store{b.Store, behind}[r.IntN(2)]
			p, err := store.Acquire(b.Context(), b.me, w, call)
			if _, refused := errors.AsType[*sites.QuotaError](err); refused {
				continue
			}
			if err != nil {
				b.Fatal(err)
			}
			b.release(p)
			a := arrival{w.ProjectID, call, b.clock.Now().Add(time.Duration(r.Int64N(int64(slow))))}
			if call == sites.CallInspect {
				a.scope = w.SiteURL
			}
			arrivals = append(arrivals, a)
		}
	}
	check := func(what string, limit int, is func(arrival) bool, within func(first, later time.Time) bool) {
		b.Helper()
		for _, scope := range []string{"p", "q", one.SiteURL, two.SiteURL, three.SiteURL} {
			var at []time.Time
			for _, a := range arrivals {
				if a.scope == scope && is(a) {
					at = append(at, a.at)
				}
			}
			slices.SortFunc(at, time.Time.Compare)
			most := 0
			for i, first := range at {
				n, _ := slices.BinarySearchFunc(at[i:], true, func(later time.Time, _ bool) int {
					if within(first, later) {
						return -1
					}
					return 1
				})
				most = max(most, n)
			}
			if most > limit || most < limit/2 && len(at) > 0 {
				b.Errorf("%s of %s: maximum %d, limit %d", what, scope, most, limit)
			}
		}
	}
	kind := func(c sites.Call) func(arrival) bool { return func(a arrival) bool { return a.call == c } }
	minute := func(first, later time.Time) bool { return later.Sub(first) < time.Minute }
	day := func(first, later time.Time) bool {
		return sites.DayEnd(models.At(first)) == sites.DayEnd(models.At(later))
	}
	check("publish per day", limits.PublishPerDay, kind(sites.CallPublish), day)
	check("inspections per day", limits.InspectionsPerDay, kind(sites.CallInspect), day)
	check("metadata per minute", limits.MetadataPerMinute, kind(sites.CallMetadata), minute)
	check("inspections per minute", limits.InspectionsPerMinute, kind(sites.CallInspect), minute)
	check("requests per minute", limits.RequestsPerMinute, func(a arrival) bool { return a.call != sites.CallInspect }, minute)
	if len(arrivals) < 500 {
		b.Errorf("only %d requests", len(arrivals))
	}
}

// Frequent operations read and sort no whole table.
func TestQuotaPlans(t *testing.T) {
	db := modelstest.New(t)
	b := newLedger(t, db, many)
	now := b.Now().UnixMicro()
	for _, scope := range []string{"project:p", "project:x", "property:x", "property:" + one.SiteURL} {
		kind := sites.CallPublish
		if scope[:8] == "property" {
			kind = sites.CallInspect
		}
		modelstest.Exec(t, db, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
			INSERT INTO quota_uses (scope, kind, used_at, website_seq, claimed_by)
			SELECT ?, ?, ? - i * 100000, i % 50, CASE WHEN i % 4 = 0 THEN ? END FROM n`, scope, kind, now, b.me)
		modelstest.Exec(t, db, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
			INSERT INTO quota_days (scope, kind, ends_at, used) SELECT ?, ?, ? - i * 86400000000, 1 FROM n`, scope, kind, now)
	}
	modelstest.Exec(t, db, "ANALYZE")
	acquire := func(c sites.Call) func() error {
		return func() error { _, err := b.Acquire(context.Background(), b.me, one, c); return err }
	}
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"publish", acquire(sites.CallPublish)}, {"metadata", acquire(sites.CallMetadata)}, {"inspect", acquire(sites.CallInspect)},
		{"done", func() error { return b.ReleasePermit(t.Context(), b.acquire(1, two, sites.CallPublish)[0]) }},
		{"quotas", func() error { _, err := b.Quotas(t.Context(), []sites.Website{one, two, three}); return err }},
		{"end of a lease", func() error {
			modelstest.Exec(t, db, "DELETE FROM instances WHERE id = 'i_other'")
			return nil
		}},
		{"far ahead", func() error {
			modelstest.Exec(t, db, "UPDATE quota_uses SET used_at = used_at + 8640000000000 WHERE seq = (SELECT max(seq) FROM quota_uses WHERE scope = 'project:p')")
			return acquire(sites.CallMetadata)()
		}},
		{"reap", func() error {
			return db.Write(t.Context(), func(tx *gorm.DB) error { _, err := b.ReapQuotaDays(tx, 5000); return err })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range modelstest.Sent(t, db, c.do) {
				for _, step := range modelstest.Plan(t, db, s) {
					joined := step == "SCAN due" || step == "SCAN r" || step == "SCAN latest" || step == "SCAN p" // rows found before
					if modelstest.ReadsAll(step) && !joined || modelstest.Sorts(step) {
						t.Errorf("%s\n  %s", s.SQL, step)
					}
				}
			}
		})
	}
}
