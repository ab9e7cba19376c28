package alerts_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
)

// Only a private rule of the owner sends a private subject, and never together with a shared subject or one of another owner.
func TestPrivateSubjectsAreSentByRulesOfTheirOwner(t *testing.T) {
	each(t, func(w *world) {
		team, root := w.channel("team"), w.channelOf("root", "root", true)
		bob, alice := w.channelOf("bob", "bob", true), w.channelOf("alice", "alice", true)
		w.rule(team)
		w.ruleOf("bob", false, team) // owned by bob but shared
		w.ruleOf("root", true, root)
		w.ruleOf("bob", true, bob)
		w.ruleOf("alice", true, alice)
		w.happen(w.down("a@h.test", 1), private("bob", w.down("b@h.test", 1)), private("alice", w.down("c@h.test", 1)), private("bob", w.down("d@h.test", 1)))
		w.expect(team, "fired a is down: "+downText)
		w.expect(root, "fired a is down: "+downText)
		if got := w.sent(bob); len(got) != 2 || !slices.Contains(got, "fired a is down: "+downText) || !slices.Contains(got, "fired 2 targets on h.test are down: "+downText) {
			w.Errorf("to bob: %q", got)
		}
		if got := w.sent(alice); len(got) != 2 || !slices.Contains(got, "fired c is down: "+downText) {
			w.Errorf("to alice: %q", got)
		}
		w.happen(w.up("a@h.test"), private("bob", w.up("b@h.test")), private("bob", w.up("d@h.test")), private("alice", w.up("c@h.test")))
		w.expect(team, "fired a is up again after 1 s")
		if got := w.sent(bob); len(got) != 2 || !slices.Contains(got, "fired 2 targets on h.test are up again after 1 s") {
			w.Errorf("to bob: %q", got)
		}
		page, err := w.Alerts(w.as("alice"), alerts.AnyState, zeroCursor, 20)
		w.ok(err)
		for _, a := range page.Items {
			if a.PrivateTo == "bob" || strings.Contains(w.Message(a), "2 targets") {
				w.Errorf("alice sees %+v", a)
			}
		}
	})
}

// Private and shared subjects are never in one alert, even if the same rules match them. A private subject has no alert without a private
// rule of its owner.
func TestPrivateSubjectsHaveSeparateAlerts(t *testing.T) {
	each(t, func(w *world) {
		bob := w.channelOf("bob", "bob", true)
		w.ruleOf("bob", true, bob)
		w.happen(private("bob", w.down("b@h.test", 1)), w.down("a@h.test", 1), private("alice", w.down("c@h.test", 1)))
		if got := w.sent(bob); len(got) != 2 || !slices.Contains(got, "fired a is down: "+downText) || !slices.Contains(got, "fired b is down: "+downText) {
			w.Errorf("to bob: %q", got)
		}
		page, err := w.Alerts(w.as("alice"), alerts.AnyState, zeroCursor, 20)
		w.ok(err)
		if len(page.Items) != 1 || page.Items[0].SubjectName != "a" {
			w.Errorf("alice sees %+v", page.Items)
		}
		var stored int
		w.ok(w.db.Read(w.Context()).Raw("SELECT count(*) FROM alerts").Scan(&stored).Error)
		if stored != 2 {
			w.Errorf("%d alerts are stored", stored)
		}
	})
}

// In a storm, private subjects are in separate alerts too.
func TestStormOfPrivateSubjects(t *testing.T) {
	each(t, func(w *world) {
		team, bob := w.channel("team"), w.channelOf("bob", "bob", true)
		w.rule(team)
		w.ruleOf("bob", true, bob)
		var down []event.Event
		for i := range 40 {
			e := w.down(fmt.Sprintf("t%02d@h%d.test", i, i), 1)
			if i%2 == 1 {
				e.PrivateTo = "bob"
			}
			down = append(down, e)
		}
		w.happen(down...)
		mixed := 0
		w.ok(w.db.Read(w.Context()).Raw(`SELECT count(*) FROM alert_subjects AS m JOIN alerts AS a ON a.seq = m.alert_seq
			WHERE (a.private_to = 'bob') <> (substr(m.name, 3, 1) IN ('1', '3', '5', '7', '9'))`).Scan(&mixed).Error)
		if mixed != 0 {
			w.Errorf("%d subjects are in an alert of another owner", mixed)
		}
		for _, title := range w.sent(team) {
			if strings.Contains(title, "20 targets") {
				w.Errorf("sent to the team: %s", title)
			}
		}
	})
}

