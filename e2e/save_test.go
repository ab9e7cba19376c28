package e2e

import "testing"

// The main journey: paste, preview, save, find.
func TestSaveAndFind(t *testing.T) {
	for name, in := range map[string]size{"wide": wide, "narrow": narrow} {
		t.Run(name, func(t *testing.T) {
			web, s := site(t), start(t)
			b := browse(t, s, in, "/")
			b.see("Paste a link")
			b.see("Save from anywhere")
			b.see("Leave the watching to us")
			if n := eval[int](b, `document.querySelectorAll(".steps > li").length`); n != 3 {
				t.Errorf("the first visit shows %d steps, want 3", n)
			}

			b.fill("[data-new]", web.URL+"/go-memory")
			b.press("\r")
			b.wait(`location.pathname === "/links"`)
			b.see("Go memory") // the preview comes by itself
			b.wait(`document.querySelector("#preview img").naturalWidth > 0`)

			b.fill("#url", web.URL+"/sqlite-pages")
			b.see("Sqlite pages")
			b.see("What there is to know about Sqlite pages.")
			b.wait(`document.querySelector("#preview img").naturalWidth > 0`)
			b.fill("#add input[name=tags]", "Go, Databases")
			b.click("#add button.primary")
			b.see("Saved: Sqlite pages")
			b.has(".row")
			b.wait(`document.querySelector(".row .title").textContent === "Sqlite pages"`)

			saved, total := s.found("/v1/search?q=tag:go,databases")
			if total != 1 || saved[0].URL != web.URL+"/sqlite-pages" {
				t.Errorf("search by both tags found %+v", saved)
			}
		})
	}
}
