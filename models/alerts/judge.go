package alerts

import (
	"slices"

	"linkwatch/models"
	"linkwatch/models/event"
)

// take takes note of one event.
func (b *batch) take(e event.Event) {
	switch e.Phase {
	case event.Began, event.Once:
		b.began(e)
	case event.Ended, event.Closed:
		b.ended(e)
	}
}

// began adds the subject of an event to an alert, or begins one.
func (b *batch) began(e event.Event) {
	rules := b.rulesOf(e)
	if len(rules) == 0 {
		return
	}
	d := b.of[memberKey{e.Kind, e.SubjectID}]
	notices := b.noticesOf(e, rules)
	if d == nil && len(notices) == 0 { // it has not failed often enough for any of them
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
	}
	m.Name, m.URL, m.Detail, m.gone = e.Name, e.URL, e.Detail, false
	if d.Members == 1 {
		d.Detail = e.Detail
	} else if d.Detail != e.Detail {
		d.Detail = "" // they have different reasons
	}
	again := false
	if !m.EndedAt.IsZero() {
		again = b.grow(d, m, e)
	}
	for rule, at := range notices {
		n, ok := d.notices[rule]
		if !ok || at.Before(n.at.Time) {
			n.at = at
		}
		n.grown = n.grown || again
		d.notices[rule] = n
	}
}

// grow notes that the condition began for a subject of an alert. again reports whether those who were told of the
// alert are told again: it last grew too long ago for this to be the same outage.
func (b *batch) grow(d *draft, m *Member, e event.Event) (again bool) {
	m.SinceAt, m.EndedAt = e.SinceAt, models.Time{}
	b.of[memberKey{e.Kind, e.SubjectID}] = d
	if d.OpenMembers++; d.OpenMembers == 1 && !d.ResolveAt.IsZero() {
		d.ResolveAt = models.Time{}
		d.Changes++
	}
	again = !d.Flapping && b.now.Sub(d.GrownAt.Time) > growTime
	if again {
		d.GrownAt = b.now
	}
	return again
}

// alertFor is the open alert that a new subject of some rules joins, or a new one.
func (b *batch) alertFor(e event.Event, rules []Rule) *draft {
	k := groupOf(e, rules)
	for _, k := range []groupKey{k, manyOf(e, rules, b.now), manyOf(e, rules, b.now.Add(-stormTime))} {
		if d := b.open[k]; d != nil {
			return d
		}
	}
	began := b.flapped[k] + 1
	b.flapped[k] = began
	if b.recent[e.Kind]++; b.recent[e.Kind] > storm {
		k, began = manyOf(e, rules, b.now), 1
	}
	return b.add(Alert{
		ID: models.NewID(models.KindAlert), Event: e.Kind, Severity: e.Severity, GroupKey: k.key, SubjectKind: e.SubjectKind, SubjectID: e.SubjectID,
		SubjectName: e.Name, SubjectURL: e.URL, Detail: e.Detail, CreatedAt: b.now, StartedAt: e.SinceAt, GrownAt: b.now, Flapping: began >= flaps && e.Phase == event.Began, Changes: began,
	})
}

// rulesOf are the rules that tell of an event, or of its end, however often it has happened. Without duration it is not told during maintenance.
func (b *batch) rulesOf(e event.Event) (rules []Rule) {
	if e.Phase == event.Once && !b.maintained(b.matcher, subjectOf(e)).IsZero() {
		return nil
	}
	end := b.store.Type(e.Kind).EndsAs
	for _, r := range b.rules {
		if (r.Has(e.Kind) || end != "" && r.Has(end)) && b.has(r.Scope, subjectOf(e)) {
			rules = append(rules, r)
		}
	}
	return rules
}

// noticesOf are when rules tell of an event: at once, or when it has lasted long enough. A rule that waits for more failures is missing.
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

// ended notes that a condition has ended for a subject, and resolves its alert if that was the last one. A subject that is
// no longer looked at leaves the alert.
func (b *batch) ended(e event.Event) {
	k := memberKey{e.Kind, e.SubjectID}
	d := b.of[k]
	if d == nil {
		return
	}
	delete(b.of, k)
	m := d.members[e.SubjectID]
	m.EndedAt = e.At
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

// unheard reports whether the draft need not be stored: it is over, and no one was told of it.
func (d *draft) unheard() bool { return d.over && d.FiredAt.IsZero() }

// touched are the drafts that were changed by the batch.
func (b *batch) touched() []*draft {
	return slices.DeleteFunc(slices.Clone(b.drafts), func(d *draft) bool { return d.Seq == 0 && d.unheard() })
}
