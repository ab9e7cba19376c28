package alerts

import (
	"encoding/json"
	"fmt"
	"slices"

	"linkwatch/models"
	"linkwatch/models/event"
)

// write stores the messages and the changed alerts, notices and mentions with a constant number of statements.
func (o *outbox) write(due []notice) error {
	if err := o.writeRecoveries(); err != nil {
		return err
	}
	if err := o.writeMessages(); err != nil {
		return err
	}
	changed := models.NewRows("seq bigint, fired_at bigint, acknowledged_at bigint, resolve_at bigint, resolved_at bigint, open_subject_count bigint")
	over := models.NewRows("seq bigint")
	for seq := range o.changed {
		a := o.alerts[seq]
		changed.Add(seq, a.FiredAt, a.AcknowledgedAt, a.ResolveAt, a.ResolvedAt, a.OpenSubjectCount)
		if !a.Open() {
			over.Add(seq)
		}
	}
	rest := models.NewRows("alert_seq bigint, rule_seq bigint, next_at bigint, notified_at bigint, announced_at bigint, recovered_at bigint, repeat_at bigint, escalate_at bigint, escalated_at bigint, severity bigint")
	announced := models.NewRows("alert_seq bigint, rule_seq bigint, ended boolean")
	for _, n := range due {
		rest.Add(n.AlertSeq, n.RuleSeq, n.NextAt, n.NotifiedAt, n.AnnouncedAt, n.RecoveredAt, n.RepeatAt, n.EscalateAt, n.EscalatedAt, int(n.Severity))
		if n.sendsSubjects {
			announced.Add(n.AlertSeq, n.RuleSeq, !o.alerts[n.AlertSeq].Open())
		}
	}
	for _, st := range []struct {
		rows *models.Rows
		sql  string
		args []any
	}{
		{changed, `UPDATE alerts SET fired_at = r.fired_at, acknowledged_at = r.acknowledged_at, resolve_at = r.resolve_at, resolved_at = r.resolved_at,
			open_subject_count = r.open_subject_count FROM {rows} AS r WHERE alerts.seq = r.seq`, nil},
		{over, "UPDATE alert_subjects SET ended_at = ? WHERE ended_at IS NULL AND alert_seq IN (SELECT seq FROM {rows} AS r)", []any{o.now}},
		{rest, `UPDATE alert_notices SET next_at = r.next_at, notified_at = r.notified_at, announced_at = r.announced_at, recovered_at = r.recovered_at, repeat_at = r.repeat_at,
			escalate_at = r.escalate_at, escalated_at = r.escalated_at, severity = r.severity FROM {rows} AS r WHERE alert_notices.alert_seq = r.alert_seq AND alert_notices.rule_seq = r.rule_seq`, nil},
		{announced, `UPDATE alert_mentions SET due_at = NULL, sent_at = ?, recovered_at = NULL FROM {rows} AS r
			WHERE alert_mentions.alert_seq = r.alert_seq AND alert_mentions.rule_seq = r.rule_seq AND alert_mentions.due_at <= ? AND (r.ended
			OR EXISTS (SELECT 1 FROM alert_subjects AS m WHERE m.alert_seq = alert_mentions.alert_seq AND m.subject_id = alert_mentions.subject_id AND m.ended_at IS NULL))`, []any{o.now, o.dueUntil()}},
	} {
		if err := st.rows.Exec(o.tx, st.sql, st.args...).Error; err != nil {
			return fmt.Errorf("store notices: %w", err)
		}
	}
	return nil
}

// writeRecoveries stores the new alerts about recoveries of some subjects, with their subjects, and adds their messages.
func (o *outbox) writeRecoveries() error {
	fresh := make([]Alert, 0, len(o.recoveries))
	for _, a := range o.recoveries {
		fresh = append(fresh, *a)
	}
	if err := insertAlerts(o.tx, fresh); err != nil {
		return err
	}
	for _, a := range fresh {
		end := o.recoveries[a.RecoveryOf]
		*end = a
		o.alerts[a.Seq] = end
	}
	mentions := models.NewRows("end_seq bigint, alert_seq bigint, rule_seq bigint, subject_id text")
	for _, re := range o.recovering {
		for _, subject := range re.notice.recovered {
			mentions.Add(re.end.Seq, re.notice.AlertSeq, re.notice.RuleSeq, subject)
		}
	}
	for _, sql := range []string{
		"INSERT INTO alert_mentions (alert_seq, rule_seq, subject_id, sent_at) SELECT end_seq, rule_seq, subject_id, CAST(? AS BIGINT) FROM {rows} AS r",
		`UPDATE alert_mentions SET recovered_at = CAST(? AS BIGINT) FROM {rows} AS r
			WHERE alert_mentions.alert_seq = r.alert_seq AND alert_mentions.rule_seq = r.rule_seq AND alert_mentions.subject_id = r.subject_id`,
	} {
		if err := mentions.Exec(o.tx, sql, o.now).Error; err != nil {
			return fmt.Errorf("store mentions of recoveries: %w", err)
		}
	}
	if err := addRecovered(o.tx, fresh); err != nil {
		return err
	}
	seqs := models.NewRows("seq bigint")
	for _, a := range fresh {
		seqs.Add(a.Seq)
	}
	fresh = nil
	if err := seqs.Raw(o.tx, "SELECT a.* FROM {rows} AS r CROSS JOIN alerts AS a WHERE a.seq = r.seq").Scan(&fresh).Error; err != nil {
		return fmt.Errorf("load recoveries: %w", err)
	}
	for _, a := range fresh {
		*o.recoveries[a.RecoveryOf] = a
	}
	for _, re := range o.recovering {
		r := o.ruleBySeq[re.notice.RuleSeq]
		o.send(re.end, re.notice, ReasonFired, r.Channels)
		if !re.notice.EscalatedAt.IsZero() {
			o.send(re.end, re.notice, ReasonFired, r.EscalateChannels)
		}
	}
	return nil
}

