package alerts

import (
	"slices"
	"strings"

	"linkwatch/models"
	"linkwatch/models/event"
)

func (b *batch) apply(e event.Event) {
	switch e.Phase {
	case event.Started, event.Once:
		b.applyStart(e)
	case event.Ended, event.Closed:
		b.applyEnd(e)
	}
}

// applyStart adds the subject of an event to an open alert or a new one.
func (b *batch) applyStart(e event.Event) {
	rules := b.matchingRules(e)
	if len(rules) == 0 {
		return
	}
	d := b.bySubject[subjectKey{e.Kind, e.SubjectID}]
	if d != nil && d.PrivateTo != e.PrivateTo { // its visibility changed during the condition: the alert keeps the original one
		return
	}
	again := d != nil && b.store.Type(e.Kind).Repeats
	notices := b.dueTimes(e, rules)
	if d == nil && len(notices) == 0 { // too few failures for every rule
		return
	}
	if d == nil {
		d = b.alertFor(e)
	}
	d.Severity = max(d.Severity, e.Severity)
	if e.SinceAt.Before(d.StartedAt.Time) {
		d.StartedAt = e.SinceAt
	}
	m := d.subjects[e.SubjectID]
	if m == nil {
		m = &AlertSubject{SubjectID: e.SubjectID, Event: e.Kind, SubjectKind: e.SubjectKind, EndedAt: e.At}
		d.subjects[e.SubjectID] = m
		d.SubjectCount++
	} else if m.removed {
		m.removed = false
		d.SubjectCount++
	}
	m.Name, m.URL, m.Detail = e.Name, e.URL, e.Detail
	if d.SubjectCount == 1 {
		d.Detail = e.Detail
	} else if d.Detail != e.Detail {
		d.Detail = "" // the reasons differ
	}
	if again {
		m.SinceAt = e.SinceAt
	}
	if !m.EndedAt.IsZero() {
		b.startSubject(d, m, e)
	}
	if last := b.lastSent[groupKey{d.Event, d.GroupKey}]; e.Phase == event.Once && !last.IsZero() {
		for rule, due := range notices {
			notices[rule] = notBefore(due, last.Add(groupInterval))
		}
	}
	for rule, due := range notices {
		switch known := b.sendTimes[alertSubjectKey{d.Seq, m.SubjectID}][rule]; {
		case again && !known.due.IsZero(): // the message that waits has it
			continue
		case again && !known.sent.IsZero():
			due = b.now.Add(groupWait)
		}
		d.scheduleSubject(b, m, rule, due)
	}
}

// startSubject records the start of the condition for a subject of an alert.
func (b *batch) startSubject(d *draft, m *AlertSubject, e event.Event) {
	if m.Changes++; e.SinceAt.Sub(m.SinceAt.Time) > FlapWindow/(flapThreshold-1) { // so that the fourth start is within FlapWindow of the first
		m.Changes = 1
	}
	if d.Flapping && d.SubjectCount == 1 && d.Seq == 0 { // the earlier starts were in other alerts
		m.Changes = max(m.Changes, flapThreshold)
	}
	m.SinceAt, m.EndedAt = e.SinceAt, models.Time{}
	b.bySubject[subjectKey{e.Kind, e.SubjectID}] = d
	if d.OpenSubjectCount++; d.OpenSubjectCount == 1 && d.Flapping && !d.ResolveAt.IsZero() {
		d.ResolveAt = models.Time{}
		d.Changes++
	}
}

// scheduleSubject schedules that a rule sends a subject. It does nothing if the subject is already scheduled or sent since the condition
// started, or if it is flapping and the rule has not sent its recovery.
func (d *draft) scheduleSubject(b *batch, m *AlertSubject, rule int64, due models.Time) {
	if known, ok := b.sendTimes[alertSubjectKey{d.Seq, m.SubjectID}][rule]; ok && d.Seq != 0 {
		switch {
		case !known.due.IsZero():
			if !known.due.Before(m.SinceAt.Time) {
				return
			}
		case !known.sent.Before(m.SinceAt.Time), m.Changes >= flapThreshold && known.recovered.IsZero():
			return
		}
	}
	times := d.newSubjects[m.SubjectID]
	if times == nil {
		times = map[int64]models.Time{}
		d.newSubjects[m.SubjectID] = times
	}
	if _, ok := times[rule]; !ok {
		times[rule] = due
	}
}

