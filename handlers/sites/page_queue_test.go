package sites_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
)

func filled(t *testing.T) *queue {
	t.Helper()
	q := newQueue(t)
	q.read(q.site, 0, "/new", "/blog/a")
	q.read(q.site, 200, "/old", "/blog/b", "/gone")
	q.read(q.site, -1, "/", "/refused", "/no")
	q.set("/gone", "gone_at = 1, queued_for_google = false")
	q.submitted("/old", sites.Outcome{Status: sites.Accepted, StatusCode: 200})
	q.submitted("/refused", sites.Outcome{Status: sites.Refused, StatusCode: 403, Error: "Not an owner: " + injected, Cause: sites.CauseNotOwner})
	q.verified("/no", sites.CauseNoIndex, sites.Inspection{Verdict: "NEUTRAL", CoverageState: "Excluded by 'noindex' tag"})
	q.verified("/no", sites.CauseNoIndex, sites.Inspection{Verdict: "NEUTRAL", CoverageState: "Excluded by " + injected})
	q.verified("/blog/b", "", sites.Inspection{Verdict: "PASS", CoverageState: "Submitted and indexed"})
	return q
}

func TestQueuePage(t *testing.T) {
	q := newQueue(t)
	apptest.WantText(t, q.Get(q.at("/pages")), ".empty", "No pages yet")
	q = filled(t)
	a := q.Get(q.at("/pages"))
	apptest.WantStatus(t, a, http.StatusOK)
	if got := shownPaths(a); got != "/new /blog/a /old /blog/b / /refused /no" {
		t.Errorf("got queue %s", got)
	}
	apptest.WantCount(t, a, "main script, main img", 0)
	apptest.WantText(t, a, ".count", "7 pages")
	apptest.WantText(t, a, "tbody tr:nth-child(1)", "pending 100 · modified today")
	apptest.WantText(t, a, "tbody tr:nth-child(1)", "queued")
	apptest.WantText(t, a, "tbody tr:nth-child(3)", "submitted 10 · modified 200 days ago")
	apptest.WantText(t, a, "tbody tr:nth-child(4)", "indexed Submitted and indexed")
	apptest.WantText(t, a, "tbody tr:nth-child(5)", "10 · no lastmod in the sitemap")
	apptest.WantText(t, a, "tbody tr:nth-child(6) .failure", "Not an owner: "+injected)
	apptest.WantText(t, a, "tbody tr:nth-child(7)", "not indexed Excluded by "+injected)
	apptest.WantText(t, a, "nav[aria-label=Cause]", "Excluded by noindex 1")
	for query, want := range map[string]string{
		"status=pending": "/new /blog/a /", "status=indexed": "/blog/b", "status=not_indexed": "/no", "status=failed": "/refused", "gone=true": "/gone",
		"cause=noindex": "/no", "q=/blog/*": "/blog/a /blog/b", "q=BLOG": "/blog/a /blog/b", "q=/blog/*&status=indexed": "/blog/b", "queued=true": "",
		"q=nothing": "", "q=%25": "",
	} {
		a := q.Get(q.at("/pages?" + query))
		apptest.WantStatus(t, a, http.StatusOK)
		if got := shownPaths(a); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
		if want == "" {
			apptest.WantText(t, a, ".empty", "No matching pages")
		}
		apptest.WantCount(t, q.Part(q.at("/pages?"+query)), "nav[aria-label=Main]", 0)
	}
	for _, query := range []string{"status=x", "page_token=x"} {
		apptest.WantStatus(t, q.Get(q.at("/pages?"+query)), http.StatusBadRequest)
	}
	a = q.Get(q.at("/pages?q=" + strings.Repeat("a", models.MaxFilter+1)))
	apptest.WantStatus(t, a, http.StatusBadRequest)
	apptest.WantText(t, a, "#q-error", "The search must have at most 512 bytes")
	apptest.WantStatus(t, q.Get("/sites/"+models.NewID(models.KindWebsite)+"/pages"), http.StatusNotFound)
	if got := q.Part(q.at("/pages?q=x&status=&cause=")).Header.Get("HX-Replace-Url"); got != q.at("/pages?q=x") {
		t.Errorf("HX-Replace-Url: %s", got)
	}
	q.google()
	if got := shownPaths(q.Get(q.at("/pages?queued=true"))); got != "/new /blog/a /blog/b / /no" {
		t.Errorf("queued for Google: %s", got)
	}
	q.Other.kept["https://example.com/new"] = views.Related{Link: "/links/l_1", Target: "/watch/t_1"}
	apptest.WantCount(t, q.Get(q.at("/pages")), `tbody tr:first-child a.kept[href="/links/l_1"], tbody tr:first-child a.kept[href="/watch/t_1"]`, 2)
}

