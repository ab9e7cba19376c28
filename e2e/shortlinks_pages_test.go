package e2e

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
)

const shortRow = "#short-links tbody tr"

// follows goes to a short link as a browser does, and answers the status and
// where it leads.
func follows(t *testing.T, s *server, key string) (status int, to string) {
	t.Helper()
	res := send(t, s, "GET", "/s/"+key, "", func(r *http.Request) {
		r.Header.Set("Accept", "text/html")
		r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
		r.Header.Set("Referer", "https://news.example/today")
	})
	return res.StatusCode, res.Header.Get("Location")
}

// leads fails unless a short link answers so.
func leads(t *testing.T, s *server, key string, status int, to string) {
	t.Helper()
	if got, where := follows(t, s, key); got != status || where != to {
		t.Errorf("/s/%s answers %d to %q, want %d to %q", key, got, where, status, to)
	}
}

// choose picks an option of a list.
func (b *tab) choose(selector, value string) {
	b.t.Helper()
	b.has(selector)
	eval[bool](b, `(() => {
		const list = document.querySelector(`+quote(selector)+`);
		list.value = `+quote(value)+`;
		return list.dispatchEvent(new Event("change", {bubbles: true}));
	})()`)
}

// paste puts what the clipboard holds into a field.
func (b *tab) paste(selector string) {
	b.t.Helper()
	b.click(selector)
	call(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown, Key: "v", Code: "KeyV", Commands: []string{"paste"}})
}

// A short link is made, copied and visited; its visits appear while the pages
// stand still. It is disabled, extended and deleted, and comes back.
func TestShortLinkJourney(t *testing.T) {
	t.Parallel() // it waits for pages that renew themselves every five seconds
	inBoth(t, func(t *testing.T, in size) {
		t.Parallel()
		s := start(t)
		b := browse(t, s, in, "/short")
		b.expect("status of 4")
		b.see("No short links yet")
		b.fits(in, "/short, empty")
		b.press("n")
		b.fill("#url", "example.com/a/long/way?x=1")
		b.fill("#key", "Spring")
		b.lacks("input[name=ends_at]")
		b.choose("select[name=ends]", "at")
		b.has("input[name=ends_at]")
		b.click("#add .field-row button.primary")
		b.has("#ends-error")
		b.wait(`document.querySelector("#key").value === "Spring" && document.querySelector("select[name=ends]").value === "at"`)
		b.fits(in, "/short, with an error")
		b.choose("select[name=ends]", "168h")
		b.click("#add .field-row button.primary")
		b.see("The short link is made")
		address := s.url + "/s/Spring"
		b.see(address)
		b.wait(`document.querySelector(".made img.qr").naturalWidth > 0`)
		b.fits(in, "/short, made")
		b.click(".made [data-copy]")
		b.see("Copied.")
		b.paste("#q")
		b.wait(`document.querySelector("#q").value === ` + quote(address))
		b.fill("#q", "LONG/way") // the address of the page, "made" no more
		b.wait(`location.search === "?q=LONG%2Fway" && document.querySelectorAll("` + shortRow + `").length === 1`)

		eval[bool](b, `window.stays = true`) // is gone if the page is loaded anew
		leads(t, s, "Spring", 302, "https://example.com/a/long/way?x=1")
		leads(t, s, "Spring", 302, "https://example.com/a/long/way?x=1")
		leads(t, s, "spring", 404, "") // keys know capitals from small letters
		b.wait(`window.stays && document.querySelector("` + shortRow + ` .visits").textContent === "2"`)
		b.click(shortRow + " [data-pause]")
		b.has(shortRow + ".disabled")
		b.wait(`window.stays`)
		leads(t, s, "Spring", 410, "")
		b.click(shortRow + " [data-pause]")
		b.has(shortRow + ".active")
		leads(t, s, "Spring", 302, "https://example.com/a/long/way?x=1")

		b.click(shortRow + " a.title")
		b.has(".short-link h1")
		eval[bool](b, `window.stays = true`)
		b.wait(`document.querySelector(".ranges [aria-current] strong").textContent === "3"`)
		b.see("news.example")
		b.fits(in, "/short/{key}")
		leads(t, s, "Spring", 302, "https://example.com/a/long/way?x=1")
		b.wait(`window.stays && document.querySelector(".ranges [aria-current] strong").textContent === "4"`)
		b.click(`nav[aria-label="Visits and range"] a:nth-child(1)`)
		b.wait(`window.stays && location.search === "?days=7"`)
		b.see("in 6 days")
		b.click(`.extend button[value="720h"]`)
		b.see("in 5 weeks")
		b.click("[data-edit-here]")
		b.fill("#edit input[name=long_url]", "ftp://nothing")
		b.click("#edit button.primary")
		b.has("#url-error")
		b.fill("#edit input[name=long_url]", "https://example.com/elsewhere")
		b.fill("#edit input[name=title]", "The <b>spring</b>")
		b.click("#edit button.primary")
		b.wait(`document.querySelector("h1").textContent === "The <b>spring</b>"`)
		leads(t, s, "Spring", 302, "https://example.com/elsewhere")

		b.click(`.actions form[action$="/delete"] button`)
		b.see("The short link is deleted")
		b.see("No short links yet")
		leads(t, s, "Spring", 410, "")
		b.press("u")
		b.wait(`document.querySelector("h1").textContent === "The <b>spring</b>"`)
		leads(t, s, "Spring", 302, "https://example.com/elsewhere")
	})
}

