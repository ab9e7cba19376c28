package sites_test

import (
	"fmt"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
)

// An invalid request gets a complete problem that names the member.
func TestSitesErrors_API(t *testing.T) {
	each(t, func(w *fixture) {
		at, id := w.add("https://example.com/")
		w.read(id, "a", 1)
		pageID := apptest.Items(w.Do("GET", at+"/pages", "").Want(200))[0]["id"].(string)
		page := "/v1/pages/" + pageID
		long, wide := strings.Repeat("a", 513), strings.Repeat("%C3%BC", 257)
		for _, c := range []struct {
			method, path, body, location string
		}{
			{"POST", "/v1/websites", `{}`, "site_url"},
			{"POST", "/v1/websites", ``, "body"},
			{"POST", "/v1/websites", `{"site_url":null}`, "site_url"},
			{"POST", "/v1/websites", `{"site_url":7}`, "site_url"},
			{"POST", "/v1/websites", `{"site_url":""}`, "site_url"},
			{"POST", "/v1/websites", `{"site_url":"example.com"}`, "site_url"},
			{"POST", "/v1/websites", `{"site_url":"ftp://example.com/"}`, "site_url"},
			{"POST", "/v1/websites", `{"site_url":"https://u:p@example.com/"}`, "site_url"},
			{"POST", "/v1/websites", `{"site_url":"https://example.com/?q=1"}`, "site_url"},
			{"POST", "/v1/websites", `{"site_url":"https://example.com/` + strings.Repeat("a", 2048) + `"}`, "site_url"},
			{"POST", "/v1/websites", `{"site_url":"sc-domain:"}`, "site_url"},
			{"POST", "/v1/websites", `{"site_url":"sc-domain:example.org/path"}`, "site_url"},
			{"POST", "/v1/websites", `{"site_url":"sc-domain:127.0.0.1"}`, "site_url"},
			{"POST", "/v1/websites", `{"site_url":"https://x.test","name":"` + strings.Repeat("n", 201) + `"}`, "name"},
			{"POST", "/v1/websites", `{"site_url":"https://x.test","indexing_enabled":null}`, "indexing_enabled"},
			{"POST", "/v1/websites", `{"site_url":"https://x.test","auto_submit":"yes"}`, "auto_submit"},
			{"POST", "/v1/websites", `{"site_url":"https://x.test","indexnow_key":"short"}`, "indexnow_key"},
			{"POST", "/v1/websites", `{"site_url":"https://x.test","indexnow_key":""}`, "indexnow_key"},
			{"POST", "/v1/websites", `{"site_url":"https://x.test","colour":"red"}`, "body"},
			{"PATCH", at, `{"site_url":"https://x.test"}`, "body"},
			{"PATCH", at, `{"name":7}`, "name"},
			{"PATCH", at, `{"indexing_enabled":null}`, "indexing_enabled"},
			{"PATCH", at, `{"auto_submit":null}`, "auto_submit"},
			{"PATCH", at, `{"auto_submit":1}`, "auto_submit"},
			{"PATCH", at, `{"indexnow_key":"with a blank"}`, "indexnow_key"},
			{"PATCH", at, `{"indexnow_key":"` + strings.Repeat("a", 129) + `"}`, "indexnow_key"},
			{"PATCH", at, `{"indexnow_key":""}`, "indexnow_key"},
			{"PATCH", at, `[]`, "body"},
			{"GET", "/v1/websites?limit=0", ``, "query.limit"},
			{"GET", "/v1/websites?limit=501", ``, "query.limit"},
			{"GET", "/v1/websites?page_token=zzz", ``, "query.page_token"},
			{"GET", "/v1/websites?page_token=" + token(pageID), ``, "query.page_token"},
			{"POST", at + "/sitemaps", `{}`, "url"},
			{"POST", at + "/sitemaps", `{"url":"sitemap.xml"}`, "url"},
			{"POST", at + "/sitemaps", `{"url":"file:///etc/passwd"}`, "url"},
			{"POST", at + "/sitemaps", `{"url":"https://u:p@example.com/sitemap.xml"}`, "url"},
			{"POST", at + "/sitemaps", `{"url":"https://example.com/` + strings.Repeat("a", 2048) + `"}`, "url"},
			{"POST", at + "/sitemaps", `{"url":"https://example.com/sitemap.xml","kind":"text"}`, "body"},
			{"GET", at + "/sitemaps?limit=x", ``, "query.limit"},
			{"GET", at + "/sitemaps?page_token=zzz", ``, "query.page_token"},
			{"GET", at + "/sitemaps?page_token=" + token(id), ``, "query.page_token"},
			{"GET", at + "/pages?status=done", ``, "query.status"},
			{"GET", at + "/pages?status=gone", ``, "query.status"},
			{"GET", at + "/pages?queued=maybe", ``, "query.queued"},
			{"GET", at + "/pages?gone=2", ``, "query.gone"},
			{"GET", at + "/pages?cause=" + long, ``, "query.cause"},
			{"GET", at + "/pages?q=" + wide, ``, "query.q"},
			{"GET", at + "/pages?limit=-1", ``, "query.limit"},
			{"GET", at + "/pages?page_token=zzz", ``, "query.page_token"},
			{"GET", at + "/pages?page_token=" + token(id), ``, "query.page_token"},
			{"PATCH", page, `{"manual_priority":0}`, "manual_priority"},
			{"PATCH", page, `{"manual_priority":101}`, "manual_priority"},
			{"PATCH", page, `{"manual_priority":-1}`, "manual_priority"},
			{"PATCH", page, `{"manual_priority":1.5}`, "manual_priority"},
			{"PATCH", page, `{"manual_priority":1e2000}`, "body"},
			{"PATCH", page, `{"manual_priority":"50"}`, "manual_priority"},
			{"PATCH", page, `{"manual_priority":true}`, "manual_priority"},
			{"PATCH", page, `{"manual_priority":[50]}`, "manual_priority"},
			{"PATCH", page, `{"priority":50}`, "body"},
			{"PATCH", page, ``, "body"},
			{"POST", page + "/submit", `{"action":"removed"}`, "action"},
			{"POST", page + "/submit", `{"force":true}`, "body"},
			{"POST", at + "/priorities", `{}`, "manual_priority"},
			{"POST", at + "/priorities", `{"manual_priority":0}`, "manual_priority"},
			{"POST", at + "/priorities", `{"manual_priority":101,"q":"/blog/*"}`, "manual_priority"},
			{"POST", at + "/priorities", `{"manual_priority":50.5}`, "manual_priority"},
			{"POST", at + "/priorities", `{"manual_priority":50,"status":"gone"}`, "status"},
			{"POST", at + "/priorities", `{"manual_priority":50,"q":"` + long + `"}`, "q"},
			{"POST", at + "/priorities", `{"manual_priority":50,"cause":"` + long + `"}`, "cause"},
			{"POST", at + "/priorities", `{"manual_priority":50,"page_ids":[]}`, "body"},
			{"POST", at + "/priorities/undo", `{}`, "undo_token"},
			{"POST", at + "/priorities/undo", `{"undo_token":"zzz"}`, "undo_token"},
			{"GET", at + "/submissions?status=done", ``, "query.status"},
			{"GET", at + "/submissions?page_id=" + long, ``, "query.page_id"},
			{"GET", at + "/submissions?limit=501", ``, "query.limit"},
			{"GET", at + "/submissions?page_token=zzz", ``, "query.page_token"},
			{"GET", at + "/submissions?page_token=" + token(pageID), ``, "query.page_token"},
			{"GET", at + "/coverage?days=0", ``, "query.days"},
			{"GET", at + "/coverage?days=401", ``, "query.days"},
			{"GET", at + "/coverage?days=x", ``, "query.days"},
		} {
			w.Do(c.method, c.path, c.body).Problem(400, "invalid-request", c.location)
		}
		apptest.Has(w.TB, w.Do("GET", page, "").Want(200), map[string]any{"manual_priority": nil})
		w.Do("PUT", page, `{}`).Problem(405, "method-not-allowed", "")
		w.Do("DELETE", page, "").Problem(405, "method-not-allowed", "")
	})
}