// told are the numbers of subjects whose state is new for a channel, by alert and channel, and these subjects.
type told struct {
	n        map[[2]int64]int
	subjects map[sentKey]bool
}

type sentKey struct {
	alert, channel int64
	subject        string
}

// recordSent records which subjects the messages send to the channels, and returns those whose state is new for the channel. A recovery is
// sent only to channels that were sent the outage, unless none of the rules that use the channel send outages.
func (o *outbox) recordSent() (told, error) {
	began := models.NewRows("alert_seq bigint, channel_seq bigint, rule_seq bigint, once boolean")
	ended := models.NewRows("alert_seq bigint, channel_seq bigint, rule_seq bigint, recovery_of bigint, unsent boolean")
	for _, m := range o.messages {
		for _, n := range m.notices {
			switch {
			case m.alert.RecoveryOf != 0:
				ended.Add(n.alert, m.ChannelSeq, n.rule, m.alert.RecoveryOf, o.onlyRecoveries(m))
			case m.Reason != ReasonResolved:
				began.Add(n.alert, m.ChannelSeq, n.rule, o.Type(m.alert.Event).Once)
			}
		}
	}
	all := told{map[[2]int64]int{}, map[sentKey]bool{}}
	var found []struct {
		AlertSeq, ChannelSeq int64
		SubjectID            string
	}
	const insert = "INSERT INTO alert_sent (alert_seq, channel_seq, subject_id, state, since_at, sent_at) "
	err := began.Raw(o.tx, insert+`SELECT DISTINCT r.alert_seq, r.channel_seq, t.subject_id, 'down', m.since_at, CAST(? AS BIGINT)
		FROM {rows} AS r CROSS JOIN alert_mentions AS t CROSS JOIN alert_subjects AS m
		WHERE t.alert_seq = r.alert_seq AND t.rule_seq = r.rule_seq AND (t.due_at IS NULL OR t.due_at <= ?) AND m.alert_seq = t.alert_seq AND m.subject_id = t.subject_id
		AND (r.once OR m.ended_at IS NULL AND m.acknowledged_at IS NULL)
		ON CONFLICT (alert_seq, channel_seq, subject_id) DO UPDATE SET state = excluded.state, since_at = excluded.since_at, sent_at = excluded.sent_at
		WHERE excluded.since_at > alert_sent.since_at RETURNING alert_seq, channel_seq, subject_id`, o.now, o.dueUntil()).Scan(&found).Error
	if err != nil {
		return all, fmt.Errorf("record sent subjects: %w", err)
	}
	all.add(found...)
	found = nil
	err = ended.Raw(o.tx, insert+`SELECT DISTINCT r.alert_seq, r.channel_seq, t.subject_id, 'recovered', m.since_at, CAST(? AS BIGINT)
		FROM {rows} AS r CROSS JOIN alert_mentions AS t CROSS JOIN alert_subjects AS m
		WHERE t.alert_seq = r.alert_seq AND t.rule_seq = r.rule_seq AND m.alert_seq = t.alert_seq AND m.subject_id = t.subject_id
		AND (r.unsent OR EXISTS (SELECT 1 FROM alert_sent AS s WHERE s.alert_seq = r.recovery_of AND s.channel_seq = r.channel_seq AND s.subject_id = t.subject_id AND s.state = 'down'))
		ON CONFLICT (alert_seq, channel_seq, subject_id) DO NOTHING RETURNING alert_seq, channel_seq, subject_id`, o.now).Scan(&found).Error
	if err != nil {
		return all, fmt.Errorf("record sent recoveries: %w", err)
	}
	all.add(found...)
	recovered := models.NewRows("alert_seq bigint, channel_seq bigint, subject_id text")
	for _, f := range found {
		recovered.Add(o.alerts[f.AlertSeq].RecoveryOf, f.ChannelSeq, f.SubjectID)
	}
	err = recovered.Exec(o.tx, `UPDATE alert_sent SET state = 'recovered' FROM {rows} AS r
		WHERE alert_sent.alert_seq = r.alert_seq AND alert_sent.channel_seq = r.channel_seq AND alert_sent.subject_id = r.subject_id`).Error
	if err != nil {
		return all, fmt.Errorf("record sent recoveries: %w", err)
	}
	if err := o.dropUnsent(all); err != nil {
		return all, err
	}
	return all, o.recordAcknowledged()
}

