//go:build e2e

package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/pquerna/otp/totp"
)

const ownPassword = "correct horse battery"

// firstAccount adds the first account in the browser, which signs it in.
func (b *tab) firstAccount(username string) {
	b.t.Helper()
	b.open("/settings")
	b.see("No accounts yet")
	b.click(".empty a.primary")
	b.see("Add the first account")
	b.fill("input[name=username]", username)
	b.fill("input[name=password]", ownPassword)
	b.click("button.primary")
	b.has(`.account-link[aria-label="Settings of ` + username + `"]`)
}

// The first account, its settings with two-factor authentication, the users and the audit log.
func TestAccountPages(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		s := Start(t)
		b := browse(t, s, in, "/")
		b.expect("status of 4")
		look := func(where string) {
			b.fits(in, where)
			if in == wide { // also narrow, in the same tab
				b.inEveryLook(where, b.accessible)
				b.resize(in)
			}
		}
		b.firstAccount("alice")
		b.click(".account-link")
		b.see("this session")
		look("/settings")
		b.fill("input[name=current_password]", "wrong")
		b.fill("main input[name=password]", "another horse battery")
		b.click(`form[action="/settings/password"] button`)
		b.has("#current-password-error")
		look("an error of the password")

		b.open("/settings/tokens")
		b.fill("#add input[name=name]", "Script")
		b.click(`input[value="links:read"]`)
		b.click("#add button.primary")
		b.has("#token")
		look("a new token")
		b.copies(".made-token button", eval[string](b, `document.querySelector("#token").textContent`), "#add input[name=name]")
		b.open("/settings/tokens")
		b.lacks("#token")
		b.click(".revoke summary")
		look("revoking a token")
		b.click(".revoke button")
		b.see("Token revoked.")

		b.open("/settings/users")
		b.fill("#add input[name=username]", "bob")
		b.fill("#add input[name=password]", ownPassword)
		b.choose("#add select[name=role]", "viewer")
		b.click("#add button.primary")
		b.see("User added.")
		look("/settings/users")
		b.click("tbody tr:nth-child(2) a")
		b.see("Show entries")
		look("/settings/users/:id")
		b.click(`form[action$="/delete"] button`)
		b.see("User deleted.")
		b.press("u")
		b.see("User restored")

		b.open("/settings/two-factor")
		b.fill("input[name=current_password]", ownPassword)
		look("/settings/two-factor")
		b.click("main button.primary")
		b.has(".key-qr svg")
		look("the key")
		key := strings.ReplaceAll(eval[string](b, `document.querySelector("#secret").textContent`), " ", "")
		code, err := totp.GenerateCode(key, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		b.fill("input[name=code]", code)
		b.click("main button.primary")
		b.has(".codes")
		look("recovery codes")
		recovery := eval[string](b, `document.querySelector(".codes code").textContent`)
		b.click("main a.primary")
		b.see("10 recovery codes left")

		b.click(`form[action="/logout"] button`)
		b.see("You have signed out.")
		b.open("/admin/audit?actor=alice")
		b.fill("input[name=username]", "alice")
		b.fill("input[name=password]", ownPassword)
		look("/login")
		b.click("button.primary")
		b.has("input[name=code]")
		b.fill("input[name=code]", recovery)
		look("the code of a login")
		b.click("button.primary")
		b.wait(`location.pathname + location.search === "/admin/audit?actor=alice"`)
		b.see("user.two_factor_on")
		b.click(".changes summary")
		b.has(".changes table")
		look("/admin/audit")
	})
}

// A session ends while its user types. Background requests leave the page as it is, and say so. Saving shows the login, then
// the form with the text, which is saved the second time.
func TestSessionEndsWhileTyping(t *testing.T) {
	t.Parallel()
	web, s := site(t), Start(t)
	b := browse(t, s, narrow, "/")
	b.expect("status of 4")
	b.firstAccount("alice")
	b.open("/watch")
	b.fill("#url", web.URL+"/shop")
	b.click("#add button.primary")
	b.see("Target added")
	b.fill("#url", web.URL+"/bar")
	b.click("#add summary")
	b.fill("#add input[name=name]", "A long name")
	call(b, network.ClearBrowserCookies, cdp.Empty{})
	b.see("You have been signed out. Save the form to sign in: your text is kept.")
	b.click("#add button.primary")
	b.see("your text is kept, and you can check it")
	b.fill("input[name=username]", "alice")
	b.fill("input[name=password]", ownPassword)
	b.click("button.primary")
	b.see("not saved yet")
	b.wait(`document.querySelector("#add input[name=name]").value === "A long name"`)
	b.click("#add button.primary")
	b.see("A long name")
	b.lacks(".flash.error")
}

// Viewers see the pages without the forms that they may not use.
func TestViewersSeeNoForms(t *testing.T) {
	t.Parallel()
	s := Start(t)
	b := browse(t, s, wide, "/")
	s.Call("POST", "/v1/links", map[string]any{"url": "http://127.0.0.1:1/page", "title": "A page"}, nil)
	b.firstAccount("alice")
	b.open("/settings/users")
	b.fill("#add input[name=username]", "bob")
	b.fill("#add input[name=password]", ownPassword)
	b.choose("#add select[name=role]", "viewer")
	b.click("#add button.primary")
	b.see("User added.")
	b.open("/links")
	b.has(`main form[method="post"]`)
	b.open("/settings")
	b.click(`form[action="/logout"] button`)
	b.fill("input[name=username]", "bob")
	b.fill("input[name=password]", ownPassword)
	b.click("button.primary")
	b.has(`body[data-role="viewer"]`)
	for _, path := range []string{"/", "/links", "/tags", "/watch", "/short", "/crawl", "/crawl/frontier", "/crawl/feeds", "/sites", "/alerts", "/alerts/channels", "/status"} {
		b.open(path)
		b.has("h1, h2")
		b.lacks(`main form[method="post"]`)
		b.lacks(`[data-new-link]`)
		b.lacks(`nav a[href^="/admin"]`)
	}
	b.open("/links")
	b.fill("#q", "page")
	b.wait(`location.search === "?q=page"`)
	b.open("/settings")
	b.has(`form[action="/settings/password"]`)
	b.has(`form[action="/logout"]`)
	b.open("/settings/tokens")
	b.has("#add button")
}

// Accounts work without JavaScript.
func TestAccountPagesWithoutJavaScript(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		s := Start(t)
		b := browse(t, s, in, "/")
		b.expect("status of 4")
		call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		b.firstAccount("alice")
		b.open("/settings/tokens")
		b.click("#add button.primary")
		b.fill("#add input[name=name]", "Script")
		b.click(`input[value="admin"]`)
		b.click("#add button.primary")
		b.has("#token")
		b.lacks("[data-copy]")
		b.open("/settings/tokens")
		b.click(".revoke summary")
		b.click(".revoke button")
		b.see("Token revoked.")
		b.open("/settings/users")
		b.fill("#add input[name=username]", "bob")
		b.fill("#add input[name=password]", ownPassword)
		b.click("#add button.primary")
		b.see("User added.")
		b.click("tbody tr:nth-child(2) a")
		b.click(`form[action$="/disabled"] button`)
		b.see("User disabled.")
		b.open("/admin/audit")
		b.fill("input[name=action]", "user.")
		b.click("main form button.primary")
		b.wait(`location.search.includes("action=user.")`)
		b.see("user.edit")
		b.open("/settings")
		b.click(`form[action="/settings/sessions/end"] button`)
		b.see("You have signed out.")
	})
}
