//go:build e2e

package e2e

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"strings"
	"testing"
)

// A status page is created in the browser. The page, its feed and its badges show only its targets.
func TestStatusPage(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t, "CHECK_INTERVAL=300ms")
		shop := s.addTargetAs(map[string]any{"url": web.URL + "/shop", "name": "Shop"})
		inner := s.addTargetAs(map[string]any{"url": web.URL + "/inner-secret", "name": "Inner"})
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
				t.Errorf("the public page contains %q", hidden)
			}
		}
		b.fits(in, "/status/{slug}")
		web.set("/shop", status(500))
		s.becomes(shop.ID, "down")
		b.open("/status/our-systems?fresh") // the browser caches the other page for some seconds
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
			t.Errorf("feed: got status %d, %+v, %v", feed.StatusCode, atom, err)
		}
		for path, want := range map[string]int{
			"/badge/" + shop.ID + "/status.svg": 200, "/badge/" + shop.ID + "/uptime.svg": 200, "/badge/" + shop.ID + "/uptime/7d.svg": 200,
			"/badge/" + shop.ID + "/latency/24h.svg": 200, "/badge/" + shop.ID + "/mood.svg": 404, "/badge/" + shop.ID + "/uptime/5y.svg": 404,
			"/badge/" + inner.ID + "/status.svg": 404, "/status/nowhere": 404,
		} {
			res := send(t, s, "GET", path, "", plain)
			body, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != want {
				t.Errorf("GET %s: got %d, want %d (%v)", path, res.StatusCode, want, err)
			}
			if want == 200 && (!strings.HasPrefix(res.Header.Get("Content-Type"), "image/svg+xml") || !strings.Contains(string(body), "Shop")) {
				t.Errorf("GET %s: got %s %s", path, res.Header.Get("Content-Type"), body)
			}
		}
		b.open("/badge/" + shop.ID + "/status.svg")
		b.wait(`document.documentElement.tagName === "svg" && document.documentElement.textContent.includes("down")`)
	})
}

// With a password set, visitors can read only the status page, its feed and its badges.
func TestStatusPageIsPublic(t *testing.T) {
	t.Parallel()
	s := Start(t, demoIn(t), "ADMIN_PASSWORD=correct horse")
	var list struct{ Items []target }
	res := send(t, s, "GET", "/v1/targets", "", func(r *http.Request) { r.SetBasicAuth("", "correct horse") })
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil || len(list.Items) == 0 {
		t.Fatal(err)
	}
	shown := list.Items[0].ID
	for path, want := range map[string]int{
		"/status/demo": 200, "/status/demo/feed": 200, "/badge/" + shown + "/status.svg": 200, "/status/nowhere": 404,
		"/status": 303, "/status/new": 303, "/status/demo/edit": 303, "/watch": 303, "/watch/" + shown: 303, "/admin/checks": 303, // redirect to the login
		"/v1/targets": 401, "/v1/targets/" + shown: 401, "/v1/checks": 401, "/v1/status-pages": 401,
	} {
		if res := send(t, s, "GET", path, "", func(*http.Request) {}); res.StatusCode != want {
			t.Errorf("GET %s without the password: got %d, want %d", path, res.StatusCode, want)
		}
	}
}
