package alerts

import (
	"fmt"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
)

// write stores the changes of the batch with a constant number of statements.
func (b *batch) write() error {
	drafts := b.changedDrafts()
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
	subjects := models.NewRows("alert_seq bigint, subject_id text, event text, subject_kind text, name text, url text, detail text, since_at bigint, ended_at bigint, changes bigint")
	gone, silent := models.NewRows("alert_seq bigint, subject_id text"), models.NewRows("seq bigint")
	var over []Alert
	for _, d := range drafts {
		switch {
		case d.neverSent():
			continue
		case d.Seq == 0:
			d.Seq = seqs[d.ID]
		}
		for _, m := range d.subjects {
			if m.removed {
				gone.Add(d.Seq, m.SubjectID)
				continue
			}
			subjects.Add(d.Seq, m.SubjectID, m.Event, m.SubjectKind, m.Name, m.URL, m.Detail, m.SinceAt, m.EndedAt, m.Changes)
		}
		switch {
		case d.resolved && d.withoutMessage:
			silent.Add(d.Seq)
		case d.resolved:
			over = append(over, d.Alert)
		}
	}
	err := subjects.Exec(b.tx, `INSERT INTO alert_subjects (alert_seq, subject_id, event, subject_kind, name, url, detail, since_at, ended_at, changes)
		SELECT alert_seq, subject_id, event, subject_kind, name, url, detail, since_at, ended_at, changes FROM {rows} AS r WHERE true
		ON CONFLICT (alert_seq, subject_id) DO UPDATE SET name = excluded.name, url = excluded.url, detail = excluded.detail,
			since_at = excluded.since_at, ended_at = excluded.ended_at, changes = excluded.changes`).Error
	if err != nil {
		return fmt.Errorf("store subjects of alerts: %w", err)
	}
	if err := b.writeMentions(drafts); err != nil {
		return err
	}
	if err := silent.Exec(b.tx, "DELETE FROM alert_notices WHERE alert_seq IN (SELECT seq FROM {rows} AS r)").Error; err != nil {
		return fmt.Errorf("delete notices of silent alerts: %w", err)
	}
	if err := b.removeSubjects(gone); err != nil {
		return err
	}
	if err := b.renameAlerts(drafts); err != nil {
		return err
	}
	if err := b.acknowledgeRest(drafts); err != nil {
		return err
	}
	return b.store.queueEnds(b.tx, over, b.now)
}

// writeMentions stores which subjects the rules will send, and when.
func (b *batch) writeMentions(drafts []*draft) error {
	ended := models.NewRows("alert_seq bigint, subject_id text")
	mentions, notices := models.NewRows("alert_seq bigint, rule_seq bigint, subject_id text, due_at bigint"), models.NewRows("alert_seq bigint, rule_seq bigint, next_at bigint, severity bigint")
	worse := models.NewRows("alert_seq bigint, severity bigint")
	for _, d := range drafts {
		if d.neverSent() {
			continue
		}
		for _, subject := range d.endedSubjects {
			ended.Add(d.Seq, subject)
		}
		next := map[int64]models.Time{}
		for subject, rules := range d.newSubjects {
			for rule, due := range rules {
				mentions.Add(d.Seq, rule, subject, due)
				next[rule] = earliest(next[rule], due)
			}
		}
		for rule, at := range next {
			notices.Add(d.Seq, rule, at, int(d.Severity))
		}
		if !d.resolved {
			worse.Add(d.Seq, int(d.Severity))
		}
	}
	const matching = " WHERE (alert_seq, subject_id) IN (SELECT r.alert_seq, r.subject_id FROM {rows} AS r)"
	for _, st := range []struct {
		rows *models.Rows
		sql  string
		args []any
	}{
		// Only what was sent has a recovery.
		{ended, "UPDATE alert_mentions SET due_at = NULL" + matching + " AND sent_at IS NOT NULL", nil},
		{ended, "DELETE FROM alert_mentions" + matching + " AND sent_at IS NULL", nil},
		{ended, `UPDATE alert_notices SET next_at = CASE WHEN next_at < ? THEN next_at ELSE ? END
			WHERE notified_at IS NOT NULL AND alert_seq IN (SELECT r.alert_seq FROM {rows} AS r)`, []any{b.now.Add(groupWait), b.now.Add(groupWait)}},
		{notices, `INSERT INTO alert_notices (alert_seq, rule_seq, next_at, severity) SELECT alert_seq, rule_seq, next_at, severity FROM {rows} AS r WHERE true
			ON CONFLICT (alert_seq, rule_seq) DO UPDATE SET next_at = CASE WHEN alert_notices.next_at < excluded.next_at THEN alert_notices.next_at ELSE excluded.next_at END`, nil},
		{mentions, `INSERT INTO alert_mentions (alert_seq, rule_seq, subject_id, due_at) SELECT alert_seq, rule_seq, subject_id, due_at FROM {rows} AS r WHERE true
			ON CONFLICT (alert_seq, rule_seq, subject_id) DO UPDATE SET due_at = excluded.due_at`, nil},
		{worse, `UPDATE alert_notices SET next_at = CASE WHEN alert_notices.next_at < ? THEN alert_notices.next_at ELSE ? END
			FROM {rows} AS r WHERE alert_notices.alert_seq = r.alert_seq AND alert_notices.notified_at IS NOT NULL AND alert_notices.severity < r.severity`, []any{b.now.Add(groupWait), b.now.Add(groupWait)}},
	} {
		if err := st.rows.Exec(b.tx, st.sql, st.args...).Error; err != nil {
			return fmt.Errorf("store mentions: %w", err)
		}
	}
	return nil
}

