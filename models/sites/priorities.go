package sites

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// MaxBoost is how many pages one bulk change of priorities changes, the first of the
// queue.
const MaxBoost = 10_000

// SetPriority sets the manual priority of a page, or removes it if priority is nil: then
// the automatic one counts again. Errors are CodeNotFound and CodeInvalid
// ("manual_priority").
func (s *Store) SetPriority(ctx context.Context, id string, priority *int) (p Page, err error) {
	if err := checkPriority(priority); err != nil {
		return p, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if p, err = page(tx, id); err != nil {
			return err
		}
		if err := tx.Exec("UPDATE pages SET manual_priority = ?, queue_rank = 100 - COALESCE(?, auto_priority), boosted_at = NULL, manual_before = NULL WHERE seq = ?", priority, priority, p.Seq).Error; err != nil {
			return fmt.Errorf("storing a priority: %w", err)
		}
		before := audit.Values{"manual_priority": p.ManualPriority}
		if p, err = page(tx, id); err != nil {
			return err
		}
		return audit.Add(tx, s.clock.Now(), audit.Change{Action: "page.priority", Subject: p.subject(), Before: before, After: audit.Values{"manual_priority": p.ManualPriority}})
	})
	return p, err
}

func checkPriority(priority *int) error {
	if priority != nil && (*priority < MinPriority || *priority > MaxPriority) {
		return models.Invalid("manual_priority", "must be a whole number from %d to %d, or null", MinPriority, MaxPriority)
	}
	return nil
}

// Boost is one bulk change of priorities.
type Boost struct {
	At   models.Time // by which it is undone
	N    int         // how many pages were changed
	More bool        // there were more than MaxBoost
}

// SetPriorities is SetPriority for the pages of a website that a filter lists: the first
// MaxBoost of the queue whose manual priority is another one. It can be undone. Errors
// are CodeNotFound and CodeInvalid ("manual_priority", "query.…").
func (s *Store) SetPriorities(ctx context.Context, websiteID string, f Filter, priority *int) (b Boost, err error) {
	given := f
	if err := errors.Join(checkPriority(priority), f.check()); err != nil {
		return b, err
	}
	if given.Match != "" && f.Match == "" || given.Cause != "" && f.Cause == "" { // not all pages
		return b, models.Invalid("query.q", "must have a visible character")
	}
	b.At = s.clock.Now()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		w, err := website(tx.Clauses(forUpdate), websiteID, false)
		if err != nil {
			return err
		}
		q := f.query(w)
		for i := range q.parts {
			if priority == nil {
				q.parts[i] += " AND p.manual_priority IS NOT NULL"
			} else {
				q.parts[i], q.args[i] = q.parts[i]+" AND p.manual_priority IS DISTINCT FROM ?", append(q.args[i], *priority)
			}
		}
		sql, args := q.sql(-1, 0, MaxBoost+1)
		var seqs []int64
		if err := tx.Raw("SELECT seq FROM ("+sql+") AS z", args...).Scan(&seqs).Error; err != nil {
			return err
		}
		if b.More = len(seqs) > MaxBoost; b.More {
			seqs = seqs[:MaxBoost]
		}
		if b.N = len(seqs); b.N == 0 {
			return nil // the change before can still be undone
		}
		values := audit.Values{"manual_priority": priority, "count": b.N, "status": string(f.Status), "cause": f.Cause, "q": f.Match, "queued": f.Queued, "gone": f.Gone}
		if err := s.audit(tx, "website.priorities", w, values); err != nil {
			return err
		}
		return b.store(tx, w, seqs, priority)
	})
	if err != nil && models.CodeOf(err) == "" {
		return b, fmt.Errorf("storing priorities: %w", err)
	}
	return b, err
}

// store gives pages of a website a manual priority. Only the last change of a website can
// be undone.
func (b Boost) store(tx *gorm.DB, w Website, seqs []int64, priority *int) error {
	if err := tx.Exec("UPDATE pages SET boosted_at = NULL, manual_before = NULL WHERE website_seq = ? AND boosted_at IS NOT NULL", w.Seq).Error; err != nil {
		return fmt.Errorf("storing priorities: %w", err)
	}
	err := models.RowsOf("seq bigint", seqs).Exec(tx, `UPDATE pages SET boosted_at = ?, manual_before = manual_priority, manual_priority = ?, queue_rank = 100 - COALESCE(?, auto_priority)
		WHERE seq IN (SELECT seq FROM {rows} AS r)`, b.At, priority, priority).Error
	if err != nil {
		return fmt.Errorf("storing priorities: %w", err)
	}
	return nil
}

// UndoPriorities undoes the last SetPriorities of a website, if it was that of a time,
// and says how many pages it changed. Pages whose priority was changed singly since stay
// as they are.
func (s *Store) UndoPriorities(ctx context.Context, websiteID string, at models.Time) (n int, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		w, err := website(tx.Clauses(forUpdate), websiteID, false)
		if err != nil {
			return err
		}
		res := tx.Exec(`UPDATE pages SET manual_priority = manual_before, queue_rank = 100 - COALESCE(manual_before, auto_priority), boosted_at = NULL, manual_before = NULL
			WHERE website_seq = ? AND boosted_at = ?`, w.Seq, at)
		n = int(res.RowsAffected)
		if res.Error != nil || n == 0 {
			return res.Error
		}
		return s.audit(tx, "website.undo_priorities", w, audit.Values{"count": n})
	})
	return n, err
}

// audit records what was done to pages of a website: one entry for all of them.
func (s *Store) audit(tx *gorm.DB, action string, w Website, values audit.Values) error {
	return audit.Add(tx, s.clock.Now(), audit.Change{Action: action, Subject: w.subject(), After: values})
}

// auditPages is audit with the ids of the pages, the first of them.
func (s *Store) auditPages(tx *gorm.DB, action string, w Website, ps []Page, values audit.Values) error {
	ids := make([]string, min(len(ps), audit.MaxSubjects))
	for i := range ids {
		ids[i] = ps[i].ID()
	}
	values["count"], values["ids"] = len(ps), ids
	return s.audit(tx, action, w, values)
}

// Reprioritize brings up to StoreBatch automatic priorities up to date, and says how many
// there were: fewer than StoreBatch were the last ones.
func (s *Store) Reprioritize(ctx context.Context) (n int, err error) {
	now := s.clock.Now()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		var due []Page
		err := tx.Raw("SELECT seq, lastmod FROM pages WHERE reprioritize_at <= ? ORDER BY reprioritize_at LIMIT ?"+s.db.SkipLocked(), now, StoreBatch).Scan(&due).Error
		if n = len(due); err != nil || n == 0 {
			return err
		}
		rows := models.NewRows("seq bigint, priority bigint, next_at bigint")
		for _, p := range due {
			rows.Add(p.Seq, AutoPriority(p.Lastmod, now), nextPriority(p.Lastmod, now))
		}
		return rows.Exec(tx, `UPDATE pages SET auto_priority = r.priority, queue_rank = 100 - COALESCE(pages.manual_priority, r.priority), reprioritize_at = r.next_at
			FROM {rows} AS r WHERE pages.seq = r.seq`).Error
	})
	if err != nil {
		return 0, fmt.Errorf("updating priorities: %w", err)
	}
	return n, nil
}
