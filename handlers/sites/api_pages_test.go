package sites_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/sites"
)

// A client adds a website with a sitemap, raises the priority of a page, submits it, and sees the result.
func TestQueue_API(t *testing.T) {
	each(t, func(w *fixture) {
		at, id := w.add("https://example.com/")
		w.Do("POST", at+"/sitemaps", `{"url":"https://example.com/sitemap.xml"}`).Want(201)
		w.read(id, "new", 1, "week", 5, "old", 40, "unknown", -1)
		list := w.Do("GET", at+"/pages", "").Want(200)
		if got := paths(list); got != "/new /week /old /unknown" {
			w.Fatalf("got queue %s", got)
		}
		now := w.Sites.Now()
		week := w.item(list, "url", "https://example.com/week")
		apptest.Has(w.TB, week, map[string]any{
			"website_id": id, "url": "https://example.com/week", "lastmod": now.Add(-5 * models.Day).Format(time.RFC3339Nano), "auto_priority": 82, "manual_priority": nil,
			"priority": 82, "priority_reason": "Modified 5 days ago", "status": "pending", "cause": nil, "coverage_state": nil, "verdict": nil, "robots_state": nil,
			"indexing_state": nil, "fetch_state": nil, "google_canonical": nil, "user_canonical": nil, "other_canonical": false, "last_crawled_at": nil,
			"created_at": now.Format(time.RFC3339Nano), "last_submitted_at": nil, "last_verified_at": nil, "notified_at": nil, "last_error": nil, "queued": true,
			"submit_requested_at": nil, "verify_requested_at": nil, "gone_at": nil,
		})
		unknown := w.item(list, "url", "https://example.com/unknown")
		apptest.Has(w.TB, unknown, map[string]any{"lastmod": nil, "priority": 10, "priority_reason": "No lastmod in the sitemap"})
		page := "/v1/pages/" + unknown["id"].(string)
		apptest.Has(w.TB, w.Do("GET", page, "").Want(200), unknown)

		apptest.Has(w.TB, w.Do("PATCH", page, `{"manual_priority":100}`).Want(200), map[string]any{
			"manual_priority": 100, "priority": 100, "auto_priority": 10, "priority_reason": "Set manually",
		})
		first := w.Do("GET", at+"/pages?limit=2", "").Want(200)
		second := w.Do("GET", at+"/pages?limit=2&page_token="+url.QueryEscape(first["next_page_token"].(string)), "").Want(200)
		if got := paths(first) + " " + paths(second); got != "/new /unknown /week /old" || second["next_page_token"] != "" {
			w.Errorf("queue with a manual priority: %s", got)
		}
		apptest.Has(w.TB, w.Do("PATCH", page, `{}`).Want(200), map[string]any{"manual_priority": 100}) // omitted members are not changed
		apptest.Has(w.TB, w.Do("PATCH", page, `{"manual_priority":null}`).Want(200), map[string]any{"manual_priority": nil, "priority": 10})
		if got := paths(w.Do("GET", at+"/pages", "").Want(200)); got != "/new /week /old /unknown" {
			w.Errorf("queue without it: %s", got)
		}

		w.Do("POST", page+"/submit", "").Problem(409, "conflict", "") // no credentials and no key
		w.account(at)
		apptest.Has(w.TB, w.Do("POST", page+"/submit", "").Want(202), map[string]any{"id": unknown["id"], "queued": true, "submit_requested_at": now.Format(time.RFC3339Nano)})
		w.submit(id, sites.Outcome{Status: sites.Accepted, StatusCode: 200})
		apptest.Has(w.TB, w.Do("GET", page, "").Want(200), map[string]any{
			"status": "submitted", "queued": false, "submit_requested_at": nil, "last_submitted_at": now.Format(time.RFC3339Nano),
		})
		submissions := w.Do("GET", at+"/submissions", "").Want(200)
		apptest.Has(w.TB, apptest.Items(submissions)[0], map[string]any{
			"website_id": id, "page_id": unknown["id"], "url": "https://example.com/unknown", "method": "indexing_api", "action": "updated", "pages": 1, "status": "accepted",
			"status_code": 200, "error": nil, "created_at": now.Format(time.RFC3339Nano), "answered_at": now.Format(time.RFC3339Nano),
		})
		apptest.Has(w.TB, w.Do("GET", at, "").Want(200), map[string]any{
			"pages": map[string]any{"total": 4, "pending": 3, "submitted": 1, "indexed": 0, "not_indexed": 0, "failed": 0, "gone": 0},
		})
	})
}