// One click on a saved link shortens it, and its short address stands there.
func TestShortenASavedLink(t *testing.T) {
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), start(t)
		l := s.save(web.URL + "/go-memory")
		b := browse(t, s, in, "/links/"+l.ID)
		b.click(`form[action$="/shorten"] button`)
		b.see("The link has a short address.")
		b.lacks(`form[action$="/shorten"] button`)
		b.fits(in, "/links/{id}, shortened")
		key := eval[string](b, `document.querySelector("section[aria-labelledby=shortened] strong").textContent.split("/s/")[1]`)
		leads(t, s, key, 302, web.URL+"/go-memory")
		b.click("section[aria-labelledby=shortened] .section-head a")
		b.wait(`location.pathname === "/short/` + key + `" && document.querySelector("h1").textContent === "Go memory"`)
		b.click(`aside a[href="/links/` + l.ID + `"]`)
		b.has("section[aria-labelledby=shortened]")
	})
}

// Short links work with JavaScript switched off, too. What needs it is not shown.
func TestShortLinksWithoutJavaScript(t *testing.T) {
	inBoth(t, func(t *testing.T, in size) {
		s := start(t)
		b := browse(t, s, in, "/")
		b.expect("status of 4")
		call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		b.open("/short")
		if eval[bool](b, `Boolean(window.htmx)`) {
			t.Fatal("scripts run: this test would show nothing")
		}
		b.fill("#url", "https://example.com/x")
		b.fill("#key", "no good")
		b.choose("select[name=ends]", "at")
		b.has("input[name=ends_at]")
		eval[string](b, `document.querySelector("input[name=ends_at]").value = "2099-01-02T03:04"`)
		b.fill("input[name=max_visits]", "2")
		b.click("#add .field-row button.primary")
		b.has("#key-error")
		b.wait(`document.querySelector("input[name=ends_at]").value === "2099-01-02T03:04" && document.querySelector("input[name=max_visits]").value === "2"`)
		b.fill("#key", "Plain")
		b.click("#add .field-row button.primary")
		b.see(s.url + "/s/Plain")
		b.lacks("[data-copy]")
		for range 2 {
			leads(t, s, "Plain", 302, "https://example.com/x")
		}
		leads(t, s, "Plain", 410, "")
		b.open("/short?status=expired")
		b.see("2 of 2")
		b.click(shortRow + " a.title")
		b.see("Its 2 visits are used up")
		b.click("[data-edit-here]")
		b.wait(`document.querySelector("select[name=ends]").value === "kept"`)
		b.fill("#edit input[name=max_visits]", "3")
		b.click("#edit button.primary")
		b.see("It leads on for 1 visit more, of 3.")
		b.click(`.extend button[value=""]`)
		b.lacks(".extend")
		b.click("[data-pause]")
		b.has(".state.disabled")
		b.click(`.actions form[action$="/delete"] button`)
		b.click("[data-undo]")
		b.has(".state.disabled")
		b.fits(in, "/short/{key}")
	})
}

// Thousands of short links are a page at a time.
func TestManyShortLinks(t *testing.T) {
	s := start(t)
	for i := range 120 {
		s.call("POST", "/v1/shortlinks", map[string]any{"long_url": "https://example.com/" + strconv.Itoa(i), "short_key": "Key" + strconv.Itoa(i)}, nil)
	}
	b := browse(t, s, wide, "/short")
	b.see("The newest 50")
	b.press("]")
	b.see("Older short links")
	b.see("Key69")
	b.press("]")
	b.wait(`document.querySelectorAll("` + shortRow + `").length === 20`)
	b.press("[")
	b.see("The newest 50")
	b.fill("#q", "key11")
	b.see("11 short links")
	b.press("\x1bjj")
	b.wait(`document.activeElement.matches("` + shortRow + `:nth-child(2) a.title")`)
	b.press("y")
	b.see("Copied.")
	b.press("e")
	b.has("#edit input[name=long_url]")
}