// Unknown IDs, IDs of another kind and of deleted websites get a 404.
func TestSitesNotFound_API(t *testing.T) {
	each(t, func(w *fixture) {
		at, id := w.add("https://example.com/")
		w.read(id, "a", 1)
		pageID := apptest.Items(w.Do("GET", at+"/pages", "").Want(200))[0]["id"].(string)
		sitemapID := apptest.Items(w.Do("GET", at+"/sitemaps", "").Want(200))[0]["id"].(string)
		ofWebsite := []string{
			"GET ", "PATCH  {}", "DELETE ", "POST /refresh", "PUT /credentials " + account, "DELETE /credentials", "POST /credentials/test", "POST /indexnow", "POST /indexnow/check",
			"GET /sitemaps", `POST /sitemaps {"url":"https://example.com/sitemap.xml"}`, "DELETE /sitemaps/" + sitemapID, "GET /pages", "GET /pages?q=a", "GET /submissions", "GET /quota",
			"GET /not-indexed", "GET /causes", "POST /crawl", `POST /pages/bulk {"ids":["` + pageID + `"],"action":"boost"}`,
			"GET /coverage", `POST /priorities {"manual_priority":1}`, `POST /priorities/undo {"undo_token":"` + models.NewID(models.KindChange) + `"}`,
		}
		ofPage := []string{"GET ", `PATCH  {"manual_priority":1}`, "PATCH  {}", "POST /submit", "POST /verify", "GET /findings"}
		missing := func(path string, calls []string) {
			w.Helper()
			for _, call := range calls {
				method, rest, _ := strings.Cut(call, " ")
				rest, body, _ := strings.Cut(rest, " ")
				w.Do(method, path+rest, body).Problem(404, "not-found", "")
			}
		}
		for _, other := range []string{models.NewID(models.KindWebsite), pageID, sitemapID, "w_", "%00", "w_" + strings.Repeat("z", 22)} {
			missing("/v1/websites/"+other, append(ofWebsite, "POST /restore"))
		}
		for _, other := range []string{models.NewID(models.KindPage), models.TimedID(models.KindPage, w.Sites.Now(), 1<<40), id, sitemapID, "p_", "%00"} {
			missing("/v1/pages/"+other, ofPage)
		}
		for _, other := range []string{models.NewID(models.KindSitemap), pageID, id, "m_", "%00"} {
			w.Do("DELETE", at+"/sitemaps/"+other, "").Problem(404, "not-found", "")
		}
		w.Do("DELETE", at, "").Want(204)
		missing(at, ofWebsite)
		missing("/v1/pages/"+pageID, ofPage)
	})
}

func token(id string) string {
	c, err := models.ParseToken("eyJjcmVhdGVkX2F0IjoiMjAyNS0wMy0yNFQxMjowMDowMFoiLCJpZCI6IngifQ==") // of the id "x"
	if err != nil {
		panic(fmt.Sprint("the token of the test: ", err))
	}
	c.ID = id
	return c.Token()
}
