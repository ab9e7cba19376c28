package shortlinks_test

import (
	"fmt"
	"testing"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
)

// Until schema 157, bots were visits, and link previews were bots. A short link with a visit limit keeps its number of
// visits, so that it stays used up.
func TestMigrationOfBots(t *testing.T) {
	const previews = 157
	each(t, func(f fixture) {
		f.add(key("free"))
		f.add(key("used-up"), limit(5))
		f.visitAs("free", "", laptop)
		f.visitAs("free", "", crawler)
		f.visitAs("free", "", chat)
		f.count()
		modelstest.MigrateBelow(t, f.db, previews)
		counts := func(want string) {
			t.Helper()
			var got []struct{ Visits, Bots int64 }
			f.must(f.db.Read(f.Context()).Raw("SELECT visits, bots FROM short_links ORDER BY short_key").Scan(&got).Error)
			if fmt.Sprint(got) != want {
				t.Errorf("got visits and bots %v, want %s", got, want)
			}
		}
		counts("[{3 2} {0 0}]")
		// An instance of the old version counts visits, also while the new one runs.
		old := func() {
			modelstest.Exec(t, f.db, "UPDATE short_links SET visits = 5, bots = 3, exhausted_at = 1 WHERE short_key = 'used-up'")
			modelstest.Exec(t, f.db, "UPDATE short_links SET visits = visits + 3, bots = bots + 2 WHERE short_key = 'free'")
			modelstest.Exec(t, f.db, `INSERT INTO short_link_days (short_link_seq, bucket_start, bots, desktop, mobile, tablet, other)
				SELECT seq, ?, 2, 1, 0, 0, 0 FROM short_links WHERE true ON CONFLICT (short_link_seq, bucket_start) DO UPDATE SET
					bots = short_link_days.bots + excluded.bots, desktop = short_link_days.desktop + excluded.desktop`, f.Now().StartOfDay())
		}
		old()
		f.must(f.db.Migrate(t.Context()))
		counts("[{2 4} {5 3}]")
		s, err := f.Stats(f.Context(), "free", 1)
		if want := (shortlinks.Day{Start: f.Now().StartOfDay(), Desktop: 2, Bots: 4}); err != nil || s.Days[0] != want {
			t.Errorf("got %+v, %v, want %+v", s.Days, err, want)
		}
		f = f.another() // its cache is empty
		_, err = f.Visit(f.Context(), "used-up", shortlinks.Visitor{UserAgent: laptop})
		f.wantError(err, models.CodeGone, "")
		old()
		counts("[{5 6} {5 3}]")
	})
}

// Until schema 155, direct visits had rows. The migration keeps their number, up and down.
func TestMigrationOfDirectVisits(t *testing.T) {
	const directVisits = 155
	each(t, func(f fixture) {
		f.add(key("some"))
		f.visitAs("some", "https://a.example", laptop)
		f.visitAs("some", "", laptop)
		f.visitAs("some", "", phone)
		f.visitAs("some", "", crawler)
		f.count()
		rows := func(want string) {
			t.Helper()
			var got []struct {
				Host   string
				Visits int64
			}
			f.must(f.db.Read(f.Context()).Raw("SELECT host, visits FROM short_link_referrers ORDER BY host").Scan(&got).Error)
			if fmt.Sprint(got) != want {
				t.Errorf("got rows %v, want %s", got, want)
			}
		}
		rows("[{a.example 1}]")
		// An instance of the old version may still run.
		modelstest.Exec(t, f.db, "INSERT INTO short_link_referrers (short_link_seq, host, visits) SELECT seq, '', 5 FROM short_links")
		modelstest.MigrateBelow(t, f.db, directVisits)
		rows("[{ 7} {a.example 1}]")
		f.must(f.db.Migrate(t.Context()))
		rows("[{a.example 1}]")
		if s, err := f.Stats(f.Context(), "some", 1); err != nil || fmt.Sprint(s.Referrers) != "[{ 7} {a.example 1}]" {
			t.Errorf("got referrers %v, error %v", s.Referrers, err)
		}
	})
}

// Until schema 160, canonical URLs kept the case of escapes.
func TestMigrationOfEscapes(t *testing.T) {
	const upperEscapes = 160
	each(t, func(f fixture) {
		f.add(key("some"))
		f.add(key("more"))
		modelstest.MigrateBelow(t, f.db, upperEscapes)
		modelstest.Exec(t, f.db, "UPDATE short_links SET canonical_url = 'https://a.example/%c3%a9'")
		f.must(f.db.Migrate(t.Context()))
		var n int
		f.must(f.db.Read(f.Context()).Raw("SELECT count(*) FROM short_links WHERE canonical_url = 'https://a.example/%C3%A9'").Scan(&n).Error)
		if n != 2 {
			t.Errorf("got %d", n)
		}
	})
}
