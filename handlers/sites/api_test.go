package sites_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
)

// Websites can be added, changed, listed, deleted and restored.
func TestWebsites_API(t *testing.T) {
	each(t, func(w *fixture) {
		a := w.Do("POST", "/v1/websites", `{"site_url":"https://Example.com"}`)
		made := a.Want(201)
		now := w.Sites.Now().Format(time.RFC3339Nano)
		apptest.Has(w.TB, made, map[string]any{
			"name": "example.com", "site_url": "https://example.com/", "created_at": now, "updated_at": now, "indexing_enabled": false, "auto_submit": true,
			"reading": true, "last_read_at": nil,
			"google":   map[string]any{"configured": false, "client_email": nil, "project_id": nil, "last_error": nil, "retry_at": nil},
			"indexnow": map[string]any{"key": nil, "key_url": nil, "configured": false, "verified_at": nil, "last_error": nil, "retry_at": nil},
			"pages":    map[string]any{"total": 0, "pending": 0, "submitted": 0, "indexed": 0, "not_indexed": 0, "failed": 0, "gone": 0},
		})
		id := made["id"].(string)
		at := "/v1/websites/" + id
		if !strings.HasPrefix(id, "w_") || a.Header.Get("Location") != at {
			w.Errorf("created %s, Location %s", id, a.Header.Get("Location"))
		}
		apptest.Has(w.TB, w.Do("GET", a.Header.Get("Location"), "").Want(200), made)
		again := w.Do("POST", "/v1/websites", `{"site_url":"https://example.com/","name":"Other","auto_submit":false}`)
		apptest.Has(w.TB, again.Want(200), made) // unchanged
		if again.Header.Get("Location") != at {
			w.Errorf("existing website: Location %s", again.Header.Get("Location"))
		}
		w.Do("POST", "/v1/websites", `{"site_url":"https://example.com/","indexnow_key":"short"}`).Problem(400, "invalid-request", "indexnow_key")

		w.Clock.Advance(time.Second)
		whole := w.Do("POST", "/api/v1/websites", `{"site_url":"sc-domain:Example.org","name":" Shop ","indexing_enabled":true,"auto_submit":false,"indexnow_key":"0123-abcd"}`).Want(201)
		apptest.Has(w.TB, whole, map[string]any{
			"name": "Shop", "site_url": "sc-domain:example.org", "indexing_enabled": true, "auto_submit": false,
			"indexnow": map[string]any{
				"key": "0123-abcd", "key_url": "https://example.org/0123-abcd.txt", "configured": true, "verified_at": nil, "last_error": nil, "retry_at": nil,
			},
		})
		other := whole["id"].(string)
		first := w.Do("GET", "/v1/websites?limit=1", "").Want(200)
		w.WantToken(first["next_page_token"].(string), w.Sites.Now().Add(-time.Second).Time, id)
		second := w.Do("GET", "/v1/websites?limit=1&page_token="+first["next_page_token"].(string), "").Want(200)
		if apptest.Column(first, "id") != id || apptest.Column(second, "id") != other || second["next_page_token"] != "" {
			w.Errorf("pages %v and %v", first, second)
		}

		same := w.Do("PATCH", at, `{}`).Want(200)
		apptest.Has(w.TB, same, map[string]any{"name": "example.com", "auto_submit": true, "indexing_enabled": false})
		edited := w.Do("PATCH", at, `{"name":"Blog","indexing_enabled":true,"auto_submit":false,"indexnow_key":"abcdefgh"}`).Want(200)
		apptest.Has(w.TB, edited, map[string]any{"name": "Blog", "indexing_enabled": true, "auto_submit": false, "updated_at": w.Sites.Now().Format(time.RFC3339Nano)})
		cleared := w.Do("PATCH", at, `{"name":null,"indexnow_key":null}`).Want(200)
		apptest.Has(w.TB, cleared, map[string]any{"name": "example.com", "indexing_enabled": true})
		if cleared["indexnow"].(map[string]any)["configured"] != false {
			w.Errorf("cleared: %v", cleared["indexnow"])
		}

		w.Do("DELETE", at, "").Want(204)
		w.Do("GET", at, "").Problem(404, "not-found", "")
		w.Do("DELETE", at, "").Problem(404, "not-found", "")
		if list := w.Do("GET", "/v1/websites", "").Want(200); apptest.Column(list, "id") != other {
			w.Errorf("after a deletion: %v", list)
		}
		apptest.Has(w.TB, w.Do("POST", at+"/restore", "").Want(200), map[string]any{"id": id})
		w.Do("POST", at+"/restore", "").Problem(404, "not-found", "")
		w.Do("DELETE", at, "").Want(204)
		w.add("https://example.com/")
		w.Do("POST", at+"/restore", "").Problem(409, "conflict", "")
	})
}

