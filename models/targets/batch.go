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
	found, err := byURLs(s.db.Read(ctx), canonicalURLs)
	ids = make(map[string]string, len(found))
	for url, t := range found {
		ids[url] = t.ID
	}
	return ids, err
}

// StatusOf returns the targets of ByURLs by canonical URL, with one query. Only ID,
// Status, LastStatusCode, LastCheckedAt and LastError are set.
func (s *Store) StatusOf(ctx context.Context, canonicalURLs []string) (map[string]Target, error) {
	return byURLs(s.db.Read(ctx), canonicalURLs)
}

// byURLs is StatusOf in a transaction.
func byURLs(tx *gorm.DB, canonicalURLs []string) (map[string]Target, error) {
	rows := models.RowsOf("canonical_url text", canonicalURLs)
	own, args := models.OwnScope(tx, "t")
	query := rows.Raw(tx, `SELECT t.canonical_url, t.private_to, t.id, CASE WHEN t.paused THEN 1 ELSE 0 END, t.state, t.last_status_code,
			t.last_checked_at, t.last_error
		FROM {rows} AS r CROSS JOIN targets AS t
		WHERE t.canonical_url = r.canonical_url AND t.deleted_at IS NULL AND `+own, args...)
	by := make(map[string]Target, len(canonicalURLs))
	err := models.Each(query, func(r *models.Row) {
		t := Target{
			CanonicalURL: r.Text(), PrivateTo: r.Text(), ID: r.Text(), Paused: r.Int() != 0, State: Status(r.Text()),
			LastStatusCode: r.Int(),
		}
		r.Scan(&t.LastCheckedAt)
		t.LastError = r.Text()
		if _, ok := by[t.CanonicalURL]; !ok || !t.Private() {
			by[t.CanonicalURL] = t
		}
	})
	if err != nil {
		return nil, fmt.Errorf("find targets by URL: %w", err)
	}
	return by, nil
}

// AddAll adds up to MaxBatch targets with one statement and returns how many are new.
// It skips URLs that have a target that is shared or the actor's own. It ignores
// idempotency keys. On errors, which are those of Add, nothing is stored.
func (s *Store) AddAll(ctx context.Context, ns []New) (added int, err error) {
	if len(ns) > MaxBatch {
		return 0, models.TooLong("targets", MaxBatch, "targets")
	}
	drafts := make([]Target, len(ns))
	for i, n := range ns {
		if drafts[i], err = s.draft(ctx, n); err != nil {
			return 0, err
		}
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		stored, err := s.insert(tx, drafts)
		added = len(stored)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("store targets: %w", err)
	}
	if added > 0 {
		s.wake()
	}
	return added, nil
}

// insert stores new targets, makes them due and records that they were added. It skips URLs that have a target that is
// shared or the actor's own.
func (s *Store) insert(tx *gorm.DB, drafts []Target) (stored []Target, err error) {
	now := s.clock.Now() // in the transaction: on SQLite, the order of keys, times and IDs is the same
	rows, added := make([]Target, 0, len(drafts)), make(map[string]int, len(drafts))
	for _, t := range drafts {
		if _, twice := added[t.CanonicalURL]; !twice {
			t.ID, t.CreatedAt, t.UpdatedAt, t.StateSince = models.NewID(models.KindTarget), now, now, now
			added[t.CanonicalURL] = len(rows)
			rows = append(rows, t)
		}
	}
	own, args := models.OwnScope(tx, "t")
	err = models.InsertReturning(tx, rows, "seq, canonical_url", func(r *models.Row) {
		seq := r.Int64()
		t := rows[added[r.Text()]]
		t.Seq = seq
		stored = append(stored, t)
	}, "(SELECT t.seq FROM targets AS t WHERE t.canonical_url = r.canonical_url AND t.deleted_at IS NULL AND "+own+" LIMIT 1) IS NULL", args...)
	if err != nil {
		return nil, fmt.Errorf("insert targets: %w", err)
	}
	if err := scheduleNew(tx, stored); err != nil {
		return nil, err
	}
	return stored, auditAdded(tx, now, stored)
}

// auditAdded records that targets were added.
func auditAdded(tx *gorm.DB, now models.Time, stored []Target) error {
	switch len(stored) {
	case 0:
		return nil
	case 1:
		t := stored[0]
		return audit.Add(tx, now, audit.Change{Action: "target.add", Subject: t.auditSubject(), After: t.auditValues()})
	}
	ids := make([]string, len(stored))
	for i, t := range stored {
		ids[i] = t.ID
	}
	subject, values := audit.Several("target", ids)
	return audit.Add(tx, now, audit.Change{Action: "target.add", Subject: subject, After: values})
}
