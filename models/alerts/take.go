package alerts

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/event"
)

const (
	// groupWait is how long an alert is held for further subjects of its host before it is sent.
	groupWait = 750 * time.Millisecond
	// stormWindow is the time within which Options.StormSize alerts of a kind may start. Further subjects are grouped into one alert.
	stormWindow = time.Minute
	// flapThreshold is the number of starts of a condition within FlapWindow that make it flapping.
	flapThreshold = 4
	// maxOnceDelay is how long events without a duration may be held. It is longer than quiet hours.
	maxOnceDelay = models.Day
	// groupInterval is the minimum time between two messages about events without a duration on a host.
	groupInterval = 5 * time.Minute
	// gatherTime is the minimum time between two messages about new subjects of an alert, and between two about recoveries of some of its
	// subjects.
	gatherTime = 30 * time.Second
)

// An alert is flapping if the condition of a subject started four times within FlapWindow. It resolves when no condition has started for
// StableTime.
const (
	FlapWindow = time.Hour
	StableTime = 15 * time.Minute
)

// ProcessEvents turns up to n events into alerts, oldest first, and returns the number of events. The number of statements does not depend on n.
// Events that no rule sends are dropped.
func (s *Store) ProcessEvents(ctx context.Context, n int) (taken int, err error) {
	// Check without a lock first: usually there are no events.
	if found, err := event.Pending(s.db.Read(ctx)); err != nil || !found {
		return 0, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockAlerts); err != nil {
			return err
		}
		events, err := event.Oldest(tx, n)
		if err != nil {
			return err
		}
		taken = len(events)
		b := &batch{store: s, tx: tx, now: s.clock.Now(), byGroup: map[groupKey]*draft{}, bySubject: map[subjectKey]*draft{}, endedInStorm: map[subjectKey]*draft{}, sendTimes: map[alertSubjectKey]map[int64]sendTime{}}
		if err := b.load(ctx, events); err != nil {
			return err
		}
		for _, e := range events {
			b.apply(e)
		}
		if err := b.write(); err != nil {
			return err
		}
		return event.Remove(tx, events)
	})
	if err != nil {
		return 0, fmt.Errorf("process events: %w", err)
	}
	return taken, nil
}

// groupKey identifies the open alert of an event.
type groupKey struct {
	event event.Kind
	key   string
}

// groupFor returns the group of an event. Subjects in maintenance are in other alerts, because they must not keep a sent alert open. So are
// private subjects, which only their owner may see.
func (b *batch) groupFor(e event.Event) groupKey {
	host := cmp.Or(e.Host, e.SubjectID)
	if b.store.Type(e.Kind).Repeats { // each subject has failures in a row and a recovery of its own
		host = e.SubjectID
	}
	return groupKey{e.Kind, host + b.groupSuffix(e)}
}

// stormGroup returns the group of the events of many hosts in a storm at the given time.
func (b *batch) stormGroup(e event.Event, at models.Time) groupKey {
	return groupKey{e.Kind, manyHosts + strconv.FormatInt(at.Unix()/int64(stormWindow/time.Second), 10) + b.groupSuffix(e)}
}

// groupSuffix returns the part of a group key after the host.
func (b *batch) groupSuffix(e event.Event) string {
	text := " "
	if !b.maintenanceEnd(b.matcher, subjectOf(e)).IsZero() {
		text += "maintenance"
	}
	if e.PrivateTo != "" {
		text += " private to " + e.PrivateTo
	}
	return text
}

type subjectKey struct {
	event   event.Kind
	subject string
}

// draft is an alert with the changes of a batch.
type draft struct {
	Alert
	subjects       map[string]*AlertSubject         // by subject ID; only subjects of the batch
	newSubjects    map[string]map[int64]models.Time // when rules send new subjects, by subject ID and Rule.Seq
	endedSubjects  []string                         // subjects whose condition has ended
	resolved       bool                             // resolved by the batch
	withoutMessage bool                             // resolved without a message, because none of its subjects is checked anymore
	notified       bool                             // rules that send only the end wait for it, even if the alert is not listed
}

// sendTime is a stored mention: when a rule sends a subject of an alert, when it last sent it, and when it sent its recovery after that. Zero
// means never.
type sendTime struct{ due, sent, recovered models.Time }

// alertSubjectKey is the key of the stored mentions of a subject of an alert.
type alertSubjectKey struct {
	alert   int64
	subject string
}

