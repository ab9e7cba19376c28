package accounts

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// EntryID returns the ID of an audit entry.
func EntryID(e audit.Entry) string { return models.TimedID(models.KindAudit, e.At, e.Seq) }

// AuditFilter selects entries of the audit log. The zero value selects all entries.
type AuditFilter struct {
	Actor     string      // username
	Action    string      // "target.edit", or a prefix that ends with a dot: "target."
	SubjectID string      // ID
	Address   string      // client address
	Since     models.Time // inclusive
	Until     models.Time // exclusive
}

func (f AuditFilter) check() error {
	return models.Invalids(checkFilter("query.actor", f.Actor), checkFilter("query.action", f.Action),
		checkFilter("query.subject_id", f.SubjectID), checkFilter("query.address", f.Address))
}

// checkFilter is models.CheckFilter that also rejects invalid UTF-8 and zero bytes. The filters are compared without case
// folding, so nothing else removes these before PostgreSQL rejects them.
func checkFilter(location, text string) error {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return models.Invalid(location, "must be valid UTF-8 without NUL bytes")
	}
	return models.CheckFilter(location, text)
}

// Audit lists the entries of the audit log after a cursor, newest first.
func (s *Store) Audit(ctx context.Context, f AuditFilter, after models.Cursor, limit int) (l models.Slice[audit.Entry], err error) {
	if err := f.check(); err != nil {
		return l, err
	}
	q := f.where(s.db.Read(ctx)).Order("at DESC, seq DESC").Limit(limit + 1)
	if after.ID != "" {
		at, seq, err := models.ParseTimedID(models.KindAudit, after.ID)
		if err != nil {
			return l, models.ErrPageToken
		}
		q = q.Where("(at, seq) < (?, ?)", at, seq)
	}
	var all []audit.Entry
	if err := q.Find(&all).Error; err != nil {
		return l, fmt.Errorf("list audit entries: %w", err)
	}
	return models.NewSlice(all, limit, func(e audit.Entry) models.Cursor { return models.Cursor{CreatedAt: e.At, ID: EntryID(e)} }), nil
}

func (f AuditFilter) where(q *gorm.DB) *gorm.DB {
	if f.Actor != "" {
		q = q.Where("actor = ?", f.Actor)
	}
	if prefix, ok := strings.CutSuffix(f.Action, "."); ok { // "/" is the character after "."
		q = q.Where("action >= ? AND action < ?", f.Action, prefix+"/")
	} else if f.Action != "" {
		q = q.Where("action = ?", f.Action)
	}
	if f.SubjectID != "" {
		q = q.Where("subject_id = ? AND subject_id <> ''", f.SubjectID)
	}
	if f.Address != "" {
		q = q.Where("address = ?", f.Address)
	}
	if !f.Since.IsZero() {
		q = q.Where("at >= ?", f.Since)
	}
	if !f.Until.IsZero() {
		q = q.Where("at < ?", f.Until)
	}
	return q
}

// ReapAudit deletes up to limit audit entries that are older than Options.Retention.
func (s *Store) ReapAudit(tx *gorm.DB, limit int) (int64, error) {
	return s.db.DeleteBatch(tx, limit, "audit_entries", "seq", "at <= ? ORDER BY at", s.clock.Now().Add(-s.opts.Retention))
}
