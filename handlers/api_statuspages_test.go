package handlers_test

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestStatusPages(t *testing.T) {
	s := newServer(t)
	a, b := s.watch("https://a.test"), s.watch("https://b.test")
	added := s.do("POST", "/v1/status-pages", `{"slug":"shop","title":"The shop","description":"All of it","targets":["`+b+`","`+a+`","`+b+`"]}`)
	page := added.want(http.StatusCreated)
	at := "/v1/status-pages/" + fmt.Sprint(page["id"])
	if added.header.Get("Location") != at || !strings.HasPrefix(at, "/v1/status-pages/h_") {
		t.Errorf("Location %q", added.header.Get("Location"))
	}
	want := map[string]any{
		"slug": "shop", "title": "The shop", "description": "All of it", "target_count": 2.0, "targets": []any{b, a},
		"created_at": "2026-03-24T12:00:00Z", "updated_at": "2026-03-24T12:00:00Z",
	}
	has(t, page, want)
	has(t, s.do("GET", at, "").want(200), want)
	s.do("POST", "/v1/status-pages", `{"slug":"api","title":"An API"}`).want(http.StatusCreated)

	list := s.do("GET", "/v1/status-pages", "").want(200)
	if got := column(list, "slug"); got != "api shop" || list["next_page_token"] != "" {
		t.Errorf("got %v", list)
	}
	delete(want, "targets")
	has(t, items(list)[1], want)

	s.clock.Advance(time.Minute)
	for _, taken := range []answer{
		s.do("POST", "/v1/status-pages", `{"slug":"shop","title":"Another"}`),
		s.do("PUT", at, `{"slug":"api","title":"The shop"}`),
	} {
		taken.problem(409, "conflict", "")
	}
	has(t, s.do("PUT", at, `{"slug":"store","title":"The store","targets":["`+a+`"]}`).want(200), map[string]any{
		"slug": "store", "title": "The store", "description": "", "targets": []any{a},
		"created_at": "2026-03-24T12:00:00Z", "updated_at": "2026-03-24T12:01:00Z",
	})
	s.do("PUT", at, `{"slug":"store","title":"The store"}`).want(200)
	if got := s.do("GET", at, "").want(200)["targets"]; !reflect.DeepEqual(got, []any{}) {
		t.Errorf("targets %v", got)
	}
	s.do("PUT", at, `{"slug":"store","title":"The store","targets":["`+a+`","`+b+`"]}`).want(200)
	s.do("DELETE", "/v1/targets/"+b, "").want(http.StatusNoContent)
	has(t, s.do("GET", at, "").want(200), map[string]any{"targets": []any{a}, "target_count": 1.0})

	if d := s.do("DELETE", at, ""); d.status != http.StatusNoContent || d.body != "" {
		t.Errorf("%d %s", d.status, d.body)
	}
	s.do("GET", at, "").problem(404, "not-found", "")
	s.do("DELETE", at, "").problem(404, "not-found", "")
	s.do("PUT", at, `{"slug":"store","title":"x"}`).problem(404, "not-found", "")
	s.do("GET", "/v1/targets/"+a, "").want(200)
}
