package alerts_test

import (
	"net/http"
	"net/url"
	"testing"

	"linkwatch/app/apptest"
)

// Rules can name items of all kinds by the API. Kinds that nothing has, and items that do not exist, are refused.
func TestItemsOfRules_API(t *testing.T) {
	each(t, func(w *world) {
		_, to := w.channel()
		at, _ := w.rule(to)
		_, source := w.add("/v1/sources", `{"name":"Blog","url":"https://blog.test/"}`)
		_, website := w.add("/v1/websites", `{"name":"Shop","site_url":"https://shop.test/"}`)
		w.Do("POST", "/v1/shortlinks", `{"long_url":"https://shop.test/","short_key":"sale"}`).Want(201)
		subjects := []any{
			map[string]any{"kind": "source", "id": source}, map[string]any{"kind": "website", "id": website}, map[string]any{"kind": "shortlink", "id": "sale"},
		}
		body := `{"subjects":[{"kind":"source","id":"` + source + `"},{"kind":"website","id":"` + website + `"},{"kind":"shortlink","id":"sale"}]}`
		apptest.Has(w.TB, w.Do("PATCH", at, body).Want(200), map[string]any{"subjects": subjects})
		for _, wrong := range []string{
			`{"kind":"watch","id":"q_x"}`, `{"kind":"group","id":"x"}`, `{"kind":"source","id":"s_none"}`, `{"kind":"page","id":"x"}`, `{"kind":"shortlink","id":"none"}`,
		} {
			w.Do("PATCH", at, `{"subjects":[`+wrong+`]}`).Problem(400, "invalid-request", "")
		}
		apptest.Has(w.TB, w.Do("PATCH", at, `{"subjects":null}`).Want(200), map[string]any{"subjects": []any{}})
	})
}

// The form of a rule says how many targets it matches and how many channels it sends to, also while it is edited.
func TestReachOfARule(t *testing.T) {
	a := newPagesApp(t)
	a.channel("Ops")
	other := a.channel("Other")
	for _, at := range []string{"https://a.test/", "https://b.test/"} {
		apptest.WantStatus(t, a.Post("/watch", url.Values{"url": {at}, "add": {"yes"}}), http.StatusSeeOther)
	}
	p := a.Get("/alerts/rules/new")
	apptest.WantText(t, p, "#reach", "Matches 2 of 2 targets; sends to")
	form := url.Values{"events": {"target.down"}, "channels": {other.ID}, "subjects": {"target:none"}}
	apptest.WantText(t, a.Post("/alerts/rules?part=reach", form), "#reach", "Matches 0 of 2 targets; sends to 1 channel.")
}
