package handlers_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"linkwatch/app/apptest"
	"linkwatch/models/accounts"
)

// TestPrivateItemsAreHidden reads as alice, by every route, the private items of bob: by id, by text, and by lists with
// filters. No response contains any of them, and her own items look the same as before bob added his. Then she tries to change
// them by every route that writes. A viewer tries to change shared items.
func TestPrivateItemsAreHidden(t *testing.T) {
	apptest.EachEngine(t, func(a *apptest.App) {
		root := signIn(a, a.AddUser("root", accounts.Admin))
		alices := addAll(a, a.AddUser("alice", accounts.Editor), "wombat", false)
		bob, vera := a.AddUser("bob", accounts.Editor), a.AddUser("vera", accounts.Viewer)
		began := a.Clock.Now()
		a.Clock.Advance(24 * time.Hour)
		end := a.Clock.Now()
		alice := signIn(a, alices.user)

		own, before := append(alices.paths(), lists(a, alices)...), map[string]string{}
		for _, p := range own {
			before[p] = settled(alice.see(p))
		}
		said := alice.listen("/sse/crawler/events", "/sse/health/events", "/sse/metrics/events", "/v1/jobs/"+alices.ids["job"]+"/logs/stream/v2")
		a.Clock.Advance(began.Sub(end))
		bobs := addAll(a, bob, "quokka", true)
		bobs.cross(alices)
		if a.Clock.Now().After(end) {
			a.Fatal("this takes more than a day")
		}
		a.Clock.Advance(end.Sub(a.Clock.Now()))
		for _, p := range own {
			if got := settled(alice.see(p)); got != before[p] && p != "/metrics" { // they belong to the whole server
				a.Errorf("%s differs: got %s", p, differ(before[p], got))
			}
		}

		secrets, seen := bobs.secrets(), map[string]bool{}
		for _, p := range append(bobs.paths(), "/crawl/jobs/"+bobs.ids["job"]+"/log", "/v1/jobs/"+bobs.ids["job"]+"/logs/stream/v2") {
			if code, _, _ := strings.Cut(alice.see(p), "\n"); code != "404" {
				a.Errorf("%s: got %s", p, code)
			}
		}
		his := signIn(a, bob)
		for _, p := range append(bobs.paths(), lists(a, alices, bobs)...) {
			plain, err := url.QueryUnescape(p)
			a.Must(err)
			for _, got := range []string{alice.see(p), alice.see(p, "Authorization", alice.bearer), root.see(p, "Authorization", root.bearer)} {
				shows(a.TB, p, plain, got, secrets)
			}
			got := strings.ToLower(his.see(p))
			if strings.Contains(p, "?") && strings.HasPrefix(got, "400") {
				a.Errorf("%s: got 400, so the test reads nothing", p)
			}
			for _, s := range secrets {
				seen[s] = seen[s] || strings.Contains(got, s)
			}
		}
		for of, got := range said() {
			shows(a.TB, of, "", got, secrets)
		}
		unseen := map[string]bool{"hook": true, "hookpath": true, "brokenlink": true, "crosslink": true, "crosssitemap": true} // not in pages of these lists
		for _, s := range secrets {
			if word, ok := strings.CutPrefix(s, bobs.word); ok && !seen[s] && !unseen[word] {
				a.Errorf("bob does not see %s, so the test does not look for it", s)
			}
		}

		alice.writes(bobs, secrets)
		signIn(a, vera).writes(alices, nil)
	})
}