// A refresh stays open until the sitemaps are read.
func TestRefresh_API(t *testing.T) {
	each(t, func(w *fixture) {
		at, id := w.add("https://example.com/")
		site, ok, err := w.Sites.Claim(w.Context(), w.me, sites.Reading, w.site(id).Seq, true)
		if err != nil || !ok {
			w.Fatal(ok, err)
		}
		w.Must(w.Sites.FinishReading(w.Context(), site, ""))
		apptest.Has(w.TB, w.Do("GET", at, "").Want(200), map[string]any{"reading": true, "last_read_at": w.Sites.Now().Format(time.RFC3339Nano)})
		w.Must(w.Sites.Release(w.Context(), w.me, sites.Reading, site, false))
		apptest.Has(w.TB, w.Do("GET", at, "").Want(200), map[string]any{"reading": false})
		apptest.Has(w.TB, w.Do("POST", at+"/refresh", "").Want(202), map[string]any{"id": id, "reading": true})
		requested, err := w.Sites.RequestedWebsites(w.Context(), sites.Reading, 9)
		w.Must(err)
		if len(requested) != 1 {
			w.Errorf("got %d requested websites, want 1", len(requested))
		}
	})
}

// The number of queries does not depend on the number of websites.
func TestWebsitesTakeFewQueries(t *testing.T) {
	each(t, func(w *fixture) {
		count := func() int64 {
			before := w.Queries.Load()
			w.Do("GET", "/v1/websites?limit=500", "").Want(200)
			return w.Queries.Load() - before
		}
		add := func(n int) {
			for i := range n {
				at, id := w.add(fmt.Sprintf("https://h%d-%d.test/", n, i))
				if i < 3 {
					w.account(at)
					w.read(id, "a", 1)
				}
			}
		}
		add(1)
		few := count()
		add(30)
		if many := count(); many != few {
			w.Errorf("%d queries for many websites, %d for one", many, few)
		}
	})
}

// Credentials are stored as sent, and never returned.
func TestCredentials_API(t *testing.T) {
	each(t, func(w *fixture) {
		at, id := w.add("https://example.com/")
		w.Do("POST", at+"/credentials/test", "").Problem(409, "conflict", "")
		a := w.Do("PUT", at+"/credentials", account)
		google := map[string]any{"configured": true, "client_email": "robot@p.example", "project_id": "p", "last_error": nil, "retry_at": nil}
		apptest.Has(w.TB, a.Want(200), map[string]any{"id": id, "google": google})
		for _, got := range []string{a.Body, w.Do("GET", at, "").Body, w.Do("GET", "/v1/websites", "").Body} {
			if strings.Contains(got, secret) || strings.Contains(got, "private_key") {
				w.Errorf("response contains the key: %s", got)
			}
		}
		key, err := w.Sites.Key(w.site(id))
		w.Must(err)
		if string(key) != account {
			w.Errorf("stored key: %s", key)
		}

		w.Engines.checks = []views.Check{{Name: "Token", OK: true, Text: "Google accepts the key."}, {Name: "Search Console", Text: "Not an owner.", Fix: "Add robot@p.example as an owner."}}
		test := w.Do("POST", at+"/credentials/test", "").Want(200)
		checks := apptest.Objects(test["checks"])
		if len(checks) != 2 {
			w.Fatalf("got test result %v", test)
		}
		apptest.Has(w.TB, checks[0], map[string]any{"name": "Token", "ok": true, "text": "Google accepts the key.", "fix": nil})
		apptest.Has(w.TB, checks[1], map[string]any{"name": "Search Console", "ok": false, "text": "Not an owner.", "fix": "Add robot@p.example as an owner."})
		w.Engines.err = &models.Error{Code: models.CodeUnavailable, Detail: "Google did not respond. Try again later."}
		w.Do("POST", at+"/credentials/test", "").Problem(503, "unavailable", "")

		w.Must(w.Sites.RecordServiceOutcome(w.Context(), w.site(id), sites.Indexing, sites.Outcome{Status: sites.Refused, Error: "not an owner", Sitewide: true}))
		google["last_error"], google["retry_at"] = "not an owner", w.Sites.Now().Add(time.Minute).Format(time.RFC3339Nano)
		apptest.Has(w.TB, w.Do("GET", at, "").Want(200), map[string]any{"google": google})

		w.Do("DELETE", at+"/credentials", "").Want(204)
		w.Do("DELETE", at+"/credentials", "").Want(204) // idempotent
		apptest.Has(w.TB, w.Do("GET", at, "").Want(200), map[string]any{
			"google": map[string]any{"configured": false, "client_email": nil, "project_id": nil, "last_error": nil, "retry_at": nil},
		})
	})
}

