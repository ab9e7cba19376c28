package alerts

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/event"
)

const (
	// gather is how long an alert waits for further subjects of its host before it is sent.
	gather = 750 * time.Millisecond
	// storm is how many alerts of a kind may begin within stormTime. All further subjects are in one alert.
	storm     = 20
	stormTime = time.Minute
	// flaps is how often a condition of a subject begins within FlapTime before it is flapping.
	flaps = 4
	// keepOnce is for how long events without duration wait to be sent, at most: longer than quiet hours.
	keepOnce = models.Day
	// growTime is the shortest time between two messages about new subjects: of an alert, and of events without duration of a host.
	growTime = 5 * time.Minute
)

// An alert of a subject whose condition began for the fourth time within FlapTime is flapping. It is resolved when
// nothing has begun again for StableTime.
const (
	FlapTime   = time.Hour
	StableTime = 15 * time.Minute
)

// Take makes alerts of up to n events, the oldest first, and returns how many it was. The
// number of its statements does not depend on n. Events that no rule sends are dropped.
func (s *Store) Take(ctx context.Context, n int) (taken int, err error) {
	// A look that locks nothing first: most of the time there is nothing to do.
	if found, err := event.Waiting(s.db.Read(ctx)); err != nil || !found {
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
		b := &batch{store: s, tx: tx, now: s.clock.Now(), open: map[groupKey]*draft{}, of: map[memberKey]*draft{}, mentioned: map[mentionKey]map[int64]mention{}}
		if err := b.load(ctx, events); err != nil {
			return err
		}
		for _, e := range events {
			b.take(e)
		}
		if err := b.write(); err != nil {
			return err
		}
		return event.Remove(tx, events)
	})
	if err != nil {
		return 0, fmt.Errorf("making alerts of events: %w", err)
	}
	return taken, nil
}

// groupKey is by what the open alert of an event is found.
type groupKey struct {
	event event.Kind
	key   string
}

// groupOf returns the group of an event. Subjects to which other rules apply are in other alerts, and so are
// subjects in maintenance, which must not keep an alert open that was sent, and private ones, which only their owner may see.
func (b *batch) groupOf(e event.Event, rules []Rule) groupKey {
	return groupKey{e.Kind, cmp.Or(e.Host, e.SubjectID) + b.apartBy(e, rules)}
}

// manyOf returns the group of the events of many hosts in a storm at a time.
func (b *batch) manyOf(e event.Event, rules []Rule, at models.Time) groupKey {
	return groupKey{e.Kind, many + strconv.FormatInt(at.Unix()/int64(stormTime/time.Second), 10) + b.apartBy(e, rules)}
}

// apartBy is the part of a group key behind the host.
func (b *batch) apartBy(e event.Event, rules []Rule) string {
	text := " "
	for _, r := range rules {
		text += strconv.FormatInt(r.Seq, 36) + ","
	}
	if !b.maintained(b.matcher, subjectOf(e)).IsZero() {
		text += "maintenance"
	}
	if e.PrivateTo != "" {
		text += " private to " + e.PrivateTo
	}
	return text
}

type memberKey struct {
	event   event.Kind
	subject string
}

// draft is an alert as a batch changes it.
type draft struct {
	Alert
	members  map[string]*Member               // of the subjects of the batch's events, by their ids
	mentions map[string]map[int64]models.Time // when rules send new subjects, by the subject's id and Rule.Seq
	ended    []string                         // subjects whose condition has ended
	over     bool                             // it was resolved by the batch
	silent   bool                             // that is not sent, since none of its subjects is checked any more
}

// mention is a stored mention: when a rule sends a subject of an alert, and when it last did. Zero = never.
type mention struct{ due, sent models.Time }

// mentionKey identifies the stored mentions of a subject of an alert.
type mentionKey struct {
	alert   int64
	subject string
}

// batch makes alerts of a batch of events.
type batch struct {
	store *Store
	tx    *gorm.DB
	now   models.Time
	settings
	matcher
	drafts    []*draft
	open      map[groupKey]*draft              // the open alert of a group
	of        map[memberKey]*draft             // the open alert that has a subject
	recent    map[event.Kind]int               // alerts that began within stormTime
	changes   map[memberKey]int                // times that the condition of a subject began within FlapTime
	lastSent  map[groupKey]models.Time         // when events without duration of a group were last sent, within growTime
	mentioned map[mentionKey]map[int64]mention // stored mentions of the subjects of the batch, by Rule.Seq
}

// load loads what the events of the batch are judged by.
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
	members, groups := models.NewRows("event text, subject_id text"), models.NewRows("event text, group_key text, subject_id text")
	for _, e := range events {
		members.Add(e.Kind, e.SubjectID)
		if e.Phase == event.Ended || e.Phase == event.Closed {
			continue
		}
		rules := b.rulesOf(e)
		for _, k := range []groupKey{b.groupOf(e, rules), b.manyOf(e, rules, b.now), b.manyOf(e, rules, b.now.Add(-stormTime))} {
			groups.Add(k.event, k.key, e.SubjectID)
		}
	}
	if err := b.loadOpen(members, groups); err != nil {
		return err
	}
	if err := b.loadMentions(); err != nil {
		return err
	}
	return b.count(members, groups)
}

