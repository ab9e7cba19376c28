package alerts_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
)

func (w *world) as(name string) context.Context {
	return models.WithActor(w.Context(), models.Actor{Name: name, Via: "session"})
}

func (w *world) admin() context.Context {
	return models.WithActor(w.Context(), models.Actor{Name: "root", Via: "session", SeesAll: true})
}

// channelOf adds a channel owned by an account.
func (w *world) channelOf(owner, name string, private bool) alerts.Channel {
	w.Helper()
	c, err := w.AddChannel(w.as(owner), alerts.NewChannel{Name: name, Kind: alerts.KindWebhook, Address: alerts.Address{URL: "https://hooks.test/" + name}, Private: private})
	w.ok(err)
	return c
}

// ruleOf adds a rule owned by an account, after fn changed it.
func (w *world) ruleOf(owner string, private bool, to alerts.Channel, fns ...func(*alerts.Rule)) alerts.Rule {
	w.Helper()
	r := alerts.Rule{Name: "Rule of " + owner, Owner: owner, Events: alerts.List{"target.down", "target.up"}, Channels: alerts.List{to.ID}, AfterFailures: 1, Enabled: true}
	r.SetPrivate(private)
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

// bobs holds the private channel, rule and alert of bob, and a deleted channel and rule.
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

// Private items of bob do not exist for alice in any method. They do for bob and admins.
func TestPrivateItemsAreVisibleToOwnerAndAdmins(t *testing.T) {
	reads := map[string]func(w *world, b bobs, ctx context.Context) (int, error){
		"list of alerts": func(w *world, _ bobs, ctx context.Context) (int, error) {
			p, err := w.Alerts(ctx, alerts.AnyState, zeroCursor, 10)
			return len(p.Items), err
		},
		"firing alerts": func(w *world, _ bobs, ctx context.Context) (int, error) {
			p, err := w.Alerts(ctx, alerts.Firing, zeroCursor, 10)
			return len(p.Items), err
		},
		"unacknowledged alerts": func(w *world, _ bobs, ctx context.Context) (int, error) {
			p, err := w.Alerts(ctx, alerts.Unacknowledged, zeroCursor, 10)
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
			return at.Unacknowledged[event.Critical], err
		},
		"the first of them": func(w *world, _ bobs, ctx context.Context) (int, error) {
			at, err := w.Attention(ctx, 5)
			return len(at.Newest), err
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
			w.ok(w.RecordTest(w.Context(), b.channel, "refused"))
			at, err := w.Attention(ctx, 5)
			return len(at.Failing), err
		},
		"open alerts of a target": func(w *world, b bobs, ctx context.Context) (int, error) {
			as, err := w.OpenForTarget(ctx, b.target.ID)
			return len(as), err
		},
		"rules of a target": func(w *world, b bobs, ctx context.Context) (int, error) {
			rules, err := w.RulesForTarget(ctx, b.target)
			return len(rules), err
		},
		"rules of a shared target": func(w *world, _ bobs, ctx context.Context) (int, error) {
			rules, err := w.RulesForTarget(ctx, alerts.Target{ID: targetID("other")})
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

// No write of alice changes private items of bob. The same writes by bob work.
func TestPrivateItemsAreChangedByOwnerAndAdmins(t *testing.T) {
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
			return notFoundIfNone(w.AcknowledgeAll(ctx, b.alert.ID))
		}},
		{"undo it", func(w *world, _ bobs, ctx context.Context) error {
			n, err := w.UnacknowledgeAll(ctx, w.Now())
			return notFoundIfNone(w.Now(), n, err)
		}},
		{"silence several", func(w *world, b bobs, ctx context.Context) error {
			return notFoundIfNone(w.SilenceAll(ctx, time.Minute, b.alert.ID))
		}},
		{"end the silence", func(w *world, _ bobs, ctx context.Context) error {
			n, err := w.UnsilenceAll(ctx, w.Now().Add(time.Minute))
			return notFoundIfNone(w.Now(), n, err)
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
			_, _, err := w.AlertMe(ctx, alerts.AlertMeRequest{Channel: b.channel.ID})
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

// notFoundIfNone returns CodeNotFound if nothing was changed.
func notFoundIfNone(_ models.Time, n int, err error) error {
	if err == nil && n == 0 {
		return models.NotFound("alert")
	}
	return err
}

// stored returns all rows of alerts, channels and rules.
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