func (b *batch) removeSubjects(gone *models.Rows) error {
	for _, table := range []string{"alert_subjects", "alert_mentions"} {
		err := gone.Exec(b.tx, "DELETE FROM "+table+" WHERE (alert_seq, subject_id) IN (SELECT alert_seq, subject_id FROM {rows} AS r)").Error
		if err != nil {
			return fmt.Errorf("remove subjects from alerts: %w", err)
		}
	}
	return nil
}

// renameAlerts replaces the first subject of alerts if its condition has ended, by one whose condition has not.
func (b *batch) renameAlerts(drafts []*draft) error {
	rows := models.NewRows("alert_seq bigint, subject_id text")
	for _, d := range drafts {
		for _, subject := range d.endedSubjects {
			rows.Add(d.Seq, subject)
		}
	}
	err := rows.Exec(b.tx, `UPDATE alerts SET (subject_kind, subject_id, subject_name, subject_url, detail) = (
		SELECT m.subject_kind, m.subject_id, m.name, m.url, m.detail FROM alert_subjects AS m WHERE m.alert_seq = alerts.seq ORDER BY m.ended_at IS NOT NULL, m.since_at, m.subject_id LIMIT 1)
		WHERE (seq, subject_id) IN (SELECT alert_seq, subject_id FROM {rows} AS r) AND EXISTS (SELECT 1 FROM alert_subjects AS m WHERE m.alert_seq = alerts.seq)
		AND (open_subject_count > 0 OR NOT EXISTS (SELECT 1 FROM alert_subjects AS m WHERE m.alert_seq = alerts.seq AND m.subject_id = alerts.subject_id))`).Error
	if err != nil {
		return fmt.Errorf("update first subject of alerts: %w", err)
	}
	return nil
}

// acknowledgeRest acknowledges alerts of which a condition has ended, if all their open subjects are acknowledged.
func (b *batch) acknowledgeRest(drafts []*draft) error {
	rows := models.NewRows("seq bigint")
	for _, d := range drafts {
		if len(d.endedSubjects) > 0 {
			rows.Add(d.Seq)
		}
	}
	err := rows.Exec(b.tx, `UPDATE alerts SET acknowledged_at = ? WHERE seq IN (SELECT seq FROM {rows} AS r)
		AND acknowledged_at IS NULL AND resolved_at IS NULL AND open_subject_count > 0 AND NOT EXISTS (
			SELECT 1 FROM alert_subjects AS m WHERE m.alert_seq = alerts.seq AND m.ended_at IS NULL AND m.acknowledged_at IS NULL)`, b.now).Error
	if err != nil {
		return fmt.Errorf("acknowledge alerts: %w", err)
	}
	return nil
}