// loadOpen loads the open alerts of the groups, and those that have the subjects, each with those of the subjects that it has or had.
func (b *batch) loadOpen(members, groups *models.Rows) error {
	var found []Member
	err := groups.Raw(b.tx, "SELECT DISTINCT m.* FROM {rows} AS r CROSS JOIN alerts AS a CROSS JOIN alert_members AS m WHERE a.event = r.event AND a.group_key = r.group_key AND a.resolved_at IS NULL AND m.alert_seq = a.seq AND m.subject_id = r.subject_id").Scan(&found).Error
	if err != nil {
		return fmt.Errorf("loading the subjects of open alerts: %w", err)
	}
	var having []Member
	err = members.Raw(b.tx, "SELECT DISTINCT m.* FROM {rows} AS r CROSS JOIN alert_members AS m WHERE m.subject_id = r.subject_id AND m.event = r.event AND m.ended_at IS NULL").Scan(&having).Error
	if err != nil {
		return fmt.Errorf("loading the alerts of subjects: %w", err)
	}
	seqs := models.NewRows("seq bigint")
	for _, m := range having {
		seqs.Add(m.AlertSeq)
	}
	var open, others []Alert
	err = groups.Raw(b.tx, "SELECT DISTINCT a.* FROM {rows} AS r CROSS JOIN alerts AS a WHERE a.event = r.event AND a.group_key = r.group_key AND a.resolved_at IS NULL").Scan(&open).Error
	if err == nil {
		err = seqs.Raw(b.tx, "SELECT DISTINCT a.* FROM {rows} AS r CROSS JOIN alerts AS a WHERE a.seq = r.seq AND a.resolved_at IS NULL").Scan(&others).Error
	}
	if err != nil {
		return fmt.Errorf("loading open alerts: %w", err)
	}
	bySeq := map[int64]*draft{}
	for _, a := range append(open, others...) {
		if bySeq[a.Seq] == nil {
			bySeq[a.Seq] = b.add(a)
		}
	}
	for _, m := range append(found, having...) {
		d := bySeq[m.AlertSeq]
		if d == nil || d.members[m.SubjectID] != nil {
			continue
		}
		d.members[m.SubjectID] = &m
		if m.EndedAt.IsZero() {
			b.of[memberKey{m.Event, m.SubjectID}] = d
		}
	}
	return nil
}

// add adds an alert to the batch.
func (b *batch) add(a Alert) *draft {
	d := &draft{Alert: a, members: map[string]*Member{}, mentions: map[string]map[int64]models.Time{}}
	b.drafts = append(b.drafts, d)
	b.open[groupKey{a.Event, a.GroupKey}] = d
	return d
}

// loadMentions loads the mentions of the subjects that were loaded.
func (b *batch) loadMentions() error {
	rows := models.NewRows("alert_seq bigint, subject_id text")
	for _, d := range b.drafts {
		for id := range d.members {
			rows.Add(d.Seq, id)
		}
	}
	var found []struct {
		AlertSeq, RuleSeq int64
		SubjectID         string
		DueAt, SentAt     models.Time
	}
	err := rows.Raw(b.tx, `SELECT t.alert_seq, t.rule_seq, t.subject_id, t.due_at, t.sent_at FROM {rows} AS r CROSS JOIN alert_notices AS n CROSS JOIN alert_mentions AS t
		WHERE n.alert_seq = r.alert_seq AND t.alert_seq = n.alert_seq AND t.rule_seq = n.rule_seq AND t.subject_id = r.subject_id`).Scan(&found).Error
	if err != nil {
		return fmt.Errorf("loading what rules send of alerts: %w", err)
	}
	for _, f := range found {
		k := mentionKey{f.AlertSeq, f.SubjectID}
		if b.mentioned[k] == nil {
			b.mentioned[k] = map[int64]mention{}
		}
		b.mentioned[k][f.RuleSeq] = mention{f.DueAt, f.SentAt}
	}
	return nil
}

// count loads what happened lately: alerts of each kind, how often the conditions of the subjects began, and when
// events without duration of the groups were last sent.
func (b *batch) count(members, groups *models.Rows) error {
	b.recent, b.changes, b.lastSent = map[event.Kind]int{}, map[memberKey]int{}, map[groupKey]models.Time{}
	var kinds []struct {
		Event event.Kind
		N     int
	}
	err := members.Raw(b.tx, `SELECT r.event, count(*) AS n FROM (SELECT DISTINCT event FROM {rows} AS e) AS r CROSS JOIN alerts AS a
		WHERE a.event = r.event AND a.created_at > ? GROUP BY r.event`, b.now.Add(-stormTime)).Scan(&kinds).Error
	if err != nil {
		return fmt.Errorf("counting alerts: %w", err)
	}
	for _, k := range kinds {
		b.recent[k.Event] = k.N
	}
	var began []struct {
		Event     event.Kind
		SubjectID string
		N         int
	}
	err = members.Raw(b.tx, `SELECT r.event, r.subject_id, sum(m.changes) AS n FROM (SELECT DISTINCT event, subject_id FROM {rows} AS e) AS r CROSS JOIN alert_members AS m
		WHERE m.subject_id = r.subject_id AND m.event = r.event AND m.since_at > ? GROUP BY r.event, r.subject_id`, b.now.Add(-FlapTime)).Scan(&began).Error
	if err != nil {
		return fmt.Errorf("counting how often conditions began: %w", err)
	}
	for _, m := range began {
		b.changes[memberKey{m.Event, m.SubjectID}] = m.N
	}
	var sent []struct {
		Event    event.Kind
		GroupKey string
		At       models.Time
	}
	err = groups.Raw(b.tx, `SELECT a.event, a.group_key, max(a.fired_at) AS at FROM {rows} AS r CROSS JOIN alerts AS a
		WHERE a.event = r.event AND a.group_key = r.group_key AND a.created_at > ? GROUP BY a.event, a.group_key`, b.now.Add(-2*growTime)).Scan(&sent).Error
	if err != nil {
		return fmt.Errorf("loading when alerts were last sent: %w", err)
	}
	for _, g := range sent {
		b.lastSent[groupKey{g.Event, g.GroupKey}] = g.At
	}
	return nil
}
