package targets_test

import (
	"testing"

	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

// Until schema 160, canonical URLs kept the case of escapes. The migration changes one target of each URL and scope, and all
// deleted ones.
func TestMigrationOfEscapes(t *testing.T) {
	const upperEscapes = 160
	each(t, func(f fixture) {
		old, deleted, known, lower := f.add("http://a.test/old"), f.add("http://a.test/deleted"), f.add("http://a.test/%C3%A9"), f.add("http://a.test/lower")
		f.must(f.Delete(f.Context(), deleted.ID))
		modelstest.MigrateBelow(t, f.db, upperEscapes)
		for id, form := range map[string]string{
			old.ID: "http://a.test/%c3%a4", deleted.ID: "http://a.test/%c3%a4", lower.ID: "http://a.test/%c3%a9",
		} {
			modelstest.Exec(t, f.db, "UPDATE targets SET canonical_url = ? WHERE id = ?", form, id)
		}
		f.must(f.db.Migrate(t.Context()))
		for id, want := range map[string]string{old.ID: "http://a.test/%C3%A4", known.ID: "http://a.test/%C3%A9", lower.ID: "http://a.test/%c3%a9"} {
			if got := f.get(id).CanonicalURL; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		var of string
		f.must(f.db.Read(f.Context()).Raw("SELECT canonical_url FROM targets WHERE id = ?", deleted.ID).Scan(&of).Error)
		if of != "http://a.test/%C3%A4" {
			t.Errorf("deleted: got %s", of)
		}
		if found, created, err := f.Add(f.Context(), targets.New{URL: "http://a.test/%c3%a4/"}); err != nil || created || found.ID != old.ID {
			t.Errorf("got %+v, %v, %v", found, created, err)
		}
	})
}
