package links_test

import (
	"fmt"
	"testing"

	"linkwatch/app/apptest"
)

func TestBulk(t *testing.T) {
	s := apptest.New(t)
	a, b := s.Save("https://a.test").ID, s.Save("https://b.test").ID
	ids := fmt.Sprintf(`["%s","%s","l_0000000000000000000000"]`, a, b)
	active := func() any { return s.Do("GET", "/v1/links", "").Want(200)["total_results"] }
	do := func(action, more string) map[string]any {
		t.Helper()
		return s.Do("POST", "/v1/links/bulk", `{"ids":`+ids+`,"action":"`+action+`"`+more+`}`).Want(200)
	}
	for _, c := range []struct {
		action, more string
		after        float64 // active links
	}{{"expire", "", 0}, {"delete", "", 0}, {"tag", `,"tags":["x"]`, 2}} {
		change := do(c.action, c.more)
		if change["action"] != c.action || change["links"] != 2.0 {
			t.Errorf("%s: %v", c.action, change)
		}
		if n := active(); n != c.after {
			t.Errorf("%s: got %v active links, want %v", c.action, n, c.after)
		}
		undo := "/v1/changes/" + fmt.Sprint(change["id"]) + "/undo"
		if back := s.Do("POST", undo, "").Want(200); back["links"] != 2.0 {
			t.Errorf("undo of %s: got %v", c.action, back)
		}
		if n := active(); n != 2.0 {
			t.Errorf("undo of %s: got %v active links", c.action, n)
		}
		s.Do("POST", undo, "").Problem(404, "not-found", "")
	}
	if c := do("revive", ""); c["links"] != 0.0 || c["id"] != nil {
		t.Errorf("no change: got %v", c)
	}
}

func TestBulkRefresh(t *testing.T) {
	s := apptest.New(t)
	id := s.Save("https://a.test").ID
	c := s.Do("POST", "/v1/links/bulk", `{"ids":["`+id+`"],"action":"refresh"}`).Want(200)
	if c["action"] != "refresh" || c["links"] != 1.0 {
		t.Fatalf("got %v", c)
	}
	at := "/v1/refreshes/" + fmt.Sprint(c["id"])
	if r := s.Do("GET", at, "").Want(200); r["total"] != 1.0 || r["done"] != 0.0 || r["finished"] != false {
		t.Errorf("got %v", r)
	}
	refreshOne(s)
	if r := s.Do("GET", at, "").Want(200); r["done"] != 1.0 || r["failed"] != 0.0 || r["finished"] != true {
		t.Errorf("got %v", r)
	}
}
