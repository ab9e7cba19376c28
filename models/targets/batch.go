package targets

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// MaxBatch is how many targets one AddAll adds.
const MaxBatch = 500

// ByURLs returns the ids of the targets that have some canonical URLs.
func (s *Store) ByURLs(ctx context.Context, canonicalURLs []string) (ids map[string]string, err error) {
	rows := models.RowsOf("canonical_url text", canonicalURLs)
	var found []struct{ CanonicalURL, ID string }
	err = rows.Raw(s.db.Read(ctx), `SELECT t.canonical_url, t.id FROM {rows} AS r CROSS JOIN targets AS t
		WHERE t.canonical_url = r.canonical_url AND t.deleted_at IS NULL`).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("looking up targets by their URLs: %w", err)
	}
	ids = make(map[string]string, len(found))
	for _, t := range found {
		ids[t.CanonicalURL] = t.ID
	}
	return ids, nil
}

// StatusOf returns what checks last found of the targets that have some canonical URLs, by these: ID, Status,
// LastStatusCode, LastCheckedAt and LastError. Their other members are zero. It takes one query.
func (s *Store) StatusOf(ctx context.Context, canonicalURLs []string) (map[string]Target, error) {
	rows := models.RowsOf("canonical_url text", canonicalURLs)
	var found []Target
	err := rows.Raw(s.db.Read(ctx), `SELECT t.id, t.canonical_url, t.paused, t.state, t.last_status_code, t.last_checked_at, t.last_error
		FROM {rows} AS r CROSS JOIN targets AS t WHERE t.canonical_url = r.canonical_url AND t.deleted_at IS NULL`).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("looking up the status of targets by their URLs: %w", err)
	}
	by := make(map[string]Target, len(found))
	for _, t := range found {
		by[t.CanonicalURL] = t
	}
	return by, nil
}

// AddAll adds up to MaxBatch targets by one statement, and says how many are new. A
// target of the same canonical URL stays as it is. Idempotency keys are not used. Errors
// are those of Add; then nothing is stored.
func (s *Store) AddAll(ctx context.Context, ns []New) (added int, err error) {
	if len(ns) > MaxBatch {
		return 0, models.Invalid("targets", "must be at most %d targets", MaxBatch)
	}
	rows, ids := make([]Target, len(ns)), models.NewRows("id text")
	for i, n := range ns {
		if rows[i], err = s.draft(n); err != nil {
			return 0, err
		}
		ids.Add(rows[i].ID)
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := models.Insert(tx, rows); err != nil {
			return err
		}
		return ids.Raw(tx, "SELECT count(*) FROM {rows} AS r CROSS JOIN targets AS t WHERE t.id = r.id").Scan(&added).Error
	})
	if err != nil {
		return 0, fmt.Errorf("storing targets: %w", err)
	}
	if added > 0 {
		s.wake()
	}
	return added, nil
}
