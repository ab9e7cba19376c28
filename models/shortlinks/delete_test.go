package shortlinks_test

import (
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
)

func TestDeleteAndRestore(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("gone"))
		f.redirectsTo("gone", "https://example.com/page")
		f.must(f.Delete(f.Context(), "gone"))
		f.redirectsTo("gone", "gone")
		_, err := f.Get(f.Context(), "gone")
		f.wantError(err, models.CodeNotFound, "")
		f.wantError(f.Delete(f.Context(), "gone"), models.CodeNotFound, "")
		_, err = f.Edit(f.Context(), "gone", shortlinks.Edit{})
		f.wantError(err, models.CodeNotFound, "")
		_, err = f.Restore(f.Context(), "gone")
		f.must(err)
		f.redirectsTo("gone", "https://example.com/page")
		_, err = f.Restore(f.Context(), "gone")
		f.wantError(err, models.CodeNotFound, "")
		f.must(f.Delete(f.Context(), "gone"))
		f.clock.Advance(shortlinks.KeepDeleted + time.Second)
		_, err = f.Restore(f.Context(), "gone")
		f.wantError(err, models.CodeNotFound, "")
		f.redirectsTo("gone", "gone") // until the reaper deletes it
	})
}
