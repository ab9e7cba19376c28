package sites_test

import (
	"context"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/sites"
)

func (w *fixture) inspected(id, state string) {
	w.Helper()
	i := sites.Inspection{Verdict: "NEUTRAL", CoverageState: state}
	w.Must(w.Sites.RecordVerification(w.Context(), sites.Verification{Page: w.page(id), Inspection: i, Cause: sites.CauseOf(i)}))
}

// The API has what the page of unindexed pages shows: the pages with their findings, and the causes.
func TestUnindexed_API(t *testing.T) {
	each(t, func(w *fixture) {
		at, id := w.add("https://example.com/")
		w.read(id, "no", 1, "robots", 2, "blocked", 3, "in", 4, "unknown", 5)
		list := w.Do("GET", at+"/pages", "").Want(200)
		ids := map[string]string{}
		for _, item := range apptest.Items(list) {
			ids[strings.TrimPrefix(item["url"].(string), "https://example.com/")] = item["id"].(string)
		}
		for path, state := range map[string]string{
			"no": "Excluded by ‘noindex’ tag", "robots": "Blocked by robots.txt", "blocked": "Indexed, though blocked by robots.txt", "in": "Submitted and indexed", "unknown": "A new state",
		} {
			w.inspected(ids[path], state)
		}
		w.Systems.known = map[string]sites.Evidence{"https://example.com/no": {Crawled: &sites.Crawled{FetchedAt: w.Sites.Now(), StatusCode: 200, NoIndex: true, Words: 5}}}
		found := w.Do("GET", at+"/not-indexed", "").Want(200)
		if got := paths(found); got != "/no /robots /unknown" {
			w.Errorf("got %s", got)
		}
		no := w.item(found, "url", "https://example.com/no")
		apptest.Has(w.TB, no, map[string]any{"status": "not_indexed", "crawl": "status 200, noindex, 5 words", "checks": nil})
		apptest.Has(w.TB, no["findings"].([]any)[0].(map[string]any), map[string]any{
			"certainty": "certain", "cause": "noindex", "label": "Excluded by noindex", "text": sites.CauseBySlug("noindex").Text, "fix": sites.CauseBySlug("noindex").Fix,
		})
		apptest.Has(w.TB, w.Do("GET", "/v1/pages/"+ids["no"]+"/findings", "").Want(200), no)
		apptest.Has(w.TB, w.item(found, "url", "https://example.com/unknown"), map[string]any{"status": "pending", "coverage_state": "A new state", "cause": "a_new_state"})
		apptest.Has(w.TB, w.Do("GET", "/v1/pages/"+ids["blocked"], "").Want(200), map[string]any{"status": "indexed", "verdict": "NEUTRAL"})
		first := w.Do("GET", at+"/not-indexed?limit=1", "").Want(200)
		for query, want := range map[string]string{
			"page_token=" + first["next_page_token"].(string): "/robots /unknown", "cause=robots": "/robots", "cause=indexed_though_blocked": "/blocked", "q=/n*": "/no", "cause=x": "",
		} {
			if got := paths(w.Do("GET", at+"/not-indexed?"+query, "").Want(200)); got != want {
				w.Errorf("%s: got %q, want %q", query, got, want)
			}
		}
		causes := w.Do("GET", at+"/causes", "").Want(200)
		if got, want := apptest.Column(causes, "cause"), "a_new_state indexed_though_blocked noindex robots"; got != want {
			w.Errorf("causes: got %s, want %s", got, want)
		}
		apptest.Has(w.TB, w.item(causes, "cause", "robots"), map[string]any{"label": "Blocked by robots.txt", "status": "not_indexed", "pages": 1})
		for query, location := range map[string]string{"limit=0": "query.limit", "page_token=zzz": "query.page_token", "cause=" + strings.Repeat("a", 513): "query.cause", "q=" + strings.Repeat("a", 513): "query.q"} {
			w.Do("GET", at+"/not-indexed?"+query, "").Problem(400, "invalid-request", location)
		}
	})
}

// Selected pages can be boosted, reset, submitted and verified.
func TestBulkPages_API(t *testing.T) {
	each(t, func(w *fixture) {
		at, id := w.add("https://example.com/")
		w.read(id, "a", 40, "b", 50, "c", 1)
		list := w.Do("GET", at+"/pages", "").Want(200)
		a, b := w.item(list, "url", "https://example.com/a")["id"].(string), w.item(list, "url", "https://example.com/b")["id"].(string)
		body := func(action string) string {
			return `{"ids":["` + a + `","` + b + `","` + models.NewID(models.KindPage) + `"],"action":"` + action + `"}`
		}
		bulk := at + "/pages/bulk"
		done := w.Do("POST", bulk, body("boost")).Want(200)
		apptest.Has(w.TB, done, map[string]any{"changed": 2})
		if got := paths(w.Do("GET", at+"/pages", "").Want(200)); got != "/a /b /c" {
			w.Errorf("got queue %s", got)
		}
		apptest.Has(w.TB, w.Do("POST", at+"/priorities/undo", `{"undo_token":"`+done["undo_token"].(string)+`"}`).Want(200), map[string]any{"changed": 2})
		apptest.Has(w.TB, w.Do("POST", bulk, body("reset")).Want(200), map[string]any{"changed": 0, "undo_token": nil})
		for _, action := range []string{"submit", "verify"} {
			w.Do("POST", bulk, body(action)).Problem(409, "conflict", "") // no credentials
		}
		w.account(at)
		for _, action := range []string{"submit", "verify"} {
			apptest.Has(w.TB, w.Do("POST", bulk, body(action)).Want(200), map[string]any{"changed": 2, "undo_token": nil})
			if w.Do("GET", "/v1/pages/"+a, "").Want(200)[action+"_requested_at"] == nil {
				w.Errorf("%s is not requested", action)
			}
		}
		for bad, location := range map[string]string{
			`{}`: "ids", `{"ids":[],"action":"boost"}`: "ids", `{"ids":["` + a + `"],"action":"drop"}`: "action", `{"ids":["` + strings.Repeat(`a","`, 500) + `a"],"action":"boost"}`: "ids",
		} {
			w.Do("POST", bulk, bad).Problem(400, "invalid-request", location)
		}
	})
}

// A crawl of a website fetches the pages of its queue too.
func TestCrawlWebsite_API(t *testing.T) {
	each(t, func(w *fixture) {
		at, id := w.add("https://example.com/")
		w.Do("POST", at+"/crawl", "").Problem(409, "conflict", "")
		w.read(id, "a", 1, "b", 2)
		apptest.Has(w.TB, w.Do("POST", at+"/crawl", "").Want(202), map[string]any{"job_id": "j_1"})
		if got := strings.Join(w.Systems.crawled, " "); got != "https://example.com/a https://example.com/b" {
			w.Errorf("crawled %s", got)
		}
		w.Systems.crawlErr = models.Conflict("The source is disabled.")
		w.Do("POST", at+"/crawl", "").Problem(409, "conflict", "")
	})
}

// apiSystems are other systems with known evidence.
type apiSystems struct {
	fakeSystems
	known map[string]sites.Evidence
}

func (s *apiSystems) Evidence(context.Context, []string) (map[string]sites.Evidence, error) {
	return s.known, nil
}
