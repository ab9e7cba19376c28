package alerts

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/event"
)

// notice is the state of one rule for one alert: what it sent and when it sends next.
type notice struct {
	AlertSeq    int64
	RuleSeq     int64
	NextAt      models.Time // when to decide again; zero if nothing is scheduled
	NotifiedAt  models.Time // when the rule first sent the alert
	AnnouncedAt models.Time // when the rule last sent new subjects
	RecoveredAt models.Time // when the rule last sent recoveries of some subjects, while the alert was open
	RepeatAt    models.Time
	EscalateAt  models.Time
	EscalatedAt models.Time
	Severity    event.Severity // last severity that was sent

	due           int         // number of subjects to send now
	firstDue      models.Time // when the first of these was due
	ongoing       int         // number of open subjects that were sent and are neither in maintenance nor acknowledged
	recovered     []string    // IDs of subjects that were sent and whose recovery is to be sent now
	nextSubjects  models.Time // when the next subjects or recoveries are due; zero if there are none
	sendsSubjects bool        // the due subjects are sent
}

func (n *notice) key() noticeKey { return noticeKey{n.AlertSeq, n.RuleSeq} }

type noticeKey struct{ alert, rule int64 }

// QueueMessages queues the messages of up to n due notices and resolves stable flapping alerts. It returns the number of notices.
func (s *Store) QueueMessages(ctx context.Context, n int) (done int, err error) {
	now := s.clock.Now()
	var due bool
	// Without IS NOT NULL, PostgreSQL expects many rows if all are NULL, and reads the whole tables.
	err = s.db.Read(ctx).Raw("SELECT EXISTS (SELECT 1 FROM alert_notices WHERE next_at IS NOT NULL AND next_at <= ?) OR EXISTS (SELECT 1 FROM alerts WHERE resolve_at IS NOT NULL AND resolve_at <= ?)", now, now).Scan(&due).Error
	if err != nil || !due {
		return 0, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockAlerts); err != nil {
			return err
		}
		now := s.clock.Now() // read again under the lock, so that it is not before events that another instance processed
		if err := s.resolveDue(tx, now); err != nil {
			return err
		}
		var due []notice
		if err := tx.Raw("SELECT * FROM alert_notices WHERE next_at IS NOT NULL AND next_at <= ? ORDER BY next_at, alert_seq, rule_seq LIMIT ?", now, n).Scan(&due).Error; err != nil {
			return err
		}
		done = len(due)
		o, err := s.newOutbox(ctx, tx, now, due)
		if err != nil {
			return err
		}
		for _, n := range largestFirst(due) {
			o.decide(n)
		}
		return o.write(due)
	})
	if err != nil {
		return 0, fmt.Errorf("queue messages: %w", err)
	}
	return done, nil
}

// resolveDue resolves flapping alerts that are stable, and unsent alerts of events without a duration. Alerts of which neither start nor
// end is sent are deleted.
func (s *Store) resolveDue(tx *gorm.DB, now models.Time) error {
	var stable []Alert
	err := tx.Raw("UPDATE alerts SET resolved_at = resolve_at - ?, resolve_at = NULL WHERE resolve_at IS NOT NULL AND resolve_at <= ? AND resolved_at IS NULL RETURNING *", StableTime.Microseconds(), now).Scan(&stable).Error
	if err != nil || len(stable) == 0 {
		return err
	}
	unheard := models.NewRows("seq bigint")
	for _, a := range stable {
		if a.FiredAt.IsZero() {
			unheard.Add(a.Seq)
		}
	}
	if err := unheard.Exec(tx, "DELETE FROM alerts WHERE seq IN (SELECT seq FROM {rows} AS r) AND NOT EXISTS (SELECT 1 FROM alert_notices AS n WHERE n.alert_seq = alerts.seq AND n.notified_at IS NOT NULL)").Error; err != nil {
		return err
	}
	return s.queueEnds(tx, stable, now)
}