// Tags of private links do not affect shared targets. Tags of others do not affect private targets.
func TestFactsAreReadWithPermissionsOfReaders(t *testing.T) {
	each(t, func(w *world) {
		w.SetLookup(scoped{})
		c, b := w.channel("c"), w.channelOf("bob", "b", true)
		w.rule(c, func(r *alerts.Rule) { r.Scope.Tags = alerts.List{"of-bob"} })
		w.ruleOf("bob", true, b, func(r *alerts.Rule) { r.Scope.Tags = alerts.List{"of-bob"} })
		w.ruleOf("bob", true, b, func(r *alerts.Rule) { r.Scope.Tags = alerts.List{"of-alice"} })
		w.happen(w.down("a@h.test", 1), private("bob", w.down("b@h.test", 1)))
		w.expect(c)
		w.expect(b, "fired b is down: "+downText)
	})
}

// scoped is a fake of alerts.Lookup in which every account has tagged all links with its name.
type scoped struct{}

func (scoped) Tags(ctx context.Context, urls []string) (map[string][]string, error) {
	of := map[string][]string{}
	a, ok := models.ActorOf(ctx)
	for _, url := range urls {
		of[url] = []string{"of-" + a.Name}
		if !ok || a.SeesAll {
			of[url] = []string{"of-bob", "of-alice"}
		}
	}
	return of, nil
}

func (scoped) StatusPages(context.Context, []string) (map[string][]string, error) { return nil, nil }

// “Alert me” adds shared channels to a shared rule and own private channels to a private rule. For a private target it uses only the
// private ones.
func TestAlertMeWithPrivateItems(t *testing.T) {
	each(t, func(w *world) {
		bob := w.as("bob")
		team := w.channelOf("bob", "team", false)
		target := alerts.AlertMeRequest{Target: targetID("secret"), TargetName: "Secret", PrivateTo: "bob"}
		_, did, err := w.AlertMe(bob, target)
		if did != alerts.AlertMeNoPrivate || err != nil {
			t.Errorf("without a private channel: %v, %v", did, err)
		}
		mine := w.channelOf("bob", "mine", true)
		w.channelOf("alice", "hers", true)
		r, did, err := w.AlertMe(bob, target)
		w.ok(err)
		if did != alerts.AlertMeAdded || r.PrivateTo != "bob" || r.Owner != "bob" || !slices.Equal(r.Channels, alerts.List{mine.ID}) {
			t.Errorf("%v %+v", did, r)
		}
		for _, ctx := range []context.Context{w.as("alice"), w.admin()} {
			_, _, err = w.AlertMe(ctx, target)
			w.code(err, models.CodeForbidden)
		}
		_, _, err = w.AlertMe(w.admin(), alerts.AlertMeRequest{Channel: mine.ID})
		w.code(err, models.CodeForbidden)
		_, _, err = w.AlertMe(bob, alerts.AlertMeRequest{})
		w.ok(err)
		all, err := w.Rules(bob, zeroCursor, 10)
		w.ok(err)
		var got []string
		for _, r := range all.Items {
			got = append(got, fmt.Sprintf("%s %q %v", r.Name, r.PrivateTo, slices.Equal(r.Channels, alerts.List{team.ID})))
		}
		want := []string{`Important alerts: Secret "bob" false`, `Important alerts "" true`, `Important alerts "bob" false`}
		if !slices.Equal(got, want) {
			t.Errorf("rules %q, want %q", got, want)
		}
		if _, did, err = w.AlertMe(bob, alerts.AlertMeRequest{}); did != alerts.AlertMeCovered || err != nil {
			t.Errorf("again: %v, %v", did, err)
		}
	})
}

func (scoped) Items(context.Context, []alerts.Ref) (map[alerts.Ref]alerts.Item, error) {
	return nil, nil
}

func (scoped) Existing(context.Context, []string, []string) (map[string]bool, error) { return nil, nil }
