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

var auditOrders = models.Orders[audit.Entry]{
	Field: "at", Desc: true, Time: "at", ID: "seq", Key: models.TimeAndNumber, Kind: models.KindAudit,
	At: func(e audit.Entry) models.Cursor { return models.Cursor{CreatedAt: e.At, ID: EntryID(e)} },
}

// Audit lists the entries of the audit log after a cursor, newest first by default.
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
	q := models.ListQuery{Table: "audit_entries", Where: where, Args: args}
	if f.Action != "" {
		q.Counted("action IN ?", append(actions, "")) // no entry has no action
	}
	return auditOrders.List(tx, q, after, limit, func(p models.ListPart) (found []audit.Entry, err error) {
		if f.Action == "" {
			err = p.Raw(tx, "SELECT * FROM audit_entries WHERE").Scan(&found).Error
		} else {
			found, err = ofActions(tx, actions, p)
		}
		if err != nil {
			err = fmt.Errorf("list audit entries: %w", err)
		}
		return found, err
	})
}

// ofActions returns the entries of a part that have one of the actions. Those of each are read in order from an index.
func ofActions(tx *gorm.DB, actions []string, p models.ListPart) (found []audit.Entry, err error) {
	if len(actions) == 0 {
		return nil, nil
	}
	order := " ORDER BY " + p.Order + " LIMIT ?"
	var parts []string
	var args []any
	for _, action := range actions {
		parts = append(parts, "SELECT * FROM (SELECT * FROM audit_entries WHERE action = ? AND "+p.Where+order+") AS of_action")
		args = append(append(append(args, action), p.Args...), p.Limit)
	}
	if len(parts) > 1 {
		parts, args = []string{"SELECT * FROM (" + strings.Join(parts, " UNION ALL ") + ") AS e" + order}, append(args, p.Limit)
	}
	err = tx.Raw(parts[0], args...).Scan(&found).Error
	return found, err
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
	sql = "TRUE"
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
