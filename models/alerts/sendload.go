package alerts

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
)

func (s *Store) newOutbox(ctx context.Context, tx *gorm.DB, now models.Time, due []notice) (o *outbox, err error) {
	o = &outbox{Store: s, tx: tx, now: now, ruleBySeq: map[int64]Rule{}, alerts: map[int64]*Alert{}, channels: map[string]Channel{}, alreadySent: map[messageKey]bool{}, changed: map[int64]bool{},
		byKey: map[messageKey]*message{}, recoveries: map[int64]*Alert{}}
	if o.settings, err = s.settings(tx, now); err != nil {
		return nil, err
	}
	for _, r := range o.rules {
		o.ruleBySeq[r.Seq] = r
	}
	known, err := all[Channel](tx, channels)
	if err != nil {
		return nil, err
	}
	for _, c := range known {
		if c.Enabled {
			o.channels[c.ID] = c
		}
	}
	rows := models.NewRows("seq bigint")
	for _, d := range due {
		if o.alerts[d.AlertSeq] == nil {
			o.alerts[d.AlertSeq] = &Alert{}
			rows.Add(d.AlertSeq)
		}
	}
	var as []Alert
	if err := rows.Raw(tx, "SELECT a.* FROM {rows} AS r CROSS JOIN alerts AS a WHERE a.seq = r.seq").Scan(&as).Error; err != nil {
		return nil, err
	}
	for i, a := range as {
		o.alerts[a.Seq] = &as[i]
	}
	var before []struct {
		AlertSeq, ChannelSeq int64
		Reason               Reason
	}
	if err := rows.Raw(tx, "SELECT d.alert_seq, d.channel_seq, d.reason FROM {rows} AS r CROSS JOIN deliveries AS d WHERE d.alert_seq = r.seq AND d.reason IN ('fired', 'resolved')").Scan(&before).Error; err != nil {
		return nil, err
	}
	for _, b := range before {
		o.alreadySent[messageKey{b.AlertSeq, b.ChannelSeq, b.Reason}] = true
	}
	return o, o.loadSubjects(ctx, due)
}

