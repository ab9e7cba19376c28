package alerts_test

import (
	"testing"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
)

// Rules can name items of all kinds.
func TestRulesNameItems(t *testing.T) {
	each(t, func(w *world) {
		w.facts.parents = map[string]string{targetID("home"): "s_blog", targetID("other"): "s_other"}
		w.facts.tags = map[string][]string{"https://a.test/tagged": {"g_prod"}}
		for name, refs := range map[string]alerts.Refs{
			"everything": nil, "a source": {{Kind: "source", ID: "s_blog"}}, "a page": {{Kind: "page", ID: targetID("other")}},
			"a target": {{Kind: "target", ID: targetID("shop")}}, "a tag": {{Kind: "tag", ID: "g_prod"}}, "a short link": {{Kind: "shortlink", ID: "shop"}},
		} {
			w.rule(w.channel(name), func(r *alerts.Rule) {
				r.Scope.Subjects, r.Events = refs, alerts.List{"target.down", "page.changed"}
			})
		}
		w.happen(w.event("page.changed", event.Once, "home@blog.test", 0), w.event("page.changed", event.Once, "other@other.test", 0), w.down("shop@a.test", 1), w.down("tagged@a.test", 1))
		list, err := w.Channels(w.Context(), zeroCursor, 10)
		w.ok(err)
		for _, c := range list.Items {
			want := map[string][]string{
				"everything": {"fired home changed", "fired other changed", "fired 2 targets on a.test are down: " + downText},
				"a source":   {"fired home changed"}, "a page": {"fired other changed"}, "a target": {"fired shop is down: " + downText},
				"a tag": {"fired tagged is down: " + downText}, "a short link": {"fired shop is down: " + downText},
			}
			w.expect(c, want[c.Name]...)
		}
	})
}

// Items that do not exist, and kinds that nothing has, are refused.
func TestItemsOfRulesAreChecked(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.facts.gone = []string{"s_gone"}
		for _, r := range []alerts.Ref{{Kind: "watch", ID: "q_x"}, {Kind: "group", ID: "x"}, {Kind: "other", ID: "x"}, {Kind: "source", ID: "s_gone"}, {Kind: "job"}} {
			_, err := w.AddRule(w.Context(), alerts.Rule{Events: alerts.List{"target.down"}, Scope: alerts.Scope{Subjects: alerts.Refs{r}}, Channels: alerts.List{c.ID}, AfterFailures: 1})
			w.code(err, models.CodeInvalid)
		}
	})
}
