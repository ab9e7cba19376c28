package e2e

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// again serves a site that was closed at its old address.
func (w *website) again(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", w.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	w.Server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: w}}
	w.Start()
	t.Cleanup(w.Close)
}

const rowOf = "#targets tbody tr"

// is waits until the first row of the list, or the page of a target, shows a status.
func (b *tab) is(status string) {
	b.t.Helper()
	b.wait(`document.querySelector("` + rowOf + `, .target .state")?.classList.contains("` + status + `")`)
}

// A target is added, goes up, down as its server is killed, and up again, while
// the list stands still but for that; its page tells of the outage.
func TestWatchUpDownUp(t *testing.T) {
	t.Parallel() // it waits for pages that renew themselves every five seconds
	inBoth(t, func(t *testing.T, in size) {
		t.Parallel()
		web, s := site(t), start(t, "CHECK_INTERVAL=300ms")
		b := browse(t, s, in, "/watch")
		b.see("Nothing is watched yet")
		b.fits(in, "/watch, empty")
		b.fill("#url", web.URL+"/shop")
		b.click("#add button.primary")
		b.see("Watching 127.0.0.1.")
		eval[bool](b, `window.stays = true`) // is gone if the page is loaded anew
		b.fill("#q", "shop")
		b.wait(`location.search === "?q=shop"`)
		b.is("up")
		web.Close()
		b.is("down")
		b.see("connection refused")
		b.fits(in, "/watch, down")
		web.again(t)
		b.is("up")
		b.wait(`window.stays && document.activeElement.id === "q" && document.querySelector("#q").value === "shop"`)

		b.click(rowOf + " a.title")
		b.has(".target h1")
		b.is("up")
		b.see("Connection refused")
		b.wait(`document.querySelectorAll("ul.outages li").length === 1 && !document.querySelector("ul.outages li.down")`)
		b.has(".chart svg")
		b.fits(in, "/watch/{id}")
		eval[bool](b, `window.stays = true`)
		web.set("/shop", status(503))
		b.is("down")
		b.wait(`document.querySelectorAll("ul.outages li").length === 2 && document.querySelectorAll("ul.outages li.down").length === 1`)
		b.see("unexpected status 503")
		b.wait(`window.stays`)
		b.click(`nav[aria-label="Checks"] a:last-child`)
		b.wait(`location.search.includes("failed=true") && document.querySelectorAll("table.checks tbody tr").length > 1`)
		b.wait(`[...document.querySelectorAll("table.checks tbody tr")].every(r => !r.textContent.includes("200"))`)
		b.click(`nav[aria-label="Uptime and range"] a:nth-child(3)`)
		b.wait(`location.search.includes("range=30d") && window.stays`)
		b.open("/")
		b.see("Unexpected status 503")
	})
}

// What an owner sets is edited in place, what is wrong is said beside it, and
// what was deleted comes back.
func TestTargetPage(t *testing.T) {
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), start(t, "CHECK_INTERVAL=1h")
		watched := s.watch(web.URL + "/shop")
		s.becomes(watched.ID, "up")
		b := browse(t, s, in, "/watch/"+watched.ID)
		b.click("[data-edit-here]")
		b.fill("#edit input[name=name]", "The shop")
		b.fill("#edit input[name=keyword]", "Sold out")
		b.click("#edit button.primary")
		b.wait(`document.querySelector("h1").textContent === "The shop"`)
		s.becomes(watched.ID, "down") // it is checked at once, by what holds now
		b.open("/watch/" + watched.ID)
		b.is("down")
		b.see("keyword not found")
		b.expect("status of 400")
		b.click("[data-edit-here]")
		b.fill("#edit input[name=status]", "all is well")
		b.click("#edit button.primary")
		b.has("#status-error")
		b.wait(`document.querySelector("#edit input[name=status]").value === "all is well"`)
		b.fill("#edit input[name=status]", "")
		b.fill("#edit input[name=keyword]", "")
		b.click("#edit button.primary")
		b.see("Saved.")
		s.becomes(watched.ID, "up")

		asked := web.requests("/shop")
		b.click("[data-check]")
		b.see("Checked: up, status 200 in")
		if web.requests("/shop") != asked+1 {
			t.Errorf("checking now made %d requests", web.requests("/shop")-asked)
		}
		b.click("[data-pause]")
		b.is("paused")
		b.click("[data-pause]")
		b.lacks(".state.paused")
		s.becomes(watched.ID, "up")
		b.click(`.actions form[action$="/delete"] button`)
		b.see("The target is deleted")
		b.see("Nothing is watched yet")
		b.click("[data-undo]")
		b.has(".target h1")
		b.wait(`document.querySelector("h1").textContent === "The shop"`)
		b.press("e")
		b.has("#edit input[name=name]")
	})
}

