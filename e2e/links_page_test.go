//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"linkwatch/models/modelstest"
)

func TestEditInPlace(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t)
		l := s.save(web.URL+"/go-memory", "Go")
		b := browse(t, s, in, "/links/"+l.ID)
		b.see("What there is to know about Go memory.")
		b.wait(`document.querySelector("img[data-picture]").naturalWidth > 0 && !document.querySelector("[data-frame]").hidden`)

		b.click("[data-edit-here]")
		b.fill("#edit input[name=title]", "A new title")
		b.fill("#edit textarea", "First line\nsecond <line>")
		b.click("#edit button.primary")
		b.see("Saved.")
		b.see("second <line>")
		b.wait(`document.querySelector("h1").textContent === "A new title"`)
		if s.Call("PUT", "/v1/link/"+l.ID, nil, &l); l.Title != "A new title" || l.Notes != "First line\nsecond <line>" {
			t.Errorf("after a refresh: got title %q, notes %q", l.Title, l.Notes)
		}

		b.expect("status of 400")
		long := strings.Repeat("long ", 101)
		b.click("[data-edit-here]")
		b.fill("#edit input[name=title]", long)
		b.click("#edit button.primary")
		b.has("#title-error")
		if typed := eval[string](b, `document.querySelector("#edit input[name=title]").value`); typed != long {
			t.Errorf("after the error: got title field %q", typed)
		}
		b.fill("#edit input[name=title]", "")
		b.click("#edit button.primary")
		b.see("Saved.")
		b.wait(`document.querySelector("h1").textContent === "Go memory"`)
	})
}

func TestTagsOfALink(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t)
		s.save(web.URL+"/other", "Databases")
		l := s.save(web.URL+"/go-memory", "Go")
		b := browse(t, s, in, "/links/"+l.ID)
		b.fill("main input[name=tags]", "data") // completed while typing
		b.wait(`document.querySelector("#tag-names option")?.value === "Databases"`)
		b.fill("main input[name=tags]", "databases, Memory")
		b.press(enter)
		b.see("Tags added.")
		b.wait(`[...document.querySelectorAll(".tag-list .tag a")].map(a => a.textContent).join() === "Go,Databases,Memory"`)
		b.click(`button[aria-label="Remove tag Go"]`)
		b.see("Tag removed: Go")
		b.lacks(`button[aria-label="Remove tag Go"]`)
		b.click("[data-undo]")
		b.see("Tags added.")
		b.has(`button[aria-label="Remove tag Go"]`)

		many := "t" + strings.Join(strings.Split(strings.Repeat("x", 64), ""), ",t") // more tags than a link can have
		for i := range 64 {
			many = strings.Replace(many, "x", string(rune('a'+i/8))+string(rune('a'+i%8)), 1)
		}
		b.expect("status of 400")
		b.fill("main input[name=tags]", many)
		b.press(enter)
		b.has("#tags-error")
		if typed := eval[string](b, `document.querySelector("main input[name=tags]").value`); typed != many {
			t.Errorf("after the error: got field %q", typed)
		}
	})
}

func TestExpireReviveDelete(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t)
		l := s.save(web.URL+"/go-memory", "Go")
		b := browse(t, s, in, "/links/"+l.ID)
		b.click(`form[action$="/expired"] button`)
		b.see("1 link expired")
		b.see("hidden from lists")
		if _, total := s.found("/v1/links"); total != 0 {
			t.Errorf("got %d active links, want none of them expired", total)
		}
		b.click(`.actions form[action$="/expired"] button`)
		b.see("1 link revived")

		web.set("/go-memory", status(410))
		b.click(`form[action$="/refresh"] button`)
		b.see("hidden from lists") // a page with status 410 expires its link
		b.see("dead")
		b.click(`form[action$="/delete"] button`)
		b.see("1 link deleted")
		b.click("[data-undo]")
		b.see("Undone.")
		if _, total := s.found("/v1/links?expired=true"); total != 1 {
			t.Errorf("after undo: got %d expired links, want 1", total)
		}
	})
}

// If a page has moved permanently, the page of its link offers the new URL.
func TestMovedLink(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t, "LINK_CHECK_INTERVAL=1ms") // always due
		l := s.save(web.URL + "/old-home")
		s.save(web.URL + "/stays")
		web.set("/old-home", redirect(301, "/new-home"))
		web.set("/stays", redirect(302, "/elsewhere"))
		if status := s.Call("POST", "/v1/admin/jobs/revalidation/run", nil, nil); status != 202 {
			t.Fatalf("run the job: got status %d, want 202", status)
		}
		modelstest.Eventually(t, "the move is noticed", func() bool {
			s.Call("GET", "/v1/link/"+l.ID, nil, &l)
			return l.Health == "moved"
		})
		if l.URL != web.URL+"/old-home" {
			t.Errorf("the new URL was applied without a request: %s", l.URL)
		}
		b := browse(t, s, in, "/")
		b.see("Moved to " + web.URL + "/new-home")
		b.wait(`document.querySelectorAll(".attention li").length === 1`) // a temporary redirect is not a move
		b.click(`.attention a.title`)
		b.click(`form[action$="/move"] button`)
		b.see("URL updated.")
		if s.Call("GET", "/v1/link/"+l.ID, nil, &l); l.URL != web.URL+"/new-home" || l.Health == "moved" {
			t.Errorf("got %s, %s, want the new URL", l.URL, l.Health)
		}
	})
}
