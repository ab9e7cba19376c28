package alerts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/event"
)

// Notice is what a rule has still to tell of an alert.
type notice struct {
	AlertSeq    int64
	RuleSeq     int64
	NextAt      models.Time // zero = nothing more
	NotifiedAt  models.Time // when the rule's channels were first told
	RepeatAt    models.Time
	EscalateAt  models.Time
	EscalatedAt models.Time
	Severity    event.Severity // of which they were told
	Grown       bool           // it has got subjects of which they are to be told

	gone bool // its rule is deleted or disabled
}

// Send puts up to n messages that rules owe into the outbox, and resolves flapping alerts that are stable. It
// returns how many notices it has dealt with.
func (s *Store) Send(ctx context.Context, n int) (done int, err error) {
	now := s.clock.Now()
	var due bool
	err = s.db.Read(ctx).Raw("SELECT EXISTS (SELECT 1 FROM alert_notices WHERE next_at <= ?) OR EXISTS (SELECT 1 FROM alerts WHERE resolve_at <= ?)", now, now).Scan(&due).Error
	if err != nil || !due {
		return 0, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockAlerts); err != nil {
			return err
		}
		if err := s.settle(tx, now); err != nil {
			return err
		}
		var due []notice
		if err := tx.Raw("SELECT * FROM alert_notices WHERE next_at <= ? ORDER BY next_at, alert_seq, rule_seq LIMIT ?", now, n).Scan(&due).Error; err != nil {
			return err
		}
		done = len(due)
		o, err := s.newOutbox(ctx, tx, now, due)
		if err != nil {
			return err
		}
		for i := range due {
			o.notice(&due[i])
		}
		return o.write(due)
	})
	if err != nil {
		return 0, fmt.Errorf("sending alerts: %w", err)
	}
	return done, nil
}

// settle resolves flapping alerts that have been stable for long enough.
func (s *Store) settle(tx *gorm.DB, now models.Time) error {
	var stable []Alert
	err := tx.Raw("UPDATE alerts SET resolved_at = resolve_at - ?, resolve_at = NULL WHERE resolve_at <= ? RETURNING *", StableTime.Microseconds(), now).Scan(&stable).Error
	if err != nil || len(stable) == 0 {
		return err
	}
	return s.tellEnd(tx, slices.DeleteFunc(stable, func(a Alert) bool { return a.FiredAt.IsZero() }), now)
}

// outbox decides what is sent of some notices.
type outbox struct {
	*Store
	tx  *gorm.DB
	now models.Time
	settings
	matcher
	bySeq    map[int64]Rule
	alerts   map[int64]*Alert
	members  map[int64][]Member
	channels map[string]Channel // those that can be used, by id
	told     map[told]bool
	first    map[int64]bool // alerts that are sent for the first time
	fresh    []Delivery
}

// told is a message that a channel has of an alert.
type told struct {
	alert, channel int64
	reason         Reason
}

func (s *Store) newOutbox(ctx context.Context, tx *gorm.DB, now models.Time, due []notice) (o *outbox, err error) {
	o = &outbox{Store: s, tx: tx, now: now, bySeq: map[int64]Rule{}, alerts: map[int64]*Alert{}, channels: map[string]Channel{}, told: map[told]bool{}, first: map[int64]bool{}}
	if o.settings, err = s.settings(tx, now); err != nil {
		return nil, err
	}
	for _, r := range o.rules {
		o.bySeq[r.Seq] = r
	}
	known, err := all[Channel](tx)
	if err != nil {
		return nil, err
	}
	for _, c := range known {
		if c.Enabled {
			o.channels[c.ID] = c
		}
	}
	rows, asked := models.NewRows("seq bigint"), map[int64]bool{}
	for _, d := range due {
		if !asked[d.AlertSeq] {
			asked[d.AlertSeq] = true
			rows.Add(d.AlertSeq)
		}
	}
	var as []Alert
	if err := rows.Raw(tx, "SELECT a.* FROM {rows} AS r CROSS JOIN alerts AS a WHERE a.seq = r.seq").Scan(&as).Error; err != nil {
		return nil, err
	}
	var subjects []subject
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
		o.told[told{b.AlertSeq, b.ChannelSeq, b.Reason}] = true
	}
	if o.members, err = membersOf(tx, as, MaxSubjects); err != nil {
		return nil, err
	}
	for _, of := range o.members {
		for _, m := range of {
			subjects = append(subjects, subject{m.SubjectKind, m.SubjectID, m.URL})
		}
	}
	o.matcher, err = s.newMatcher(ctx, o.scopes(), subjects)
	return o, err
}

