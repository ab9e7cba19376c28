package handlers_test

import (
	"fmt"
	"testing"
)

func TestBulk(t *testing.T) {
	s := newServer(t)
	a, b := s.save("https://a.test"), s.save("https://b.test")
	ids := fmt.Sprintf(`["%s","%s","l_0000000000000000000000"]`, a, b)
	active := func() any { return s.do("GET", "/v1/links", "").want(200)["total_results"] }
	do := func(action, more string) map[string]any {
		t.Helper()
		return s.do("POST", "/v1/links/bulk", `{"ids":`+ids+`,"action":"`+action+`"`+more+`}`).want(200)
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
			t.Errorf("%s: %v active links, want %v", c.action, n, c.after)
		}
		undo := "/v1/changes/" + fmt.Sprint(change["id"]) + "/undo"
		if back := s.do("POST", undo, "").want(200); back["links"] != 2.0 {
			t.Errorf("undo of %s: %v", c.action, back)
		}
		if n := active(); n != 2.0 {
			t.Errorf("undo of %s: %v active links", c.action, n)
		}
		s.do("POST", undo, "").problem(404, "not-found", "")
	}
	if c := do("revive", ""); c["links"] != 0.0 || c["id"] != nil {
		t.Errorf("a change of nothing: %v", c)
	}
}

func TestBulkRefresh(t *testing.T) {
	s := newServer(t)
	id := s.save("https://a.test")
	c := s.do("POST", "/v1/links/bulk", `{"ids":["`+id+`"],"action":"refresh"}`).want(200)
	if c["action"] != "refresh" || c["links"] != 1.0 {
		t.Fatalf("got %v", c)
	}
	at := "/v1/refreshes/" + fmt.Sprint(c["id"])
	if r := s.do("GET", at, "").want(200); r["total"] != 1.0 || r["done"] != 0.0 || r["finished"] != false {
		t.Errorf("got %v", r)
	}
	refreshOne(t, s.links)
	if r := s.do("GET", at, "").want(200); r["done"] != 1.0 || r["failed"] != 0.0 || r["finished"] != true {
		t.Errorf("got %v", r)
	}
}
