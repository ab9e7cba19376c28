package sites

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Day has the number of pages of a website by status at the end of a day, or now for today.
type Day struct {
	At       models.Time // start of the day in UTC
	ByStatus map[Status]int
}

// SnapshotCoverage stores today's coverage of all websites. Jobs call it when they finish.
func (s *Store) SnapshotCoverage(ctx context.Context) error {
	today := s.clock.Now().StartOfDay()
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec(`INSERT INTO coverage_days (website_seq, day_at, status, pages)
			SELECT c.website_seq, CAST(? AS bigint), c.status, sum(c.pages) FROM page_counts AS c JOIN websites AS w ON w.seq = c.website_seq
			WHERE w.deleted_at IS NULL GROUP BY c.website_seq, c.status
			ON CONFLICT (website_seq, day_at, status) DO UPDATE SET pages = excluded.pages`, today).Error
	})
	if err != nil {
		return fmt.Errorf("store coverage: %w", err)
	}
	return nil
}

// Coverage returns the coverage of a website by day since a time, oldest first. A zero time is the start of the stored data.
// The last day is today with the current counts. Days on which no job ran are omitted.
func (s *Store) Coverage(ctx context.Context, w Website, since models.Time) ([]Day, error) {
	var rows []struct {
		DayAt  models.Time
		Status Status
		Pages  int
	}
	today := s.clock.Now().StartOfDay()
	err := s.db.Read(ctx).Raw("SELECT day_at, status, pages FROM coverage_days WHERE website_seq = ? AND day_at >= ? AND day_at < ? AND status <> 'gone' ORDER BY day_at", w.Seq, since.UnixMicro(), today).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("load coverage: %w", err)
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