// Pages can be filtered.
func TestPagesFilters_API(t *testing.T) {
	each(t, func(w *fixture) {
		at, id := w.add("https://example.com/")
		w.account(at)
		w.read(id, "blog/a", 1, "blog/b", 2, "shop/100%25", 3, "gone", 4)
		w.read(id, "blog/a", 1, "blog/b", 2, "shop/100%25", 3) // the sitemap no longer lists one
		list := w.Do("GET", at+"/pages", "").Want(200)
		a, b := w.item(list, "url", "https://example.com/blog/a")["id"].(string), w.item(list, "url", "https://example.com/blog/b")["id"].(string)
		crawled := models.At(w.Sites.Now().Add(-time.Hour).Time)
		w.Must(w.Sites.RecordVerification(w.Context(), sites.Verification{Page: w.page(a), NotifiedAt: crawled, Inspection: sites.Inspection{
			Verdict: "PASS", CoverageState: "Submitted and indexed", RobotsState: "ALLOWED", IndexingState: "INDEXING_ALLOWED", FetchState: "SUCCESSFUL",
			GoogleCanonical: "https://example.com/b", UserCanonical: "https://example.com/blog/a", LastCrawledAt: crawled,
		}}))
		w.Must(w.Sites.RecordVerification(w.Context(), sites.Verification{Page: w.page(b), Cause: "Crawled, not indexed", Inspection: sites.Inspection{Verdict: "NEUTRAL", CoverageState: "Crawled - currently not indexed"}}))
		apptest.Has(w.TB, w.Do("GET", "/v1/pages/"+a, "").Want(200), map[string]any{
			"status": "indexed", "verdict": "PASS", "coverage_state": "Submitted and indexed", "robots_state": "ALLOWED", "indexing_state": "INDEXING_ALLOWED",
			"fetch_state": "SUCCESSFUL", "google_canonical": "https://example.com/b", "user_canonical": "https://example.com/blog/a", "other_canonical": true,
			"last_crawled_at": crawled.Format(time.RFC3339Nano), "notified_at": crawled.Format(time.RFC3339Nano), "last_verified_at": w.Sites.Now().Format(time.RFC3339Nano),
		})
		for query, want := range map[string]string{
			"":                                      "/blog/a /blog/b /shop/100%25",
			"status=indexed":                        "/blog/a",
			"status=not_indexed":                    "/blog/b",
			"status=pending":                        "/shop/100%25",
			"status=failed":                         "",
			"queued=true":                           "/blog/a /blog/b /shop/100%25",
			"queued=false":                          "/blog/a /blog/b /shop/100%25",
			"queued=true&status=indexed":            "/blog/a",
			"cause=Crawled%2C+not+indexed":          "/blog/b",
			"cause=crawled":                         "",
			"gone=true":                             "/gone",
			"gone=true&status=indexed":              "",
			"q=/BLOG/*":                             "/blog/a /blog/b",
			"q=/blog":                               "",
			"q=shop":                                "/shop/100%25",
			"q=" + url.QueryEscape("100%25"):        "/shop/100%25",
			"q=" + url.QueryEscape("100%"):          "/shop/100%25",
			"q=" + url.QueryEscape("1%5"):           "",
			"q=%00":                                 "/blog/a /blog/b /shop/100%25",
			"q=%ff":                                 "",
			"cause=%00":                             "/blog/a /blog/b /shop/100%25",
			"cause=%ff":                             "",
			"q=" + strings.Repeat("a", 512):         "",
			"q=/*&status=indexed&limit=500":         "/blog/a",
			"status=&cause=&q=&queued=&page_token=": "/blog/a /blog/b /shop/100%25",
		} {
			if got := paths(w.Do("GET", at+"/pages?"+query, "").Want(200)); got != want {
				w.Errorf("pages?%s: got %q, want %q", query, got, want)
			}
		}
		gone := w.Do("GET", at+"/pages?gone=true", "").Want(200)
		page := "/v1/pages/" + apptest.Items(gone)[0]["id"].(string)
		apptest.Has(w.TB, w.Do("GET", page, "").Want(200), map[string]any{"gone_at": w.Sites.Now().Format(time.RFC3339Nano), "queued": false})
		w.Do("POST", page+"/submit", `{"action":"updated"}`).Problem(409, "conflict", "")
		w.Do("POST", page+"/submit", `{"action":"deleted"}`).Problem(409, "conflict", "") // needs the Indexing API
		w.Do("PATCH", at, `{"indexing_enabled":true}`).Want(200)
		apptest.Has(w.TB, w.Do("POST", page+"/submit", `{"action":"deleted"}`).Want(202), map[string]any{"queued": true})
		w.submit(id, sites.Outcome{Status: sites.Refused, StatusCode: 403, Error: "Not an owner.", Cause: "Not an owner"})
		apptest.Has(w.TB, apptest.Items(w.Do("GET", at+"/submissions", "").Want(200))[0], map[string]any{
			"action": "deleted", "status": "refused", "status_code": 403, "error": "Not an owner.",
		})
	})
}

