package shortlinks_test

import (
	"fmt"
	"testing"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
)

func TestStats(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("stat"))
		f.visitAs("stat", "https://www.News.example/a?secret=1", phone)
		f.clock.Advance(day)
		f.visitAs("stat", "https://news.example/b", laptop)
		f.visitAs("stat", "", laptop)
		f.visitAs("stat", "https://bots.example", crawler)
		f.visitAs("stat", "https://chat.example", chat)
		f.count()
		f.visitAs("stat", "", laptop)
		f.count()
		l := f.get("stat")
		if l.Visits != 4 || l.Bots != 1 || l.Previews != 1 || l.LastVisitedAt != f.Now() {
			t.Errorf("got %+v", l)
		}
		s, err := f.Stats(f.Context(), "stat", 3)
		f.must(err)
		today := models.At(f.Now().Truncate(day))
		want := []shortlinks.Day{
			{Start: today.Add(-2 * day)}, {Start: today.Add(-day), Mobile: 1}, {Start: today, Desktop: 3, Bots: 1, Previews: 1},
		}
		if fmt.Sprint(s.Days) != fmt.Sprint(want) || s.Devices.Visits() != 4 || s.Devices.Bots != 1 || s.Devices.Previews != 1 || s.Devices.Mobile != 1 {
			t.Errorf("got %+v", s)
		}
		if fmt.Sprint(s.Referrers) != "[{ 2} {news.example 2}]" {
			t.Errorf("got referrers %+v", s.Referrers)
		}
		f.add(key("limited"), limit(10))
		f.visitAs("limited", "https://news.example", laptop) // counted at once, but its referrer is not stored yet
		if s, err := f.Stats(f.Context(), "limited", 1); err != nil || len(s.Referrers) != 0 {
			t.Errorf("got referrers %+v, %v", s.Referrers, err)
		}
		if s, err = f.Stats(f.Context(), "stat", 1); err != nil || len(s.Days) != 1 || s.Devices.Visits() != 3 {
			t.Errorf("got %+v, %v", s, err)
		}
		for _, days := range []int{0, -1, shortlinks.KeepDays + 1} {
			_, err := f.Stats(f.Context(), "stat", days)
			f.wantError(err, models.CodeInvalid, "query.days")
		}
		_, err = f.Stats(f.Context(), "none", 30)
		f.wantError(err, models.CodeNotFound, "")
	})
}
