package sites

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Day is how many pages of a website were in each status at the end of a day, or are
// now.
type Day struct {
	At       models.Time // when the day begins, UTC
	ByStatus map[Status]int
}

// SnapCoverage stores the coverage of today for all websites. Jobs call it at their end.
func (s *Store) SnapCoverage(ctx context.Context) error {
	today := s.clock.Now().StartOfDay()
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec(`INSERT INTO coverage_days (website_seq, day_at, status, pages)
			SELECT c.website_seq, CAST(? AS bigint), c.status, sum(c.pages) FROM page_counts AS c JOIN websites AS w ON w.seq = c.website_seq
			WHERE w.deleted_at IS NULL GROUP BY c.website_seq, c.status
			ON CONFLICT (website_seq, day_at, status) DO UPDATE SET pages = excluded.pages`, today).Error
	})
	if err != nil {
		return fmt.Errorf("storing the coverage of today: %w", err)
	}
	return nil
}

// Coverage is the coverage of a website by day since a time (zero = all that is kept),
// the oldest day first, with that of now as the last one. Days on which no job ran are missing.
func (s *Store) Coverage(ctx context.Context, w Website, since models.Time) ([]Day, error) {
	var rows []struct {
		DayAt  models.Time
		Status Status
		Pages  int
	}
	today := s.clock.Now().StartOfDay()
	err := s.db.Read(ctx).Raw("SELECT day_at, status, pages FROM coverage_days WHERE website_seq = ? AND day_at >= ? AND day_at < ? AND status <> 'gone' ORDER BY day_at", w.Seq, since.UnixMicro(), today).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("loading coverage: %w", err)
	}
	var days []Day
	for _, r := range rows {
		if len(days) == 0 || days[len(days)-1].At != r.DayAt {
			days = append(days, Day{r.DayAt, map[Status]int{}})
		}
		days[len(days)-1].ByStatus[r.Status] = r.Pages
	}
	now, err := s.Counts(ctx, w)
	if err != nil {
		return nil, err
	}
	return append(days, Day{today, now.ByStatus}), nil
}