// A requested page is verified first.
func TestVerify_API(t *testing.T) {
	each(t, func(w *fixture) {
		at, id := w.add("https://example.com/")
		w.read(id, "a", 1)
		page := "/v1/pages/" + apptest.Items(w.Do("GET", at+"/pages", "").Want(200))[0]["id"].(string)
		w.Do("POST", page+"/verify", "").Problem(409, "conflict", "")
		w.Do("PATCH", at, `{"indexnow_key":"0123-abcd"}`).Want(200)
		w.Do("POST", page+"/verify", "").Problem(409, "conflict", "") // needs Google
		w.account(at)
		apptest.Has(w.TB, w.Do("POST", page+"/verify", "").Want(202), map[string]any{"verify_requested_at": w.Sites.Now().Format(time.RFC3339Nano)})
		requested, err := w.Sites.RequestedWebsites(w.Context(), sites.Verifying, 9)
		w.Must(err)
		if len(requested) != 1 {
			w.Errorf("got %d requested websites, want 1", len(requested))
		}
	})
}

// A bulk change of priorities can be undone.
func TestPriorities_API(t *testing.T) {
	each(t, func(w *fixture) {
		at, id := w.add("https://example.com/")
		w.read(id, "blog/a", 40, "blog/b", 50, "shop", 1)
		boost := func(body string) map[string]any {
			w.Helper()
			return w.Do("POST", at+"/priorities", body).Want(200)
		}
		done := boost(`{"manual_priority":100,"q":"/blog/*"}`)
		apptest.Has(w.TB, done, map[string]any{"changed": 2, "more": false})
		if got := paths(w.Do("GET", at+"/pages", "").Want(200)); got != "/blog/a /blog/b /shop" {
			w.Errorf("got queue %s", got)
		}
		apptest.Has(w.TB, boost(`{"manual_priority":100,"q":"/blog/*","status":"pending"}`), map[string]any{"changed": 0, "undo_token": nil})
		// A change without effect keeps the previous one undoable, once.
		undo := `{"undo_token":"` + done["undo_token"].(string) + `"}`
		apptest.Has(w.TB, w.Do("POST", at+"/priorities/undo", undo).Want(200), map[string]any{"changed": 2})
		w.Do("POST", at+"/priorities/undo", undo).Problem(409, "conflict", "")

		w.Clock.Advance(time.Second)
		done = boost(`{"manual_priority":null,"queued":true}`)
		apptest.Has(w.TB, done, map[string]any{"changed": 0})
		done = boost(`{"manual_priority":1,"q":"shop"}`)
		apptest.Has(w.TB, done, map[string]any{"changed": 1})
		undo = `{"undo_token":"` + done["undo_token"].(string) + `"}`
		apptest.Has(w.TB, w.Do("POST", at+"/priorities/undo", undo).Want(200), map[string]any{"changed": 1})
		w.Do("POST", at+"/priorities/undo", undo).Problem(409, "conflict", "")
		shop := w.item(w.Do("GET", at+"/pages", "").Want(200), "url", "https://example.com/shop")
		apptest.Has(w.TB, shop, map[string]any{"manual_priority": nil, "priority": 100})
		boost(`{"manual_priority":9,"q":"/blog/*"}`)
		apptest.Has(w.TB, boost(`{"manual_priority":null}`), map[string]any{"changed": 2, "more": false})
		apptest.Has(w.TB, boost(`{"manual_priority":7,"cause":"none has it"}`), map[string]any{"changed": 0})
	})
}