func TestQueueByToken(t *testing.T) {
	q := newQueue(t)
	var all []string
	for i := range 250 {
		all = append(all, fmt.Sprintf("/p%d", i))
	}
	q.read(q.site, 3, all...)
	q.read(q.site, 300, "/last")
	seen, n := map[string]bool{}, 0
	for next := q.at("/pages?status=pending"); next != ""; n++ {
		a := q.Get(next)
		for _, path := range strings.Fields(shownPaths(a)) {
			seen[path] = true
		}
		next = a.Find("a[rel=next]").AttrOr("href", "")
	}
	if len(seen) != 251 || n != 3 {
		t.Errorf("%d pages on %d list pages", len(seen), n)
	}
	few, many := q.Count(q.at("/pages?q=/p11")), q.Count(q.at("/pages?q=/p"))
	if few != many {
		t.Errorf("%d queries for few pages, %d for 100", few, many)
	}
	if q.Other.calls > 10 {
		t.Errorf("%d calls of other systems", q.Other.calls)
	}
}

func TestBoostOnePage(t *testing.T) {
	q := filled(t)
	a := q.Get(q.at("/pages"))
	form := "tr#" + q.page("/old").ID() + " .acts form"
	path, v := q.press(a, form, "manual_priority", "100")
	part := q.partly(path, v)
	apptest.WantStatus(t, part, http.StatusOK)
	apptest.WantCount(t, part, "header, table", 0)
	if !strings.Contains(part.HTML, "Manual 100 · automatic 10") || !strings.HasPrefix(strings.TrimSpace(part.HTML), `<tr id="`+q.page("/old").ID()) {
		t.Errorf("response to htmx: %s", part.HTML)
	}
	if got := part.Header.Get("HX-Trigger"); !strings.Contains(got, "Priority set to 100") {
		t.Errorf("no message: %s", got)
	}
	a = q.Follow(q.press(q.Get(q.at("/pages?status=submitted")), form, "manual_priority", ""))
	apptest.WantText(t, a, ".flash", "Priority reset to automatic.")
	apptest.WantText(t, a, "tbody tr", "10 · modified 200 days ago")
	apptest.WantCount(t, a, "tbody tr", 1) // the filtered list
	a = q.Follow(q.press(a, form, "manual_priority", "100"))
	apptest.WantText(t, a, ".flash", "Priority set to 100.")
	apptest.WantText(t, a, "tbody tr", "Manual 100 · automatic 10")
}

