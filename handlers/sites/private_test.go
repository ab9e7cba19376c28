package sites_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
)

// privateSite is a private website of bob with a page, a sitemap and credentials.
type privateSite struct {
	*pagesApp
	site    sites.Website
	page    sites.Page
	sitemap sites.Sitemap
}

func newPrivate(t *testing.T) *privateSite {
	t.Helper()
	p := &privateSite{pagesApp: newPagesApp(t)}
	bob := p.As("bob").Context()
	var err error
	p.site, err = p.Sites.Add(bob, sites.NewWebsite{SiteURL: "https://secret.test/", Name: "Secret", IndexNowKey: "0123456789", Private: true})
	p.Must(err)
	_, err = p.Sites.SetCredentials(bob, p.site.ID, []byte(secretText), sites.Account{ClientEmail: "robot@secret.test", ProjectID: "p"})
	p.Must(err)
	p.sitemap, _, err = p.Sites.AddSitemap(bob, p.site.ID, "https://secret.test/sitemap.xml")
	p.Must(err)
	u, err := models.ParseURL("url", "https://secret.test/a")
	p.Must(err)
	p.Must(p.Sites.BeginReading(p.TB.Context(), p.sitemap))
	_, err = p.Sites.StoreEntries(p.TB.Context(), p.site, p.sitemap, []sites.Entry{{URL: u}})
	p.Must(err)
	p.Must(p.Sites.RecordRead(p.TB.Context(), p.sitemap, sites.ReadResult{Error: "status 500"}))
	list, err := p.Sites.Pages(bob, p.site.ID, sites.Filter{}, models.Cursor{}, 1)
	p.Must(err)
	p.page = list.Items[0]
	return p
}

func (p *privateSite) rows() string {
	p.Helper()
	var b strings.Builder
	for _, table := range []string{"websites", "sitemaps", "pages", "submissions", "sources", "jobs", "audit_entries"} {
		var all []map[string]any
		p.Must(p.DB.Read(p.TB.Context()).Raw("SELECT * FROM " + table + " ORDER BY seq").Scan(&all).Error)
		fmt.Fprintln(&b, table, all)
	}
	return b.String()
}

// For other accounts, every route with the ID of a private item responds with 404 and changes nothing.
func TestPrivateIDsAreNotFound(t *testing.T) {
	p := newPrivate(t)
	alice, before, tested := p.As("alice"), p.rows(), 0
	file, err := os.ReadFile("../../app/testdata/routes.txt")
	p.Must(err)
	bodies := map[string]string{
		"PUT /v1/websites/:id/credentials": account, "POST /v1/websites/:id/priorities": `{"manual_priority":5}`, "POST /v1/websites/:id/sitemaps": `{"url":"https://secret.test/x.xml"}`,
		"POST /v1/websites/:id/priorities/undo": `{"undo_token":"` + models.TimedID(models.KindChange, p.Sites.Now(), 1) + `"}`,
		"POST /v1/websites/:id/pages/bulk":      `{"ids":["` + p.page.ID() + `"],"action":"boost"}`,
		"PATCH /v1/pages/:id":                   `{"manual_priority":5}`, "PATCH /v1/websites/:id": `{"name":"Mine"}`,
	}
	form := url.Values{
		"id": {p.page.ID()}, "action": {"boost"}, "name": {"Mine"}, "boosted_at": {"1"}, "manual_priority": {"5"}, "url": {"https://secret.test/x.xml"},
		"credentials": {"{}"}, "indexnow_key": {"abcdefgh"},
	}
	for line := range strings.Lines(string(file)) {
		f := strings.Fields(line)
		if len(f) != 3 || !strings.Contains(f[2], ":id") || !strings.HasPrefix(f[2], "/v1/websites/") && !strings.HasPrefix(f[2], "/v1/pages/") && !strings.HasPrefix(f[2], "/sites/") {
			continue
		}
		tested++
		id := p.site.ID
		if strings.HasPrefix(f[2], "/v1/pages/") {
			id = p.page.ID()
		}
		to := strings.NewReplacer(":id", id, ":page", p.page.ID(), ":sitemap_id", p.sitemap.ID(), ":sitemap", p.sitemap.ID()).Replace(f[2])
		switch {
		case strings.HasPrefix(to, "/v1/"):
			if a := alice.Do(f[1], to, bodies[f[1]+" "+f[2]]); a.Status != http.StatusNotFound || strings.Contains(a.Body, "secret") {
				t.Errorf("%s: %d %s", line, a.Status, a.Body)
			}
		default:
			var page apptest.Page
			if f[1] == http.MethodGet {
				page = alice.Get(to)
			} else {
				page = alice.Post(to, form)
			}
			if page.StatusCode != http.StatusNotFound || strings.Contains(page.HTML, "secret.test") {
				t.Errorf("%s: %d", line, page.StatusCode)
			}
		}
		if after := p.rows(); after != before {
			t.Fatalf("%s changed rows", line)
		}
	}
	if tested < 50 {
		t.Errorf("only %d routes", tested)
	}
}