// Submissions are listed newest first, for all pages or one.
func TestSubmissions_API(t *testing.T) {
	each(t, func(w *fixture) {
		at, id := w.add("https://example.com/")
		w.account(at)
		w.read(id, "a", 1, "b", 2)
		list := w.Do("GET", at+"/pages", "").Want(200)
		a := w.item(list, "url", "https://example.com/a")["id"].(string)
		for _, p := range []any{a, w.item(list, "url", "https://example.com/b")["id"], a} {
			w.Clock.Advance(time.Second)
			w.Do("POST", fmt.Sprint("/v1/pages/", p, "/submit"), `{}`).Want(202)
			w.submit(id, sites.Outcome{Status: sites.Refused, StatusCode: 403, Error: "Not an owner."})
		}
		_, err := w.Sites.BeginSubmission(w.Context(), w.site(id), sites.Submission{Method: sites.ByIndexNow, Action: sites.Updated, Pages: 2})
		w.Must(err)
		first := w.Do("GET", at+"/submissions?limit=1", "").Want(200)
		apptest.Has(w.TB, apptest.Items(first)[0], map[string]any{
			"page_id": nil, "url": nil, "method": "indexnow", "pages": 2, "status": "sent", "status_code": nil, "error": nil, "answered_at": nil,
		})
		rest := w.Do("GET", at+"/submissions?page_token="+first["next_page_token"].(string), "").Want(200)
		if got := apptest.Column(rest, "url"); got != "https://example.com/a https://example.com/b https://example.com/a" || rest["next_page_token"] != "" {
			w.Errorf("second page: %s", got)
		}
		of := w.Do("GET", at+"/submissions?page_id="+a, "").Want(200)
		if apptest.Column(of, "page_id") != a+" "+a || apptest.Column(of, "status") != "refused refused" || apptest.Column(of, "status_code") != "403 403" {
			w.Errorf("submissions of a page: %v", of)
		}
		for query, want := range map[string]string{"status=refused": "refused refused refused", "status=sent": "sent", "status=accepted": "", "status=refused&page_id=" + a: "refused refused"} {
			if got := apptest.Column(w.Do("GET", at+"/submissions?"+query, "").Want(200), "status"); got != want {
				w.Errorf("submissions?%s: got %q, want %q", query, got, want)
			}
		}
		w.Do("GET", at+"/submissions?page_id="+models.TimedID(models.KindPage, w.Sites.Now(), 99), "").Problem(404, "not-found", "")
		other, _ := w.add("https://other.test/")
		if n := len(apptest.Items(w.Do("GET", other+"/submissions?page_id="+a, "").Want(200))); n != 0 {
			w.Errorf("another website has %d submissions of the page", n)
		}
	})
}

