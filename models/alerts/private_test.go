package alerts_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
)

// as is the context of an account that is no admin.
func (w *world) as(name string) context.Context {
	return models.WithActor(w.Context(), models.Actor{Name: name, Via: "session"})
}

// admin is the context of an admin.
func (w *world) admin() context.Context {
	return models.WithActor(w.Context(), models.Actor{Name: "root", Via: "session", SeesAll: true})
}

// channelOf adds a channel of an account.
func (w *world) channelOf(owner, name string, private bool) alerts.Channel {
	w.Helper()
	c, err := w.AddChannel(w.as(owner), alerts.NewChannel{Name: name, Kind: alerts.KindWebhook, Address: alerts.Address{URL: "https://hooks.test/" + name}, Private: private})
	w.ok(err)
	return c
}

// ruleOf adds a rule of an account, changed by fn.
func (w *world) ruleOf(owner string, private bool, to alerts.Channel, fns ...func(*alerts.Rule)) alerts.Rule {
	w.Helper()
	r := alerts.Rule{Name: "Rule of " + owner, Owner: owner, Events: alerts.List{"target.down", "target.up"}, Channels: alerts.List{to.ID}, AfterFailures: 1, Enabled: true}
	r.Share(private)
	for _, fn := range fns {
		fn(&r)
	}
	r, err := w.AddRule(w.as(owner), r)
	w.ok(err)
	return r
}

// private makes the subject of an event private.
func private(to string, e event.Event) event.Event {
	e.PrivateTo = to
	return e
}

// bobs is what bob has in the tests: a private channel, rule and alert, and deleted ones of both.
type bobs struct {
	channel, goneChannel alerts.Channel
	rule, goneRule       alerts.Rule
	alert                alerts.Alert
	target               alerts.Target
}

func (w *world) bobs() (b bobs) {
	w.Helper()
	bob := w.as("bob")
	b.channel, b.goneChannel = w.channelOf("bob", "secret-channel", true), w.channelOf("bob", "secret-gone", true)
	b.rule, b.goneRule = w.ruleOf("bob", true, b.channel), w.ruleOf("bob", true, b.channel)
	w.ok(w.DeleteChannel(bob, b.goneChannel.ID))
	w.ok(w.DeleteRule(bob, b.goneRule.ID))
	w.happen(private("bob", w.down("secret@h.test", 1)))
	w.expect(b.channel, "fired secret is down: "+downText)
	page, err := w.Alerts(bob, alerts.Firing, zeroCursor, 10)
	w.ok(err)
	if len(page.Items) != 1 {
		w.Fatalf("bob sees %d alerts", len(page.Items))
	}
	b.alert, b.target = page.Items[0], alerts.Target{ID: targetID("secret"), CanonicalURL: "https://h.test/secret", PrivateTo: "bob"}
	return b
}

