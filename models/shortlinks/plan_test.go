package shortlinks_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
)

// TestQueryPlans checks SQLite's plan of each statement: none scans a whole table, and none
// sorts one.
func TestQueryPlans(t *testing.T) {
	f := newFixture(t, modelstest.New(t))
	f.addMany(3000, "expires_at = created_at + seq * 1000000, disabled = seq % 10 = 0, exhausted_at = CASE WHEN seq % 7 = 0 THEN 1 END")
	f.add(key("some"), limit(5))
	f.add(key("used"), limit(1))
	f.add(key("old1"), ttl(time.Minute))
	f.clock.Advance(2 * time.Hour)
	f.reap(1000)
	ctx, some := t.Context(), models.Cursor{CreatedAt: f.Now(), ID: "k-000100"}
	list := func(filter shortlinks.Filter) func() error {
		return func() error { _, err := f.List(ctx, filter, some, 50); return err }
	}
	f.clock.Advance(time.Minute)
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"list", list(shortlinks.Filter{})},
		{"newest", list(shortlinks.Filter{Newest: true})},
		{"by text", list(shortlinks.Filter{Text: "page", Newest: true})},
		{"active", list(shortlinks.Filter{Status: shortlinks.Active, Newest: true})},
		{"expired", list(shortlinks.Filter{Status: shortlinks.Expired})},
		{"disabled", list(shortlinks.Filter{Status: shortlinks.Disabled})},
		{"get", func() error { _, err := f.Get(ctx, "some"); return err }},
		{"by keys", func() error { _, err := f.ByKeys(ctx, []string{"some", "old1", "none"}); return err }},
		{"of", func() error { _, _, err := f.ByURL(ctx, "https://example.com/none"); return err }},
		{"any", func() error { _, err := f.Any(ctx); return err }},
		{"create", func() error {
			_, _, err := f.Add(ctx, shortlinks.New{LongURL: "https://new.test", IdempotencyKey: "k"})
			return err
		}},
		{"edit", func() error { return f.edit("some", shortlinks.Edit{Title: new("x")}) }},
		{"visit", func() error { _, err := f.another().Visit(ctx, "some", shortlinks.Visitor{}); return err }},
		{"visits", func() error {
			_, err := shortlinks.LoadKeys(ctx, f.Store, "k-000100", "some", "none", "k-000200")
			return err
		}},
		{"changed", func() error { _, _, err := f.ChangedAfter(ctx, f.get("some").Version, 1000); return err }},
		{"stats", func() error { _, err := f.Stats(ctx, "some", 30); return err }},
		{"waiting", func() error { _, err := f.Waiting(ctx, 100); return err }},
		{"reap", func() error {
			return f.db.Write(context.Background(), func(tx *gorm.DB) error { _, err := f.ReapExpired(tx, 1000); return err })
		}},
		{"edit archived", func() error { return f.edit("old1", shortlinks.Edit{Title: new("x")}) }},
		{"stats of archived", func() error { _, err := f.Stats(ctx, "old1", 30); return err }},
		{"reactivate", func() error { return f.edit("old1", shortlinks.Edit{ExpiresAt: new(models.Time{})}) }},
		{"reap archived", func() error {
			return f.db.Write(context.Background(), func(tx *gorm.DB) error { _, err := f.ReapArchived(tx, 10); return err })
		}},
		{"reap days", func() error {
			return f.db.Write(context.Background(), func(tx *gorm.DB) error { _, err := f.ReapDays(tx, 10); return err })
		}},
		{"count", func() error { f.visitAs("some", "https://a.example", laptop); f.count(); return nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range modelstest.Sent(t, f.db, c.do) {
				for _, step := range modelstest.Plan(t, f.db, s) {
					// Limited by a LIMIT or MaxReferrers.
					bounded := slices.Contains([]string{"SCAN w", "SCAN e", "SCAN u", "SCAN expired", "SCAN due", "SCAN referrers", "SCAN archived", "SCAN l LEFT-JOIN"}, step)
					if c.name == "any" || bounded || c.name == "count" && !strings.Contains(step, "short_link") { // rows of the statement itself
						continue
					}
					if modelstest.ReadsAll(step) || modelstest.Sorts(step) && !slices.Contains([]string{"count", "stats", "stats of archived", "expired"}, c.name) {
						t.Errorf("%s\n  %s", s.SQL, step)
					}
				}
			}
		})
	}
}

// The time to store visits does not grow with the referrers that are stored.
func TestVisitsDoNotReadAllReferrers(t *testing.T) {
	each(t, func(f fixture) {
		f.addMany(3000, "visits = 1")
		modelstest.Exec(t, f.db, "INSERT INTO short_link_referrers (short_link_seq, host, visits) SELECT seq, 'a.example', 1 FROM short_links")
		modelstest.WholeTable(t, f.db, "short_link_referrers", func() error {
			for i := range 100 {
				f.visitAs(fmt.Sprintf("k-%06d", i), "https://a.example", laptop)
			}
			f.count()
			return nil
		})
	})
}

// The time to move short links does not grow with the visits of others.
func TestMoveDoesNotReadAllVisits(t *testing.T) {
	each(t, func(f fixture) {
		f.addMany(40_000, "expires_at = 1")
		modelstest.Exec(t, f.db, "INSERT INTO short_link_referrers (short_link_seq, host, visits) SELECT seq, 'a.example', 1 FROM short_links")
		modelstest.Exec(t, f.db, `INSERT INTO short_link_days (short_link_seq, bucket_start, bots, desktop, mobile, tablet, other)
			SELECT seq, 1, 0, 1, 0, 0, 0 FROM short_links`)
		f.clock.Advance(2 * time.Hour)
		for _, table := range []string{"short_link_referrers", "short_link_days", "short_links"} {
			modelstest.WholeTable(t, f.db, table, func() error { f.reap(10); return nil })
		}
		f.reap(40_000)
		modelstest.WholeTable(t, f.db, "archived_short_links", func() error {
			_, err := shortlinks.LoadKeys(t.Context(), f.Store, "k-000000", "k-001000", "none")
			return err
		})
	})
}
