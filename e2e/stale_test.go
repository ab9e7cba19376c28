//go:build e2e

package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// While the server cannot be reached, a page says so and how old its data is, and has no green marks. It does not
// repeat that with messages in the corner. When the server is back, it updates itself again.
func TestPagesWithoutServer(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, store := site(t), storeIn(t)
		s := Start(t, store, "CHECK_INTERVAL=1h")
		made := s.addTargetAs(map[string]any{"url": web.URL + "/shop", "name": "Shop"})
		s.becomes(made.ID, "up")
		b := browse(t, s, in, "/watch")
		b.is("up")
		b.lacks("#stale")
		b.expect("request failed")
		b.expect("Failed to load resource")
		b.expect("Failed to fetch")
		eval[bool](b, `window.said = [], new MutationObserver(() => said.push(document.querySelector("#say").textContent)).observe(document.querySelector("#say"), {childList: true}), true`)
		s.Stop()
		b.wait(`/^The server cannot be reached\. Data from \d\d:\d\d:\d\d\.$/.test(document.querySelector("#stale").textContent)`)
		b.has("#stale")
		b.wait(`getComputedStyle(document.querySelector("main")).filter === "grayscale(1)"`)
		b.fits(in, "/watch, without server")
		if said := eval[[]string](b, "window.said"); len(said) > 0 {
			t.Errorf("messages in the corner: %q", said)
		}
		web.set("/shop", status(500))
		back := Start(t, store, "CHECK_INTERVAL=1h", "HTTP_PORT="+s.URL[strings.LastIndex(s.URL, ":")+1:])
		b.lacks("#stale")
		b.wait(`getComputedStyle(document.querySelector("main")).filter === "none"`)
		if status := back.Call("POST", "/v1/targets/"+made.ID+"/check", nil, nil); status != 200 {
			t.Errorf("check now: status %d", status)
		}
		b.is("down")
	})
}

// The first result of a new target appears without a reload, on the list and on its page. The server answers after the
// page was loaded, so the page shows that the target is pending first.
func TestFirstResultOnPages(t *testing.T) {
	t.Parallel()
	web, s := site(t), Start(t, "CHECK_INTERVAL=1h", "HTTP_TIMEOUT=1m")
	b := browse(t, s, wide, "/watch")
	for path, page := range map[string]bool{"/list": false, "/page": true} {
		answer := make(chan struct{})
		web.set(path, func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-answer:
			case <-r.Context().Done():
			}
		})
		b.open("/watch")
		b.fill("#url", web.URL+path)
		b.click("#add button.primary")
		b.see("Target added: 127.0.0.1:")
		b.wait(`document.querySelector("#targets").getAttribute("hx-trigger") === "every 1s"`)
		if page {
			b.click(`.flash a`)
			b.has(".state.pending")
			b.wait(`document.querySelector("#now").getAttribute("hx-trigger") === "every 1s"`)
		}
		eval[bool](b, `window.stays = true`)
		close(answer)
		b.wait(`window.stays && !document.querySelector("tr.pending, .state.pending")`)
		b.wait(`document.querySelector("#targets, #now").getAttribute("hx-trigger") === "every 5s"`)
	}
}