// What is private to bob does not exist for alice, whatever she asks for, and does for bob and admins.
func TestPrivateThingsAreSeenByTheirOwnerAndAdmins(t *testing.T) {
	reads := map[string]func(w *world, b bobs, ctx context.Context) (int, error){
		"list of alerts": func(w *world, _ bobs, ctx context.Context) (int, error) {
			p, err := w.Alerts(ctx, alerts.AnyState, zeroCursor, 10)
			return len(p.Items), err
		},
		"firing alerts": func(w *world, _ bobs, ctx context.Context) (int, error) {
			p, err := w.Alerts(ctx, alerts.Firing, zeroCursor, 10)
			return len(p.Items), err
		},
		"unattended alerts": func(w *world, _ bobs, ctx context.Context) (int, error) {
			p, err := w.Alerts(ctx, alerts.Unattended, zeroCursor, 10)
			return len(p.Items), err
		},
		"alert": func(w *world, b bobs, ctx context.Context) (int, error) {
			a, err := w.Alert(ctx, b.alert.ID)
			return len(a.ID) / 24, err
		},
		"counts": func(w *world, _ bobs, ctx context.Context) (int, error) {
			n, err := w.Counts(ctx)
			return n[alerts.AnyState], err
		},
		"search": func(w *world, _ bobs, ctx context.Context) (int, error) {
			found, err := w.Find(ctx, "secret", 10)
			return len(found), err
		},
		"channels found": func(w *world, _ bobs, ctx context.Context) (int, error) {
			found, err := w.FindSettings(ctx, "secret")
			return len(found.Channels), err
		},
		"rules found": func(w *world, _ bobs, ctx context.Context) (int, error) {
			found, err := w.FindSettings(ctx, "rule of bob")
			return len(found.Rules), err
		},
		"alerts that need attention": func(w *world, _ bobs, ctx context.Context) (int, error) {
			at, err := w.Attention(ctx, 5)
			return at.Unattended[event.Critical], err
		},
		"the first of them": func(w *world, _ bobs, ctx context.Context) (int, error) {
			at, err := w.Attention(ctx, 5)
			return len(at.First), err
		},
		"channels of the overview": func(w *world, _ bobs, ctx context.Context) (int, error) {
			at, err := w.Attention(ctx, 5)
			return at.Channels, err
		},
		"rules of the overview": func(w *world, _ bobs, ctx context.Context) (int, error) {
			at, err := w.Attention(ctx, 5)
			return at.Rules, err
		},
		"failing channels": func(w *world, b bobs, ctx context.Context) (int, error) {
			w.ok(w.Tested(w.Context(), b.channel, "refused"))
			at, err := w.Attention(ctx, 5)
			return len(at.Failing), err
		},
		"open alerts of a target": func(w *world, b bobs, ctx context.Context) (int, error) {
			as, err := w.OpenOf(ctx, b.target.ID)
			return len(as), err
		},
		"rules of a target": func(w *world, b bobs, ctx context.Context) (int, error) {
			rules, err := w.Covering(ctx, b.target)
			return len(rules), err
		},
		"rules of a shared target": func(w *world, _ bobs, ctx context.Context) (int, error) {
			rules, err := w.Covering(ctx, alerts.Target{ID: targetID("other")})
			return len(rules), err
		},
		"messages": func(w *world, b bobs, ctx context.Context) (int, error) {
			ds, err := w.DeliveriesOf(ctx, []alerts.Alert{b.alert}, 10)
			return len(ds[b.alert.Seq]), err
		},
		"channel": func(w *world, b bobs, ctx context.Context) (int, error) {
			c, err := w.Channel(ctx, b.channel.ID)
			return len(c.ID) / 24, err
		},
		"list of channels": func(w *world, _ bobs, ctx context.Context) (int, error) {
			p, err := w.Channels(ctx, zeroCursor, 10)
			return len(p.Items), err
		},
		"rule": func(w *world, b bobs, ctx context.Context) (int, error) {
			r, err := w.Rule(ctx, b.rule.ID)
			return len(r.ID) / 24, err
		},
		"list of rules": func(w *world, _ bobs, ctx context.Context) (int, error) {
			p, err := w.Rules(ctx, zeroCursor, 10)
			return len(p.Items), err
		},
	}
	each(t, func(w *world) {
		b := w.bobs()
		for name, read := range reads {
			if n, err := read(w, b, w.as("alice")); n != 0 || err != nil && models.CodeOf(err) != models.CodeNotFound {
				w.Errorf("%s: alice sees %d, %v", name, n, err)
			}
			for who, ctx := range map[string]context.Context{"bob": w.as("bob"), "an admin": w.admin(), "background work": w.Context()} {
				if n, err := read(w, b, ctx); n != 1 || err != nil {
					w.Errorf("%s: %s sees %d, %v", name, who, n, err)
				}
			}
		}
	})
}

