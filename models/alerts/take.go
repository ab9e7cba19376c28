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
	flaps     = 4
	// growTime is for how long after an alert last grew further subjects join it without a message.
	growTime = 5 * time.Minute
)

// An alert that begins for the fourth time within FlapTime is flapping. It is resolved when
// nothing has begun again for StableTime.
const (
	FlapTime   = time.Hour
	StableTime = 15 * time.Minute
)

// Take makes alerts of up to n events, the oldest first, and returns how many it was. The
// number of its statements does not depend on n. Events of which no rule tells are dropped.
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
		b := &batch{store: s, tx: tx, now: s.clock.Now(), open: map[groupKey]*draft{}, of: map[memberKey]*draft{}}
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

// groupOf is the group of an event of which some rules tell. Subjects of other rules are in other alerts, so that a rule tells of
// nothing that it is not for.
func groupOf(e event.Event, rules []Rule) groupKey {
	return groupKey{e.Kind, cmp.Or(e.Host, e.SubjectID) + ofRules(rules)}
}

// manyOf is the group of the events of many hosts in a storm at a time.
func manyOf(e event.Event, rules []Rule, at models.Time) groupKey {
	return groupKey{e.Kind, many + strconv.FormatInt(at.Unix()/int64(stormTime/time.Second), 10) + ofRules(rules)}
}

func ofRules(rules []Rule) string {
	text := " "
	for _, r := range rules {
		text += strconv.FormatInt(r.Seq, 36) + ","
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
	members map[string]*Member // of the subjects of the batch's events, by their ids
	notices map[int64]planned  // when rules are to tell of it, by Rule.Seq
	over    bool               // it was resolved by the batch
	silent  bool               // no one is told of that, since none of its subjects is looked at any more
}

// planned is when a rule is to tell of an alert.
type planned struct {
	at    models.Time
	grown bool // also if it has told of it, since there are new subjects
}

// batch makes alerts of a batch of events.
type batch struct {
	store *Store
	tx    *gorm.DB
	now   models.Time
	settings
	matcher
	drafts  []*draft
	open    map[groupKey]*draft  // the open alert of a group
	of      map[memberKey]*draft // the open alert that has a subject
	recent  map[event.Kind]int   // alerts that began within stormTime
	flapped map[groupKey]int     // alerts of a group that began within FlapTime
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
		for _, k := range []groupKey{groupOf(e, rules), manyOf(e, rules, b.now), manyOf(e, rules, b.now.Add(-stormTime))} {
			groups.Add(k.event, k.key, e.SubjectID)
		}
	}
	if err := b.loadOpen(members, groups); err != nil {
		return err
	}
	return b.count(groups)
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
	d := &draft{Alert: a, members: map[string]*Member{}, notices: map[int64]planned{}}
	b.drafts = append(b.drafts, d)
	b.open[groupKey{a.Event, a.GroupKey}] = d
	return d
}

// count counts the alerts that began lately: of each kind, and of the groups.
func (b *batch) count(groups *models.Rows) error {
	b.recent, b.flapped = map[event.Kind]int{}, map[groupKey]int{}
	var kinds []struct {
		Event event.Kind
		N     int
	}
	err := b.tx.Raw("SELECT event, count(*) AS n FROM alerts WHERE created_at > ? GROUP BY event", b.now.Add(-stormTime)).Scan(&kinds).Error
	if err != nil {
		return fmt.Errorf("counting alerts: %w", err)
	}
	for _, k := range kinds {
		b.recent[k.Event] = k.N
	}
	var of []struct {
		Event    event.Kind
		GroupKey string
		N        int
	}
	err = groups.Raw(b.tx, `SELECT a.event, a.group_key, count(DISTINCT a.seq) AS n FROM {rows} AS r CROSS JOIN alerts AS a
		WHERE a.event = r.event AND a.group_key = r.group_key AND a.created_at > ? GROUP BY a.event, a.group_key`, b.now.Add(-FlapTime)).Scan(&of).Error
	if err != nil {
		return fmt.Errorf("counting the alerts of hosts: %w", err)
	}
	for _, g := range of {
		b.flapped[groupKey{g.Event, g.GroupKey}] = g.N
	}
	return nil
}