// One click on a saved link watches it, and its history shows there.
func TestWatchASavedLink(t *testing.T) {
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), start(t, "CHECK_INTERVAL=300ms")
		l := s.save(web.URL + "/go-memory")
		b := browse(t, s, in, "/links/"+l.ID)
		b.click(`form[action="/watch"] button`)
		b.see("Watching Go memory.")
		b.wait(`location.pathname === "/links/` + l.ID + `"`)
		b.lacks(`form[action="/watch"] button`)
		all, _ := listed[target](s, "/v1/targets")
		if len(all) != 1 || all[0].CanonicalURL != web.URL+"/go-memory" || all[0].Name != "Go memory" {
			t.Fatalf("the targets are %+v", all)
		}
		eventually(t, "it was checked three times", func() bool { return len(s.results(all[0].ID)) >= 3 })
		b.open("/links/" + l.ID)
		b.has("section[aria-labelledby=watched] .state.up svg")
		b.fits(in, "/links/{id}, watched")
		b.click(`section[aria-labelledby=watched] a`)
		b.wait(`location.pathname === "/watch/` + all[0].ID + `"`)
		b.click(`aside a[href="/links/` + l.ID + `"]`)
		b.has(`section[aria-labelledby=watched]`)
	})
}

// Watching works with JavaScript switched off, too.
func TestWatchWithoutJavaScript(t *testing.T) {
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), start(t, "CHECK_INTERVAL=300ms")
		b := browse(t, s, in, "/")
		b.expect("status of 4")
		call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		b.open("/watch")
		if eval[bool](b, `Boolean(window.htmx)`) {
			t.Fatal("scripts run: this test would show nothing")
		}
		b.fill("#url", "ftp://nothing")
		b.click("#add button.primary")
		b.has("#url-error")
		b.wait(`document.querySelector("#url").value === "ftp://nothing"`)
		b.fill("#url", web.set("/shop", status(404)))
		b.click("#add button.primary")
		b.see("Watching 127.0.0.1.")
		b.fill("#url", web.URL+"/fine")
		b.click("#add button.primary")
		b.wait(`document.querySelectorAll("` + rowOf + `").length === 2`)
		all, _ := listed[target](s, "/v1/targets")
		s.becomes(all[0].ID, "down")
		s.becomes(all[1].ID, "up")
		b.open("/watch?status=down")
		b.is("down")
		b.see("unexpected status 404")
		b.click(rowOf + " [data-check]")
		b.see("Checked: down, unexpected status 404.")
		b.click(rowOf + " [data-pause]")
		b.see("No target matches")
		b.open("/watch/" + all[1].ID + "?range=7d")
		b.is("up")
		b.has(".chart svg")
		b.click(`nav[aria-label="Checks"] a:last-child`)
		b.see("No check failed")
		b.click("[data-edit-here]")
		b.fill("#edit input[name=name]", "By hand")
		b.click("#edit button.primary")
		b.wait(`document.querySelector("h1").textContent === "By hand"`)
		b.click(`.actions form[action$="/delete"] button`)
		b.click("[data-undo]")
		b.wait(`document.querySelector("h1").textContent === "By hand"`)

		// A status page, chosen by ticking.
		b.open("/status/new")
		b.fill("input[name=title]", "How we do")
		b.click(`input[value="` + all[1].ID + `"]`)
		b.click("button[name=save]")
		b.wait(`location.pathname === "/status/how-we-do/edit"`)
		b.open("/status/how-we-do")
		b.see("By hand")
		b.lacks(`[href="/links"]`)
		b.fits(in, "/status/{slug}")
	})
}

