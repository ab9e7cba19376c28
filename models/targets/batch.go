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
		stored, _, err := insert(tx, drafts)
		if err != nil {
			return err
		}
		added = len(stored)
		return auditAdded(tx, s.clock.Now(), stored)
	})
	if err != nil {
		return 0, fmt.Errorf("store targets: %w", err)
	}
	if added > 0 {
		s.wake()
	}
	return added, nil
}

// insert stores new targets and makes them due. It skips URLs that have a target that is shared or the actor's own,
// which it returns in known. It also skips URLs whose target another request added first.
func insert(tx *gorm.DB, drafts []Target) (stored []Target, known map[string]Target, err error) {
	urls := make([]string, len(drafts))
	for i, t := range drafts {
		urls[i] = t.CanonicalURL
	}
	if known, err = byURLs(tx, urls); err != nil {
		return nil, nil, err
	}
	rows, added := make([]Target, 0, len(drafts)), make(map[string]int, len(drafts))
	for _, t := range drafts {
		_, exists := known[t.CanonicalURL]
		if _, twice := added[t.CanonicalURL]; !exists && !twice {
			added[t.CanonicalURL] = len(rows)
			rows = append(rows, t)
		}
	}
	type key struct {
		Seq          int64
		CanonicalURL string
	}
	keys, err := models.InsertReturning[Target, key](tx, rows, "seq, canonical_url")
	if err != nil {
		return nil, nil, fmt.Errorf("insert targets: %w", err)
	}
	for _, k := range keys {
		t := rows[added[k.CanonicalURL]]
		t.Seq = k.Seq
		stored = append(stored, t)
	}
	return stored, known, scheduleNew(tx, stored)
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
