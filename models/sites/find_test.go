package sites_test

import (
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/sites"
)

func TestFindWebsites(t *testing.T) {
	each(t, func(w *fixture) {
		cafe := w.site("https://cafe.test/")
		name := "Café & Bar"
		_, err := w.Edit(w.Context(), cafe.ID, sites.Edit{Name: &name})
		w.must(err)
		w.clock.Advance(time.Minute)
		bar := w.site("https://bar.test/")
		gone := w.site("https://gone-bar.test/")
		w.must(w.Delete(w.Context(), gone.ID))
		for text, want := range map[string][]string{"bar": {bar.ID, cafe.ID}, "CAFE &": {cafe.ID}, "https://bar": {bar.ID}, "none": nil, "%": nil} {
			found, err := w.Find(w.Context(), text, 5)
			w.must(err)
			if len(found) != len(want) {
				t.Errorf("%q: got %d websites, want %d", text, len(found), len(want))
				continue
			}
			for i := range found {
				if found[i].ID != want[i] {
					t.Errorf("%q: got %s at index %d", text, found[i].Name, i)
				}
			}
		}
		if found, err := w.Find(w.Context(), "test", 1); err != nil || len(found) != 1 || found[0].ID != bar.ID {
			t.Errorf("first: %+v, %v", found, err)
		}
		_, err = w.Find(w.Context(), string(make([]byte, models.MaxFilter+1)), 5)
		w.wantCode(err, models.CodeInvalid)
	})
}
