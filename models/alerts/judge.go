package alerts

import (
	"slices"

	"linkwatch/models"
	"linkwatch/models/event"
)

func (b *batch) take(e event.Event) {
	switch e.Phase {
	case event.Began, event.Once:
		b.began(e)
	case event.Ended, event.Closed:
		b.ended(e)
	}
}

// began adds the subject of an event to an open alert or a new one.
func (b *batch) began(e event.Event) {
	rules := b.rulesOf(e)
	if len(rules) == 0 {
		return
	}
	d := b.of[memberKey{e.Kind, e.SubjectID}]
	if d != nil && d.PrivateTo != e.PrivateTo { // its visibility changed during the condition: the alert keeps the original one
		return
	}
	notices := b.noticesOf(e, rules)
	if d == nil && len(notices) == 0 { // too few failures for every rule
		return
	}
	if d == nil {
		d = b.alertFor(e, rules)
	}
	d.Severity = max(d.Severity, e.Severity)
	if e.SinceAt.Before(d.StartedAt.Time) {
		d.StartedAt = e.SinceAt
	}
	m := d.members[e.SubjectID]
	if m == nil {
		m = &Member{SubjectID: e.SubjectID, Event: e.Kind, SubjectKind: e.SubjectKind, EndedAt: e.At}
		d.members[e.SubjectID] = m
		d.Members++
	} else if m.gone {
		m.gone = false
		d.Members++
	}
	m.Name, m.URL, m.Detail = e.Name, e.URL, e.Detail
	if d.Members == 1 {
		d.Detail = e.Detail
	} else if d.Detail != e.Detail {
		d.Detail = "" // the reasons differ
	}
	if !m.EndedAt.IsZero() {
		b.begin(d, m, e)
	}
	if last := b.lastSent[groupKey{d.Event, d.GroupKey}]; e.Phase == event.Once && !last.IsZero() {
		for rule, due := range notices {
			notices[rule] = later(due, last.Add(growTime))
		}
	}
	for rule, due := range notices {
		d.mention(b, m, rule, due)
	}
}

// begin records the start of the condition for a subject of an alert.
func (b *batch) begin(d *draft, m *Member, e event.Event) {
	if m.Changes++; e.SinceAt.Sub(m.SinceAt.Time) > FlapTime/(flaps-1) { // so that the fourth start is within FlapTime of the first
		m.Changes = 1
	}
	if d.Flapping && d.Members == 1 && d.Seq == 0 { // the earlier starts were in other alerts
		m.Changes = max(m.Changes, flaps)
	}
	m.SinceAt, m.EndedAt = e.SinceAt, models.Time{}
	b.of[memberKey{e.Kind, e.SubjectID}] = d
	if d.OpenMembers++; d.OpenMembers == 1 && d.Flapping && !d.ResolveAt.IsZero() {
		d.ResolveAt = models.Time{}
		d.Changes++
	}
}

// mention schedules that a rule sends a subject. It does nothing if the subject is already scheduled or sent since the condition
// started, or if it was sent and is flapping.
func (d *draft) mention(b *batch, m *Member, rule int64, due models.Time) {
	if known, ok := b.mentioned[mentionKey{d.Seq, m.SubjectID}][rule]; ok && d.Seq != 0 {
		switch {
		case !known.due.IsZero():
			if !known.due.Before(m.SinceAt.Time) {
				return
			}
		case !known.sent.Before(m.SinceAt.Time), m.Changes >= flaps:
			return
		}
	}
	of := d.mentions[m.SubjectID]
	if of == nil {
		of = map[int64]models.Time{}
		d.mentions[m.SubjectID] = of
	}
	if _, ok := of[rule]; !ok {
		of[rule] = due
	}
}

// withdraw cancels the mentions of a subject whose condition has ended, except those that are already due.
func (d *draft) withdraw(b *batch, subject string) {
	delete(d.mentions, subject)
	d.ended = append(d.ended, subject)
	stored := b.mentioned[mentionKey{d.Seq, subject}]
	for rule, m := range stored {
		switch {
		case !m.sent.IsZero():
			stored[rule] = mention{sent: m.sent}
		case m.due.After(b.now.Time):
			delete(stored, rule)
		}
	}
}