// recordAcknowledged records which acknowledged subjects the messages mention besides the new ones or the recovered ones.
// Their recovery is then sent too.
func (o *outbox) recordAcknowledged() error {
	rows := models.NewRows("alert_seq bigint, channel_seq bigint, rule_seq bigint")
	for _, m := range o.messages {
		for _, n := range m.notices {
			switch {
			case m.alert.PartOfID != "" && !o.onlyRecoveries(m):
				rows.Add(m.alert.RecoveryOf, m.ChannelSeq, n.rule)
			case m.alert.RecoveryOf == 0 && (m.Reason == ReasonFired || m.Reason == ReasonWorse):
				rows.Add(n.alert, m.ChannelSeq, n.rule)
			}
		}
	}
	err := rows.Exec(o.tx, `INSERT INTO alert_sent (alert_seq, channel_seq, subject_id, state, since_at, sent_at)
		SELECT DISTINCT r.alert_seq, r.channel_seq, t.subject_id, 'down', m.since_at, m.since_at
		FROM {rows} AS r CROSS JOIN alert_mentions AS t CROSS JOIN alert_subjects AS m
		WHERE t.alert_seq = r.alert_seq AND t.rule_seq = r.rule_seq AND (t.due_at IS NULL OR t.due_at <= ?) AND m.alert_seq = t.alert_seq AND m.subject_id = t.subject_id
		AND m.ended_at IS NULL AND m.acknowledged_at IS NOT NULL
		ON CONFLICT (alert_seq, channel_seq, subject_id) DO UPDATE SET state = excluded.state, since_at = excluded.since_at, sent_at = excluded.sent_at
		WHERE excluded.since_at > alert_sent.since_at`, o.dueUntil()).Error
	if err == nil {
		err = rows.Exec(o.tx, `UPDATE alert_mentions SET due_at = NULL, sent_at = ?, recovered_at = NULL FROM {rows} AS r
			WHERE alert_mentions.alert_seq = r.alert_seq AND alert_mentions.rule_seq = r.rule_seq AND alert_mentions.due_at <= ?
			AND EXISTS (SELECT 1 FROM alert_subjects AS m WHERE m.alert_seq = alert_mentions.alert_seq AND m.subject_id = alert_mentions.subject_id
				AND m.ended_at IS NULL AND m.acknowledged_at IS NOT NULL)`, o.now, o.dueUntil()).Error
	}
	if err != nil {
		return fmt.Errorf("record acknowledged subjects: %w", err)
	}
	return nil
}

func (t told) add(found ...struct {
	AlertSeq, ChannelSeq int64
	SubjectID            string
}) {
	for _, f := range found {
		t.n[[2]int64{f.AlertSeq, f.ChannelSeq}]++
		t.subjects[sentKey{f.AlertSeq, f.ChannelSeq, f.SubjectID}] = true
	}
}

// onlyRecoveries reports whether no rule sends outages to the channel of a recovery.
func (o *outbox) onlyRecoveries(m *message) bool {
	for _, r := range o.rules {
		sends := slices.ContainsFunc(r.Events, func(k string) bool { return string(o.Type(event.Kind(k)).EndsAs) == string(m.alert.Event) })
		for _, id := range slices.Concat(r.Channels, r.EscalateChannels) {
			if sends && o.channels[id].Seq == m.ChannelSeq && r.sendsFor(m.alert.PrivateTo) {
				return false
			}
		}
	}
	return true
}

// dropUnsent removes messages without new subjects, and new recoveries without messages.
func (o *outbox) dropUnsent(all told) error {
	sent := map[int64]bool{}
	o.messages = slices.DeleteFunc(o.messages, func(m *message) bool {
		keep := m.forced || all.n[[2]int64{m.AlertSeq, m.ChannelSeq}] > 0
		sent[m.AlertSeq] = sent[m.AlertSeq] || keep
		return !keep
	})
	unsent := models.NewRows("seq bigint")
	for _, a := range o.recoveries {
		if !sent[a.Seq] {
			unsent.Add(a.Seq)
		}
	}
	if err := unsent.Exec(o.tx, "DELETE FROM alerts WHERE seq IN (SELECT seq FROM {rows} AS r)").Error; err != nil {
		return fmt.Errorf("delete unsent recoveries: %w", err)
	}
	return nil
}

