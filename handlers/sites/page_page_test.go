package sites_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
)

func TestOnePage(t *testing.T) {
	q := filled(t)
	a := q.Get(q.of("/new", ""))
	apptest.WantStatus(t, a, http.StatusOK)
	apptest.WantText(t, a, "h1", "/new")
	apptest.WantText(t, a, ".facts", "100 · modified today")
	apptest.WantText(t, a, "[aria-labelledby=google]", "Verification needs Google credentials")
	apptest.WantText(t, a, "aside", "No link, target or crawled page has this URL.")
	apptest.WantCount(t, a, ".actions form[action$='/submit'], .actions form[action$='/verify'], .actions a[href$='/remove']", 0)
	apptest.WantCount(t, a, "#now[hx-trigger]", 0)
	apptest.WantText(t, a, "[aria-labelledby=why]", "queued for submission")

	q.google()
	q.verified("/old", sites.CauseDuplicate, sites.Inspection{
		Verdict: "NEUTRAL", CoverageState: injected, RobotsState: "ALLOWED", IndexingState: "INDEXING_ALLOWED", FetchState: "SUCCESSFUL",
		GoogleCanonical: "https://example.com/other", UserCanonical: "https://example.com/old", LastCrawledAt: q.Sites.Now().Add(-models.Day),
	})
	q.set("/old", "notified_at = ?", q.Sites.Now())
	q.Other.kept["https://example.com/old"] = views.Related{Link: "/links/l_1", Crawled: "/crawl/pages/p_1"}
	q.Other.known["https://example.com/old"] = sites.Evidence{
		Crawled: &sites.Crawled{FetchedAt: q.Sites.Now(), StatusCode: 200, NoIndex: true, Words: 12, Link: "/crawl/pages/p_1"},
		Checked: &sites.Checked{Status: sites.CheckDown, StatusCode: 500, CheckedAt: q.Sites.Now(), Error: injected, Link: "/watch/t_1"},
	}
	a = q.Get(q.of("/old", ""))
	apptest.WantCount(t, a, "main script, main img", 0)
	apptest.WantText(t, a, "#other-canonical a", "https://example.com/other")
	apptest.WantText(t, a, "[aria-labelledby=google]", "Verdict NEUTRAL Coverage "+injected+" robots.txt ALLOWED Indexing INDEXING_ALLOWED Fetch SUCCESSFUL")
	apptest.WantText(t, a, "#notified", "notification received")
	apptest.WantText(t, a, "[aria-labelledby=submissions-title]", "Indexing API updated Accepted (200)")
	apptest.WantText(t, a, "[aria-labelledby=elsewhere]", "status 200, noindex, 12 words")
	apptest.WantText(t, a, "[aria-labelledby=elsewhere]", "down, status 500, "+injected)
	apptest.WantCount(t, a, "[aria-labelledby=elsewhere] a.kept", 2)
	apptest.WantText(t, a, ".findings li:first-child", "certain")
	apptest.WantText(t, a, ".findings", "Remove noindex from the robots meta tag")
	apptest.WantText(t, a, ".actions", "Submit Verify now Submit removal Watch")
	apptest.WantCount(t, a, ".actions button:contains('Save link')", 0)

	a = q.Follow(q.press(q.Get(q.of("/new", "")), ".actions form:has(input[value=save])", "", ""))
	apptest.WantText(t, a, ".flash", "1 link added.")
	apptest.WantText(t, a, "h1", "/new")
	apptest.WantText(t, q.Get(q.of("/gone", "")), ".state", "In no sitemap since")
	apptest.WantCount(t, q.Get(q.of("/gone", "")), ".actions form[action$='/submit']", 0)
}

func TestPageOfAnotherWebsite(t *testing.T) {
	q := filled(t)
	q.google()
	mine := q.page("/new").ID()
	other := q.website("https://other.test/")
	for _, action := range []string{"", "/remove"} {
		apptest.WantStatus(t, q.Get("/sites/"+other.ID+"/pages/"+mine+action), http.StatusNotFound)
		apptest.WantStatus(t, q.Get(q.at("/pages/"+models.TimedID(models.KindPage, q.Sites.Now(), 99)+action)), http.StatusNotFound)
		apptest.WantStatus(t, q.Get(q.at("/pages/x"+action)), http.StatusNotFound)
	}
	for _, action := range []string{"/priority", "/submit", "/verify", "/remove"} {
		apptest.WantStatus(t, q.Post("/sites/"+other.ID+"/pages/"+mine+action, url.Values{"manual_priority": {"5"}}), http.StatusNotFound)
	}
	if p := q.page("/new"); p.ManualPriority != nil || !p.SubmitRequestedAt.IsZero() || !p.VerifyRequestedAt.IsZero() {
		t.Error("page of another website was changed")
	}
}