type batch struct {
	store *Store
	tx    *gorm.DB
	now   models.Time
	settings
	matcher
	drafts       []*draft
	byGroup      map[groupKey]*draft                    // open alert by group
	bySubject    map[subjectKey]*draft                  // open alert by subject
	endedInStorm map[subjectKey]*draft                  // open alert of many hosts that a subject was in
	recentAlerts map[event.Kind]int                     // number of alerts that started within stormWindow
	startCounts  map[subjectKey]int                     // number of starts of the condition of a subject within FlapWindow
	lastSent     map[groupKey]models.Time               // when events without a duration were last sent, by group
	sendTimes    map[alertSubjectKey]map[int64]sendTime // stored mentions of the subjects of the batch, by Rule.Seq
}

// load loads the settings, alerts and counts that the events of the batch need.
func (b *batch) load(ctx context.Context, events []event.Event) (err error) {
	if b.settings, err = b.store.settings(b.tx, b.now); err != nil {
		return err
	}
	var subjects []subject
	for _, e := range events {
		subjects = append(subjects, subjectOf(e))
	}
	if b.matcher, err = b.store.newMatcher(ctx, b.scopes(), subjects); err != nil {
		return err
	}
	keys, groups := models.NewRows("event text, subject_id text"), models.NewRows("event text, group_key text, subject_id text")
	for _, e := range events {
		keys.Add(e.Kind, e.SubjectID)
		if e.Phase == event.Ended || e.Phase == event.Closed {
			continue
		}
		for _, k := range []groupKey{b.groupFor(e), b.stormGroup(e, b.now), b.stormGroup(e, b.now.Add(-stormWindow))} {
			groups.Add(k.event, k.key, e.SubjectID)
		}
	}
	if err := b.loadOpen(keys, groups); err != nil {
		return err
	}
	if err := b.loadSendTimes(); err != nil {
		return err
	}
	return b.loadHistory(keys, groups)
}

// loadOpen loads the open alerts of the groups and of the subjects, with these subjects.
func (b *batch) loadOpen(keys, groups *models.Rows) error {
	var found []AlertSubject
	err := groups.Raw(b.tx, "SELECT DISTINCT m.* FROM {rows} AS r CROSS JOIN alerts AS a CROSS JOIN alert_subjects AS m WHERE a.event = r.event AND a.group_key = r.group_key AND a.resolved_at IS NULL AND m.alert_seq = a.seq AND m.subject_id = r.subject_id").Scan(&found).Error
	if err != nil {
		return fmt.Errorf("load subjects of open alerts: %w", err)
	}
	var having []AlertSubject
	err = keys.Raw(b.tx, "SELECT DISTINCT m.* FROM {rows} AS r CROSS JOIN alert_subjects AS m WHERE m.subject_id = r.subject_id AND m.event = r.event AND m.ended_at IS NULL").Scan(&having).Error
	if err != nil {
		return fmt.Errorf("load alerts of subjects: %w", err)
	}
	var inStorms []AlertSubject // also ended ones: the keys of storms start with manyHosts, and "+" comes after it
	err = keys.Raw(b.tx, "SELECT DISTINCT m.* FROM {rows} AS r CROSS JOIN alerts AS a CROSS JOIN alert_subjects AS m WHERE a.event = r.event AND a.group_key >= ? AND a.group_key < '+' AND a.resolved_at IS NULL AND m.alert_seq = a.seq AND m.subject_id = r.subject_id", manyHosts).Scan(&inStorms).Error
	if err != nil {
		return fmt.Errorf("load subjects of storms: %w", err)
	}
	having = append(having, inStorms...)
	seqs := models.NewRows("seq bigint")
	for _, m := range having {
		seqs.Add(m.AlertSeq)
	}
	const columns = "SELECT DISTINCT a.*, EXISTS (SELECT 1 FROM alert_notices AS n WHERE n.alert_seq = a.seq AND n.notified_at IS NOT NULL) AS notified "
	var open, others []struct {
		Alert
		Notified bool
	}
	err = groups.Raw(b.tx, columns+"FROM {rows} AS r CROSS JOIN alerts AS a WHERE a.event = r.event AND a.group_key = r.group_key AND a.resolved_at IS NULL").Scan(&open).Error
	if err == nil {
		err = seqs.Raw(b.tx, columns+"FROM {rows} AS r CROSS JOIN alerts AS a WHERE a.seq = r.seq AND a.resolved_at IS NULL").Scan(&others).Error
	}
	if err != nil {
		return fmt.Errorf("load open alerts: %w", err)
	}
	bySeq := map[int64]*draft{}
	for _, a := range append(open, others...) {
		if bySeq[a.Seq] == nil {
			bySeq[a.Seq] = b.add(a.Alert)
			bySeq[a.Seq].notified = a.Notified
		}
	}
	for _, m := range append(found, having...) {
		d := bySeq[m.AlertSeq]
		if d == nil || d.subjects[m.SubjectID] != nil {
			continue
		}
		d.subjects[m.SubjectID] = &m
		if m.EndedAt.IsZero() {
			b.bySubject[subjectKey{m.Event, m.SubjectID}] = d
		} else if strings.HasPrefix(d.GroupKey, manyHosts) {
			b.endedInStorm[subjectKey{m.Event, m.SubjectID}] = d
		}
	}
	return nil
}