// Quotas are per Google project and per property.
func TestQuota_API(t *testing.T) {
	each(t, func(w *fixture) {
		at, id := w.add("https://example.com/")
		quota := func() (publish, inspection, metadata, requests map[string]any) {
			w.Helper()
			q := w.Do("GET", at+"/quota", "").Want(200)
			apptest.Has(w.TB, w.Do("GET", at, "").Want(200), map[string]any{"quota": q})
			return q["publish"].(map[string]any), q["inspection"].(map[string]any), q["metadata"].(map[string]any), q["requests"].(map[string]any)
		}
		p, i, m, r := quota()
		apptest.Has(w.TB, p, map[string]any{"used": 0, "limit": 200})
		apptest.Has(w.TB, i, map[string]any{"used": 0, "limit": 2000})
		apptest.Has(w.TB, m, map[string]any{"used": 0, "limit": 180})
		apptest.Has(w.TB, r, map[string]any{"used": 0, "limit": 380})
		w.account(at)
		for _, call := range []sites.Call{sites.CallPublish, sites.CallPublish, sites.CallInspect, sites.CallMetadata} {
			permit, err := w.Sites.Acquire(w.Context(), w.me, w.site(id), call)
			w.Must(err)
			w.Must(w.Sites.ReleasePermit(w.Context(), permit))
		}
		p, i, m, r = quota()
		for name, meter := range map[string]map[string]any{"publish 2": p, "inspection 1": i, "metadata 1": m, "requests 3": r} {
			at, err := time.Parse(time.RFC3339Nano, meter["resets_at"].(string))
			if err != nil || !at.After(w.Sites.Now().Time) || at.After(w.Sites.Now().Add(25*time.Hour).Time) || !strings.HasSuffix(name, fmt.Sprint(" ", meter["used"])) {
				w.Errorf("%s: %v", name, meter)
			}
		}
	})
}

// Coverage has the stored days and today.
func TestCoverage_API(t *testing.T) {
	each(t, func(w *fixture) {
		at, id := w.add("https://example.com/")
		empty := w.Do("GET", at+"/coverage", "").Want(200)
		day := func(ago int) string { return w.Sites.Now().Add(-time.Duration(ago) * models.Day).Format(time.DateOnly) }
		if got := apptest.Column(empty, "day"); got != day(0) {
			w.Errorf("got days %s", got)
		}
		w.read(id, "a", 1, "b", 2)
		w.Must(w.Sites.SnapshotCoverage(w.Context()))
		w.Clock.Advance(2 * models.Day)
		page := apptest.Items(w.Do("GET", at+"/pages", "").Want(200))[0]["id"].(string)
		w.Must(w.Sites.RecordVerification(w.Context(), sites.Verification{Page: w.page(page), Inspection: sites.Inspection{Verdict: "PASS"}}))
		days := apptest.Items(w.Do("GET", at+"/coverage?days=3", "").Want(200))
		if len(days) != 2 {
			w.Fatalf("got days %v", days)
		}
		apptest.Has(w.TB, days[0], map[string]any{"day": day(2), "pending": 2, "submitted": 0, "indexed": 0, "not_indexed": 0, "failed": 0})
		apptest.Has(w.TB, days[1], map[string]any{"day": day(0), "pending": 1, "submitted": 0, "indexed": 1, "not_indexed": 0, "failed": 0})
		if got := apptest.Column(w.Do("GET", at+"/coverage?days=2", "").Want(200), "day"); got != day(0) {
			w.Errorf("two days: %s", got)
		}
	})
}

func paths(list map[string]any) string {
	return strings.ReplaceAll(apptest.Column(list, "url"), "https://example.com", "")
}

// submit records the submission of requested pages to the Indexing API.
func (w *fixture) submit(id string, a sites.Outcome) {
	w.Helper()
	site := w.site(id)
	requested, err := w.Sites.PagesToPublish(w.Context(), site, 1)
	w.Must(err)
	if len(requested) == 0 {
		w.Fatal("no page to publish")
	}
	p := requested[0]
	action := sites.Updated
	if p.Removal {
		action = sites.Deleted
	}
	sub, err := w.Sites.BeginSubmission(w.Context(), site, sites.Submission{PageSeq: &p.Seq, URL: p.URL, Method: sites.ByIndexingAPI, Action: action, Pages: 1})
	w.Must(err)
	w.Must(w.Sites.RecordOutcome(w.Context(), sub, []int64{p.Seq}, a))
}
