//go:build e2e

package e2e

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

var screenshots = flag.String("screenshots", "", "write pictures of the pages to this `folder`")

// TestScreenshots writes PAGE-DATABASE-SIZE-SCHEME.png for each page: wide and narrow, light and dark, with an empty and
// a full database.
func TestScreenshots(t *testing.T) {
	t.Parallel()
	if *screenshots == "" {
		t.Skip("skipped without -screenshots")
	}
	if err := os.MkdirAll(*screenshots, 0o755); err != nil {
		t.Fatal(err)
	}
	empty := Start(t)
	shoot(t, empty, "empty", map[string]string{"overview": "/", "links": "/links", "tags": "/tags", "jobs": "/admin/jobs", "watch": "/watch", "short": "/short", "statuses": "/status", "checks": "/admin/checks",
		"cleanup": "/admin/cleanup", "crawl": "/crawl", "frontier": "/crawl/frontier", "discovered": "/crawl/discovered",
		"pages": "/crawl/pages", "schedule": "/crawl/schedule", "feeds": "/crawl/feeds", "sites": "/sites",
		"alerts": "/alerts", "channels": "/alerts/channels", "rules": "/alerts/rules", "maintenance": "/alerts/maintenance"})

	store := storeIn(t)
	if out, code := Command(t, []string{"demo", "-links", "3000"}, store); code != 0 {
		t.Fatalf("fill the database: exit code %d: %s", code, out)
	}
	web, full := site(t), Start(t, store)
	full.save(web.URL+"/how-sqlite-stores-a-page", "SQLite", "Databases")
	full.save(web.URL+"/the-quiet-web", "Reading")
	full.save(web.set("/\u05e9\u05dc\u05d5\u05dd", titled("\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd: notes from right to left")), "Typography")
	shown := full.save(web.URL+"/a-long-walk-through-go-memory", "Go", "Performance", "read-later")
	full.Call("PUT", "/v1/link/"+shown.ID+"/annotation", map[string]any{"notes": "The part about escape analysis.\nRead before the talk."}, nil)
	ill := full.save(web.URL+"/old-home", "History")
	gone := full.save(web.URL + "/gone-by-now")
	web.set("/old-home", redirect(301, "/new-home"))
	web.set("/gone-by-now", status(404))
	full.Call("PUT", "/v1/link/"+ill.ID, nil, nil)
	full.Call("PUT", "/v1/link/"+gone.ID, nil, nil)
	full.Call("POST", "/v1/admin/jobs/reaper/run", nil, nil)
	watched := map[string]string{}
	all, _ := listed[target](full, "/v1/targets")
	for _, x := range all {
		watched[x.Name] = x.ID
	}
	crawls, _ := listed[crawlJob](full, "/v1/jobs")
	sites, _ := listed[ownSite](full, "/v1/websites")
	shop := "/sites/" + sites[0].ID
	fired, _ := listed[struct{ ID string }](full, "/v1/alerts")
	shoot(t, full, "full", map[string]string{
		"sites": "/sites", "site": shop, "site-indexnow": "/sites/" + sites[2].ID, "site-pages": shop + "/pages", "site-matching": shop + "/pages?q=%2Fblog%2F*",
		"site-page": full.pagesOf(sites[1].ID)[0], "site-unindexed": shop + "/not-indexed", "site-submissions": shop + "/submissions",
		"alerts": "/alerts", "alert": "/alerts/" + fired[0].ID, "everything": "/search?q=shop", "channels": "/alerts/channels", "channel": "/alerts/channels/new?service=smtp", "rules": "/alerts/rules", "rule": "/alerts/rules/new",
		"maintenance": "/alerts/maintenance",
		"crawl":       "/crawl", "crawl-job": "/crawl/jobs/" + crawls[1].ID, "frontier": "/crawl/frontier", "discovered": "/crawl/discovered",
		"pages": "/crawl/pages?q=knives+price", "schedule": "/crawl/schedule", "feeds": "/crawl/feeds",
		"overview": "/", "links": "/links", "link": "/links/" + shown.ID, "moved": "/links/" + ill.ID, "tags": "/tags", "jobs": "/admin/jobs",
		"watch": "/watch", "target": "/watch/" + watched["Product search"], "down": "/watch/" + watched["Shipping labels"],
		"short": "/short", "short-link": "/short/spring26", "short-expired": "/short/lunch-poll",
		"status": "/status/demo", "statuses": "/status", "status-edit": "/status/demo/edit", "checks": "/admin/checks", "cleanup": "/admin/cleanup",
		"help": "/help", "guide": "/help/access", "help-settings": "/help/settings", "help-search": "/help?q=alert",
		"search": "/links?q=go+performance", "settings": "/admin/settings", "job": "/admin/jobs/reaper", "not-found": "/nowhere",
	})
	shootAccounts(t, full)
}

// shootAccounts writes PNGs of the pages of accounts, from the first account on.
func shootAccounts(t *testing.T, s *Server) {
	t.Helper()
	b := browse(t, s, wide, "/")
	b.expect("status of 4")
	b.pictures("full", map[string]string{"setup": "/login", "no-account": "/settings"})
	b.resize(wide)
	b.firstAccount("alice")
	for name, role := range map[string]string{"bob": "editor", "carol": "viewer"} {
		b.open("/settings/users")
		b.fill("#add input[name=username]", name)
		b.fill("#add input[name=password]", ownPassword)
		b.choose("#add select[name=role]", role)
		b.click("#add button.primary")
		b.see("User added.")
	}
	b.open("/settings/tokens")
	b.fill("#add input[name=name]", "Backup script")
	b.click(`input[value="links:read"]`)
	b.click("#add button.primary")
	b.has("#token")
	b.pictures("full", map[string]string{"token": ""})
	b.resize(wide)
	b.open("/watch?q=search")
	b.click(`.acts button[title="Pause"]`)
	b.see("paused")
	b.open("/short/spring26?edit=1")
	b.fill(`input[name="title"]`, "Spring catalog 2026")
	b.click(".edit button.primary")
	b.see("Saved.")
	b.pictures("full", map[string]string{
		"account": "/settings", "tokens": "/settings/tokens", "users": "/settings/users", "two-factor": "/settings/two-factor",
		"audit": "/admin/audit", "audit-none": "/admin/audit?actor=unknown",
	})
	b.open("/settings")
	b.click(`form[action="/logout"] button`)
	b.see("You have signed out.")
	b.pictures("full", map[string]string{"login": "/login"})
}

// shoot writes PNGs of the pages of a server in all sizes and color schemes.
func shoot(t *testing.T, s *Server, store string, pages map[string]string) {
	t.Helper()
	b := browse(t, s, wide, "/")
	b.expect("status of 4")
	b.pictures(store, pages)
}

// pictures writes PNGs of pages in all sizes and color schemes. "" is the current page of the tab.
func (b *tab) pictures(store string, pages map[string]string) {
	b.t.Helper()
	for name, path := range pages {
		if path != "" {
			b.open(path)
		}
		b.inEveryLook(name+"-"+store, func(where string) {
			b.wait(`[...document.images].every(i => i.complete || i.loading === "lazy")`)
			png, err := within(b, func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
				shot, err := cdp.Call(ctx, t, page.CaptureScreenshot, page.CaptureScreenshotParams{})
				return shot.Data, err
			})
			if err != nil {
				b.t.Fatal(err)
			}
			file := strings.NewReplacer(" (", "-", ", ", "-", ")", "").Replace(where) + ".png"
			if err := os.WriteFile(filepath.Join(*screenshots, file), png, 0o600); err != nil {
				b.t.Fatal(err)
			}
		})
	}
}