func TestPriorityForm(t *testing.T) {
	q := filled(t)
	for _, bad := range []string{"0", "101", "-5", "x", "1.5", injected} {
		a := q.Post(q.of("/old", "/priority"), url.Values{"manual_priority": {bad}})
		apptest.WantStatus(t, a, http.StatusBadRequest)
		apptest.WantText(t, a, "#priority-error", "Priority must be a whole number from 1 to 100.")
		apptest.WantCount(t, a, "details[open] input[name=manual_priority][aria-invalid=true]", 1)
		if got := a.Find("input[name=manual_priority]").First().AttrOr("value", ""); got != bad {
			t.Errorf("field has %q, want %q", got, bad)
		}
		apptest.WantCount(t, a, "main script", 0)
	}
	a := q.Follow(q.of("/old", "/priority"), url.Values{"manual_priority": {" 42 "}})
	apptest.WantText(t, a, ".flash", "Priority saved.")
	apptest.WantText(t, a, ".facts", "Manual 42 · automatic 10 Modified 200 days ago")
	apptest.WantCount(t, a, "input[name=manual_priority][value='42']", 1)
	apptest.WantText(t, q.Follow(q.press(a, ".facts form", "", "")), ".flash", "Priority reset to automatic.")
}

func TestRequestOnePage(t *testing.T) {
	q := filled(t)
	for action, want := range map[string]string{
		"/submit": "no Google credentials and no IndexNow key", "/verify": "Verification needs Google credentials", "/remove": "Removals need",
	} {
		a := q.Post(q.of("/new", action), nil)
		apptest.WantStatus(t, a, http.StatusConflict)
		if action == "/remove" { // no credentials and no key
			want = "no Google credentials and no IndexNow key"
		}
		apptest.WantText(t, a, "#problem", want)
	}
	apptest.WantStatus(t, q.Get(q.of("/new", "/remove")), http.StatusConflict)
	q.google()
	a := q.Post(q.of("/gone", "/submit"), nil)
	apptest.WantStatus(t, a, http.StatusConflict)
	apptest.WantText(t, a, "#problem", "Only its removal can be submitted.")

	a = q.Follow(q.press(q.Get(q.of("/new", "")), ".actions form[action$='/submit']", "", ""))
	apptest.WantText(t, a, ".flash", "Submission requested.")
	apptest.WantText(t, a, "#now .state", "The page will be submitted shortly.")
	const again = `<noscript><meta http-equiv="refresh" content="5">`
	if strings.Contains(a.HTML, again) { // a refresh would remove the notice
		t.Error("the page refreshes while it shows a message")
	}
	if !strings.Contains(q.Get(q.of("/new", "")).HTML, again) {
		t.Error("the page does not refresh without JavaScript")
	}
	a = q.Part(q.of("/new", ""))
	apptest.WantCount(t, a, `#now[hx-trigger="every 5s"][hx-get="`+q.of("/new", "")+`"]`, 1)
	apptest.WantCount(t, a, "header", 0)
	q.submitted("/new", sites.Outcome{Status: sites.Accepted, StatusCode: 200})
	a = q.Part(q.of("/new", ""))
	apptest.WantCount(t, a, "[hx-trigger]", 0)
	apptest.WantText(t, a, ".state", "submitted")

	a = q.Follow(q.of("/new", "/verify"), nil)
	apptest.WantText(t, a, "#now .state", "will be verified shortly")
	q.verified("/new", "", sites.Inspection{Verdict: "PASS", CoverageState: "Submitted and indexed"})
	apptest.WantCount(t, q.Part(q.of("/new", "")), "[hx-trigger]", 0)

	a = q.Get(q.of("/gone", "/remove"))
	apptest.WantText(t, a, "h1", "Submit the removal of this page?")
	apptest.WantText(t, a, ".destination", "https://example.com/gone")
	if p := q.page("/gone"); !p.SubmitRequestedAt.IsZero() {
		t.Error("the confirmation page submitted the removal")
	}
	a = q.Submit(a, "main form")
	apptest.WantText(t, a, ".flash", "Removal requested.")
	apptest.WantText(t, a, "#now .state", "The removal of the page will be submitted")
	if p := q.page("/gone"); !p.Removal {
		t.Error("no removal requested")
	}
}