// writeMessages stores the messages. Each has the subjects that its channel was sent, with their states.
func (o *outbox) writeMessages() error {
	all, err := o.recordSent()
	if err != nil {
		return err
	}
	rows := models.NewRows("message bigint, alert_seq bigint, channel_seq bigint, rest boolean, reminder boolean")
	for i, m := range o.messages {
		rows.Add(i, m.AlertSeq, m.ChannelSeq, false, m.Reason == ReasonRepeated || m.Reason == ReasonEscalated)
		if m.alert.PartOfID != "" {
			rows.Add(i, m.alert.RecoveryOf, m.ChannelSeq, true, false)
		}
	}
	var found []struct {
		Message int
		Rest    bool
		Open, N int
		AlertSubject
	}
	err = rows.Raw(o.tx, `SELECT * FROM (SELECT m.*, r.message, r.rest, count(*) OVER (PARTITION BY r.message, r.rest) AS n,
		sum(CASE WHEN m.ended_at IS NULL THEN 1 ELSE 0 END) OVER (PARTITION BY r.message, r.rest) AS open,
		row_number() OVER (PARTITION BY r.message, r.rest ORDER BY m.ended_at IS NOT NULL, s.sent_at DESC, m.since_at, m.subject_id) AS place
		FROM {rows} AS r CROSS JOIN alert_sent AS s CROSS JOIN alert_subjects AS m
		WHERE s.alert_seq = r.alert_seq AND s.channel_seq = r.channel_seq AND m.alert_seq = s.alert_seq AND m.subject_id = s.subject_id
		AND (m.ended_at IS NULL OR NOT r.rest AND NOT r.reminder) AND (m.acknowledged_at IS NULL OR NOT r.reminder)) AS numbered
		WHERE place <= ? ORDER BY message, rest, place`, MaxSubjects).Scan(&found).Error
	if err != nil {
		return fmt.Errorf("load subjects of messages: %w", err)
	}
	states := make([]messageState, len(o.messages))
	for _, f := range found {
		m, st := o.messages[f.Message], &states[f.Message]
		if f.Rest {
			st.rest = f.N
		} else {
			st.n, st.open = f.N, f.Open
		}
		if len(st.subjects) < MaxSubjects {
			f.isNew = all.subjects[sentKey{m.AlertSeq, m.ChannelSeq, f.SubjectID}] && m.alert.RecoveryOf == 0
			st.subjects = append(st.subjects, f.AlertSubject)
		}
	}
	var ds []Delivery
	for i, m := range o.messages {
		st := states[i]
		if st.n == 0 {
			continue
		}
		st.fresh = all.n[[2]int64{m.AlertSeq, m.ChannelSeq}]
		body, err := json.Marshal(o.messageOf(m, st))
		if err != nil {
			return fmt.Errorf("encode message: %w", err)
		}
		m.Body = string(body)
		ds = append(ds, m.Delivery)
	}
	if err := models.Insert(o.tx, ds); err != nil {
		return fmt.Errorf("store messages: %w", err)
	}
	return nil
}

// messageState is the state of the subjects that a channel was sent.
type messageState struct {
	subjects       []AlertSubject // the first MaxSubjects, new ones first
	n, open, fresh int            // numbers of all subjects of the alert, of open ones, and of those whose state is new for the channel
	rest           int            // number of subjects that are still open, in a message about the recovery of others
}

// messageOf returns the content of a message.
func (o *outbox) messageOf(m *message, st messageState) Notification {
	a := m.alert.withSubjects(st)
	n := o.Notification(a, st.subjects, nil)
	n.Reason, n.Message, n.SubjectCount = string(m.Reason), o.text(a, m.Reason, st), st.n+st.rest
	if n.PartOf != nil && st.rest == 0 { // everything that the channel was sent has recovered
		n.Ends, n.PartOf = n.PartOf, nil
	}
	return n
}

// withSubjects returns a copy of the alert with the subjects of a message: the new ones, or if there are none, the open ones.
func (a Alert) withSubjects(st messageState) Alert {
	first := st.subjects[0]
	a.SubjectKind, a.SubjectID, a.SubjectName, a.SubjectURL, a.Detail = first.SubjectKind, first.SubjectID, first.Name, first.URL, first.Detail
	n := st.open
	if st.fresh > 0 {
		n = st.fresh
	}
	if n == 0 {
		n = st.n
	}
	a.SubjectCount, a.OpenSubjectCount = n, n
	for _, other := range st.subjects[:min(n, len(st.subjects))] {
		if other.Detail != a.Detail {
			a.Detail = ""
		}
	}
	return a
}
