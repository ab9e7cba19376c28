package crawl_test

import (
	"testing"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// TestMigrationToPrivateSources checks that the down migration deletes entries of private sources and never reuses the
// number of an entry. The up migration makes existing sources shared, owned by the system.
func TestMigrationToPrivateSources(t *testing.T) {
	each(t, func(w *world) {
		bob := w.as("bob")
		shared, err := w.AddSource(bob, crawl.NewSource{URL: "http://a.example/", Enabled: true})
		w.ok(err)
		private, err := w.AddSource(bob, crawl.NewSource{URL: "http://a.example/", Enabled: true, Private: true})
		w.ok(err)
		for _, src := range []crawl.Source{shared, private} {
			_, created, err := w.AddEntry(bob, "http://a.example/x", src.ID)
			w.ok(err)
			if !created {
				w.Error("the URL waits already")
			}
		}
		modelstest.MigrateBelow(t, w.db, 123)
		var entries int
		w.ok(w.db.Write(t.Context(), func(tx *gorm.DB) error { return tx.Raw("SELECT count(*) FROM frontier").Scan(&entries).Error })) // a read connection would keep the old schema
		if entries != 1 {
			t.Errorf("got %d entries after the down migration", entries)
		}
		w.ok(w.db.Migrate(t.Context()))
		src, err := w.Source(w.as("alice"), private.ID)
		w.ok(err)
		if src.Owner != models.SystemOwner || src.Private() {
			t.Errorf("got source %+v", src)
		}
		e, created, err := w.AddEntry(bob, "http://a.example/x", "")
		w.ok(err)
		if created {
			t.Error("the shared entry is missing")
		}
		w.ok(w.DeleteEntry(bob, e.ID()))
		e, _, err = w.AddEntry(bob, "http://a.example/x", "")
		w.ok(err)
		if e.Seq <= 2 {
			t.Errorf("got number %d for the next entry", e.Seq)
		}
	})
}
