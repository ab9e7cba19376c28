package alerts_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
)

// Random events of shared targets and of two owners, with changes of owners and rules. Each message must name targets of one owner.
// Private targets must be sent by private rules of their owner only. No alert may stay open when all targets are up.
func TestRandomEventsOfTwoOwners(t *testing.T) {
	each(t, func(w *world) {
		seed := rand.Uint64()
		t.Log("seed", seed)
		for i := range 3 {
			newChaos(w, rand.New(rand.NewPCG(seed, uint64(i)))).run(50)
		}
	})
}

// chaos changes targets and rules at random.
type chaos struct {
	*world
	rnd     *rand.Rand
	to      map[string]alerts.Channel // by owner; "" is shared, "team of bob" is a shared channel that only a private rule of bob uses
	rules   []alerts.Rule
	targets []*chaosTarget
	named   int
	seen    int64 // last checked message
}

type chaosTarget struct {
	id, host, privateTo string
	down                bool
	failures            int
}

func newChaos(w *world, rnd *rand.Rand) *chaos {
	w.Helper()
	c := &chaos{world: w, rnd: rnd, to: map[string]alerts.Channel{}}
	w.ok(w.db.Read(w.Context()).Raw("SELECT COALESCE(max(seq), 0) FROM deliveries").Scan(&c.seen).Error) // skip messages of earlier runs
	c.to[""] = w.channel("team")
	for _, owner := range []string{"alice", "bob"} {
		c.to[owner] = w.channelOf(owner, owner, true)
		c.rules = append(c.rules, w.ruleOf(owner, true, c.to[owner], c.conditions))
	}
	c.to["team of bob"] = w.channelOf("bob", "shared", false)
	c.rules = append(c.rules, w.ruleOf("bob", true, c.to["team of bob"], c.conditions))
	if rnd.IntN(2) == 0 {
		c.rules = append(c.rules, w.ruleOf("alice", false, c.to[""], c.conditions))
	} else { // the same rules match shared targets and those of bob
		w.ok(w.DeleteRule(w.Context(), c.rules[0].ID))
		c.rules = c.rules[1:]
	}
	for i := range 12 {
		c.targets = append(c.targets, &chaosTarget{id: models.NewID(models.KindTarget), host: fmt.Sprintf("h%d.test", i%3)})
	}
	return c
}

func (c *chaos) conditions(r *alerts.Rule) {
	r.AfterFailures, r.AfterMinutes, r.RepeatMinutes = 1+c.rnd.IntN(2), c.rnd.IntN(3), 5*c.rnd.IntN(2)
}

func (c *chaos) run(steps int) {
	c.Helper()
	for range steps {
		var events []event.Event
		for range 1 + c.rnd.IntN(5) {
			events = append(events, c.target(c.targets[c.rnd.IntN(len(c.targets))]))
		}
		c.happen(events...)
		c.check()
		if c.rnd.IntN(6) == 0 {
			i := c.rnd.IntN(len(c.rules))
			r, err := c.EditRule(c.as(c.rules[i].Owner), c.rules[i].ID, func(r *alerts.Rule) {
				c.conditions(r)
				if r.Channels[0] == c.to["team of bob"].ID {
					r.SetPrivate(c.rnd.IntN(2) == 0)
				}
			})
			c.ok(err)
			c.rules[i] = r
		}
		c.pass(time.Duration(c.rnd.IntN(400)) * time.Second)
		c.check()
	}
	for _, t := range c.targets {
		c.happen(c.eventOf(t, event.Ended))
	}
	c.pass(2 * time.Hour)
	c.check()
	if open := c.open(); len(open) != 0 {
		c.Fatalf("%d alerts are open when everything is up", len(open))
	}
	for _, r := range c.rules {
		c.ok(c.DeleteRule(c.Context(), r.ID))
	}
}

// target changes the state of a target. While it is up, its owner or visibility may change.
func (c *chaos) target(t *chaosTarget) event.Event {
	if c.rnd.IntN(4) == 0 {
		t.privateTo = []string{"", "alice", "bob"}[c.rnd.IntN(3)]
	}
	switch {
	case t.down && c.rnd.IntN(3) == 0:
		t.down = false
		return c.eventOf(t, event.Ended)
	case t.down && c.rnd.IntN(5) == 0:
		t.down = false
		return c.eventOf(t, event.Closed)
	}
	if t.failures++; !t.down {
		t.down, t.failures = true, 1
	}
	return c.eventOf(t, event.Started)
}

func (c *chaos) eventOf(t *chaosTarget, phase event.Phase) event.Event {
	c.named++
	name := fmt.Sprintf("<%s#%d>", t.privateTo, c.named) // a new name each time, so that a message shows who owned the target
	e := event.Event{
		Kind: "target.down", Phase: phase, Severity: event.Critical, SubjectKind: "target", SubjectID: t.id, Name: name, URL: "https://" + t.host + "/" + t.id, Host: t.host,
		At: c.Now(), SinceAt: c.Now(), PrivateTo: t.privateTo, Detail: "why " + name,
	}
	if phase == event.Started {
		e.Failures = t.failures
	}
	return e
}

// check verifies all alerts, subjects and messages.
func (c *chaos) check() {
	c.Helper()
	db := c.db.Read(c.Context())
	var subjects []struct{ PrivateTo, Name, Detail string }
	c.ok(db.Raw("SELECT a.private_to, m.name, m.detail FROM alert_subjects AS m JOIN alerts AS a ON a.seq = m.alert_seq").Scan(&subjects).Error)
	for _, m := range subjects {
		if !strings.HasPrefix(m.Name, "<"+m.PrivateTo+"#") || !strings.HasPrefix(m.Detail, "why <"+m.PrivateTo+"#") {
			c.Fatalf("an alert that is private to %q has the subject %q: %s", m.PrivateTo, m.Name, m.Detail)
		}
	}
	var sent []struct {
		Seq             int64
		ChannelID, Body string
	}
	c.ok(db.Raw("SELECT d.seq, c.id AS channel_id, d.body FROM deliveries AS d JOIN channels AS c ON c.seq = d.channel_seq WHERE d.seq > ? ORDER BY d.seq", c.seen).Scan(&sent).Error)
	for _, d := range sent {
		c.seen = d.Seq
		for _, owner := range []string{"alice", "bob"} {
			if names := strings.Contains(d.Body, "\\u003c"+owner+"#"); names && !c.may(owner, d.ChannelID) {
				c.Fatalf("%s gets a message about a private target of %s: %s", d.ChannelID, owner, d.Body)
			}
		}
	}
	var twice int
	c.ok(db.Raw("SELECT count(*) FROM (SELECT m.subject_id FROM alert_subjects AS m JOIN alerts AS a ON a.seq = m.alert_seq WHERE m.ended_at IS NULL AND a.resolved_at IS NULL GROUP BY m.subject_id HAVING count(*) > 1) AS t").Scan(&twice).Error)
	if twice > 0 {
		c.Fatalf("%d targets are in two open alerts", twice)
	}
}

// may reports whether any rule sends private items of an owner to a channel now.
func (c *chaos) may(owner, channel string) bool {
	return slices.ContainsFunc(c.rules, func(r alerts.Rule) bool { return r.PrivateTo == owner && r.Channels[0] == channel })
}
