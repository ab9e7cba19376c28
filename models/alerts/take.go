package alerts

import (
	"context"
	"fmt"
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

func groupOf(e event.Event) groupKey {
	if e.Host == "" {
		return groupKey{e.Kind, e.SubjectID}
	}
	return groupKey{e.Kind, e.Host}
}

type memberKey struct {
	event   event.Kind
	subject string
}

// draft is an alert as a batch changes it.
type draft struct {
	Alert
	members map[string]*Member    // of the subjects of the batch's events, by their ids
	notices map[int64]models.Time // when rules are to tell of it, by Rule.Seq
	over    bool                  // it was resolved by the batch
	silent  bool                  // no one is told of that, since its last subject is no longer looked at
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
	members, groups := models.NewRows("event text, subject_id text"), models.NewRows("event text, group_key text")
	for _, e := range events {
		subjects = append(subjects, subjectOf(e))
		members.Add(e.Kind, e.SubjectID)
		k := groupOf(e)
		groups.Add(k.event, k.key)
		groups.Add(k.event, many)
	}
	if b.matcher, err = b.store.newMatcher(ctx, b.scopes(), subjects); err != nil {
		return err
	}
	// An alert is loaded if it is open for one of the groups, or has one of the subjects.
	var found []Alert
	err = groups.Raw(b.tx, "SELECT DISTINCT a.* FROM {rows} AS r CROSS JOIN alerts AS a WHERE a.event = r.event AND a.group_key = r.group_key AND a.resolved_at IS NULL").Scan(&found).Error
	if err != nil {
		return fmt.Errorf("loading open alerts: %w", err)
	}
	var having []Alert
	err = members.Raw(b.tx, `SELECT DISTINCT a.* FROM {rows} AS r CROSS JOIN alert_members AS m JOIN alerts AS a ON a.seq = m.alert_seq
		WHERE m.subject_id = r.subject_id AND m.event = r.event AND m.ended_at IS NULL AND a.resolved_at IS NULL`).Scan(&having).Error
	if err != nil {
		return fmt.Errorf("loading the alerts of subjects: %w", err)
	}
	bySeq := map[int64]*draft{}
	for _, a := range append(found, having...) {
		if bySeq[a.Seq] == nil {
			bySeq[a.Seq] = b.add(a)
		}
	}
	if err := b.loadMembers(bySeq, events); err != nil {
		return err
	}
	return b.count(groups)
}

// add adds an alert to the batch.
func (b *batch) add(a Alert) *draft {
	d := &draft{Alert: a, members: map[string]*Member{}, notices: map[int64]models.Time{}}
	b.drafts = append(b.drafts, d)
	b.open[groupKey{a.Event, a.GroupKey}] = d
	return d
}

// loadMembers loads those subjects of the alerts that the events are about.
func (b *batch) loadMembers(bySeq map[int64]*draft, events []event.Event) error {
	rows := models.NewRows("alert_seq bigint, subject_id text")
	for seq, d := range bySeq {
		asked := map[string]bool{}
		for _, e := range events {
			if e.Kind == d.Event && !asked[e.SubjectID] {
				asked[e.SubjectID] = true
				rows.Add(seq, e.SubjectID)
			}
		}
	}
	if rows.Len() == 0 {
		return nil
	}
	var found []Member
	err := rows.Raw(b.tx, "SELECT m.* FROM {rows} AS r CROSS JOIN alert_members AS m WHERE m.alert_seq = r.alert_seq AND m.subject_id = r.subject_id").Scan(&found).Error
	if err != nil {
		return fmt.Errorf("loading the subjects of alerts: %w", err)
	}
	for _, m := range found {
		d := bySeq[m.AlertSeq]
		d.members[m.SubjectID] = &m
		if m.EndedAt.IsZero() {
			b.of[memberKey{m.Event, m.SubjectID}] = d
		}
	}
	return nil
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
		WHERE a.event = r.event AND a.group_key = r.group_key AND a.created_at > ? AND a.group_key <> ? GROUP BY a.event, a.group_key`, b.now.Add(-FlapTime), many).Scan(&of).Error
	if err != nil {
		return fmt.Errorf("counting the alerts of hosts: %w", err)
	}
	for _, g := range of {
		b.flapped[groupKey{g.Event, g.GroupKey}] = g.N
	}
	return nil
}
