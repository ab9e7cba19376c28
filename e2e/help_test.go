//go:build e2e

package e2e

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// The guides are found from the keyboard help, by their own search and by the palette.
func TestHelp(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		s := Start(t)
		b := browse(t, s, in, "/links")
		b.expect("status of 4")
		b.press("?")
		b.click(`#keys a[href="/help"]`)
		b.wait(`location.pathname === "/help"`)
		b.press("/")
		b.wait(`document.activeElement.id === "q"`)
		b.fill("#q", "single sign")
		b.wait(`location.search === "?q=single+sign"`)
		b.fits(in, "/help?q=single+sign")
		b.click(`.guide-list a[href="/help/access#about-single-sign-on"]`)
		b.wait(`location.pathname + location.hash === "/help/access#about-single-sign-on"`)
		b.wait(`document.querySelector("#about-single-sign-on").getBoundingClientRect().top < innerHeight / 2`)
		b.fits(in, "/help/access")

		b.press(palette)
		b.fill("#palette-q", "SHORT_BLOCKED_HOSTS")
		b.has("#palette [aria-label=Help] [role=option][aria-selected=true]")
		b.press(enter)
		b.wait(`location.pathname.startsWith("/help/") && location.hash !== ""`)
		b.lacks("dialog[open]")
	})
}

// Without JavaScript, the guides are found by links and a form.
func TestHelpWithoutJavaScript(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		b := browse(t, Start(t), in, "/")
		b.expect("status of 4")
		call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		b.open("/watch")
		b.click(`footer a[href="/help"]`)
		b.fill("#q", "JWT")
		b.press(enter)
		b.wait(`location.search === "?q=JWT"`)
		b.click(`.guide-list a[href="/help/access#about-jwts"]`)
		b.wait(`location.hash === "#about-jwts"`)
		if in == narrow {
			b.click(".contents-menu summary")
		}
		b.click(`nav a[href="#about-roles"]`)
		b.wait(`document.querySelector("#about-roles").getBoundingClientRect().top < innerHeight / 2`)
		b.click(`.guides a[href="/help/settings"]`)
		b.wait(`document.querySelector("h1").textContent === "Settings"`)
		b.fits(in, "/help/settings")
	})
}
