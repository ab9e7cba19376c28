package sites

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// MaxBoost is the maximum number of pages that one bulk change of priorities changes.
const MaxBoost = 10_000

// SetPriority sets the manual priority of a page; nil resets it to the automatic one. Errors are CodeNotFound and
// CodeInvalid ("manual_priority").
func (s *Store) SetPriority(ctx context.Context, id string, priority *int) (p Page, err error) {
	if err := checkPriority(priority); err != nil {
		return p, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if p, err = page(tx, id); err != nil {
			return err
		}
		if err := tx.Exec("UPDATE pages SET manual_priority = ?, queue_rank = 100 - COALESCE(?, auto_priority), boosted_at = NULL, previous_manual_priority = NULL WHERE seq = ?", priority, priority, p.Seq).Error; err != nil {
			return fmt.Errorf("store priority: %w", err)
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

// Boost is the result of a bulk change of priorities.
type Boost struct {
	At   models.Time // identifies the change for UndoPriorities
	N    int         // number of changed pages
	More bool        // more pages match
}

// SetPriorities sets the manual priority of the pages that match a filter: the first MaxBoost in queue order with another
// priority. UndoPriorities undoes it. Errors are CodeNotFound and CodeInvalid ("manual_priority", "query.…").
func (s *Store) SetPriorities(ctx context.Context, websiteID string, f Filter, priority *int) (b Boost, err error) {
	input := f
	if err := errors.Join(checkPriority(priority), f.normalize()); err != nil {
		return b, err
	}
	if input.Match != "" && f.Match == "" || input.Cause != "" && f.Cause == "" { // must not match all pages
		return b, models.Invalid("query.q", "must have a visible character")
	}
	b.At = s.clock.Now()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		w, err := website(tx.Clauses(forUpdate), websiteID, false)
		if err != nil {
			return err
		}
		q := f.query(w)
		if f.Match != "" {
			q.addWhere(matchCondition(f.Match))
		}
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
			return nil // the previous change stays undoable
		}
		values := audit.Values{"manual_priority": priority, "count": b.N, "status": string(f.Status), "cause": f.Cause, "q": f.Match, "queued": f.Queued, "gone": f.Gone}
		if err := s.audit(tx, "website.priorities", w, values); err != nil {
			return err
		}
		return b.store(tx, w, seqs, priority)
	})
	if err != nil && models.CodeOf(err) == "" {
		return b, fmt.Errorf("store priorities: %w", err)
	}
	return b, err
}

// store sets the manual priority of pages. Only the last change of a website can be undone.
func (b Boost) store(tx *gorm.DB, w Website, seqs []int64, priority *int) error {
	if err := tx.Exec("UPDATE pages SET boosted_at = NULL, previous_manual_priority = NULL WHERE website_seq = ? AND boosted_at IS NOT NULL", w.Seq).Error; err != nil {
		return fmt.Errorf("store priorities: %w", err)
	}
	err := models.RowsOf("seq bigint", seqs).Exec(tx, `UPDATE pages SET boosted_at = ?, previous_manual_priority = manual_priority, manual_priority = ?, queue_rank = 100 - COALESCE(?, auto_priority)
		WHERE seq IN (SELECT seq FROM {rows} AS r)`, b.At, priority, priority).Error
	if err != nil {
		return fmt.Errorf("store priorities: %w", err)
	}
	return nil
}

// UndoPriorities undoes the last SetPriorities of a website if it was made at the given time, and returns the number of
// changed pages. Pages whose priority was edited since are not changed.
func (s *Store) UndoPriorities(ctx context.Context, websiteID string, at models.Time) (n int, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		w, err := website(tx.Clauses(forUpdate), websiteID, false)
		if err != nil {
			return err
		}
		res := tx.Exec(`UPDATE pages SET manual_priority = previous_manual_priority, queue_rank = 100 - COALESCE(previous_manual_priority, auto_priority), boosted_at = NULL, previous_manual_priority = NULL
			WHERE website_seq = ? AND boosted_at = ?`, w.Seq, at)
		n = int(res.RowsAffected)
		if res.Error != nil || n == 0 {
			return res.Error
		}
		return s.audit(tx, "website.undo_priorities", w, audit.Values{"count": n})
	})
	return n, err
}

// audit adds one entry to the audit log for a change of pages of a website.
func (s *Store) audit(tx *gorm.DB, action string, w Website, values audit.Values) error {
	return audit.Add(tx, s.clock.Now(), audit.Change{Action: action, Subject: w.subject(), After: values})
}

// auditPages is audit with the IDs of up to audit.MaxSubjects pages.
func (s *Store) auditPages(tx *gorm.DB, action string, w Website, ps []Page, values audit.Values) error {
	ids := make([]string, min(len(ps), audit.MaxSubjects))
	for i := range ids {
		ids[i] = ps[i].ID()
	}
	values["count"], values["ids"] = len(ps), ids
	return s.audit(tx, action, w, values)
}

// Reprioritize updates up to StoreBatch automatic priorities that are due, and returns their number. Fewer than StoreBatch
// means that none is left.
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
		return 0, fmt.Errorf("update priorities: %w", err)
	}
	return n, nil
}