// outbox decides which messages of a batch of notices are sent.
type outbox struct {
	*Store
	tx  *gorm.DB
	now models.Time
	settings
	matcher
	ruleBySeq   map[int64]Rule
	alerts      map[int64]*Alert
	channels    map[string]Channel  // enabled ones, by ID
	alreadySent map[messageKey]bool // messages queued before
	changed     map[int64]bool      // alerts that are due to be sent for the first time, or no longer acknowledged
	messages    []*message
	byKey       map[messageKey]*message
	recoveries  map[int64]*Alert // new alerts about the recovery of some subjects, by the Seq of the open alert
	recovering  []recovering
}

// recovering are the subjects of a notice whose recovery is sent by a new alert.
type recovering struct {
	notice *notice
	end    *Alert
}

// message is a new message and the notices that it belongs to.
type message struct {
	Delivery
	alert   *Alert
	notices []noticeKey
	forced  bool // sent even if the channel knows the state of all subjects
}

// messageKey is the key of a message: even if several rules send it, a channel gets one message about new subjects, and one about the end.
type messageKey struct {
	alert, channel int64
	reason         Reason
}

// decide decides what a due notice sends and when it is due next.
func (o *outbox) decide(n *notice) {
	a := o.alerts[n.AlertSeq]
	r, ok := o.ruleBySeq[n.RuleSeq]
	if !ok || !r.sendsFor(a.PrivateTo) { // the rule is disabled, deleted or no longer private; see rescheduleRule
		n.NextAt = models.Time{}
		return
	}
	if until := o.delayedUntil(a, r, n); !until.IsZero() {
		n.NextAt = until
		return
	}
	if !n.NotifiedAt.IsZero() && a.Open() {
		o.sendRecoveries(a, n)
	}
	switch {
	case a.Silenced(o.now): // only recoveries are sent
		n.NextAt = earliest(a.SilencedUntil, n.nextSubjects)
		return
	case n.NotifiedAt.IsZero() && n.due == 0:
	case n.NotifiedAt.IsZero():
		o.sendFirst(a, r, n)
	case o.Type(a.Event).Once:
		if n.due > 0 {
			n.sendsSubjects = true
			o.send(a, n, ReasonFired, r.Channels)
		}
	case !a.Open():
		o.force(a, n, ReasonResolved, r.Channels)
		if !n.EscalatedAt.IsZero() {
			o.force(a, n, ReasonResolved, r.EscalateChannels)
		}
		n.RepeatAt, n.EscalateAt = models.Time{}, models.Time{}
	default:
		o.sendAgain(a, r, n)
	}
	n.NextAt = earliest(earliest(n.RepeatAt, n.EscalateAt), n.nextSubjects)
}

// rescheduleRule makes the notices of a rule due after it was changed, enabled or restored, so that QueueMessages decides again.
func (s *Store) rescheduleRule(tx *gorm.DB, r Rule) error {
	err := tx.Exec("UPDATE alert_notices SET next_at = ? WHERE rule_seq = ? AND alert_seq IN (SELECT seq FROM alerts WHERE resolved_at IS NULL)", s.clock.Now(), r.Seq).Error
	if err == nil { // a shorter delay makes subjects due earlier
		delay := minutes(r.AfterMinutes).Microseconds()
		err = tx.Exec(`UPDATE alert_mentions SET due_at = (SELECT CASE WHEN m.since_at + ? < alert_mentions.due_at THEN m.since_at + ? ELSE alert_mentions.due_at END
			FROM alert_subjects AS m WHERE m.alert_seq = alert_mentions.alert_seq AND m.subject_id = alert_mentions.subject_id)
			WHERE rule_seq = ? AND due_at > ?`, delay, delay, r.Seq, s.clock.Now()).Error
	}
	if err != nil {
		return fmt.Errorf("reschedule messages of rule: %w", err)
	}
	return nil
}