// cancelSubject cancels the mentions of a subject whose condition has ended, except those that were sent.
func (d *draft) cancelSubject(b *batch, subject string) {
	delete(d.newSubjects, subject)
	d.endedSubjects = append(d.endedSubjects, subject)
	stored := b.sendTimes[alertSubjectKey{d.Seq, subject}]
	for rule, m := range stored {
		if m.due = (models.Time{}); m.sent.IsZero() {
			delete(stored, rule)
		} else {
			stored[rule] = m
		}
	}
}

// alertFor returns the open alert for a new subject, or adds a new alert.
func (b *batch) alertFor(e event.Event) *draft {
	if d := b.endedInStorm[subjectKey{e.Kind, e.SubjectID}]; d != nil && !d.resolved && strings.HasSuffix(d.GroupKey, b.groupSuffix(e)) {
		return d
	}
	k := b.groupFor(e)
	for _, k := range []groupKey{k, b.stormGroup(e, b.now), b.stormGroup(e, b.now.Add(-stormWindow))} {
		if d := b.byGroup[k]; d != nil {
			return d
		}
	}
	key := subjectKey{e.Kind, e.SubjectID}
	b.startCounts[key]++
	began := b.startCounts[key]
	if b.recentAlerts[e.Kind]++; b.recentAlerts[e.Kind] > b.store.opts.StormSize {
		k, began = b.stormGroup(e, b.now), 1
	}
	resolveAt := models.Time{}
	if e.Phase == event.Once { // even if its rule is deleted or maintenance starts before it is sent
		resolveAt = b.now.Add(maxOnceDelay)
	}
	return b.add(Alert{
		ResolveAt: resolveAt,
		ID:        models.NewID(models.KindAlert), Event: e.Kind, Severity: e.Severity, GroupKey: k.key, SubjectKind: e.SubjectKind, SubjectID: e.SubjectID,
		SubjectName: e.Name, SubjectURL: e.URL, Detail: e.Detail, CreatedAt: b.now, StartedAt: e.SinceAt, Flapping: began >= flapThreshold && e.Phase == event.Started, Changes: began,
		PrivateTo: e.PrivateTo,
	})
}

// matchingRules returns the rules that send an event or its end, whatever its number of failures. Events without a duration are not sent
// during maintenance.
func (b *batch) matchingRules(e event.Event) (rules []Rule) {
	if e.Phase == event.Once && !b.maintenanceEnd(b.matcher, subjectOf(e)).IsZero() {
		return nil
	}
	end := b.store.Type(e.Kind).EndsAs
	for _, r := range b.rules {
		if r.sendsFor(e.PrivateTo) && (r.Has(e.Kind) || end != "" && r.Has(end)) && b.matches(r.Scope, subjectOf(e)) {
			rules = append(rules, r)
		}
	}
	return rules
}

// dueTimes returns when each rule sends an event, by Rule.Seq. It leaves out rules that require more failures.
func (b *batch) dueTimes(e event.Event, rules []Rule) map[int64]models.Time {
	notices := map[int64]models.Time{}
	for _, r := range rules {
		if e.Failures > 0 && e.Failures < r.AfterFailures {
			continue
		}
		at := b.now.Add(groupWait)
		if after := e.SinceAt.Add(minutes(r.AfterMinutes)); e.Phase == event.Started && after.After(at.Time) {
			at = after
		}
		notices[r.Seq] = at
	}
	return notices
}

// applyEnd records the end of the condition for a subject, and resolves its alert after the last subject. A subject that is no longer
// checked leaves the alert.
func (b *batch) applyEnd(e event.Event) {
	k := subjectKey{e.Kind, e.SubjectID}
	d := b.bySubject[k]
	if d == nil {
		return
	}
	delete(b.bySubject, k)
	m := d.subjects[e.SubjectID]
	m.EndedAt = e.At
	d.cancelSubject(b, e.SubjectID)
	if e.Phase == event.Closed {
		m.removed = true
		d.SubjectCount--
	}
	if d.OpenSubjectCount--; d.OpenSubjectCount > 0 {
		return
	}
	if d.Flapping && d.SubjectCount > 0 {
		d.ResolveAt = e.At.Add(StableTime)
		return
	}
	d.ResolvedAt, d.resolved, d.withoutMessage = e.At, true, d.SubjectCount == 0
	delete(b.byGroup, groupKey{d.Event, d.GroupKey})
}

// neverSent reports whether the alert is resolved and neither it nor its end is sent. It need not be stored.
func (d *draft) neverSent() bool { return d.resolved && d.FiredAt.IsZero() && !d.notified }

// changedDrafts returns the alerts that must be stored.
func (b *batch) changedDrafts() []*draft {
	return slices.DeleteFunc(slices.Clone(b.drafts), func(d *draft) bool { return d.Seq == 0 && d.neverSent() })
}
