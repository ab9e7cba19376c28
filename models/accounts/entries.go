package accounts

import (
	"context"
	"fmt"
	"slices"
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
	tx := s.db.Read(ctx)
	actions, err := f.actions(tx)
	if err != nil {
		return l, err
	}
	where, args := f.where()
	if after.ID != "" {
		at, seq, err := models.ParseTimedID(models.KindAudit, after.ID)
		if err != nil {
			return l, models.ErrPageToken
		}
		where, args = where+" AND (at, seq) < (?, ?)", append(args, at, seq)
	}
	const order = " ORDER BY at DESC, seq DESC LIMIT ?"
	parts, all := []string{"SELECT * FROM audit_entries WHERE TRUE" + where + order}, append(slices.Clone(args), limit+1)
	if f.Action != "" { // one part per action, each read in order from an index
		parts, all = nil, nil
		for _, action := range actions {
			parts = append(parts, "SELECT * FROM (SELECT * FROM audit_entries WHERE action = ?"+where+order+") AS of_action")
			all = append(append(append(all, action), args...), limit+1)
		}
	}
	var found []audit.Entry
	switch len(parts) {
	case 0:
		return l, nil
	case 1:
		err = tx.Raw(parts[0], all...).Scan(&found).Error
	default:
		err = tx.Raw("SELECT * FROM ("+strings.Join(parts, " UNION ALL ")+") AS e"+order, append(all, limit+1)...).Scan(&found).Error
	}
	if err != nil {
		return l, fmt.Errorf("list audit entries: %w", err)
	}
	return models.NewSlice(found, limit, func(e audit.Entry) models.Cursor { return models.Cursor{CreatedAt: e.At, ID: EntryID(e)} }), nil
}

// actions returns the actions that the filter selects. It reads one entry per action from the index.
func (f AuditFilter) actions(tx *gorm.DB) (all []string, err error) {
	prefix, ok := strings.CutSuffix(f.Action, ".")
	if !ok {
		return []string{f.Action}, nil
	}
	end := prefix + "/" // "/" is the character after "."
	err = tx.Raw(`WITH RECURSIVE found(action) AS (
			SELECT min(action) FROM audit_entries WHERE action >= ? AND action < ?
			UNION ALL SELECT (SELECT min(action) FROM audit_entries WHERE action > found.action AND action < ?) FROM found WHERE found.action IS NOT NULL)
		SELECT action FROM found WHERE action IS NOT NULL`, f.Action, end, end).Scan(&all).Error
	if err != nil {
		return nil, fmt.Errorf("find actions: %w", err)
	}
	return all, nil
}

// where returns the conditions other than the action.
func (f AuditFilter) where() (sql string, args []any) {
	for _, c := range []struct {
		set   bool
		sql   string
		value any
	}{
		{f.Actor != "", " AND actor = ?", f.Actor},
		{f.SubjectID != "", " AND subject_id = ? AND subject_id <> ''", f.SubjectID},
		{f.Address != "", " AND address = ?", f.Address},
		{!f.Since.IsZero(), " AND at >= ?", f.Since},
		{!f.Until.IsZero(), " AND at < ?", f.Until},
	} {
		if c.set {
			sql, args = sql+c.sql, append(args, c.value)
		}
	}
	return sql, args
}

// ReapAudit deletes up to limit audit entries that are older than Options.Retention.
func (s *Store) ReapAudit(tx *gorm.DB, limit int) (int64, error) {
	return s.db.DeleteBatch(tx, limit, "audit_entries", "seq", "at <= ? ORDER BY at", s.clock.Now().Add(-s.opts.Retention))
}
