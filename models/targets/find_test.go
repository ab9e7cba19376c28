package targets_test

import (
	"fmt"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

// The newest targets match by any part of their name or URL, all others by the beginning of the URL.
func TestFind(t *testing.T) {
	each(t, func(f fixture) {
		for _, n := range []targets.New{{URL: "https://www.shop.test/a", Name: "Front door"}, {URL: "http://other.test/shop"}} {
			_, _, err := f.Add(t.Context(), n)
			f.must(err)
			f.clock.Advance(time.Minute)
		}
		found := func(text string) string {
			t.Helper()
			ts, err := f.Find(t.Context(), text, 5)
			f.must(err)
			names := []string{}
			for _, one := range ts {
				names = append(names, one.DisplayTitle())
			}
			return fmt.Sprint(names)
		}
		for text, want := range map[string]string{"DOOR": "[Front door]", "shop": "[other.test/shop Front door]", "front DOOR": "[Front door]", "100%": "[]", "none": "[]"} {
			if got := found(text); got != want {
				t.Errorf("%q finds %s, want %s", text, got, want)
			}
		}
		var many []targets.Target
		for i := range 4 * models.NewestSearched {
			u := fmt.Sprintf("https://many-%d.test", i)
			many = append(many, targets.Target{
				ID: models.NewID(models.KindTarget), URL: u, CanonicalURL: u, Host: u[8:], SearchText: u, State: targets.Up, StateSince: f.Now(),
				CreatedAt: f.Now(), UpdatedAt: f.Now(), Paused: true,
			})
		}
		f.must(f.db.Write(t.Context(), func(tx *gorm.DB) error { return models.Insert(tx, many) }))
		for text, want := range map[string]string{"door": "[]", "shop": "[Front door]", "https://www.Shop.test/": "[Front door]", "other.test/s": "[other.test/shop]"} {
			if got := found(text); got != want {
				t.Errorf("among many %q finds %s, want %s", text, got, want)
			}
		}
		modelstest.WholeTable(t, f.db, "targets", func() error { _, err := f.Find(t.Context(), "shop", 5); return err })
		_, err := f.Find(t.Context(), string(make([]byte, models.MaxFilter+1)), 5)
		if models.CodeOf(err) != models.CodeInvalid {
			t.Errorf("a long text: %v", err)
		}
	})
}
