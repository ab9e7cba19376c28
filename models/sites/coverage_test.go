package sites_test

import (
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/sites"
)

// Coverage starts at a given time, or with the oldest stored day.
func TestCoverageSince(t *testing.T) {
	each(t, func(w *fixture) {
		site, err := w.Add(w.Context(), sites.NewWebsite{SiteURL: "https://a.example/"})
		w.must(err)
		today := w.Now().StartOfDay()
		for _, ago := range []int{3, 2, 1, 0} {
			w.must(w.db.Write(w.Context(), func(tx *gorm.DB) error {
				return tx.Exec("INSERT INTO coverage_days (website_seq, day_at, status, pages) VALUES (?, ?, 'indexed', ?)",
					site.Seq, today.Add(-time.Duration(ago)*models.Day), 10-ago).Error
			}))
		}
		for since, want := range map[models.Time]int{{}: 4, today.Add(-2 * models.Day): 3, today: 1} {
			days, err := w.Coverage(w.Context(), site, since)
			w.must(err)
			if len(days) != want || days[len(days)-1].At != today || want > 1 && days[0].ByStatus[sites.Indexed] != 11-want {
				w.Errorf("since %s: %+v", since, days)
			}
		}
	})
}