// Errors about credentials do not repeat them.
func TestWrongCredentials_API(t *testing.T) {
	each(t, func(w *fixture) {
		at, _ := w.add("https://example.com/")
		long := func(n int) string {
			const head = `{"type":"service_account","client_email":"robot@p.example","project_id":"p","private_key":"`
			return head + strings.Repeat("k", n-len(head)-2) + `"}`
		}
		for _, c := range []struct {
			name, body, location string
		}{
			{"nothing", ``, "body"},
			{"no JSON", `-----BEGIN ` + secret, "body"},
			{"no object", `["` + secret + `"]`, "body"},
			{"a text", `"/etc/` + secret + `.json"`, "body"},
			{"null", `null`, "body"},
			{"a member twice", `{"type":"service_account","type":"` + secret + `"}`, "body"},
			{"a wrong type", `{"type":"service_account","private_key":["` + secret + `"]}`, "private_key"},
			{"another file", `{"type":"authorized_user","refresh_token":"` + secret + `"}`, "credentials"},
			{"an empty object", `{}`, "credentials"},
			{"too long", long(64<<10 + 1), "credentials"},
		} {
			a := w.Do("PUT", at+"/credentials", c.body)
			a.Problem(400, "invalid-request", c.location)
			if strings.Contains(a.Body, secret) {
				w.Errorf("%s: the response repeats the input: %s", c.name, a.Body)
			}
		}
		w.Do("PUT", at+"/credentials", long(64<<10)).Want(200)
		w.Do("PUT", at+"/credentials", long(middleware.MaxBody+1)).Problem(413, "too-large", "")
		w.Send("PUT", at+"/credentials", "text/plain", account).Problem(415, "unsupported-media-type", "")
		w.Do("PUT", "/v1/websites/"+models.NewID(models.KindWebsite)+"/credentials", account).Problem(404, "not-found", "")
	})
}

// Credentials sealed with another key must be sent again.
func TestCredentialsOfAnotherKey_API(t *testing.T) {
	each(t, func(w *fixture) {
		at, id := w.add("https://example.com/")
		w.account(at)
		w.exec("UPDATE websites SET credentials = ? WHERE id = ?", []byte("sealed by another key"), id)
		p := w.Do("POST", at+"/credentials/test", "").Problem(409, "conflict", "")
		if !strings.Contains(p["detail"].(string), "Add the credentials again") {
			w.Errorf("got problem %v", p)
		}
	})
}

// An IndexNow key can be generated or set, and checked.
func TestIndexNow_API(t *testing.T) {
	each(t, func(w *fixture) {
		at, _ := w.add("https://example.com/blog/")
		w.Do("POST", at+"/indexnow/check", "").Problem(409, "conflict", "")
		indexNow := func(a apptest.Response) map[string]any {
			w.Helper()
			return a.Want(200)["indexnow"].(map[string]any)
		}
		apptest.Has(w.TB, indexNow(w.Do("POST", at+"/indexnow", "")), map[string]any{
			"key": "made-key-1", "key_url": "https://example.com/made-key-1.txt", "configured": true, "verified_at": nil, "last_error": nil,
		})
		w.Engines.problem = "The key file is empty."
		apptest.Has(w.TB, indexNow(w.Do("POST", at+"/indexnow/check", "")), map[string]any{"verified_at": nil, "last_error": "The key file is empty."})
		w.Engines.problem = ""
		apptest.Has(w.TB, indexNow(w.Do("POST", at+"/indexnow/check", "")), map[string]any{"verified_at": w.Sites.Now().Format(time.RFC3339Nano), "last_error": nil})
		apptest.Has(w.TB, indexNow(w.Do("PATCH", at, `{"indexnow_key":"made-key-1"}`)), map[string]any{"verified_at": w.Sites.Now().Format(time.RFC3339Nano)}) // unchanged
		apptest.Has(w.TB, indexNow(w.Do("POST", at+"/indexnow", "")), map[string]any{"key": "made-key-2", "verified_at": nil})
		w.Engines.err = errors.New("no space left")
		w.Do("POST", at+"/indexnow/check", "").Problem(500, "internal", "")
	})
}

