package alerts

import (
	"encoding/json"
	"fmt"

	"linkwatch/models"
)

// write stores the messages and the changed alerts, notices and mentions with a constant number of statements.
func (o *outbox) write(due []notice) error {
	if err := o.writeMessages(); err != nil {
		return err
	}
	fired, over := models.NewRows("seq bigint, fired_at bigint, resolve_at bigint, resolved_at bigint, open_subject_count bigint"), models.NewRows("seq bigint")
	for seq := range o.newlyDue {
		a := o.alerts[seq]
		fired.Add(seq, a.FiredAt, a.ResolveAt, a.ResolvedAt, a.OpenSubjectCount)
		if !a.Open() {
			over.Add(seq)
		}
	}
	rest := models.NewRows("alert_seq bigint, rule_seq bigint, next_at bigint, notified_at bigint, announced_at bigint, repeat_at bigint, escalate_at bigint, escalated_at bigint, severity bigint")
	announced := models.NewRows("alert_seq bigint, rule_seq bigint, ended boolean")
	for _, n := range due {
		rest.Add(n.AlertSeq, n.RuleSeq, n.NextAt, n.NotifiedAt, n.AnnouncedAt, n.RepeatAt, n.EscalateAt, n.EscalatedAt, int(n.Severity))
		if n.sendsSubjects {
			announced.Add(n.AlertSeq, n.RuleSeq, !o.alerts[n.AlertSeq].Open())
		}
	}
	for _, st := range []struct {
		rows *models.Rows
		sql  string
		args []any
	}{
		{fired, "UPDATE alerts SET fired_at = r.fired_at, resolve_at = r.resolve_at, resolved_at = r.resolved_at, open_subject_count = r.open_subject_count FROM {rows} AS r WHERE alerts.seq = r.seq", nil},
		{over, "UPDATE alert_subjects SET ended_at = ? WHERE ended_at IS NULL AND alert_seq IN (SELECT seq FROM {rows} AS r)", []any{o.now}},
		{rest, `UPDATE alert_notices SET next_at = r.next_at, notified_at = r.notified_at, announced_at = r.announced_at, repeat_at = r.repeat_at, escalate_at = r.escalate_at,
			escalated_at = r.escalated_at, severity = r.severity FROM {rows} AS r WHERE alert_notices.alert_seq = r.alert_seq AND alert_notices.rule_seq = r.rule_seq`, nil},
		{announced, `UPDATE alert_mentions SET due_at = NULL, sent_at = ? FROM {rows} AS r
			WHERE alert_mentions.alert_seq = r.alert_seq AND alert_mentions.rule_seq = r.rule_seq AND alert_mentions.due_at <= ? AND (r.ended
			OR EXISTS (SELECT 1 FROM alert_subjects AS m WHERE m.alert_seq = alert_mentions.alert_seq AND m.subject_id = alert_mentions.subject_id AND m.ended_at IS NULL))`, []any{o.now, o.dueUntil()}},
	} {
		if err := st.rows.Exec(o.tx, st.sql, st.args...).Error; err != nil {
			return fmt.Errorf("store notices: %w", err)
		}
	}
	return nil
}

// writeMessages stores the messages. Each has the subjects that its rule sends.
func (o *outbox) writeMessages() error {
	rows := models.NewRows("alert_seq bigint, rule_seq bigint, ended boolean")
	included := map[noticeKey]bool{}
	for _, m := range o.messages {
		if !included[m.notice] {
			included[m.notice] = true
			rows.Add(m.notice.alert, m.notice.rule, !o.alerts[m.notice.alert].Open())
		}
	}
	var found []struct {
		RuleSeq, Subjects int64
		AlertSubject
	}
	err := rows.Raw(o.tx, `SELECT * FROM (SELECT m.*, t.rule_seq, count(*) OVER (PARTITION BY t.alert_seq, t.rule_seq) AS subjects,
		row_number() OVER (PARTITION BY t.alert_seq, t.rule_seq ORDER BY m.ended_at IS NOT NULL, m.since_at, m.subject_id) AS place
		FROM {rows} AS r JOIN alert_mentions AS t ON t.alert_seq = r.alert_seq AND t.rule_seq = r.rule_seq JOIN alert_subjects AS m ON m.alert_seq = t.alert_seq AND m.subject_id = t.subject_id
		WHERE (t.due_at IS NULL OR t.due_at <= ?) AND (m.ended_at IS NULL OR r.ended)) AS numbered WHERE place <= ? ORDER BY alert_seq, rule_seq, place`, o.dueUntil(), MaxSubjects).Scan(&found).Error
	if err != nil {
		return fmt.Errorf("load subjects of messages: %w", err)
	}
	subjects, counts := map[noticeKey][]AlertSubject{}, map[noticeKey]int{}
	for _, f := range found {
		k := noticeKey{f.AlertSeq, f.RuleSeq}
		subjects[k], counts[k] = append(subjects[k], f.AlertSubject), int(f.Subjects)
	}
	ds := make([]Delivery, len(o.messages))
	for i, m := range o.messages {
		n := o.Notification(o.alerts[m.notice.alert].withSubjects(subjects[m.notice], counts[m.notice]), subjects[m.notice], nil)
		n.Reason = string(m.Reason)
		body, err := json.Marshal(n)
		if err != nil {
			return fmt.Errorf("encode message: %w", err)
		}
		ds[i] = m.Delivery
		ds[i].Body = string(body)
	}
	if err := models.Insert(o.tx, ds); err != nil {
		return fmt.Errorf("store messages: %w", err)
	}
	return nil
}

// withSubjects returns a copy of the alert for a message with n of its subjects. subjects are the first of these.
func (a Alert) withSubjects(subjects []AlertSubject, n int) Alert {
	if n == 0 || n == a.SubjectCount {
		return a
	}
	m := subjects[0]
	a.SubjectCount, a.OpenSubjectCount = n, n
	a.SubjectKind, a.SubjectID, a.SubjectName, a.SubjectURL, a.Detail = m.SubjectKind, m.SubjectID, m.Name, m.URL, m.Detail
	for _, other := range subjects {
		if other.Detail != a.Detail {
			a.Detail = ""
		}
	}
	return a
}
