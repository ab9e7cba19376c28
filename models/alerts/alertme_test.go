package alerts_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"linkwatch/models"
	"linkwatch/models/alerts"
)

// alertMe calls AlertMe and fails the test unless the result is want.
func (w *world) alertMe(ask alerts.AlertMe, want alerts.AlertMeResult) alerts.Rule {
	w.Helper()
	r, did, err := w.AlertMe(w.Context(), ask)
	w.ok(err)
	if did != want {
		w.Fatalf("the result is %d, want %d", did, want)
	}
	return r
}

// sends fails the test unless a rule has exactly these channels.
func (w *world) sends(r alerts.Rule, to ...alerts.Channel) {
	w.Helper()
	stored, err := w.Rule(w.Context(), r.ID)
	w.ok(err)
	var want alerts.List
	for _, c := range to {
		want = append(want, c.ID)
	}
	if !slices.Equal(stored.Channels, want) {
		w.Errorf("%s sends to %v, want %v", stored.Name, stored.Channels, want)
	}
}

func (w *world) disable(c alerts.Channel) {
	w.Helper()
	off := false
	_, err := w.EditChannel(w.Context(), c.ID, alerts.ChannelEdit{Enabled: &off})
	w.ok(err)
}

// All enabled channels get the important events, also channels that are added later.
func TestAlertMe(t *testing.T) {
	each(t, func(w *world) {
		w.alertMe(alerts.AlertMe{}, alerts.AlertMeNoChannel)
		off := w.channel("off")
		w.disable(off)
		w.alertMe(alerts.AlertMe{}, alerts.AlertMeNoChannel)

		ops := w.channel("ops")
		r := w.alertMe(alerts.AlertMe{}, alerts.AlertMeAdded)
		if r.Name != "Important alerts" || !slices.Equal(r.Events, w.Defaults()) || !r.Scope.All() || !r.Enabled || r.AfterFailures != 1 {
			w.Errorf("%+v", r)
		}
		w.sends(r, ops)
		w.alertMe(alerts.AlertMe{}, alerts.AlertMeCovered)
		w.happen(w.down("shop@a.test", 1))
		w.expect(ops, "fired shop is down: unexpected status 500")

		later, last := w.channel("later"), w.channel("last")
		w.alertMe(alerts.AlertMe{Channel: last.ID}, alerts.AlertMeExtended)
		w.sends(r, ops, last)
		if same := w.alertMe(alerts.AlertMe{}, alerts.AlertMeExtended); same.ID != r.ID {
			w.Errorf("another rule is extended: %+v", same)
		}
		w.sends(r, ops, last, later)
		w.happen(w.down("blog@b.test", 1))
		w.expect(later, "fired blog is down: unexpected status 500")

		w.alertMe(alerts.AlertMe{Channel: off.ID}, alerts.AlertMeNoChannel)
		_, _, err := w.AlertMe(w.Context(), alerts.AlertMe{Channel: models.NewID(models.KindChannel)})
		w.code(err, models.CodeNotFound)
	})
}

// A rule whose channels are all disabled or deleted gets the enabled channels.
func TestAlertMeWithAMuteRule(t *testing.T) {
	each(t, func(w *world) {
		old := w.channel("old")
		r := w.alertMe(alerts.AlertMe{}, alerts.AlertMeAdded)
		w.disable(old)
		w.alertMe(alerts.AlertMe{}, alerts.AlertMeNoChannel)
		fresh := w.channel("fresh")
		w.alertMe(alerts.AlertMe{}, alerts.AlertMeExtended)
		w.sends(r, old, fresh)
		w.ok(w.DeleteChannel(w.Context(), fresh.ID))
		third := w.channel("third")
		w.alertMe(alerts.AlertMe{}, alerts.AlertMeExtended)
		w.happen(w.down("shop@a.test", 1))
		w.expect(third, "fired shop is down: unexpected status 500")
	})
}

