//go:build e2e

package e2e

import (
	"strconv"
	"testing"
)

// A short link is created, copied and visited, and its visits appear without a reload. It is disabled, extended,
// deleted and restored.
func TestShortLinkPages(t *testing.T) {
	t.Parallel() // waits for pages that refresh themselves every five seconds
	inBoth(t, func(t *testing.T, in size) {
		s := Start(t)
		b := browse(t, s, in, "/short")
		b.expect("status of 4")
		b.see("No short links yet")
		b.fits(in, "/short, empty")
		b.press("n")
		b.fill("#url", "example.com/a/long/way?x=1")
		b.fill("#key", "Spring")
		b.lacks("input[name=expires_at]")
		b.choose("select[name=expires]", "at")
		b.has("input[name=expires_at]")
		b.click("#add .field-row button.primary")
		b.has("#expires-error")
		b.wait(`document.querySelector("#key").value === "Spring" && document.querySelector("select[name=expires]").value === "at"`)
		b.fits(in, "/short, with an error")
		b.choose("select[name=expires]", "168h")
		b.click("#add .field-row button.primary")
		b.see("Short link created")
		address := s.URL + "/s/Spring"
		b.see(address)
		b.wait(`document.querySelector(".made img.qr").naturalWidth > 0`)
		b.fits(in, "/short, made")
		b.copies(".made [data-copy]", address, "#q")
		b.fill("#q", "LONG/way") // the URL has no message parameter now
		b.wait(`location.search === "?q=LONG%2Fway" && document.querySelectorAll("` + shortLinkRow + `").length === 1`)

		eval[bool](b, `window.stays = true`) // lost on a reload
		wantRedirect(t, s, "Spring", 302, "https://example.com/a/long/way?x=1")
		wantRedirect(t, s, "Spring", 302, "https://example.com/a/long/way?x=1")
		wantRedirect(t, s, "spring", 404, "") // keys are case-sensitive
		b.wait(`window.stays && document.querySelector("` + shortLinkRow + ` .visits").textContent === "2"`)
		b.click(shortLinkRow + " [data-pause]")
		b.has(shortLinkRow + ".disabled")
		b.wait(`window.stays`)
		wantRedirect(t, s, "Spring", 410, "")
		b.click(shortLinkRow + " [data-pause]")
		b.has(shortLinkRow + ".active")
		wantRedirect(t, s, "Spring", 302, "https://example.com/a/long/way?x=1")

		b.click(shortLinkRow + " a.title")
		b.has(".short-link h1")
		eval[bool](b, `window.stays = true`)
		b.wait(`document.querySelector(".ranges [aria-current] strong").textContent === "3"`)
		b.see("news.example")
		b.fits(in, "/short/{key}")
		wantRedirect(t, s, "Spring", 302, "https://example.com/a/long/way?x=1")
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
		wantRedirect(t, s, "Spring", 302, "https://example.com/elsewhere")

		b.click(`.actions form[action$="/delete"] button`)
		b.see("Short link deleted.")
		b.see("No short links yet")
		wantRedirect(t, s, "Spring", 410, "")
		b.press("u")
		b.wait(`document.querySelector("h1").textContent === "The <b>spring</b>"`)
		wantRedirect(t, s, "Spring", 302, "https://example.com/elsewhere")
	})
}

// One click on the page of a saved link creates a short link, which the page then shows.
func TestShortenASavedLink(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t)
		l := s.save(web.URL + "/go-memory")
		b := browse(t, s, in, "/links/"+l.ID)
		b.click(`form[action$="/shorten"] button`)
		b.see("Short link created.")
		b.lacks(`form[action$="/shorten"] button`)
		b.fits(in, "/links/{id}, shortened")
		key := eval[string](b, `document.querySelector("section[aria-labelledby=shortened] strong").textContent.split("/s/")[1]`)
		wantRedirect(t, s, key, 302, web.URL+"/go-memory")
		b.click("section[aria-labelledby=shortened] .section-head a")
		b.wait(`location.pathname === "/short/` + key + `" && document.querySelector("h1").textContent === "Go memory"`)
		b.click(`aside a[href="/links/` + l.ID + `"]`)
		b.has("section[aria-labelledby=shortened]")
	})
}

// Many short links are shown in pages.
func TestManyShortLinks(t *testing.T) {
	t.Parallel()
	s := Start(t)
	for i := range 120 {
		s.Call("POST", "/v1/shortlinks", map[string]any{"long_url": "https://example.com/" + strconv.Itoa(i), "short_key": "Key" + strconv.Itoa(i)}, nil)
	}
	b := browse(t, s, wide, "/short")
	b.see("The newest 50")
	b.press("]")
	b.see("Older short links")
	b.see("Key69")
	b.press("]")
	b.wait(`document.querySelectorAll("` + shortLinkRow + `").length === 20`)
	b.press("[")
	b.see("The newest 50")
	b.fill("#q", "key11")
	b.see("11 short links")
	b.press("\x1bjj")
	b.wait(`document.activeElement.matches("` + shortLinkRow + `:nth-child(2) a.title")`)
	b.press("y")
	b.see("Copied.")
	b.press("e")
	b.has("#edit input[name=long_url]")
}