// delayedUntil returns the end of the quiet hours of the rule, or of its wait for more subjects before the first message. It returns zero if
// nothing holds a notice. A held alert is shown but not sent.
func (o *outbox) delayedUntil(a *Alert, r Rule, n *notice) (until models.Time) {
	if until = r.Quiet.End(o.now); until.IsZero() && n.NotifiedAt.IsZero() && n.due > 0 && a.Open() && r.GroupWaitSeconds > 0 {
		if until = n.firstDue.Add(time.Duration(r.GroupWaitSeconds)*time.Second - groupWait); !until.After(o.now.Time) {
			return models.Time{}
		}
	}
	if until.IsZero() {
		return until
	}
	if n.due > 0 && r.Has(a.Event) {
		o.markDue(a)
	}
	return earliest(until, o.now.Add(recheckInterval)) // the rule may change
}

// recheckInterval is how often messages held by quiet hours or maintenance are rechecked.
const recheckInterval = time.Minute

// markDue marks an alert as due to be sent. It is shown from then on.
func (o *outbox) markDue(a *Alert) {
	if a.FiredAt.IsZero() {
		a.FiredAt = o.now
	}
	o.changed[a.Seq] = true
}

// reopen ends the silence after an acknowledgement, because a subject is sent that was not acknowledged.
func (o *outbox) reopen(a *Alert) {
	if !a.AcknowledgedAt.IsZero() {
		a.AcknowledgedAt = models.Time{}
		o.changed[a.Seq] = true
	}
}

// sendRecoveries sends the recovery of subjects while others keep the alert open, at most every gatherTime. The recoveries of an alert that are
// sent together are one new alert.
func (o *outbox) sendRecoveries(a *Alert, n *notice) {
	if len(n.recovered) == 0 {
		return
	}
	if next := n.RecoveredAt.Add(gatherTime); !n.RecoveredAt.IsZero() && next.After(o.now.Time) {
		n.nextSubjects = earliest(n.nextSubjects, next)
		return
	}
	n.RecoveredAt = o.now
	end := o.recoveries[a.Seq]
	if end == nil {
		part := o.recoveryOf(*a, o.now)
		part.FiredAt, part.ResolvedAt = o.now, o.now
		if !a.FiredAt.IsZero() { // otherwise it is not listed
			part.PartOfID = a.ID
		}
		end = &part
		o.recoveries[a.Seq] = end
	}
	o.recovering = append(o.recovering, recovering{n, end})
}

// sendFirst sends an alert for the first time to the channels of a rule.
func (o *outbox) sendFirst(a *Alert, r Rule, n *notice) {
	n.NotifiedAt, n.AnnouncedAt, n.Severity, n.sendsSubjects = o.now, o.now, a.Severity, true
	if !r.Has(a.Event) { // the rule sends only the end; without another rule, the alert is not listed
		return
	}
	o.markDue(a)
	if a.Open() && o.Type(a.Event).Once {
		a.ResolvedAt, a.ResolveAt, a.OpenSubjectCount = o.now, models.Time{}, 0
	}
	o.send(a, n, ReasonFired, r.Channels)
	if !n.EscalatedAt.IsZero() { // this alert is the end of an escalated one
		o.send(a, n, ReasonFired, r.EscalateChannels)
	}
	if a.Open() {
		o.reopen(a)
		o.planNext(r, n)
	}
}

