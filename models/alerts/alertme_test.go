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
func (w *world) alertMe(ask alerts.AlertMeRequest, want alerts.AlertMeResult) alerts.Rule {
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
		w.alertMe(alerts.AlertMeRequest{}, alerts.AlertMeNoChannel)
		off := w.channel("off")
		w.disable(off)
		w.alertMe(alerts.AlertMeRequest{}, alerts.AlertMeNoChannel)

		ops := w.channel("ops")
		r := w.alertMe(alerts.AlertMeRequest{}, alerts.AlertMeAdded)
		if r.Name != "Important alerts" || !slices.Equal(r.Events, w.DefaultEvents()) || !r.Scope.All() || !r.Enabled || r.AfterFailures != 1 {
			w.Errorf("%+v", r)
		}
		w.sends(r, ops)
		w.alertMe(alerts.AlertMeRequest{}, alerts.AlertMeCovered)
		w.happen(w.down("shop@a.test", 1))
		w.expect(ops, "fired shop is down: unexpected status 500")

		later, last := w.channel("later"), w.channel("last")
		w.alertMe(alerts.AlertMeRequest{Channel: last.ID}, alerts.AlertMeExtended)
		w.sends(r, ops, last)
		if same := w.alertMe(alerts.AlertMeRequest{}, alerts.AlertMeExtended); same.ID != r.ID {
			w.Errorf("another rule is extended: %+v", same)
		}
		w.sends(r, ops, last, later)
		w.happen(w.down("blog@b.test", 1))
		w.expect(later, "fired blog is down: unexpected status 500")

		w.alertMe(alerts.AlertMeRequest{Channel: off.ID}, alerts.AlertMeNoChannel)
		_, _, err := w.AlertMe(w.Context(), alerts.AlertMeRequest{Channel: models.NewID(models.KindChannel)})
		w.code(err, models.CodeNotFound)
	})
}

// A rule whose channels are all disabled or deleted gets the enabled channels.
func TestAlertMeWithAMuteRule(t *testing.T) {
	each(t, func(w *world) {
		old := w.channel("old")
		r := w.alertMe(alerts.AlertMeRequest{}, alerts.AlertMeAdded)
		w.disable(old)
		w.alertMe(alerts.AlertMeRequest{}, alerts.AlertMeNoChannel)
		fresh := w.channel("fresh")
		w.alertMe(alerts.AlertMeRequest{}, alerts.AlertMeExtended)
		w.sends(r, old, fresh)
		w.ok(w.DeleteChannel(w.Context(), fresh.ID))
		third := w.channel("third")
		w.alertMe(alerts.AlertMeRequest{}, alerts.AlertMeExtended)
		w.happen(w.down("shop@a.test", 1))
		w.expect(third, "fired shop is down: unexpected status 500")
	})
}

// Channels are added only to an enabled rule with all important events and the same scope. A channel is covered by any rule with these
// events, also by its escalation.
func TestAlertMeWithOtherRules(t *testing.T) {
	each(t, func(w *world) {
		ops, pager := w.channel("ops"), w.channel("pager")
		important := func(r *alerts.Rule) { r.Events = w.DefaultEvents() }
		w.rule(ops, important, func(r *alerts.Rule) { r.Enabled = false })
		w.rule(ops) // lacks an event
		w.rule(ops, important, func(r *alerts.Rule) { r.Scope.Tags = alerts.List{"shop"} })
		added := w.alertMe(alerts.AlertMeRequest{Channel: ops.ID}, alerts.AlertMeAdded)
		w.sends(added, ops)

		_, err := w.EditRule(w.Context(), added.ID, func(r *alerts.Rule) { r.EscalateAfterMinutes, r.EscalateChannels = 15, alerts.List{pager.ID} })
		w.ok(err)
		w.alertMe(alerts.AlertMeRequest{}, alerts.AlertMeCovered)
		w.sends(added, ops)

		mail := w.channel("mail")
		w.rule(mail, important)
		w.alertMe(alerts.AlertMeRequest{}, alerts.AlertMeCovered) // covered by two rules
		w.sends(added, ops)
	})
}

func TestAlertMeForATarget(t *testing.T) {
	each(t, func(w *world) {
		ops := w.channel("ops")
		shop := alerts.AlertMeRequest{Target: targetID("shop"), TargetName: "Shop"}
		r := w.alertMe(shop, alerts.AlertMeAdded)
		if r.Name != "Important alerts: Shop" || !slices.Equal(r.Events, w.DefaultTargetEvents()) || !slices.Equal(r.Scope.Targets, alerts.List{shop.Target}) {
			w.Errorf("%+v", r)
		}
		mail := w.channel("mail")
		w.alertMe(shop, alerts.AlertMeExtended)
		w.sends(r, ops, mail)
		w.alertMe(alerts.AlertMeRequest{Target: targetID("blog"), TargetName: "Blog"}, alerts.AlertMeAdded)
		everything := w.alertMe(alerts.AlertMeRequest{}, alerts.AlertMeAdded)
		w.alertMe(alerts.AlertMeRequest{Target: targetID("docs"), TargetName: "Docs"}, alerts.AlertMeCovered)

		w.channel("chat")
		w.alertMe(alerts.AlertMeRequest{Target: targetID("docs"), TargetName: "Docs"}, alerts.AlertMeAdded) // the rule for everything is unchanged
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
				if _, _, err := w.AlertMe(w.Context(), alerts.AlertMeRequest{}); err != nil {
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
		_, _, err = w.AlertMe(w.Context(), alerts.AlertMeRequest{Target: targetID("shop"), TargetName: "Shop"})
		w.ok(err) // already covered
		w.channel("mail")
		_, _, err = w.AlertMe(w.Context(), alerts.AlertMeRequest{Target: targetID("shop"), TargetName: "Shop"})
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
		for _, c := range alerts.UnusedChannels(channels.Items, rules.Items) {
			names = append(names, c.Name)
		}
		if !slices.Equal(names, []string{idle.Name, former.Name}) {
			w.Errorf("unused are %v", names)
		}
	})
}
