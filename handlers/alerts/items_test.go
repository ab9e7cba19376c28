package alerts_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/crawl"
	"linkwatch/models/links"
	"linkwatch/models/shortlinks"
	"linkwatch/models/sites"
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

// The form of a rule finds items of all kinds, except private ones of others. A chosen item keeps its name.
func TestFindItemsForARule(t *testing.T) {
	each(t, func(w *world) {
		bob, alice := w.As("bob"), w.As("alice")
		to, err := w.Alerts.AddChannel(bob.Context(), alerts.NewChannel{Name: "Ops", Kind: alerts.KindWebhook, Address: alerts.Address{URL: hook}})
		w.Must(err)
		l, _, err := w.Systems.Links.Store.Add(bob.Context(), links.New{URL: "https://shop.test/a", Title: "Shop news", Private: true})
		w.Must(err)
		j, err := w.Systems.Crawl.Store.AddJob(bob.Context(), crawl.NewJob{URL: "https://shop.test/start", Name: "Shop crawl", RunNow: true, Source: crawl.NewSource{Private: true}})
		w.Must(err)
		w.BeginCrawl(j)
		w.Fetch(func(e crawl.Entry) crawl.Result { return apptest.Crawled(e) })
		_, err = w.Systems.Crawl.Store.IndexNext(w.Context(), 10)
		w.Must(err)
		s, page := w.website(bob, "https://shop.test/", "https://shop.test/listed")
		k, _, err := w.Systems.ShortLinks.Store.Add(bob.Context(), shortlinks.New{LongURL: "https://shop.test/", Key: "shop", Private: true})
		w.Must(err)

		crawled, err := w.Systems.Crawl.Store.Pages(bob.Context(), crawl.PageFilter{}, models.Cursor{}, 1)
		w.Must(err)
		wanted := map[string]string{
			"link:" + l.ID: "Shop news Link", "source:" + j.SourceID: "shop.test Source", "job:" + j.ID: "Shop crawl Crawl · https://shop.test/start",
			"page:" + crawled.Items[0].ID(): "https://shop.test/start Page", "website:" + s.ID: "Shop Website", "page:" + page.ID(): "https://shop.test/listed Page",
			"shortlink:" + k.Key: "shop Short link",
		}
		form := url.Values{"find": {"shop"}, "look": {"yes"}, "channels": {to.ID}}
		p := bob.Post("/alerts/rules", form)
		apptest.WantCount(t, p, "#choices input[name=subjects]", len(wanted))
		for value, text := range wanted {
			apptest.WantText(t, p, `#choices li:has(input[value="`+value+`"]:not([checked]))`, text)
			form.Add("subjects", value)
		}
		apptest.WantCount(t, alice.Post("/alerts/rules", url.Values{"find": {"shop"}, "look": {"yes"}}), "#choices input", 0)

		// Chosen items are not offered again.
		p = bob.Post("/alerts/rules", form)
		apptest.WantCount(t, p, "#choices input[name=subjects]", len(wanted))
		for value, text := range wanted {
			apptest.WantText(t, p, `#choices li:has(input[value="`+value+`"][checked])`, text)
		}
		form.Del("find")
		form.Set("save", "yes")
		form.Set("events", "target.down")
		apptest.WantText(t, bob.Follow("/alerts/rules", form), ".flash", "Rule added.")

		// A text that only links cannot read still finds the others.
		p = bob.Post("/alerts/rules", url.Values{"find": {"sho("}, "look": {"yes"}})
		apptest.WantStatus(t, p, http.StatusOK)
	})
}

// A recurring crawl that fails again in its next run is sent again, with its name and the number of failures.
func TestFailuresInARow(t *testing.T) {
	each(t, func(w *world) {
		_, to := w.channel()
		w.Do("POST", "/v1/alert-rules", `{"name":"Crawls","events":["job.failed"],"channels":["`+to+`"]}`).Want(201)
		j := w.AddJob("https://blog.test/", func(n *crawl.NewJob) {
			n.Name, n.Interval, n.RetryNextRun, n.MaxRetries = "Weekly", crawl.Interval{Count: 7, Type: crawl.Days}, true, new(0)
		})
		store := w.Systems.Crawl.Store
		for _, want := range []string{"Crawl of Weekly failed: broken", "Crawl of Weekly failed: broken (failed 2 times in a row)", "Crawl of Weekly failed: broken (failed 3 times in a row)"} {
			j, err := store.Job(w.Context(), j.ID)
			w.Must(err)
			w.Clock.Advance(j.NextRun().Sub(store.Now().Time))
			w.Must(store.RetryFailed(w.Context()))
			w.EndCrawl(w.BeginCrawl(j), crawl.ExecutionEnd{Event: crawl.Fail, Error: "broken"})
			w.send()
			list := apptest.Items(w.Do("GET", "/v1/alerts?event=job.failed", "").Want(200))
			if len(list) != 1 || list[0]["message"] != want {
				t.Fatalf("got %v, want %s", list, want)
			}
		}
		list := apptest.Items(w.Do("GET", "/v1/alerts", "").Want(200))
		if sent := apptest.Objects(list[0]["deliveries"]); len(sent) != 3 {
			t.Errorf("got %d messages, want 3", len(sent))
		}
	})
}

// send processes the stored events and queues their messages.
func (w *world) send() {
	w.Helper()
	_, err := w.Alerts.ProcessEvents(w.Context(), 100)
	w.Must(err)
	w.Clock.Advance(2 * time.Second)
	_, err = w.Alerts.QueueMessages(w.Context(), 100)
	w.Must(err)
}

// website adds a private website with a page.
func (w *world) website(of *apptest.App, at, page string) (sites.Website, sites.Page) {
	w.Helper()
	store, ctx := w.Systems.Sites.Store, of.Context()
	s, err := store.Add(ctx, sites.NewWebsite{SiteURL: at, Name: "Shop", Private: true})
	w.Must(err)
	m, _, err := store.AddSitemap(ctx, s.ID, at+"sitemap.xml")
	w.Must(err)
	u, err := models.ParseURL("url", page)
	w.Must(err)
	w.Must(store.BeginReading(w.TB.Context(), m))
	_, err = store.StoreEntries(w.TB.Context(), s, m, []sites.Entry{{URL: u}})
	w.Must(err)
	list, err := store.Pages(ctx, s.ID, sites.Filter{}, models.Cursor{}, 1)
	w.Must(err)
	return s, list.Items[0]
}