// sendAgain sends an open alert again: for new subjects, a higher severity, a reminder or an escalation.
func (o *outbox) sendAgain(a *Alert, r Rule, n *notice) {
	due := func(at models.Time) bool { return !at.IsZero() && !at.After(o.now.Time) }
	if r.RepeatMinutes == 0 || !r.Has(a.Event) { // the rule may have changed
		n.RepeatAt = models.Time{}
	}
	if r.EscalateAfterMinutes == 0 || !r.Has(a.Event) {
		n.EscalateAt = models.Time{}
	}
	if n.due > 0 {
		if next := n.AnnouncedAt.Add(gatherTime); next.After(o.now.Time) {
			n.nextSubjects, n.due = earliest(n.nextSubjects, next), 0
		} else {
			n.AnnouncedAt, n.sendsSubjects = o.now, true
			o.reopen(a)
		}
	}
	if !a.AcknowledgedAt.IsZero() {
		n.RepeatAt, n.EscalateAt = models.Time{}, models.Time{}
	}
	if a.Severity > n.Severity && r.Has(a.Event) && (n.due+n.ongoing > 0 || !a.AcknowledgedAt.IsZero()) {
		o.force(a, n, ReasonFired, r.Channels)
		n.Severity = a.Severity
	}
	if n.due+n.ongoing == 0 { // all subjects of this rule have recovered, are acknowledged or are in maintenance
		if due(n.RepeatAt) || due(n.EscalateAt) {
			n.nextSubjects = earliest(n.nextSubjects, o.now.Add(recheckInterval))
			n.RepeatAt, n.EscalateAt = notBefore(n.RepeatAt, n.nextSubjects), notBefore(n.EscalateAt, n.nextSubjects)
		}
		return
	}
	if n.sendsSubjects && r.Has(a.Event) {
		o.send(a, n, ReasonFired, r.Channels)
	}
	n.Severity = a.Severity
	if !a.AcknowledgedAt.IsZero() {
		return
	}
	if due(n.RepeatAt) {
		o.force(a, n, ReasonRepeated, r.Channels)
		if !n.EscalatedAt.IsZero() {
			o.force(a, n, ReasonRepeated, r.EscalateChannels)
		}
		n.RepeatAt = models.Time{}
	}
	if due(n.EscalateAt) {
		o.force(a, n, ReasonEscalated, r.EscalateChannels)
		n.EscalatedAt, n.EscalateAt = o.now, models.Time{}
	}
	if r.Has(a.Event) {
		o.planNext(r, n)
	}
}

// notBefore returns the later of two times. A zero at stays zero.
func notBefore(at, least models.Time) models.Time {
	if at.IsZero() || at.After(least.Time) {
		return at
	}
	return least
}

// planNext schedules the next reminder and the escalation unless they are already scheduled.
func (o *outbox) planNext(r Rule, n *notice) {
	if r.RepeatMinutes > 0 && n.RepeatAt.IsZero() {
		n.RepeatAt = o.now.Add(minutes(r.RepeatMinutes))
	}
	if r.EscalateAfterMinutes > 0 && n.EscalateAt.IsZero() && n.EscalatedAt.IsZero() {
		n.EscalateAt = o.now.Add(minutes(r.EscalateAfterMinutes))
	}
}

func minutes(n int) time.Duration { return time.Duration(n) * time.Minute }

// earliest returns the earlier of two times. Zero means never.
func earliest(a, b models.Time) models.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a.Time) {
		return b
	}
	return a
}

// send adds a message to the channels that the rule can use. A channel gets one message about new subjects of an alert, with those of all rules.
// It gets none if it knows their state. Its reason is ReasonFired if it is the first message of the alert to the channel, else ReasonWorse.
func (o *outbox) send(a *Alert, n *notice, why Reason, to List) []*message {
	var sent []*message
	for _, id := range to {
		c, ok := o.channels[id]
		if !ok || !o.ruleBySeq[n.RuleSeq].canUse(c) {
			continue
		}
		k := messageKey{a.Seq, c.Seq, why}
		m := o.byKey[k]
		if m == nil {
			m = &message{alert: a, Delivery: Delivery{ID: models.NewID(models.KindDelivery), AlertSeq: a.Seq, ChannelSeq: c.Seq, Reason: why, Status: DeliveryPending, CreatedAt: o.now}}
			if why == ReasonFired && o.alreadySent[k] {
				m.Reason = ReasonWorse
			}
			o.byKey[k], o.messages = m, append(o.messages, m)
		}
		m.notices = append(m.notices, noticeKey{a.Seq, n.RuleSeq})
		sent = append(sent, m)
	}
	return sent
}

// force adds a message that is sent even if it has no new subject, except a second ReasonResolved.
func (o *outbox) force(a *Alert, n *notice, why Reason, to List) {
	for _, m := range o.send(a, n, why, to) {
		m.forced = why != ReasonResolved || !o.alreadySent[messageKey{a.Seq, m.ChannelSeq, why}]
	}
}
