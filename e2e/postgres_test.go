package e2e

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // makes and drops the test's database
)

// newDatabase is a PostgreSQL database of the test's own on the server that
// TEST_POSTGRES_URL names.
func newDatabase(t *testing.T) string {
	t.Helper()
	server := os.Getenv("TEST_POSTGRES_URL")
	if server == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("TEST_POSTGRES_URL is not set: with CI=true the program is tested on PostgreSQL too")
		}
		t.Skip("TEST_POSTGRES_URL is not set, so PostgreSQL is not tested")
	}
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := sql.Open("pgx", server)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("linkwatch_e2e_%d_%d", os.Getpid(), time.Now().UnixNano())
	if _, err := admin.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal("making a database: ", err)
	}
	t.Cleanup(func() { // runs after the program has ended
		if _, err := admin.Exec("DROP DATABASE " + name); err != nil {
			t.Error("the program left the database in use: ", err)
		}
		_ = admin.Close()
	})
	u.Path = "/" + name
	return u.String()
}

// The main journey on the second engine, in the browser and on the API.
func TestPostgres(t *testing.T) {
	store := "DATABASE_URL=" + newDatabase(t)
	web, s := site(t), start(t, store)
	saved := s.save(web.URL+"/go-memory", "Go", "Reading")
	s.save(web.URL+"/c-sharp", "c#")

	b := browse(t, s, wide, "/links")
	b.fill("#url", web.URL+"/sqlite-pages")
	b.see("What there is to know about Sqlite pages.")
	b.click("#add button.primary")
	b.see("Saved: Sqlite pages")
	b.fill("#q", "memry") // a near miss
	b.see("No exact match")
	b.wait(`document.querySelectorAll(".row").length === 1`)
	b.see("Go memory")
	b.fill("#q", "tag:c#")
	b.wait(`document.querySelectorAll(".row").length === 1 && document.querySelector(".row .title").textContent === "C sharp"`)

	web.set("/go-memory", status(404))
	var refreshed link
	if got := s.call("PUT", "/v1/link/"+saved.ID, nil, &refreshed); got != 200 || !refreshed.Expired {
		t.Errorf("refreshing a page that is gone: %d, expired %v; want 200, true", got, refreshed.Expired)
	}
	if _, total := s.found("/v1/search?q=memory"); total != 0 {
		t.Errorf("an expired link is found %d times", total)
	}
	s.stop()
	again := start(t, store)
	if _, total := again.found("/v1/links?expired=all"); total != 3 {
		t.Errorf("after a restart there are %d links, want 3", total)
	}
}
