package alerts

import (
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// write stores what the batch changed: each table by a statement or two.
func (b *batch) write() error {
	drafts := b.touched()
	if err := b.writeStored(drafts); err != nil {
		return err
	}
	var fresh []Alert
	for _, d := range drafts {
		if d.Seq == 0 {
			fresh = append(fresh, d.Alert)
		}
	}
	if err := insertAlerts(b.tx, fresh); err != nil {
		return err
	}
	seqs := map[string]int64{}
	for _, a := range fresh {
		seqs[a.ID] = a.Seq
	}
	members := models.NewRows("alert_seq bigint, subject_id text, event text, subject_kind text, name text, url text, detail text, since_at bigint, ended_at bigint")
	gone := models.NewRows("alert_seq bigint, subject_id text")
	notices := models.NewRows("alert_seq bigint, rule_seq bigint, next_at bigint, severity bigint, grown boolean")
	silent := models.NewRows("seq bigint")
	var over []Alert
	for _, d := range drafts {
		switch {
		case d.unheard():
			continue
		case d.Seq == 0:
			d.Seq = seqs[d.ID]
		}
		for _, m := range d.members {
			if m.gone {
				gone.Add(d.Seq, m.SubjectID)
				continue
			}
			members.Add(d.Seq, m.SubjectID, m.Event, m.SubjectKind, m.Name, m.URL, m.Detail, m.SinceAt, m.EndedAt)
		}
		for rule, n := range d.notices {
			if !d.over {
				notices.Add(d.Seq, rule, n.at, int(d.Severity), n.grown)
			}
		}
		switch {
		case d.over && d.silent:
			silent.Add(d.Seq)
		case d.over:
			over = append(over, d.Alert)
		}
	}
	err := members.Exec(b.tx, `INSERT INTO alert_members (alert_seq, subject_id, event, subject_kind, name, url, detail, since_at, ended_at)
		SELECT alert_seq, subject_id, event, subject_kind, name, url, detail, since_at, ended_at FROM {rows} AS r WHERE true
		ON CONFLICT (alert_seq, subject_id) DO UPDATE SET name = excluded.name, url = excluded.url, detail = excluded.detail, since_at = excluded.since_at, ended_at = excluded.ended_at`).Error
	if err != nil {
		return fmt.Errorf("storing the subjects of alerts: %w", err)
	}
	// A rule that has told of the alert tells of it again only if it got worse, or has grown.
	err = notices.Exec(b.tx, `INSERT INTO alert_notices (alert_seq, rule_seq, next_at, severity, grown) SELECT alert_seq, rule_seq, next_at, severity, false FROM {rows} AS r WHERE true
		ON CONFLICT (alert_seq, rule_seq) DO NOTHING`).Error
	if err == nil {
		err = notices.Exec(b.tx, `UPDATE alert_notices SET next_at = CASE WHEN alert_notices.next_at < r.next_at THEN alert_notices.next_at ELSE r.next_at END, grown = alert_notices.grown OR r.grown
			FROM {rows} AS r WHERE alert_notices.alert_seq = r.alert_seq AND alert_notices.rule_seq = r.rule_seq AND (alert_notices.notified_at IS NULL OR r.severity > alert_notices.severity OR r.grown)`).Error
	}
	if err == nil {
		err = silent.Exec(b.tx, "DELETE FROM alert_notices WHERE alert_seq IN (SELECT seq FROM {rows} AS r)").Error
	}
	if err != nil {
		return fmt.Errorf("planning messages of alerts: %w", err)
	}
	if err := b.leave(gone); err != nil {
		return err
	}
	return b.store.tellEnd(b.tx, over, b.now)
}

// leave removes subjects from alerts. One that an alert is called by is replaced by another one.
func (b *batch) leave(gone *models.Rows) error {
	err := gone.Exec(b.tx, "DELETE FROM alert_members WHERE (alert_seq, subject_id) IN (SELECT alert_seq, subject_id FROM {rows} AS r)").Error
	if err == nil {
		err = gone.Exec(b.tx, `UPDATE alerts SET (subject_kind, subject_id, subject_name, subject_url, detail) = (
			SELECT m.subject_kind, m.subject_id, m.name, m.url, m.detail FROM alert_members AS m WHERE m.alert_seq = alerts.seq ORDER BY m.ended_at IS NOT NULL, m.since_at, m.subject_id LIMIT 1)
			WHERE (seq, subject_id) IN (SELECT alert_seq, subject_id FROM {rows} AS r) AND EXISTS (SELECT 1 FROM alert_members AS m WHERE m.alert_seq = alerts.seq)`).Error
	}
	if err != nil {
		return fmt.Errorf("removing subjects from alerts: %w", err)
	}
	return nil
}

// writeStored stores what the batch changed of alerts that were there before it. Those that
// are over are out of the way of new ones then.
func (b *batch) writeStored(drafts []*draft) error {
	changed := models.NewRows("seq bigint, severity bigint, members bigint, open_members bigint, changes bigint, started_at bigint, grown_at bigint, detail text, resolve_at bigint, resolved_at bigint")
	unheard := models.NewRows("seq bigint")
	for _, d := range drafts {
		switch {
		case d.Seq == 0:
		case d.unheard():
			unheard.Add(d.Seq)
		default:
			changed.Add(d.Seq, int(d.Severity), d.Members, d.OpenMembers, d.Changes, d.StartedAt, d.GrownAt, d.Detail, d.ResolveAt, d.ResolvedAt)
		}
	}
	err := changed.Exec(b.tx, `UPDATE alerts SET severity = r.severity, members = r.members, open_members = r.open_members, changes = r.changes,
		started_at = r.started_at, grown_at = r.grown_at, detail = r.detail, resolve_at = r.resolve_at, resolved_at = r.resolved_at FROM {rows} AS r WHERE alerts.seq = r.seq`).Error
	if err != nil {
		return fmt.Errorf("storing alerts: %w", err)
	}
	if err := unheard.Exec(b.tx, "DELETE FROM alerts WHERE seq IN (SELECT seq FROM {rows} AS r)").Error; err != nil {
		return fmt.Errorf("deleting alerts that no one was told of: %w", err)
	}
	return nil
}

// insertAlerts stores new alerts, and sets their Seq.
func insertAlerts(tx *gorm.DB, as []Alert) error {
	if err := models.Insert(tx, as); err != nil {
		return fmt.Errorf("storing new alerts: %w", err)
	}
	ids := models.NewRows("id text")
	for _, a := range as {
		ids.Add(a.ID)
	}
	if ids.Len() == 0 {
		return nil
	}
	var found []struct {
		Seq int64
		ID  string
	}
	if err := ids.Raw(tx, "SELECT a.seq, a.id FROM {rows} AS r CROSS JOIN alerts AS a WHERE a.id = r.id").Scan(&found).Error; err != nil {
		return fmt.Errorf("looking up new alerts: %w", err)
	}
	seqs := make(map[string]int64, len(found))
	for _, f := range found {
		seqs[f.ID] = f.Seq
	}
	for i := range as {
		as[i].Seq = seqs[as[i].ID]
	}
	return nil
}

// tellEnd has rules that told of alerts tell that these are resolved: by an alert of
// another kind if there is one for the end, else by a message of the same alert.
func (s *Store) tellEnd(tx *gorm.DB, over []Alert, now models.Time) error {
	all, same, ends := models.NewRows("seq bigint"), models.NewRows("seq bigint"), models.NewRows("id text, seq bigint, event text")
	for _, a := range over {
		all.Add(a.Seq)
	}
	if all.Len() == 0 {
		return nil
	}
	var stored []Alert // some are called by another subject now
	if err := all.Raw(tx, "SELECT a.* FROM {rows} AS r CROSS JOIN alerts AS a WHERE a.seq = r.seq").Scan(&stored).Error; err != nil {
		return fmt.Errorf("loading alerts that are resolved: %w", err)
	}
	var fresh []Alert
	for _, a := range stored {
		t := s.Type(a.Event)
		switch {
		case t.EndsAs != "":
			end := a
			end.Seq, end.ID, end.EndsID, end.Event, end.Severity = 0, models.NewID(models.KindAlert), a.ID, t.EndsAs, s.Type(t.EndsAs).Severity
			end.CreatedAt, end.FiredAt, end.AcknowledgedAt, end.SilencedUntil, end.ResolveAt = now, models.Time{}, models.Time{}, models.Time{}, models.Time{}
			end.OpenMembers = 0
			fresh = append(fresh, end)
			ends.Add(end.ID, a.Seq, string(t.EndsAs))
		case t.Over != "":
			same.Add(a.Seq)
		}
	}
	if err := insertAlerts(tx, fresh); err != nil {
		return err
	}
	for _, st := range []struct {
		rows *models.Rows
		sql  string
		args []any
	}{
		{all, "UPDATE alert_notices SET next_at = NULL, repeat_at = NULL, escalate_at = NULL WHERE alert_seq IN (SELECT seq FROM {rows} AS r)", nil},
		{same, "UPDATE alert_notices SET next_at = ? WHERE notified_at IS NOT NULL AND alert_seq IN (SELECT seq FROM {rows} AS r)", []any{now}},
		{ends, `INSERT INTO alert_members (alert_seq, subject_id, event, subject_kind, name, url, detail, since_at, ended_at)
			SELECT a.seq, m.subject_id, r.event, m.subject_kind, m.name, m.url, m.detail, m.since_at, m.ended_at
			FROM {rows} AS r JOIN alerts AS a ON a.id = r.id JOIN alert_members AS m ON m.alert_seq = r.seq`, nil},
		{ends, `INSERT INTO alert_notices (alert_seq, rule_seq, next_at, severity, escalated_at, grown) SELECT a.seq, n.rule_seq, CAST(? AS BIGINT), a.severity, n.escalated_at, false
			FROM {rows} AS r JOIN alerts AS a ON a.id = r.id JOIN alert_notices AS n ON n.alert_seq = r.seq WHERE n.notified_at IS NOT NULL`, []any{now}},
	} {
		if err := st.rows.Exec(tx, st.sql, st.args...).Error; err != nil {
			return fmt.Errorf("planning messages of alerts that are resolved: %w", err)
		}
	}
	return nil
}