// writeStored updates existing alerts. It runs before new alerts are inserted, so that resolved ones do not conflict with them.
func (b *batch) writeStored(drafts []*draft) error {
	changed := models.NewRows("seq bigint, severity bigint, subject_count bigint, open_subject_count bigint, changes bigint, started_at bigint, detail text, resolve_at bigint, resolved_at bigint")
	unheard := models.NewRows("seq bigint")
	for _, d := range drafts {
		switch {
		case d.Seq == 0:
		case d.neverSent():
			unheard.Add(d.Seq)
		default:
			changed.Add(d.Seq, int(d.Severity), d.SubjectCount, d.OpenSubjectCount, d.Changes, d.StartedAt, d.Detail, d.ResolveAt, d.ResolvedAt)
		}
	}
	err := changed.Exec(b.tx, `UPDATE alerts SET severity = r.severity, subject_count = r.subject_count, open_subject_count = r.open_subject_count, changes = r.changes,
		started_at = r.started_at, detail = r.detail, resolve_at = r.resolve_at, resolved_at = r.resolved_at FROM {rows} AS r WHERE alerts.seq = r.seq`).Error
	if err != nil {
		return fmt.Errorf("store alerts: %w", err)
	}
	if err := unheard.Exec(b.tx, "DELETE FROM alerts WHERE seq IN (SELECT seq FROM {rows} AS r)").Error; err != nil {
		return fmt.Errorf("delete unsent alerts: %w", err)
	}
	return nil
}

