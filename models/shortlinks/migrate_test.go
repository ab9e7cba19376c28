package shortlinks_test

import (
	"fmt"
	"testing"

	"linkwatch/models/modelstest"
)

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
		f.must(f.db.Migrate())
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
		f.must(f.db.Migrate())
		var n int
		f.must(f.db.Read(f.Context()).Raw("SELECT count(*) FROM short_links WHERE canonical_url = 'https://a.example/%C3%A9'").Scan(&n).Error)
		if n != 2 {
			t.Errorf("got %d", n)
		}
	})
}