// No write of alice reaches what is private to bob. The same writes by bob work.
func TestPrivateThingsAreChangedByTheirOwnerAndAdmins(t *testing.T) {
	name := "changed"
	writes := []struct {
		name string
		do   func(w *world, b bobs, ctx context.Context) error
	}{
		{"acknowledge", func(w *world, b bobs, ctx context.Context) error {
			_, err := w.Acknowledge(ctx, b.alert.ID)
			return err
		}},
		{"unacknowledge", func(w *world, b bobs, ctx context.Context) error {
			_, err := w.Unacknowledge(ctx, b.alert.ID)
			return err
		}},
		{"silence", func(w *world, b bobs, ctx context.Context) error {
			_, err := w.Silence(ctx, b.alert.ID, time.Hour)
			return err
		}},
		{"acknowledge several", func(w *world, b bobs, ctx context.Context) error {
			return many(w.AcknowledgeAll(ctx, b.alert.ID))
		}},
		{"undo it", func(w *world, _ bobs, ctx context.Context) error {
			n, err := w.UnacknowledgeAll(ctx, w.Now())
			return many(w.Now(), n, err)
		}},
		{"silence several", func(w *world, b bobs, ctx context.Context) error {
			return many(w.SilenceAll(ctx, time.Minute, b.alert.ID))
		}},
		{"end the silence", func(w *world, _ bobs, ctx context.Context) error {
			n, err := w.UnsilenceAll(ctx, w.Now().Add(time.Minute))
			return many(w.Now(), n, err)
		}},
		{"edit a channel", func(w *world, b bobs, ctx context.Context) error {
			_, err := w.EditChannel(ctx, b.channel.ID, alerts.ChannelEdit{Name: &name})
			return err
		}},
		{"edit a rule", func(w *world, b bobs, ctx context.Context) error {
			_, err := w.EditRule(ctx, b.rule.ID, func(r *alerts.Rule) { r.Name = name })
			return err
		}},
		{"use a channel", func(w *world, b bobs, ctx context.Context) error {
			r := alerts.Rule{Name: "New", PrivateTo: "yes", Events: alerts.List{"target.down"}, Channels: alerts.List{b.channel.ID}, AfterFailures: 1}
			_, err := w.AddRule(ctx, r)
			if models.CodeOf(err) == models.CodeInvalid {
				return models.NotFound("channel")
			}
			return err
		}},
		{"alert me by a channel", func(w *world, b bobs, ctx context.Context) error {
			_, _, err := w.AlertMe(ctx, alerts.AlertMe{Channel: b.channel.ID})
			return err
		}},
		{"restore a channel", func(w *world, b bobs, ctx context.Context) error {
			_, err := w.RestoreChannel(ctx, b.goneChannel.ID)
			return err
		}},
		{"restore a rule", func(w *world, b bobs, ctx context.Context) error {
			_, err := w.RestoreRule(ctx, b.goneRule.ID)
			return err
		}},
		{"delete a rule", func(w *world, b bobs, ctx context.Context) error { return w.DeleteRule(ctx, b.rule.ID) }},
		{"delete a channel", func(w *world, b bobs, ctx context.Context) error { return w.DeleteChannel(ctx, b.channel.ID) }},
	}
	each(t, func(w *world) {
		b := w.bobs()
		before := w.stored()
		for _, write := range writes {
			if err := write.do(w, b, w.as("alice")); models.CodeOf(err) != models.CodeNotFound {
				w.Errorf("%s: alice gets %v", write.name, err)
			}
		}
		if after := w.stored(); !slices.Equal(before, after) {
			w.Errorf("alice changed\n%s\nto\n%s", before, after)
		}
		for _, write := range writes {
			if err := write.do(w, b, w.as("bob")); err != nil {
				w.Errorf("%s: bob gets %v", write.name, err)
			}
		}
	})
}

// many is CodeNotFound if nothing was changed.
func many(_ models.Time, n int, err error) error {
	if err == nil && n == 0 {
		return models.NotFound("alert")
	}
	return err
}

// stored are the alerts, channels and rules as they are stored.
func (w *world) stored() (rows []string) {
	w.Helper()
	var as []alerts.Alert
	var cs []alerts.Channel
	var rs []alerts.Rule
	db := w.db.Read(w.Context())
	w.ok(db.Order("seq").Find(&as).Error)
	w.ok(db.Order("seq").Find(&cs).Error)
	w.ok(db.Order("seq").Find(&rs).Error)
	for _, a := range as {
		rows = append(rows, fmt.Sprintf("%+v", a))
	}
	for _, c := range cs {
		rows = append(rows, fmt.Sprintf("%+v", c))
	}
	for _, r := range rs {
		rows = append(rows, fmt.Sprintf("%+v", r))
	}
	return rows
}