// loadSubjects counts the subjects of the notices. It postpones subjects in maintenance, or drops them if their event has no duration. It
// drops subjects that the rule no longer matches, and skips acknowledged ones. It loads one small row for each open subject of the alerts, and
// for each recovery that was not sent.
func (o *outbox) loadSubjects(ctx context.Context, due []notice) error {
	rows, notices := noticeRows(due), map[noticeKey]*notice{}
	for i := range due {
		notices[due[i].key()] = &due[i]
	}
	var found []struct {
		AlertSeq, RuleSeq           int64
		SubjectID, SubjectKind, URL string
		DueAt, EndedAt              models.Time
		AcknowledgedAt              models.Time
		Changes                     int
	}
	err := rows.Raw(o.tx, `SELECT t.alert_seq, t.rule_seq, t.subject_id, t.due_at, m.subject_kind, m.url, m.ended_at, m.acknowledged_at, m.changes
		FROM {rows} AS r CROSS JOIN alert_mentions AS t CROSS JOIN alert_subjects AS m
		WHERE t.alert_seq = r.alert_seq AND t.rule_seq = r.rule_seq AND m.alert_seq = t.alert_seq AND m.subject_id = t.subject_id
		AND (m.ended_at IS NULL OR t.due_at IS NOT NULL OR t.sent_at IS NOT NULL AND t.recovered_at IS NULL)`).Scan(&found).Error
	if err != nil {
		return fmt.Errorf("load subjects of alerts: %w", err)
	}
	subjects := make([]subject, len(found))
	for i, f := range found {
		subjects[i] = subject{f.SubjectKind, f.SubjectID, f.URL, o.alerts[f.AlertSeq].PrivateTo}
	}
	if o.matcher, err = o.newMatcher(ctx, o.scopes(), subjects); err != nil {
		return err
	}
	later, dropped := models.NewRows("alert_seq bigint, rule_seq bigint, subject_id text, due_at bigint"), models.NewRows("alert_seq bigint, rule_seq bigint, subject_id text")
	for i, f := range found {
		n, a := notices[noticeKey{f.AlertSeq, f.RuleSeq}], o.alerts[f.AlertSeq]
		until, once := models.Time{}, o.Type(a.Event).Once
		if a.Open() || once {
			until = o.maintenanceEnd(o.matcher, subjects[i])
		}
		r, usable := o.ruleBySeq[f.RuleSeq]
		switch {
		case a.Open() && !f.EndedAt.IsZero():
			if end := o.Type(a.Event).EndsAs; usable && end != "" && r.Has(end) {
				n.addRecovery(f.SubjectID, f.EndedAt, f.Changes, o.dueUntil())
			}
		case a.Open() && usable && !o.matches(r.Scope, subjects[i]): // the rule sends only the end, if it sent the start
			if !f.DueAt.IsZero() {
				dropped.Add(f.AlertSeq, f.RuleSeq, f.SubjectID)
			}
		case !once && !f.AcknowledgedAt.IsZero():
		case once && !until.IsZero():
			dropped.Add(f.AlertSeq, f.RuleSeq, f.SubjectID)
		case f.DueAt.IsZero() && until.IsZero():
			n.ongoing++
		case f.DueAt.IsZero():
		case f.DueAt.After(o.dueUntil().Time):
			n.nextSubjects = earliest(n.nextSubjects, f.DueAt)
		case until.IsZero():
			n.due++
			n.firstDue = earliest(n.firstDue, f.DueAt)
		default:
			until = earliest(until, o.now.Add(recheckInterval)) // the window may change
			later.Add(f.AlertSeq, f.RuleSeq, f.SubjectID, until)
			n.nextSubjects = earliest(n.nextSubjects, until)
		}
	}
	err = later.Exec(o.tx, `UPDATE alert_mentions SET due_at = r.due_at FROM {rows} AS r
		WHERE alert_mentions.alert_seq = r.alert_seq AND alert_mentions.rule_seq = r.rule_seq AND alert_mentions.subject_id = r.subject_id`).Error
	if err != nil {
		return fmt.Errorf("postpone subjects in maintenance: %w", err)
	}
	if err := dropped.Exec(o.tx, "DELETE FROM alert_mentions WHERE (alert_seq, rule_seq, subject_id) IN (SELECT alert_seq, rule_seq, subject_id FROM {rows} AS r)").Error; err != nil {
		return fmt.Errorf("drop subjects that are not sent: %w", err)
	}
	return nil
}

// addRecovery adds a subject whose recovery was not sent. A flapping subject must be stable first.
func (n *notice) addRecovery(subject string, ended models.Time, changes int, dueUntil models.Time) {
	at := ended
	if changes >= flapThreshold {
		at = ended.Add(StableTime)
	}
	if at.After(dueUntil.Time) {
		n.nextSubjects = earliest(n.nextSubjects, at)
		return
	}
	n.recovered = append(n.recovered, subject)
}

// largestFirst sorts notices by alert, then by number of subjects, largest first.
func largestFirst(due []notice) []*notice {
	sorted := make([]*notice, len(due))
	for i := range due {
		sorted[i] = &due[i]
	}
	slices.SortStableFunc(sorted, func(a, b *notice) int {
		return cmp.Or(cmp.Compare(a.AlertSeq, b.AlertSeq), cmp.Compare(b.due+b.ongoing, a.due+a.ongoing))
	})
	return sorted
}

// dueUntil is the latest due time of subjects that are sent now. It is slightly ahead, so that the subjects of an outage are sent together.
func (o *outbox) dueUntil() models.Time { return o.now.Add(groupWait) }

func noticeRows(ns []notice) *models.Rows {
	rows := models.NewRows("alert_seq bigint, rule_seq bigint")
	for _, n := range ns {
		rows.Add(n.AlertSeq, n.RuleSeq)
	}
	return rows
}