func (b *batch) add(a Alert) *draft {
	d := &draft{Alert: a, subjects: map[string]*AlertSubject{}, newSubjects: map[string]map[int64]models.Time{}}
	b.drafts = append(b.drafts, d)
	b.byGroup[groupKey{a.Event, a.GroupKey}] = d
	return d
}

// loadSendTimes loads the mentions of the loaded subjects.
func (b *batch) loadSendTimes() error {
	rows := models.NewRows("alert_seq bigint, subject_id text")
	for _, d := range b.drafts {
		for id := range d.subjects {
			rows.Add(d.Seq, id)
		}
	}
	var found []struct {
		AlertSeq, RuleSeq int64
		SubjectID         string
		DueAt, SentAt     models.Time
		RecoveredAt       models.Time
	}
	err := rows.Raw(b.tx, `SELECT t.alert_seq, t.rule_seq, t.subject_id, t.due_at, t.sent_at, t.recovered_at FROM {rows} AS r CROSS JOIN alert_notices AS n CROSS JOIN alert_mentions AS t
		WHERE n.alert_seq = r.alert_seq AND t.alert_seq = n.alert_seq AND t.rule_seq = n.rule_seq AND t.subject_id = r.subject_id`).Scan(&found).Error
	if err != nil {
		return fmt.Errorf("load mentions: %w", err)
	}
	for _, f := range found {
		k := alertSubjectKey{f.AlertSeq, f.SubjectID}
		if b.sendTimes[k] == nil {
			b.sendTimes[k] = map[int64]sendTime{}
		}
		b.sendTimes[k][f.RuleSeq] = sendTime{f.DueAt, f.SentAt, f.RecoveredAt}
	}
	return nil
}

// loadHistory loads the recent number of alerts by kind, the recent starts of the conditions of the subjects, and when events without a duration
// were last sent.
func (b *batch) loadHistory(keys, groups *models.Rows) error {
	b.recentAlerts, b.startCounts, b.lastSent = map[event.Kind]int{}, map[subjectKey]int{}, map[groupKey]models.Time{}
	var kinds []struct {
		Event event.Kind
		N     int
	}
	err := keys.Raw(b.tx, `SELECT r.event, count(*) AS n FROM (SELECT DISTINCT event FROM {rows} AS e) AS r CROSS JOIN alerts AS a
		WHERE a.event = r.event AND a.created_at > ? GROUP BY r.event`, b.now.Add(-stormWindow)).Scan(&kinds).Error
	if err != nil {
		return fmt.Errorf("count alerts: %w", err)
	}
	for _, k := range kinds {
		b.recentAlerts[k.Event] = k.N
	}
	var began []struct {
		Event     event.Kind
		SubjectID string
		N         int
	}
	err = keys.Raw(b.tx, `SELECT r.event, r.subject_id, sum(m.changes) AS n FROM (SELECT DISTINCT event, subject_id FROM {rows} AS e) AS r CROSS JOIN alert_subjects AS m
		WHERE m.subject_id = r.subject_id AND m.event = r.event AND m.since_at > ? GROUP BY r.event, r.subject_id`, b.now.Add(-FlapWindow)).Scan(&began).Error
	if err != nil {
		return fmt.Errorf("count starts of conditions: %w", err)
	}
	for _, m := range began {
		b.startCounts[subjectKey{m.Event, m.SubjectID}] = m.N
	}
	var sent []struct {
		Event    event.Kind
		GroupKey string
		At       models.Time
	}
	err = groups.Raw(b.tx, `SELECT a.event, a.group_key, max(a.fired_at) AS at FROM {rows} AS r CROSS JOIN alerts AS a
		WHERE a.event = r.event AND a.group_key = r.group_key AND a.created_at > ? GROUP BY a.event, a.group_key`, b.now.Add(-2*groupInterval)).Scan(&sent).Error
	if err != nil {
		return fmt.Errorf("load last sent times: %w", err)
	}
	for _, g := range sent {
		b.lastSent[groupKey{g.Event, g.GroupKey}] = g.At
	}
	return nil
}