// Only a rule that is private to the owner sends a private subject, and never together with a shared one, or one of another owner.
func TestPrivateSubjectsAreSentByRulesOfTheirOwner(t *testing.T) {
	each(t, func(w *world) {
		team, root := w.channel("team"), w.channelOf("root", "root", true)
		bob, alice := w.channelOf("bob", "bob", true), w.channelOf("alice", "alice", true)
		w.rule(team)
		w.ruleOf("bob", false, team) // that it is bob's is not enough
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

// A private subject is in no alert with a shared one, also if the same rules apply to both. Without a private rule of its owner there is no alert of it.
func TestPrivateSubjectsAreApart(t *testing.T) {
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

// In a storm, too, private subjects are in alerts of their own.
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
		w.ok(w.db.Read(w.Context()).Raw(`SELECT count(*) FROM alert_members AS m JOIN alerts AS a ON a.seq = m.alert_seq
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

// An item that changes between private and shared during an outage stays in the alert that it is in until it is up. What happens then is not told elsewhere.
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
		w.ok(w.db.Read(w.Context()).Raw("SELECT count(*) FROM alert_members WHERE name = 'renamed' OR detail = 'secret detail'").Scan(&seen).Error)
		if seen != 0 {
			w.Error("the alert that began as shared tells of the private target")
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

// A rule that its owner shares sends nothing more of what is private, and goes on when it is private again.
func TestPrivateRuleThatIsShared(t *testing.T) {
	each(t, func(w *world) {
		c := w.channelOf("bob", "team", false)
		r := w.ruleOf("bob", true, c, func(r *alerts.Rule) { r.RepeatMinutes = 10 })
		share := func(private bool) {
			_, err := w.EditRule(w.as("bob"), r.ID, func(r *alerts.Rule) { r.Share(private) })
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

// A channel that becomes private gets nothing more of rules that cannot use it.
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
		if !r.Mute([]alerts.Channel{c2}) {
			t.Error("the rule is not mute")
		}
		r, err = w.EditRule(w.as("alice"), r.ID, func(r *alerts.Rule) { r.Name = "renamed" })
		w.ok(err)
		if len(r.Channels) != 0 {
			t.Errorf("channels %v", r.Channels)
		}
	})
}

// Who sees a rule or a channel is decided by its owner and admins; its owner never changes. A shared rule uses shared channels only.
func TestSharingOfSettings(t *testing.T) {
	each(t, func(w *world) {
		mine := w.channelOf("bob", "mine", true)
		team := w.channelOf("bob", "team", false)
		other := w.channelOf("alice", "other", true)
		r := w.ruleOf("bob", true, mine)
		if r.Owner != "bob" || r.PrivateTo != "bob" {
			t.Errorf("%+v", r)
		}
		_, err := w.EditRule(w.as("bob"), r.ID, func(r *alerts.Rule) { r.Share(false) })
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
		_, err = w.EditRule(w.as("alice"), r.ID, func(r *alerts.Rule) { r.Share(true) })
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

// The tags of private links tell nothing of a shared target, and tags of others nothing of a private one.
func TestFactsAreAskedForAsTheReadersOfAnAlert(t *testing.T) {
	each(t, func(w *world) {
		w.Use(scoped{})
		c, b := w.channel("c"), w.channelOf("bob", "b", true)
		w.rule(c, func(r *alerts.Rule) { r.Scope.Tags = alerts.List{"of-bob"} })
		w.ruleOf("bob", true, b, func(r *alerts.Rule) { r.Scope.Tags = alerts.List{"of-bob"} })
		w.ruleOf("bob", true, b, func(r *alerts.Rule) { r.Scope.Tags = alerts.List{"of-alice"} })
		w.happen(w.down("a@h.test", 1), private("bob", w.down("b@h.test", 1)))
		w.expect(c)
		w.expect(b, "fired b is down: "+downText)
	})
}

// scoped are facts that depend on who asks: everyone has tagged all links with the own name.
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

// “Alert me” uses shared channels for what is shared, the own private ones by a private rule, and for a private target these alone.
func TestAlertMeWithPrivateThings(t *testing.T) {
	each(t, func(w *world) {
		bob := w.as("bob")
		team := w.channelOf("bob", "team", false)
		target := alerts.AlertMe{Target: targetID("secret"), TargetName: "Secret", PrivateTo: "bob"}
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
		_, _, err = w.AlertMe(w.admin(), alerts.AlertMe{Channel: mine.ID})
		w.code(err, models.CodeForbidden)
		_, _, err = w.AlertMe(bob, alerts.AlertMe{})
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
		if _, did, err = w.AlertMe(bob, alerts.AlertMe{}); did != alerts.AlertMeCovered || err != nil {
			t.Errorf("again: %v, %v", did, err)
		}
	})
}