// A status page is made in the browser. It, its feed and its badges are all
// that a stranger gets to see.
func TestStatusPage(t *testing.T) {
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), start(t, "CHECK_INTERVAL=300ms")
		shop := s.watchAs(map[string]any{"url": web.URL + "/shop", "name": "Shop"})
		inner := s.watchAs(map[string]any{"url": web.URL + "/inner-secret", "name": "Inner"})
		s.becomes(shop.ID, "up")
		b := browse(t, s, in, "/status")
		b.expect("status of 4")
		b.see("No status pages yet")
		b.open("/status/new")
		b.fill("input[name=title]", "Our systems")
		b.fill("input[name=slug]", "Not A Slug!")
		b.click(`input[value="` + shop.ID + `"]`)
		b.click("button[name=save]")
		b.has("#slug-error")
		b.wait(`document.querySelector("input[value='` + shop.ID + `']").checked && document.querySelector("input[name=title]").value === "Our systems"`)
		b.fill("input[name=slug]", "our-systems")
		b.click("button[name=save]")
		b.wait(`location.pathname === "/status/our-systems/edit"`)
		b.open("/status/our-systems")
		b.see("Our systems")
		b.see("Shop")
		b.wait(`document.querySelector(".verdict")?.classList.contains("up")`)
		for _, hidden := range []string{"Inner", "inner-secret", web.URL, "127.0.0.1:"} {
			if eval[bool](b, `document.documentElement.outerHTML.includes(`+quote(hidden)+`)`) {
				t.Errorf("the public page holds %q", hidden)
			}
		}
		b.fits(in, "/status/{slug}")
		web.set("/shop", status(500))
		s.becomes(shop.ID, "down")
		b.open("/status/our-systems?anew") // the browser keeps the other address for some seconds
		b.wait(`document.querySelector(".verdict")?.classList.contains("down")`)
		b.see("down for")

		plain := func(*http.Request) {}
		feed := send(t, s, "GET", "/status/our-systems/feed", "", plain)
		var atom struct {
			XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
			Entries []struct {
				ID    string `xml:"id"`
				Title string `xml:"title"`
			} `xml:"entry"`
		}
		if err := xml.NewDecoder(feed.Body).Decode(&atom); err != nil || len(atom.Entries) == 0 || !strings.Contains(atom.Entries[0].Title, "Shop") || atom.Entries[0].ID == "" {
			t.Errorf("the feed (%d) holds %+v: %v", feed.StatusCode, atom, err)
		}
		for path, want := range map[string]int{
			"/badge/" + shop.ID + "/status.svg": 200, "/badge/" + shop.ID + "/uptime.svg": 200, "/badge/" + shop.ID + "/uptime/7d.svg": 200,
			"/badge/" + shop.ID + "/latency/24h.svg": 200, "/badge/" + shop.ID + "/mood.svg": 404, "/badge/" + shop.ID + "/uptime/5y.svg": 404,
			"/badge/" + inner.ID + "/status.svg": 404, "/status/nowhere": 404,
		} {
			res := send(t, s, "GET", path, "", plain)
			body, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != want {
				t.Errorf("GET %s: %d, want %d (%v)", path, res.StatusCode, want, err)
			}
			if want == 200 && (!strings.HasPrefix(res.Header.Get("Content-Type"), "image/svg+xml") || !strings.Contains(string(body), "Shop")) {
				t.Errorf("GET %s: %s %s", path, res.Header.Get("Content-Type"), body)
			}
		}
		b.open("/badge/" + shop.ID + "/status.svg")
		b.wait(`document.documentElement.tagName === "svg" && document.documentElement.textContent.includes("down")`)
	})
}

// With a password set, strangers get the status page, its feed and its badges,
// and nothing else of what is watched.
func TestStatusPageIsPublic(t *testing.T) {
	store := storeIn(t)
	if out, code := command(t, []string{"demo", "-links", "3"}, store); code != 0 {
		t.Fatalf("filling the store: exit code %d: %s", code, out)
	}
	s := start(t, store, "ADMIN_PASSWORD=correct horse")
	var list struct{ Items []target }
	res := send(t, s, "GET", "/v1/targets", "", func(r *http.Request) { r.SetBasicAuth("", "correct horse") })
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil || len(list.Items) == 0 {
		t.Fatal(err)
	}
	shown := list.Items[0].ID
	for path, want := range map[string]int{
		"/status/demo": 200, "/status/demo/feed": 200, "/badge/" + shown + "/status.svg": 200, "/status/nowhere": 404,
		"/status": 401, "/status/new": 401, "/status/demo/edit": 401, "/watch": 401, "/watch/" + shown: 401, "/admin/checks": 401,
		"/v1/targets": 401, "/v1/targets/" + shown: 401, "/v1/checks": 401, "/v1/status-pages": 401,
	} {
		if res := send(t, s, "GET", path, "", func(*http.Request) {}); res.StatusCode != want {
			t.Errorf("GET %s without the password: %d, want %d", path, res.StatusCode, want)
		}
	}
}