// alertFor returns the open alert for a new subject, or adds a new alert.
func (b *batch) alertFor(e event.Event, rules []Rule) *draft {
	k := b.groupOf(e, rules)
	for _, k := range []groupKey{k, b.manyOf(e, rules, b.now), b.manyOf(e, rules, b.now.Add(-stormTime))} {
		if d := b.open[k]; d != nil {
			return d
		}
	}
	of := memberKey{e.Kind, e.SubjectID}
	b.changes[of]++
	began := b.changes[of]
	if b.recent[e.Kind]++; b.recent[e.Kind] > storm {
		k, began = b.manyOf(e, rules, b.now), 1
	}
	resolveAt := models.Time{}
	if e.Phase == event.Once { // even if its rule is deleted or maintenance starts before it is sent
		resolveAt = b.now.Add(keepOnce)
	}
	return b.add(Alert{
		ResolveAt: resolveAt,
		ID:        models.NewID(models.KindAlert), Event: e.Kind, Severity: e.Severity, GroupKey: k.key, SubjectKind: e.SubjectKind, SubjectID: e.SubjectID,
		SubjectName: e.Name, SubjectURL: e.URL, Detail: e.Detail, CreatedAt: b.now, StartedAt: e.SinceAt, Flapping: began >= flaps && e.Phase == event.Began, Changes: began,
		PrivateTo: e.PrivateTo,
	})
}

// rulesOf returns the rules that send an event or its end, whatever its number of failures. Events without a duration are not sent
// during maintenance.
func (b *batch) rulesOf(e event.Event) (rules []Rule) {
	if e.Phase == event.Once && !b.maintained(b.matcher, subjectOf(e)).IsZero() {
		return nil
	}
	end := b.store.Type(e.Kind).EndsAs
	for _, r := range b.rules {
		if r.sends(e.PrivateTo) && (r.Has(e.Kind) || end != "" && r.Has(end)) && b.has(r.Scope, subjectOf(e)) {
			rules = append(rules, r)
		}
	}
	return rules
}

// noticesOf returns when each rule sends an event, by Rule.Seq. It leaves out rules that require more failures.
func (b *batch) noticesOf(e event.Event, rules []Rule) map[int64]models.Time {
	notices := map[int64]models.Time{}
	for _, r := range rules {
		if e.Failures > 0 && e.Failures < r.AfterFailures {
			continue
		}
		at := b.now.Add(gather)
		if after := e.SinceAt.Add(minutes(r.AfterMinutes)); e.Phase == event.Began && after.After(at.Time) {
			at = after
		}
		notices[r.Seq] = at
	}
	return notices
}

// ended records the end of the condition for a subject, and resolves its alert after the last subject. A subject that is no longer
// checked leaves the alert.
func (b *batch) ended(e event.Event) {
	k := memberKey{e.Kind, e.SubjectID}
	d := b.of[k]
	if d == nil {
		return
	}
	delete(b.of, k)
	m := d.members[e.SubjectID]
	m.EndedAt = e.At
	d.withdraw(b, e.SubjectID)
	if e.Phase == event.Closed {
		m.gone = true
		d.Members--
	}
	if d.OpenMembers--; d.OpenMembers > 0 {
		return
	}
	if d.Flapping && d.Members > 0 {
		d.ResolveAt = e.At.Add(StableTime)
		return
	}
	d.ResolvedAt, d.over, d.silent = e.At, true, d.Members == 0
	delete(b.open, groupKey{d.Event, d.GroupKey})
}

// unheard reports whether the alert is resolved and was never due to be sent. It need not be stored.
func (d *draft) unheard() bool { return d.over && d.FiredAt.IsZero() }

// touched returns the alerts that must be stored.
func (b *batch) touched() []*draft {
	return slices.DeleteFunc(slices.Clone(b.drafts), func(d *draft) bool { return d.Seq == 0 && d.unheard() })
}
