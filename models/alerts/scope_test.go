package alerts_test

import (
	"strconv"
	"strings"
	"testing"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
)

var zeroCursor models.Cursor

func TestScopesOfRules(t *testing.T) {
	each(t, func(w *world) {
		page := models.NewID(models.KindStatusPage)
		w.facts.tags = map[string][]string{"https://a.test/tagged": {"prod"}}
		w.facts.pages = map[string][]string{targetID("shown"): {page}}
		for name, sc := range map[string]alerts.Scope{
			"everything": {}, "a target": {Targets: alerts.List{targetID("named")}}, "a tag": {Tags: alerts.List{"Prod"}},
			"a status page": {StatusPages: alerts.List{page}}, "a target that is gone": {Targets: alerts.List{targetID("gone")}},
		} {
			c := w.channel(name)
			w.rule(c, func(r *alerts.Rule) {
				r.Name, r.Scope, r.Events = name, sc, alerts.List{"target.down", "system.failed"}
			})
		}
		w.happen(w.down("named@a.test", 1), w.down("tagged@a.test", 1), w.down("shown@a.test", 1), w.event("system.failed", event.Started, "reaper", 0))
		list, err := w.Channels(w.Context(), zeroCursor, 10)
		w.ok(err)
		want := map[string]int{"everything": 2, "a target": 1, "a tag": 1, "a status page": 1, "a target that is gone": 0}
		for _, c := range list.Items {
			if got := w.sent(c); len(got) != want[c.Name] {
				w.Errorf("%s: %q", c.Name, got)
			}
		}
	})
}

// A rule that is added during an outage sends it when the target repeats its event, also if other rules sent it before.
func TestRulesThatAreAddedDuringAnOutage(t *testing.T) {
	each(t, func(w *world) {
		first, second := w.channel("first"), w.channel("second")
		w.happen(w.down("shop@a.test", 10))
		w.rule(first)
		w.expect(first)
		w.happen(w.down("shop@a.test", 50))
		w.expect(first, "fired shop is down: "+downText)
		w.rule(second)
		w.happen(w.down("shop@a.test", 60))
		w.expect(first)
		w.expect(second, "fired shop is down: "+downText)
	})
}

// The lengths of the lists of a rule are limited.
func TestListsOfRulesAreBounded(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		long := make(alerts.List, 100_000)
		for i := range long {
			long[i] = strconv.Itoa(i)
		}
		for name, sc := range map[string]alerts.Scope{
			"many tags": {Tags: long}, "a long tag": {Tags: alerts.List{strings.Repeat("ü", 65)}},
		} {
			_, err := w.AddRule(w.Context(), alerts.Rule{Name: name, Events: alerts.List{"target.down"}, Scope: sc, Channels: alerts.List{c.ID}, AfterFailures: 1})
			w.code(err, models.CodeInvalid)
		}
		w.rule(c, func(r *alerts.Rule) { r.Scope.Tags = alerts.List{strings.Repeat("ü", 64)} })
	})
}