// Channels are added only to an enabled rule with all important events and the same scope. A channel is covered by any rule with these
// events, also by its escalation.
func TestAlertMeWithOtherRules(t *testing.T) {
	each(t, func(w *world) {
		ops, pager := w.channel("ops"), w.channel("pager")
		important := func(r *alerts.Rule) { r.Events = w.Defaults() }
		w.rule(ops, important, func(r *alerts.Rule) { r.Enabled = false })
		w.rule(ops) // lacks an event
		w.rule(ops, important, func(r *alerts.Rule) { r.Scope.Tags = alerts.List{"shop"} })
		added := w.alertMe(alerts.AlertMe{Channel: ops.ID}, alerts.AlertMeAdded)
		w.sends(added, ops)

		_, err := w.EditRule(w.Context(), added.ID, func(r *alerts.Rule) { r.EscalateAfterMinutes, r.EscalateChannels = 15, alerts.List{pager.ID} })
		w.ok(err)
		w.alertMe(alerts.AlertMe{}, alerts.AlertMeCovered)
		w.sends(added, ops)

		mail := w.channel("mail")
		w.rule(mail, important)
		w.alertMe(alerts.AlertMe{}, alerts.AlertMeCovered) // covered by two rules
		w.sends(added, ops)
	})
}

func TestAlertMeForATarget(t *testing.T) {
	each(t, func(w *world) {
		ops := w.channel("ops")
		shop := alerts.AlertMe{Target: targetID("shop"), TargetName: "Shop"}
		r := w.alertMe(shop, alerts.AlertMeAdded)
		if r.Name != "Important alerts: Shop" || !slices.Equal(r.Events, w.TargetDefaults()) || !slices.Equal(r.Scope.Targets, alerts.List{shop.Target}) {
			w.Errorf("%+v", r)
		}
		mail := w.channel("mail")
		w.alertMe(shop, alerts.AlertMeExtended)
		w.sends(r, ops, mail)
		w.alertMe(alerts.AlertMe{Target: targetID("blog"), TargetName: "Blog"}, alerts.AlertMeAdded)
		everything := w.alertMe(alerts.AlertMe{}, alerts.AlertMeAdded)
		w.alertMe(alerts.AlertMe{Target: targetID("docs"), TargetName: "Docs"}, alerts.AlertMeCovered)

		w.channel("chat")
		w.alertMe(alerts.AlertMe{Target: targetID("docs"), TargetName: "Docs"}, alerts.AlertMeAdded) // the rule for everything is unchanged
		w.sends(everything, ops, mail)
	})
}

// Concurrent calls add one rule, and the number of rules is limited.
func TestConcurrentAlertMe(t *testing.T) {
	each(t, func(w *world) {
		ops := w.channel("ops")
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if _, _, err := w.AlertMe(w.Context(), alerts.AlertMe{}); err != nil {
					w.Error(err)
				}
			})
		}
		all.Wait()
		found, err := w.Rules(w.Context(), models.Cursor{}, alerts.MaxRules)
		w.ok(err)
		if len(found.Items) != 1 {
			w.Errorf("there are %d rules", len(found.Items))
		}
		for i := range alerts.MaxRules - 1 {
			w.rule(ops, func(r *alerts.Rule) { r.Name = fmt.Sprint(i) })
		}
		_, _, err = w.AlertMe(w.Context(), alerts.AlertMe{Target: targetID("shop"), TargetName: "Shop"})
		w.ok(err) // already covered
		w.channel("mail")
		_, _, err = w.AlertMe(w.Context(), alerts.AlertMe{Target: targetID("shop"), TargetName: "Shop"})
		w.code(err, models.CodeConflict)
	})
}

func TestUnusedChannels(t *testing.T) {
	each(t, func(w *world) {
		used, escalated, idle, off, former := w.channel("used"), w.channel("escalated"), w.channel("idle"), w.channel("off"), w.channel("former")
		w.disable(off)
		w.rule(used, func(r *alerts.Rule) { r.EscalateAfterMinutes, r.EscalateChannels = 5, alerts.List{escalated.ID} })
		w.rule(former, func(r *alerts.Rule) { r.Enabled = false })
		channels, err := w.Channels(w.Context(), models.Cursor{}, alerts.MaxChannels)
		w.ok(err)
		rules, err := w.Rules(w.Context(), models.Cursor{}, alerts.MaxRules)
		w.ok(err)
		var names []string
		for _, c := range alerts.Unused(channels.Items, rules.Items) {
			names = append(names, c.Name)
		}
		if !slices.Equal(names, []string{idle.Name, former.Name}) {
			w.Errorf("unused are %v", names)
		}
	})
}
