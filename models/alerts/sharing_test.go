package alerts_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
)

// An item that becomes private or shared during an outage stays in its alert until the end. Its events are not added to another alert.
func TestItemThatChangesSharingDuringAnOutage(t *testing.T) {
	each(t, func(w *world) {
		team, bob := w.channel("team"), w.channelOf("bob", "bob", true)
		w.rule(team, func(r *alerts.Rule) { r.RepeatMinutes = 30 })
		w.ruleOf("bob", true, bob, func(r *alerts.Rule) { r.Scope.Targets = alerts.List{targetID("a"), targetID("b")} })
		w.happen(w.down("a@h.test", 1), private("bob", w.down("b@h.test", 1)), w.down("c@h.test", 1))
		w.sent(team)
		w.sent(bob)
		again := private("bob", w.down("a@h.test", 2))
		again.Name, again.Detail = "renamed", "secret detail"
		w.happen(again, w.down("b@h.test", 2))
		w.pass(10 * time.Minute)
		w.expect(team)
		w.expect(bob)
		var seen int
		w.ok(w.db.Read(w.Context()).Raw("SELECT count(*) FROM alert_subjects WHERE name = 'renamed' OR detail = 'secret detail'").Scan(&seen).Error)
		if seen != 0 {
			w.Error("alert that started as shared includes the private target")
		}
		w.happen(private("bob", w.up("a@h.test")), w.event("target.down", event.Closed, "c@h.test", 0))
		if got := w.sent(team); len(got) != 1 || got[0] != "fired a is up again after 10 min 2 s" {
			w.Errorf("to the team: %q", got)
		}
		w.happen(w.up("b@h.test"))
		if got := w.sent(bob); !slices.Contains(got, "fired b is up again after 10 min 3 s") {
			w.Errorf("to bob: %q", got)
		}
		if open := w.open(); len(open) != 0 {
			w.Errorf("%d alerts are open", len(open))
		}
		w.happen(private("bob", w.down("a@h.test", 1)))
		w.expect(team)
		w.expect(bob, "fired a is down: "+downText)
	})
}

// A rule that becomes shared stops sending private items, and continues when it is private again.
func TestPrivateRuleThatIsShared(t *testing.T) {
	each(t, func(w *world) {
		c := w.channelOf("bob", "team", false)
		r := w.ruleOf("bob", true, c, func(r *alerts.Rule) { r.RepeatMinutes = 10 })
		share := func(private bool) {
			_, err := w.EditRule(w.as("bob"), r.ID, func(r *alerts.Rule) { r.SetPrivate(private) })
			w.ok(err)
		}
		w.happen(private("bob", w.down("a@h.test", 1)), private("bob", w.down("b@x.test", 1)))
		if got := w.sent(c); len(got) != 2 {
			w.Fatalf("sent %q", got)
		}
		share(false)
		w.happen(private("bob", w.up("b@x.test")), private("bob", w.down("c@h.test", 1)))
		w.pass(time.Hour)
		w.expect(c)
		share(true)
		w.pass(time.Second)
		if got := w.sent(c); len(got) != 1 || !strings.HasPrefix(got[0], "repeated a is down") {
			w.Errorf("sent %q", got)
		}
	})
}

// A channel that becomes private gets no more messages of rules that cannot use it.
func TestSharedChannelThatBecomesPrivate(t *testing.T) {
	each(t, func(w *world) {
		c, yes := w.channelOf("bob", "c", false), true
		r := w.rule(c, func(r *alerts.Rule) { r.RepeatMinutes = 10 })
		w.happen(w.down("a@h.test", 1))
		w.expect(c, "fired a is down: "+downText)
		_, err := w.EditChannel(w.as("alice"), c.ID, alerts.ChannelEdit{Private: &yes})
		w.code(err, models.CodeForbidden)
		c2, err := w.EditChannel(w.as("bob"), c.ID, alerts.ChannelEdit{Private: &yes})
		w.ok(err)
		w.pass(time.Hour)
		w.expect(c)
		if !r.LacksChannel([]alerts.Channel{c2}) {
			t.Error("rule is not mute")
		}
		r, err = w.EditRule(w.as("alice"), r.ID, func(r *alerts.Rule) { r.Name = "renamed" })
		w.ok(err)
		if len(r.Channels) != 0 {
			t.Errorf("channels %v", r.Channels)
		}
	})
}

// Only the owner and admins change the visibility of a rule or channel. The owner never changes. A shared rule uses only shared channels.
func TestSharingOfSettings(t *testing.T) {
	each(t, func(w *world) {
		mine := w.channelOf("bob", "mine", true)
		team := w.channelOf("bob", "team", false)
		other := w.channelOf("alice", "other", true)
		r := w.ruleOf("bob", true, mine)
		if r.Owner != "bob" || r.PrivateTo != "bob" {
			t.Errorf("%+v", r)
		}
		_, err := w.EditRule(w.as("bob"), r.ID, func(r *alerts.Rule) { r.SetPrivate(false) })
		w.code(err, models.CodeInvalid)
		_, err = w.EditRule(w.admin(), r.ID, func(r *alerts.Rule) { r.Channels = alerts.List{other.ID} })
		w.code(err, models.CodeInvalid)
		_, err = w.AddRule(w.as("bob"), alerts.Rule{Events: alerts.List{"target.down"}, Channels: alerts.List{team.ID}, AfterFailures: 1, EscalateAfterMinutes: 1, EscalateChannels: alerts.List{mine.ID}})
		w.code(err, models.CodeInvalid)
		r, err = w.EditRule(w.as("bob"), r.ID, func(r *alerts.Rule) { r.Channels, r.Owner = alerts.List{team.ID}, "alice"; r.PrivateTo = "" })
		w.ok(err)
		if r.Owner != "bob" || r.PrivateTo != "" {
			t.Errorf("%+v", r)
		}
		_, err = w.EditRule(w.as("alice"), r.ID, func(r *alerts.Rule) { r.SetPrivate(true) })
		w.code(err, models.CodeForbidden)
		_, err = w.EditRule(w.as("alice"), r.ID, func(r *alerts.Rule) { r.PrivateTo = "alice" })
		w.code(err, models.CodeForbidden)
		r, err = w.EditRule(w.admin(), r.ID, func(r *alerts.Rule) { r.PrivateTo = "root" })
		w.ok(err)
		if r.Owner != "bob" || r.PrivateTo != "bob" {
			t.Errorf("%+v", r)
		}
	})
}
