package targets

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// MaxBatch is the largest number of targets for AddAll.
const MaxBatch = 500

// ByURLs returns the ids of the targets with the canonical URLs, by URL. A shared target
// is preferred to one of the actor. URLs without a target are missing.
func (s *Store) ByURLs(ctx context.Context, canonicalURLs []string) (ids map[string]string, err error) {
	found, err := byURLs(s.db.Read(ctx), "t.id", canonicalURLs)
	ids = make(map[string]string, len(found))
	for url, t := range found {
		ids[url] = t.ID
	}
	return ids, err
}

// byURLs returns columns of the targets of ByURLs, by canonical URL, with one query.
func byURLs(tx *gorm.DB, columns string, canonicalURLs []string) (map[string]Target, error) {
	rows := models.RowsOf("canonical_url text", canonicalURLs)
	own, args := models.OwnScope(tx, "t")
	var found []Target
	err := rows.Raw(tx, "SELECT t.canonical_url, t.private_to, "+columns+` FROM {rows} AS r CROSS JOIN targets AS t
		WHERE t.canonical_url = r.canonical_url AND t.deleted_at IS NULL AND `+own, args...).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("find targets by URL: %w", err)
	}
	by := make(map[string]Target, len(found))
	for _, t := range found {
		if _, ok := by[t.CanonicalURL]; !ok || !t.Private() {
			by[t.CanonicalURL] = t
		}
	}
	return by, nil
}

// StatusOf returns the targets of ByURLs by canonical URL, with one query. Only ID,
// Status, LastStatusCode, LastCheckedAt and LastError are set.
func (s *Store) StatusOf(ctx context.Context, canonicalURLs []string) (map[string]Target, error) {
	return byURLs(s.db.Read(ctx), "t.id, t.paused, t.state, t.last_status_code, t.last_checked_at, t.last_error", canonicalURLs)
}

// AddAll adds up to MaxBatch targets with one statement and returns how many are new.
// It skips URLs that have a target that is shared or the actor's own. It ignores
// idempotency keys. On errors, which are those of Add, nothing is stored.
func (s *Store) AddAll(ctx context.Context, ns []New) (added int, err error) {
	if len(ns) > MaxBatch {
		return 0, models.TooLong("targets", MaxBatch, "targets")
	}
	all, urls := make([]Target, len(ns)), make([]string, len(ns))
	for i, n := range ns {
		if all[i], err = s.draft(ctx, n); err != nil {
			return 0, err
		}
		urls[i] = all[i].CanonicalURL
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		known, err := byURLs(tx, "t.id", urls)
		if err != nil {
			return err
		}
		var rows []Target
		ids := models.NewRows("id text")
		for _, t := range all {
			if _, ok := known[t.CanonicalURL]; !ok {
				known[t.CanonicalURL] = t
				rows = append(rows, t)
				ids.Add(t.ID)
			}
		}
		if err := models.Insert(tx, rows); err != nil {
			return err
		}
		var stored []string // without those that another request added first
		if err := ids.Raw(tx, "SELECT t.id FROM {rows} AS r CROSS JOIN targets AS t WHERE t.id = r.id").Scan(&stored).Error; err != nil {
			return err
		}
		if err := scheduleNew(tx, stored); err != nil {
			return err
		}
		added = len(stored)
		return auditAdded(tx, s.clock.Now(), rows, stored)
	})
	if err != nil {
		return 0, fmt.Errorf("store targets: %w", err)
	}
	if added > 0 {
		s.wake()
	}
	return added, nil
}

// auditAdded records that targets were added. stored are the ids of the rows that were
// stored.
func auditAdded(tx *gorm.DB, now models.Time, rows []Target, stored []string) error {
	if len(stored) == 0 {
		return nil
	}
	subject, values := audit.Several("target", stored)
	if len(stored) == 1 {
		for _, t := range rows {
			if t.ID == stored[0] {
				subject, values = t.auditSubject(), t.auditValues()
			}
		}
	}
	return audit.Add(tx, now, audit.Change{Action: "target.add", Subject: subject, After: values})
}