// notice decides what is sent for a notice that is due, and when it is due again.
func (o *outbox) notice(n *notice) {
	a := o.alerts[n.AlertSeq]
	r, ok := o.bySeq[n.RuleSeq]
	if !ok || a == nil { // the rule was deleted or disabled since
		n.gone = true
		return
	}
	if later := o.later(*a, r); !later.IsZero() {
		n.NextAt = later
		return
	}
	switch {
	case n.NotifiedAt.IsZero():
		o.fire(a, r, n)
	case !a.Open():
		o.send(*a, Resolving, r.Channels)
		if !n.EscalatedAt.IsZero() {
			o.send(*a, Resolving, r.EscalateChannels)
		}
		n.RepeatAt, n.EscalateAt = models.Time{}, models.Time{}
	default:
		o.remind(*a, r, n)
	}
	n.NextAt = earliest(n.RepeatAt, n.EscalateAt)
}

// later is until when a message of an alert has to wait; zero = it does not.
func (o *outbox) later(a Alert, r Rule) models.Time {
	until := r.Quiet.End(o.now)
	if a.Open() && until.IsZero() {
		until = o.untilMaintained(a)
	}
	if again := o.now.Add(lookAgain); until.After(again.Time) { // they may be changed meanwhile
		until = again
	}
	if a.Silenced(o.now) && a.SilencedUntil.After(until.Time) {
		until = a.SilencedUntil
	}
	return until
}

// lookAgain is how often a message that waits for the end of quiet hours or maintenance is looked at.
const lookAgain = time.Minute

// untilMaintained is when the first maintenance of the subjects of an open alert ends; zero = one of them is in none. Of many subjects the
// first ones are looked at.
func (o *outbox) untilMaintained(a Alert) (until models.Time) {
	for _, m := range o.members[a.Seq] {
		if !m.EndedAt.IsZero() {
			continue
		}
		end := o.maintained(o.matcher, subject{m.SubjectKind, m.SubjectID, m.URL})
		if end.IsZero() {
			return models.Time{}
		}
		until = earliest(until, end)
	}
	return until
}

// fire tells the channels of a rule of an alert for the first time.
func (o *outbox) fire(a *Alert, r Rule, n *notice) {
	n.NotifiedAt, n.Severity = o.now, a.Severity
	if a.FiredAt.IsZero() {
		a.FiredAt = o.now
	}
	o.first[a.Seq] = true
	if !r.Has(a.Event) { // it tells only of the end
		return
	}
	o.send(*a, FirstTime, r.Channels)
	if !n.EscalatedAt.IsZero() { // it tells the end of an alert that was escalated
		o.send(*a, FirstTime, r.EscalateChannels)
	}
	if a.Open() && o.Type(a.Event).Once {
		a.ResolvedAt, a.OpenMembers = o.now, 0
	}
	if !a.Open() || !a.AcknowledgedAt.IsZero() {
		return
	}
	o.plan(r, n)
}

// remind tells the channels of a rule again of an alert: it got worse, is not acknowledged, or goes on.
func (o *outbox) remind(a Alert, r Rule, n *notice) {
	due := func(at models.Time) bool { return !at.IsZero() && !at.After(o.now.Time) }
	if (a.Severity > n.Severity || n.Grown) && r.Has(a.Event) {
		o.send(a, Worsening, r.Channels)
	}
	n.Severity, n.Grown = a.Severity, false
	if !a.AcknowledgedAt.IsZero() {
		n.RepeatAt, n.EscalateAt = models.Time{}, models.Time{}
		return
	}
	if due(n.RepeatAt) {
		o.send(a, Repeating, r.Channels)
		if !n.EscalatedAt.IsZero() {
			o.send(a, Repeating, r.EscalateChannels)
		}
		n.RepeatAt = models.Time{}
	}
	if due(n.EscalateAt) {
		o.send(a, Escalating, r.EscalateChannels)
		n.EscalatedAt, n.EscalateAt = o.now, models.Time{}
	}
	o.plan(r, n)
}

