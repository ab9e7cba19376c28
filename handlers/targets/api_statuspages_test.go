package targets_test

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
)

func TestStatusPages(t *testing.T) {
	s := apptest.New(t)
	a, b := s.Watch("https://a.test", "").ID, s.Watch("https://b.test", "").ID
	added := s.Do("POST", "/v1/status-pages", `{"slug":"shop","title":"The shop","description":"All of it","targets":["`+b+`","`+a+`","`+b+`"]}`)
	page := added.Want(http.StatusCreated)
	at := "/v1/status-pages/" + fmt.Sprint(page["id"])
	if added.Header.Get("Location") != at || !strings.HasPrefix(at, "/v1/status-pages/h_") {
		t.Errorf("Location %q", added.Header.Get("Location"))
	}
	want := map[string]any{
		"slug": "shop", "title": "The shop", "description": "All of it", "target_count": 2.0, "targets": []any{b, a},
		"created_at": "2026-03-24T12:00:00Z", "updated_at": "2026-03-24T12:00:00Z",
	}
	apptest.Has(t, page, want)
	apptest.Has(t, s.Do("GET", at, "").Want(200), want)
	s.Do("POST", "/v1/status-pages", `{"slug":"api","title":"An API"}`).Want(http.StatusCreated)

	list := s.Do("GET", "/v1/status-pages", "").Want(200)
	if got := apptest.Column(list, "slug"); got != "api shop" || list["next_page_token"] != "" {
		t.Errorf("got %v", list)
	}
	delete(want, "targets")
	apptest.Has(t, apptest.Items(list)[1], want)

	s.Clock.Advance(time.Minute)
	for _, taken := range []apptest.Response{
		s.Do("POST", "/v1/status-pages", `{"slug":"shop","title":"Another"}`),
		s.Do("PUT", at, `{"slug":"api","title":"The shop"}`),
	} {
		taken.Problem(409, "conflict", "")
	}
	apptest.Has(t, s.Do("PUT", at, `{"slug":"store","title":"The store","targets":["`+a+`"]}`).Want(200), map[string]any{
		"slug": "store", "title": "The store", "description": "", "targets": []any{a},
		"created_at": "2026-03-24T12:00:00Z", "updated_at": "2026-03-24T12:01:00Z",
	})
	s.Do("PUT", at, `{"slug":"store","title":"The store"}`).Want(200)
	if got := s.Do("GET", at, "").Want(200)["targets"]; !reflect.DeepEqual(got, []any{}) {
		t.Errorf("targets %v", got)
	}
	s.Do("PUT", at, `{"slug":"store","title":"The store","targets":["`+a+`","`+b+`"]}`).Want(200)
	s.Do("DELETE", "/v1/targets/"+b, "").Want(http.StatusNoContent)
	apptest.Has(t, s.Do("GET", at, "").Want(200), map[string]any{"targets": []any{a}, "target_count": 1.0})

	if d := s.Do("DELETE", at, ""); d.Status != http.StatusNoContent || d.Body != "" {
		t.Errorf("%d %s", d.Status, d.Body)
	}
	s.Do("GET", at, "").Problem(404, "not-found", "")
	s.Do("DELETE", at, "").Problem(404, "not-found", "")
	s.Do("PUT", at, `{"slug":"store","title":"x"}`).Problem(404, "not-found", "")
	s.Do("GET", "/v1/targets/"+a, "").Want(200)
}