// Lists, counts and searches of other accounts omit private items.
func TestListsOmitPrivateWebsites(t *testing.T) {
	p := newPrivate(t)
	alice, bob := p.As("alice"), p.As("bob")
	for who, want := range map[*apptest.App]int{alice: 0, bob: 1, p.App: 1} {
		if items := apptest.Items(who.Do("GET", "/v1/websites", "").Want(200)); len(items) != want {
			t.Errorf("websites %v, want %d", items, want)
		}
	}
	for _, path := range []string{"/", "/sites", "/sites?problem=sitemaps", "/search?q=secret"} {
		if page := alice.Get(path); page.StatusCode != http.StatusOK || strings.Contains(page.HTML, "secret.test") || strings.Contains(page.HTML, "Secret") {
			t.Errorf("%s: %d %s", path, page.StatusCode, apptest.Text(page, "main"))
		}
		if page := bob.Get(path); !strings.Contains(page.HTML, "Secret") {
			t.Errorf("bob %s: %s", path, apptest.Text(page, "main"))
		}
	}
}

// Websites can be made private through the API and the pages. Only the owner and admins can change that. The owner cannot be set.
func TestPrivateWebsites(t *testing.T) {
	p := newPrivate(t)
	alice, bob := p.As("alice"), p.As("bob")
	made := bob.Do("POST", "/v1/websites", `{"site_url":"https://a.test/","private":true}`).Want(201)
	apptest.Has(t, made, map[string]any{"owner": "bob", "private": true})
	at := "/v1/websites/" + made["id"].(string)
	bob.Do("POST", "/v1/websites", `{"site_url":"https://b.test/","owner":"alice"}`).Problem(400, "invalid-request", "body")
	bob.Do("PATCH", at, `{"owner":"alice"}`).Problem(400, "invalid-request", "body")
	bob.Do("PATCH", at, `{"private":null}`).Problem(400, "invalid-request", "private")
	apptest.Has(t, bob.Do("POST", "/v1/websites", `{"site_url":"https://a.test/"}`).Want(200), map[string]any{"id": made["id"], "private": true})
	hers := alice.Do("POST", "/v1/websites", `{"site_url":"https://a.test/"}`).Want(201)
	apptest.Has(t, hers, map[string]any{"owner": "alice", "private": false})
	bob.Do("PATCH", at, `{"private":false}`).Problem(409, "conflict", "")
	bob.Do("PATCH", "/v1/websites/"+hers["id"].(string), `{"private":true}`).Problem(403, "forbidden", "")
	bob.Do("DELETE", "/v1/websites/"+hers["id"].(string), "").Want(204) // any editor can
	apptest.Has(t, bob.Do("PATCH", at, `{"private":false}`).Want(200), map[string]any{"private": false})

	page := alice.Follow(views.SitesPath, url.Values{"site_url": {"https://c.test/"}, "sharing": {"true"}, "private": {"true"}})
	apptest.WantText(t, page, "aside .facts", "alice")
	if page.Find("h1 .private").Length() != 1 || page.Find("#edit input[name=private][checked]").Length() != 1 {
		t.Error("the page does not show that it is private")
	}
	if alice.Get("/sites").Find("#sites .private").Length() != 1 || alice.Get("/sites").Find("#add input[name=private]").Length() != 1 || p.Get("/sites").Find("#add input[name=private]").Length() != 0 {
		t.Error("the list does not mark the private website, or the form is wrong")
	}
	path := page.Request.URL.Path
	if bob.Get(path).StatusCode != http.StatusNotFound {
		t.Error("bob can see the private website")
	}
	alice.Follow(path, url.Values{"name": {"C"}}) // form without the field
	if bob.Get(path).StatusCode != http.StatusNotFound {
		t.Error("a form without the field makes the website shared")
	}
	alice.Follow(path, url.Values{"name": {"C"}, "sharing": {"true"}})
	if page := bob.Get(path); page.StatusCode != http.StatusOK || page.Find("#edit input[name=private]").Length() != 0 {
		t.Errorf("%d: bob can see the private field", page.StatusCode)
	}
	if page := bob.Post(path, url.Values{"name": {"C"}, "sharing": {"true"}, "private": {"true"}}); page.StatusCode != http.StatusForbidden {
		t.Errorf("bob made the website private: %d", page.StatusCode)
	}

	// The audit log says that a key was set, but does not show it.
	bob.Post("/sites/"+p.site.ID+"/credentials", url.Values{"credentials": {`{"private_key":"` + secretText + `"}`}})
	bob.Post("/sites/"+p.site.ID+"/indexnow", url.Values{"indexnow_key": {"canary-indexnow"}})
	var entries []struct{ Action, Before, After string }
	p.Must(p.DB.Read(p.TB.Context()).Raw("SELECT action, before, after FROM audit_entries ORDER BY seq").Scan(&entries).Error)
	seen := map[string]int{}
	for _, e := range entries {
		seen[e.Action]++
		if line := fmt.Sprint(e); strings.Contains(line, secretText) || strings.Contains(line, "canary") || strings.Contains(line, "0123456789") {
			t.Errorf("secret in the audit log: %s", line)
		}
	}
	if seen["website.add"] != 4 || seen["website.credentials"] != 2 || seen["website.delete"] != 1 || seen["website.edit"] != 4 {
		t.Errorf("audit log: %v", seen)
	}
}