func TestBulkPages(t *testing.T) {
	q := filled(t)
	other := q.website("https://other.test/")
	q.read(other, 0, "/x")
	back := q.at("/pages?q=%2Fblog%2F%2A")
	form := func(action string, paths ...string) url.Values {
		v := url.Values{"action": {action}, "back": {back}}
		for _, p := range paths {
			v.Add("id", q.page(p).ID())
		}
		return v
	}
	a := q.Follow(q.at("/pages/bulk"), form("boost", "/old", "/blog/b"))
	apptest.WantText(t, a, ".flash", "Priority of 2 pages changed.")
	apptest.WantText(t, a, "tbody", "Manual 100 · automatic 10")
	a = q.Submit(a, ".flash form")
	apptest.WantText(t, a, ".flash", "Priorities restored.")
	if p := q.page("/old"); p.ManualPriority != nil {
		t.Errorf("not undone: %d", *p.ManualPriority)
	}
	apptest.WantText(t, q.Follow(q.at("/pages/undo"), url.Values{"boosted_at": {"1"}}), ".flash.bad", "Could not undo")
	apptest.WantStatus(t, q.Post(q.at("/pages/undo"), url.Values{"boosted_at": {"x"}}), http.StatusBadRequest)
	apptest.WantText(t, q.Follow(q.at("/pages/bulk"), form("reset", "/old")), ".flash", "Nothing changed")
	apptest.WantText(t, q.Follow(q.at("/pages/bulk"), form("boost")), ".flash.bad", "Select pages first")
	apptest.WantStatus(t, q.Post(q.at("/pages/bulk"), form("dance", "/old")), http.StatusBadRequest)
	apptest.WantStatus(t, q.Post("/sites/"+models.NewID(models.KindWebsite)+"/pages/bulk", form("boost", "/old")), http.StatusNotFound)

	apptest.WantText(t, q.Follow(q.at("/pages/bulk"), form("submit", "/old")), ".flash.bad", "no Google credentials and no IndexNow key")
	apptest.WantText(t, q.Follow(q.at("/pages/bulk"), form("verify", "/old")), ".flash.bad", "Verification needs Google credentials")
	q.google()
	apptest.WantText(t, q.Follow(q.at("/pages/bulk"), form("submit", "/old", "/new", "/gone")), ".flash", "Submission of 2 pages requested")
	apptest.WantText(t, q.Follow(q.at("/pages/bulk"), form("submit", "/gone")), ".flash.bad", "in no sitemap any more")
	apptest.WantText(t, q.Follow(q.at("/pages/bulk"), form("verify", "/old")), ".flash", "Verification of 1 page requested")
	if p := q.page("/old"); p.SubmitRequestedAt.IsZero() || p.VerifyRequestedAt.IsZero() {
		t.Error("no submission requested")
	}
	apptest.WantText(t, q.Follow(q.at("/pages/bulk"), form("save", "/old", "/new")), ".flash", "2 links added.")
	if strings.Join(q.Other.saved, " ") != "https://example.com/new https://example.com/old" {
		t.Errorf("saved: %v", q.Other.saved)
	}
	apptest.WantText(t, q.Follow(q.at("/pages/bulk"), form("watch", "/old")), ".flash", "1 target added.")
	v := form("watch")
	list, err := q.Sites.Pages(t.Context(), other.ID, sites.Filter{}, models.Cursor{}, 1)
	q.Must(err)
	v.Add("id", list.Items[0].ID())
	apptest.WantText(t, q.Follow(q.at("/pages/bulk"), v), ".flash.bad", "no longer exist")
	for _, bad := range []string{"pages_added=save.1.x.1", "pages_added=eat.1.1.1", "pages_added=save.1.1.101", "pages_boosted=1.2", "pages_boosted=1.-2.true", "pages_requested=submit.999", "pages_requested=x.1"} {
		apptest.WantCount(t, q.Get(q.at("/pages?"+bad)), ".flash", 0)
	}
	apptest.WantText(t, q.Get(q.at("/pages?pages_added=save.1.2.3")), ".flash", "1 link added. 2 pages already saved. 3 pages could not be saved.")
	apptest.WantText(t, q.Get(q.at("/pages?pages_requested=verify.3")), ".flash", "Verification of 3 pages requested")
	apptest.WantText(t, q.Get(q.at("/pages?pages_boosted=1.10000.true")), ".flash", "More pages match")
}

func TestBoostByPattern(t *testing.T) {
	q := filled(t)
	apptest.WantCount(t, q.Get(q.at("/pages")), ".boost-all", 0)
	apptest.WantCount(t, q.Get(q.at("/pages?gone=true")), ".boost-all", 0)
	a := q.Get(q.at("/pages?q=%2Fblog%2F%2A"))
	apptest.WantText(t, a, ".boost-all", "Boost all 2 matching pages")
	apptest.WantText(t, q.Get(q.at("/pages?cause=noindex")), ".boost-all", "Boost the matching page")
	path, v := q.press(a, ".boost-all", "action", "boost")
	a = q.Follow(path, v)
	apptest.WantText(t, a, ".flash", "Priority of 2 pages changed.")
	apptest.WantCount(t, a, "tbody tr", 2)
	if b, old := q.page("/blog/b"), q.page("/old"); b.Priority() != 100 || old.Priority() != 10 {
		t.Errorf("/blog/b has %d, /old %d", b.Priority(), old.Priority())
	}
	a = q.Submit(a, ".flash form")
	apptest.WantText(t, a, ".flash", "restored")
	if b := q.page("/blog/b"); b.ManualPriority != nil {
		t.Error("not undone")
	}
	path, v = q.press(a, ".boost-all", "action", "reset")
	apptest.WantText(t, q.Follow(path, v), ".flash", "Nothing changed")
	for _, bad := range []url.Values{{"action": {"x"}}, {"action": {"boost"}, "status": {"x"}}, {"action": {"boost"}, "q": {strings.Repeat("a", 600)}}} {
		apptest.WantStatus(t, q.Post(path, bad), http.StatusBadRequest)
	}
	apptest.WantStatus(t, q.Post("/sites/"+models.NewID(models.KindWebsite)+"/pages/boost", url.Values{"action": {"boost"}}), http.StatusNotFound)
}