// plan plans what is not planned: the next reminder, and the escalation, also after an acknowledgement was undone.
func (o *outbox) plan(r Rule, n *notice) {
	if r.RepeatMinutes > 0 && n.RepeatAt.IsZero() {
		n.RepeatAt = o.now.Add(minutes(r.RepeatMinutes))
	}
	if r.EscalateAfterMinutes > 0 && n.EscalateAt.IsZero() && n.EscalatedAt.IsZero() {
		n.EscalateAt = o.now.Add(minutes(r.EscalateAfterMinutes))
	}
}

func minutes(n int) time.Duration { return time.Duration(n) * time.Minute }

// earliest is the earlier of two times; zero = never.
func earliest(a, b models.Time) models.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a.Time) {
		return b
	}
	return a
}

// send adds a message to channels, but for those that another rule has told the same.
func (o *outbox) send(a Alert, why Reason, to List) {
	for _, id := range to {
		c, ok := o.channels[id]
		k := told{a.Seq, c.Seq, why}
		if !ok || o.told[k] {
			continue
		}
		o.told[k] = true
		o.fresh = append(o.fresh, Delivery{ID: models.NewID(models.KindDelivery), AlertSeq: a.Seq, ChannelSeq: c.Seq, Reason: why, Status: DeliveryPending, CreatedAt: o.now})
	}
}

// write stores the messages, and what has become of the alerts and notices.
func (o *outbox) write(due []notice) error {
	for i := range o.fresh {
		d := &o.fresh[i]
		n := o.Notification(*o.alerts[d.AlertSeq], o.members[d.AlertSeq], nil)
		n.Reason = string(d.Reason)
		body, err := json.Marshal(n)
		if err != nil {
			return fmt.Errorf("writing a message: %w", err)
		}
		d.Body = string(body)
	}
	if err := models.Insert(o.tx, o.fresh); err != nil {
		return fmt.Errorf("storing messages: %w", err)
	}
	fired, over := models.NewRows("seq bigint, fired_at bigint, resolved_at bigint, open_members bigint"), models.NewRows("seq bigint")
	for seq := range o.first {
		a := o.alerts[seq]
		fired.Add(seq, a.FiredAt, a.ResolvedAt, a.OpenMembers)
		if !a.Open() {
			over.Add(seq)
		}
	}
	rest := models.NewRows("alert_seq bigint, rule_seq bigint, next_at bigint, notified_at bigint, repeat_at bigint, escalate_at bigint, escalated_at bigint, severity bigint, grown boolean")
	gone := models.NewRows("alert_seq bigint, rule_seq bigint")
	for _, n := range due {
		if n.gone {
			gone.Add(n.AlertSeq, n.RuleSeq)
			continue
		}
		rest.Add(n.AlertSeq, n.RuleSeq, n.NextAt, n.NotifiedAt, n.RepeatAt, n.EscalateAt, n.EscalatedAt, int(n.Severity), n.Grown)
	}
	for _, st := range []struct {
		rows *models.Rows
		sql  string
		args []any
	}{
		{fired, "UPDATE alerts SET fired_at = r.fired_at, resolved_at = r.resolved_at, open_members = r.open_members FROM {rows} AS r WHERE alerts.seq = r.seq", nil},
		{over, "UPDATE alert_members SET ended_at = ? WHERE ended_at IS NULL AND alert_seq IN (SELECT seq FROM {rows} AS r)", []any{o.now}},
		{rest, `UPDATE alert_notices SET next_at = r.next_at, notified_at = r.notified_at, repeat_at = r.repeat_at, escalate_at = r.escalate_at,
			escalated_at = r.escalated_at, severity = r.severity, grown = r.grown FROM {rows} AS r WHERE alert_notices.alert_seq = r.alert_seq AND alert_notices.rule_seq = r.rule_seq`, nil},
		{gone, "DELETE FROM alert_notices WHERE (alert_seq, rule_seq) IN (SELECT alert_seq, rule_seq FROM {rows} AS r)", nil},
		// An alert of which no rule tells any more was never sent.
		{gone, `DELETE FROM alerts WHERE fired_at IS NULL AND seq IN (SELECT alert_seq FROM {rows} AS r)
			AND NOT EXISTS (SELECT 1 FROM alert_notices AS n WHERE n.alert_seq = alerts.seq)`, nil},
	} {
		if err := st.rows.Exec(o.tx, st.sql, st.args...).Error; err != nil {
			return fmt.Errorf("storing what was sent: %w", err)
		}
	}
	return nil
}