// insertAlerts stores new alerts and sets their Seq.
func insertAlerts(tx *gorm.DB, as []Alert) error {
	if err := models.Insert(tx, as); err != nil {
		return fmt.Errorf("insert alerts: %w", err)
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
		return fmt.Errorf("load new alerts: %w", err)
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

// queueEnds schedules the recovery of alerts that rules sent: a new alert if the event type has EndsAs and a rule sends that event, otherwise
// a message of the same alert. A new alert has only subjects whose recovery was not sent while the alert was open.
func (s *Store) queueEnds(tx *gorm.DB, over []Alert, now models.Time) error {
	all, same := models.NewRows("seq bigint"), models.NewRows("seq bigint")
	senders := models.NewRows("id text, seq bigint, rule_seq bigint")
	for _, a := range over {
		all.Add(a.Seq)
	}
	if all.Len() == 0 {
		return nil
	}
	var sent []Alert // with their current first subject
	err := all.Raw(tx, `SELECT a.* FROM {rows} AS r CROSS JOIN alerts AS a WHERE a.seq = r.seq
		AND EXISTS (SELECT 1 FROM alert_notices AS n WHERE n.alert_seq = a.seq AND n.notified_at IS NOT NULL)`).Scan(&sent).Error
	if err != nil {
		return fmt.Errorf("load resolved alerts: %w", err)
	}
	rules, err := s.rulesOf(tx, all)
	if err != nil {
		return err
	}
	var fresh []Alert
	for _, a := range sent {
		t := s.Type(a.Event)
		wanted := slices.DeleteFunc(rules[a.Seq], func(r Rule) bool { return !r.Has(t.EndsAs) || !r.sendsFor(a.PrivateTo) })
		switch {
		case t.EndsAs != "" && len(wanted) == 0:
		case t.EndsAs != "":
			end := s.recoveryOf(a, now)
			if !a.FiredAt.IsZero() { // otherwise it is not listed
				end.EndsID = a.ID
			}
			fresh = append(fresh, end)
			for _, r := range wanted {
				senders.Add(end.ID, a.Seq, r.Seq)
			}
		case t.Over != "":
			same.Add(a.Seq)
		}
	}
	if err := insertAlerts(tx, fresh); err != nil {
		return err
	}
	const ofEnd = "FROM {rows} AS r JOIN alerts AS a ON a.id = r.id "
	for _, st := range []struct {
		rows *models.Rows
		sql  string
		args []any
	}{
		{all, "UPDATE alert_notices SET next_at = NULL, repeat_at = NULL, escalate_at = NULL WHERE alert_seq IN (SELECT seq FROM {rows} AS r)", nil},
		{same, "UPDATE alert_notices SET next_at = ? WHERE notified_at IS NOT NULL AND alert_seq IN (SELECT seq FROM {rows} AS r)", []any{now}},
		{senders, `INSERT INTO alert_notices (alert_seq, rule_seq, next_at, severity, escalated_at)
			SELECT a.seq, n.rule_seq, CAST(? AS BIGINT), a.severity, n.escalated_at ` + ofEnd + "JOIN alert_notices AS n ON n.alert_seq = r.seq AND n.rule_seq = r.rule_seq", []any{now}},
		{senders, `INSERT INTO alert_mentions (alert_seq, rule_seq, subject_id, due_at)
			SELECT a.seq, t.rule_seq, t.subject_id, CAST(? AS BIGINT) ` + ofEnd + `JOIN alert_mentions AS t ON t.alert_seq = r.seq AND t.rule_seq = r.rule_seq
			WHERE t.sent_at IS NOT NULL AND t.recovered_at IS NULL`, []any{now}},
	} {
		if err := st.rows.Exec(tx, st.sql, st.args...).Error; err != nil {
			return fmt.Errorf("schedule recovery messages: %w", err)
		}
	}
	return addRecovered(tx, fresh)
}

// recoveryOf returns a new alert about the recovery of subjects of an alert. addRecovered adds the subjects.
func (s *Store) recoveryOf(a Alert, now models.Time) Alert {
	end := a
	end.Seq, end.ID, end.RecoveryOf = 0, models.NewID(models.KindAlert), a.Seq
	end.Event = s.Type(a.Event).EndsAs
	end.Severity = s.Type(end.Event).Severity
	end.CreatedAt, end.FiredAt, end.AcknowledgedAt, end.SilencedUntil, end.ResolveAt = now, models.Time{}, models.Time{}, models.Time{}, models.Time{}
	end.OpenSubjectCount = 0
	return end
}

// addRecovered adds the subjects of new recoveries, which are those with mentions, and their duration.
func addRecovered(tx *gorm.DB, recoveries []Alert) error {
	rows := models.NewRows("id text")
	for _, a := range recoveries {
		rows.Add(a.ID)
	}
	for _, sql := range []string{
		`INSERT INTO alert_subjects (alert_seq, subject_id, event, subject_kind, name, url, detail, since_at, ended_at, changes)
			SELECT DISTINCT a.seq, m.subject_id, a.event, m.subject_kind, m.name, m.url, m.detail, m.since_at, m.ended_at, 1
			FROM {rows} AS r CROSS JOIN alerts AS a CROSS JOIN alert_mentions AS t CROSS JOIN alert_subjects AS m
			WHERE a.id = r.id AND t.alert_seq = a.seq AND m.alert_seq = a.recovery_of AND m.subject_id = t.subject_id`,
		`UPDATE alerts SET (subject_count, started_at, resolved_at) = (SELECT count(*), CASE WHEN alerts.flapping THEN alerts.started_at ELSE min(m.since_at) END, max(m.ended_at)
			FROM alert_subjects AS m WHERE m.alert_seq = alerts.seq) WHERE id IN (SELECT r.id FROM {rows} AS r)`,
		`UPDATE alerts SET (subject_kind, subject_id, subject_name, subject_url, detail) = (
			SELECT m.subject_kind, m.subject_id, m.name, m.url, m.detail FROM alert_subjects AS m WHERE m.alert_seq = alerts.seq ORDER BY m.since_at, m.subject_id LIMIT 1)
			WHERE id IN (SELECT r.id FROM {rows} AS r)`,
	} {
		if err := rows.Exec(tx, sql).Error; err != nil {
			return fmt.Errorf("store subjects of recoveries: %w", err)
		}
	}
	return nil
}

// rulesOf returns the enabled rules that sent subjects of alerts but not yet their recovery, by Alert.Seq.
func (s *Store) rulesOf(tx *gorm.DB, alerts *models.Rows) (map[int64][]Rule, error) {
	known, err := all[Rule](tx, rules)
	if err != nil {
		return nil, err
	}
	var found []struct{ AlertSeq, RuleSeq int64 }
	err = alerts.Raw(tx, `SELECT n.alert_seq, n.rule_seq FROM {rows} AS r CROSS JOIN alert_notices AS n WHERE n.alert_seq = r.seq AND n.notified_at IS NOT NULL
		AND EXISTS (SELECT 1 FROM alert_mentions AS t WHERE t.alert_seq = n.alert_seq AND t.rule_seq = n.rule_seq AND t.sent_at IS NOT NULL AND t.recovered_at IS NULL)`).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("load rules of resolved alerts: %w", err)
	}
	byAlert := map[int64][]Rule{}
	for _, f := range found {
		if i := slices.IndexFunc(known, func(r Rule) bool { return r.Seq == f.RuleSeq && r.active() }); i >= 0 {
			byAlert[f.AlertSeq] = append(byAlert[f.AlertSeq], known[i])
		}
	}
	return byAlert, nil
}
