package e2e

import (
	"testing"

	"linkwatch/models/modelstest"
)

// The main journey on PostgreSQL, in the browser and in the API.
func TestPostgres(t *testing.T) {
	t.Parallel()
	store := "DATABASE_URL=" + modelstest.NewPostgres(t)
	web, s := site(t), Start(t, store)
	saved := s.save(web.URL+"/go-memory", "Go", "Reading")
	s.save(web.URL+"/c-sharp", "c#")

	b := browse(t, s, wide, "/links")
	b.fill("#url", web.URL+"/sqlite-pages")
	b.see("What there is to know about Sqlite pages.")
	b.click("#add button.primary")
	b.see("Link saved: Sqlite pages")
	b.fill("#q", "memry") // a misspelled word
	b.see("No exact match")
	b.wait(`document.querySelectorAll(".row").length === 1`)
	b.see("Go memory")
	b.fill("#q", "tag:c#")
	b.wait(`document.querySelectorAll(".row").length === 1 && document.querySelector(".row .title").textContent === "C sharp"`)

	web.set("/go-memory", status(404))
	var refreshed link
	if got := s.Call("PUT", "/v1/link/"+saved.ID, nil, &refreshed); got != 200 || !refreshed.Expired {
		t.Errorf("refresh of a page with 410: got %d, expired %v, want 200, true", got, refreshed.Expired)
	}
	if _, total := s.found("/v1/search?q=memory"); total != 0 {
		t.Errorf("expired link: found %d times", total)
	}
	s.Stop()
	again := Start(t, store)
	if _, total := again.found("/v1/links?expired=all"); total != 3 {
		t.Errorf("after a restart: got %d links, want 3", total)
	}
}