// A sitemap is stored without fetching it.
func TestSitemaps_API(t *testing.T) {
	each(t, func(w *fixture) {
		at, id := w.add("https://example.com/")
		a := w.Do("POST", at+"/sitemaps", `{"url":"https://example.com/sitemap.xml#top"}`)
		made := a.Want(201)
		apptest.Has(w.TB, made, map[string]any{
			"website_id": id, "url": "https://example.com/sitemap.xml", "origin": "given", "kind": nil, "pages": 0, "skipped": 0, "skipped_reasons": []string{},
			"created_at": w.Sites.Now().Format(time.RFC3339Nano), "last_read_at": nil, "changed_at": nil, "last_error": nil, "submitted_at": nil, "submit_error": nil,
		})
		if a.Header.Get("Location") != at+"/sitemaps" || !strings.HasPrefix(made["id"].(string), "m_") {
			w.Errorf("created %v, Location %s", made["id"], a.Header.Get("Location"))
		}
		apptest.Has(w.TB, w.Do("POST", at+"/sitemaps", `{"url":"https://example.com/sitemap.xml"}`).Want(200), made)
		w.Clock.Advance(time.Second)
		foreign := w.Do("POST", at+"/sitemaps", `{"url":"http://127.0.0.1:1/other.xml"}`).Want(201) // errors show up when it is read

		w.read(id, "a", 1, "b", 2)
		first := w.Do("GET", at+"/sitemaps?limit=1", "").Want(200)
		apptest.Has(w.TB, apptest.Items(first)[0], map[string]any{
			"id": made["id"], "kind": "sitemap", "pages": 2, "skipped": 1, "skipped_reasons": []string{"line 7: URL must start with http:// or https://"},
			"last_read_at": w.Sites.Now().Format(time.RFC3339Nano), "changed_at": w.Sites.Now().Format(time.RFC3339Nano),
		})
		second := w.Do("GET", at+"/sitemaps?limit=1&page_token="+first["next_page_token"].(string), "").Want(200)
		if apptest.Column(second, "id") != foreign["id"] || second["next_page_token"] != "" {
			w.Errorf("second page: %v", second)
		}

		sitemap := at + "/sitemaps/" + made["id"].(string)
		otherSite, _ := w.add("https://other.test/")
		w.Do("DELETE", otherSite+"/sitemaps/"+made["id"].(string), "").Problem(404, "not-found", "")
		apptest.Has(w.TB, w.Do("GET", sitemap, "").Want(200), apptest.Items(first)[0])
		w.Do("GET", otherSite+"/sitemaps/"+made["id"].(string), "").Problem(404, "not-found", "")
		w.Do("DELETE", sitemap, "").Want(204)
		w.Do("GET", sitemap, "").Problem(404, "not-found", "")
		w.Do("DELETE", sitemap, "").Problem(404, "not-found", "")
		if rest := w.Do("GET", at+"/sitemaps", "").Want(200); apptest.Column(rest, "id") != foreign["id"] {
			w.Errorf("after a deletion: %v", rest)
		}
	})
}

// A website has at most 1,000 sitemaps.
func TestTooManySitemaps_API(t *testing.T) {
	each(t, func(w *fixture) {
		at, id := w.add("https://example.com/")
		var urls []string
		for i := range sites.MaxSitemaps {
			urls = append(urls, fmt.Sprintf("https://example.com/%d.xml", i))
		}
		_, _, err := w.Sites.AddFound(w.Context(), w.site(id), nil, urls)
		w.Must(err)
		w.Do("POST", at+"/sitemaps", `{"url":"https://example.com/more.xml"}`).Problem(409, "conflict", "")
		w.Do("POST", at+"/sitemaps", `{"url":"`+urls[0]+`"}`).Want(200)
	})
}