// The global search marks private items, except crawled pages.
func TestSearchMarksPrivateItems(t *testing.T) {
	a := apptest.New(t)
	bob := a.AddUser("bob", accounts.Admin)
	addAll(a, bob, "quokka", true)
	kinds := map[string]int{}
	a.SignIn(bob).Get("/search?q=quokka").Find(".hits-of section").Each(func(_ int, s *goquery.Selection) {
		kind, hits, marks := s.Find("h2").Text(), s.Find("li").Length(), s.Find("li .private").Length()
		if kinds[kind] = hits; kind != "Actions" && kind != "Crawled pages" && hits != marks {
			t.Errorf("%s: got %d marks for %d hits", kind, marks, hits)
		}
	})
	for _, kind := range []string{"Links", "Targets", "Short links", "Crawl jobs", "Websites", "Alerts", "Alert settings"} {
		if kinds[kind] == 0 {
			t.Errorf("got no %s: %v", kind, kinds)
		}
	}
}

// TestItemsThatBecomePrivateAreHidden: bob makes items private that alice has seen and changed, and then deletes them. Caches, changes that
// she could undo, and known ids do not reveal them. There are no alerts here, because these keep their visibility.
func TestItemsThatBecomePrivateAreHidden(t *testing.T) {
	apptest.EachEngine(t, func(a *apptest.App) {
		a.AddUser("root", accounts.Admin)
		alice, bob := signIn(a, a.AddUser("alice", accounts.Editor)), a.AddUser("bob", accounts.Editor)
		bobs, his := owner(a, bob, "quokka", false), signIn(a, bob)
		bobs.link()
		bobs.target()
		bobs.shortLink()
		bobs.crawl()
		bobs.site()
		bobs.ids["change"] = alice.Do("POST", "/v1/links/bulk", `{"action":"tag","tags":["quokkaagain"],"ids":["`+bobs.ids["link"]+`"]}`).Want(200)["id"].(string)
		bobs.words = append(bobs.words, "quokkaagain")
		paths := append(bobs.paths(), lists(a, bobs)...)
		for _, p := range paths {
			alice.see(p)
		}

		gone := func(when string) {
			a.Helper()
			a.Clock.Advance(time.Minute) // statistics of an account are cached for half a minute
			secrets := bobs.secrets()
			for _, p := range bobs.paths() {
				if code, _, _ := strings.Cut(alice.see(p), "\n"); code != "404" && !strings.Contains(p, "/refreshes/") { // her own
					a.Errorf("%s, %s: %s", when, p, code)
				}
			}
			for _, p := range paths {
				plain, err := url.QueryUnescape(p)
				a.Must(err)
				shows(a.TB, when+", "+p, plain, alice.see(p), secrets)
			}
			alice.writes(bobs, secrets)
		}
		items := []struct{ path, kind string }{
			{"/v1/targets/", "target"}, {"/v1/shortlinks/", "short link"}, {"/v1/sources/", "source"}, {"/v1/websites/", "website"},
		}
		for _, of := range items {
			his.Do("PATCH", of.path+bobs.ids[of.kind], `{"private":true}`).Want(200)
		}
		for _, kind := range []string{"link", "gone link"} {
			his.Do("PUT", "/v1/link/"+bobs.ids[kind]+"/annotation", `{"private":true}`).Want(200)
		}
		gone("made private")
		his.Do("POST", "/v1/links/bulk", `{"action":"delete","ids":["`+bobs.ids["link"]+`","`+bobs.ids["gone link"]+`"]}`).Want(200)
		for _, of := range items {
			if got := his.Send("DELETE", of.path+bobs.ids[of.kind], "", ""); got.Status >= 300 {
				a.Errorf("%s: got %d, %s", of.kind, got.Status, got.Body)
			}
		}
		gone("deleted")
	})
}

// shows fails the test if a response contains secrets that are not in the path.
func shows(t testing.TB, of, plain, got string, secrets []string) {
	t.Helper()
	got, plain = strings.ToLower(got), strings.ToLower(plain)
	for _, s := range secrets {
		if strings.Contains(got, s) && !strings.Contains(plain, s) {
			i := strings.Index(got, s)
			t.Errorf("%s reveals %s: got %s", of, s, got[max(0, i-100):min(len(got), i+100)])
		}
	}
}
