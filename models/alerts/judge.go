package alerts

import (
	"slices"
	"time"

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
	notices := b.noticesOf(e)
	if len(notices) == 0 {
		return
	}
	d := b.alertFor(e)
	d.Severity = max(d.Severity, e.Severity)
	if e.SinceAt.Before(d.StartedAt.Time) {
		d.StartedAt = e.SinceAt
	}
	for rule, at := range notices {
		if before, ok := d.notices[rule]; !ok || at.Before(before.Time) {
			d.notices[rule] = at
		}
	}
	m := d.members[e.SubjectID]
	if m == nil {
		m = &Member{SubjectID: e.SubjectID, Event: e.Kind, SubjectKind: e.SubjectKind, EndedAt: e.At}
		d.members[e.SubjectID] = m
		d.Members++
	}
	m.Name, m.URL, m.Detail = e.Name, e.URL, e.Detail
	if m.EndedAt.IsZero() { // it went on
		return
	}
	m.SinceAt, m.EndedAt = e.SinceAt, models.Time{}
	if d.OpenMembers++; d.OpenMembers == 1 && !d.ResolveAt.IsZero() {
		d.ResolveAt = models.Time{}
		d.Changes++
	}
	b.of[memberKey{e.Kind, e.SubjectID}] = d
}

// alertFor is the open alert for an event, or a new one.
func (b *batch) alertFor(e event.Event) *draft {
	k := groupOf(e)
	for _, d := range []*draft{b.of[memberKey{e.Kind, e.SubjectID}], b.open[k], b.open[groupKey{e.Kind, many}]} {
		if d != nil {
			return d
		}
	}
	began := b.flapped[k] + 1
	b.flapped[k] = began
	if b.recent[e.Kind]++; b.recent[e.Kind] > storm {
		k.key, began = many, 1
	}
	return b.add(Alert{
		ID: models.NewID(models.KindAlert), Event: e.Kind, Severity: e.Severity, GroupKey: k.key, SubjectKind: e.SubjectKind, SubjectID: e.SubjectID,
		SubjectName: e.Name, SubjectURL: e.URL, Detail: e.Detail, CreatedAt: b.now, StartedAt: e.SinceAt, Flapping: began >= flaps && e.Phase == event.Began, Changes: began,
	})
}

// noticesOf are the rules that tell of an event, and when: at once, or when it has lasted
// long enough, and not during maintenance.
func (b *batch) noticesOf(e event.Event) map[int64]models.Time {
	var notices map[int64]models.Time
	end := b.store.Type(e.Kind).EndsAs
	until := b.maintained(b.matcher, subjectOf(e))
	if !until.IsZero() && e.Phase == event.Once {
		return nil
	}
	for _, r := range b.rules {
		if !r.Has(e.Kind) && (end == "" || !r.Has(end)) || e.Failures > 0 && e.Failures < r.AfterFailures || !b.has(r.Scope, subjectOf(e)) {
			continue
		}
		at := b.now.Add(gather)
		if after := e.SinceAt.Add(time.Duration(r.AfterMinutes) * time.Minute); e.Phase == event.Began && after.After(at.Time) {
			at = after
		}
		if until.After(at.Time) {
			at = until
		}
		if notices == nil {
			notices = map[int64]models.Time{}
		}
		notices[r.Seq] = at
	}
	return notices
}

// ended notes that a condition has ended for a subject, and resolves its alert if that was the last one.
func (b *batch) ended(e event.Event) {
	k := memberKey{e.Kind, e.SubjectID}
	d := b.of[k]
	if d == nil {
		return
	}
	delete(b.of, k)
	d.members[e.SubjectID].EndedAt = e.At
	if d.OpenMembers--; d.OpenMembers > 0 {
		return
	}
	if d.Flapping && e.Phase == event.Ended {
		d.ResolveAt = e.At.Add(StableTime)
		return
	}
	d.ResolvedAt, d.over, d.silent = e.At, true, e.Phase == event.Closed
	delete(b.open, groupKey{d.Event, d.GroupKey})
}

// unheard reports whether the draft need not be stored: it is over, and no one was told of it.
func (d *draft) unheard() bool { return d.over && d.FiredAt.IsZero() }

// touched are the drafts that were changed by the batch.
func (b *batch) touched() []*draft {
	return slices.DeleteFunc(slices.Clone(b.drafts), func(d *draft) bool { return d.Seq == 0 && d.unheard() })
}
