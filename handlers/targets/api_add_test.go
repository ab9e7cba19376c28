package targets_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"linkwatch/app/apptest"
)

func TestCreateIdempotencyByURL(t *testing.T) {
	s := apptest.New(t)
	id := s.Watch("http://example.com/", "").ID
	a := s.Do("POST", "/v1/targets", `{"url":"HTTP://EXAMPLE.com:80","name":"other"}`)
	if got := a.Want(http.StatusOK); got["id"] != id || got["name"] != "" || a.Header.Get("Location") != "/v1/targets/"+id {
		t.Errorf("got %v, %v", got, a.Header)
	}
}

func TestCreateIdempotencyByKey(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	post := func(on *apptest.App, key, body string) apptest.Response {
		return on.Send("POST", "/v1/targets", "application/json", body, "Idempotency-Key", key)
	}
	id := post(s, "key-1", `{"url":"https://a.test"}`).Want(http.StatusCreated)["id"]
	for _, body := range []string{`{"url":"https://a.test"}`, `{"url":"https://b.test"}`} {
		if got := post(s, "key-1", body).Want(http.StatusOK)["id"]; got != id {
			s.Errorf("%s: %v, want %v", body, got, id)
		}
	}
	restarted := apptest.New(s.TB, apptest.On(s.DB))
	if got := post(restarted, "key-1", `{"url":"https://c.test"}`).Want(http.StatusOK)["id"]; got != id {
		s.Errorf("after a restart: %v, want %v", got, id)
	}
	if got := apptest.Column(s.Do("GET", "/v1/targets", "").Want(200), "id"); got != id {
		s.Errorf("targets %q, want only %v", got, id)
	}
	for _, refused := range []string{`{"url":"ftp://d.test"}`, `{"url":"https://d.test","expect":{"status":"99"}}`, `{}`} {
		post(s, "key-2", refused).Want(http.StatusBadRequest)
	}
	post(s, "key-2", `{"url":"https://second.test"}`).Want(http.StatusCreated) // a failed request does not use the key
	post(s, strings.Repeat("k", 255), `{"url":"https://d.test"}`).Want(http.StatusCreated)
	for _, key := range []string{"two words", strings.Repeat("k", 256), canary + "é"} {
		a := post(s, key, `{"url":"https://e.test"}`)
		a.Problem(400, "invalid-request", "header.Idempotency-Key")
		if strings.Contains(a.Body, canary) {
			s.Errorf("the key is echoed: %s", a.Body)
		}
	}
}

func TestCreateIdempotencyAtOnce(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	for name, post := range map[string]func(i int) apptest.Response{
		"same URL": func(int) apptest.Response { return s.Do("POST", "/v1/targets", `{"url":"https://same.test"}`) },
		"same key": func(i int) apptest.Response {
			return s.Send("POST", "/v1/targets", "application/json", fmt.Sprintf(`{"url":"https://keyed.test/%d"}`, i%3), "Idempotency-Key", "at-once")
		},
	} {
		var created atomic.Int64
		var ids sync.Map
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				a := post(i)
				if a.Status == http.StatusCreated {
					created.Add(1)
				} else if a.Status != http.StatusOK {
					s.Errorf("%s: %d %s", name, a.Status, a.Body)
				}
				var got struct{ ID string }
				if err := json.Unmarshal([]byte(a.Body), &got); err != nil {
					s.Error(err)
				}
				ids.Store(got.ID, nil)
			})
		}
		all.Wait()
		different := 0
		ids.Range(func(any, any) bool { different++; return true })
		if created.Load() != 1 || different != 1 {
			s.Errorf("%s: %d times 201 and %d ids, want 1 and 1", name, created.Load(), different)
		}
	}
	if n := len(apptest.Items(s.Do("GET", "/v1/targets", "").Want(200))); n != 2 {
		s.Errorf("%d targets are stored, want 2", n)
	}
}

// TestCursorPagination reads the list page by page while targets are added and deleted.
// All are created at the same time, so only their ids order them.
func TestCursorPagination(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	var ids []string
	for i := range 12 {
		ids = append(ids, s.Watch(fmt.Sprintf("https://h%d.test", i), "").ID)
	}
	del := func(i int) { s.Do("DELETE", "/v1/targets/"+ids[i], "").Want(http.StatusNoContent) }
	var seen []string
	token := ""
	for page := range 10 {
		list := s.Do("GET", "/v1/targets?limit=3&page_token="+token, "").Want(200)
		seen = append(seen, strings.Fields(apptest.Column(list, "id"))...)
		if token = fmt.Sprint(list["next_page_token"]); token == "" {
			break
		}
		s.WantToken(token, s.Clock.Now(), seen[len(seen)-1])
		switch page {
		case 0:
			del(1) // on an earlier page
			del(2) // the one in the token
			del(5) // on a later page
		case 1:
			ids = append(ids, s.Watch("https://new.test", "").ID)
		}
	}
	if want := slices.Delete(slices.Clone(ids), 5, 6); !slices.Equal(seen, want) {
		s.Errorf("saw  %v\nwant %v", seen, want)
	}
	std := base64.StdEncoding.EncodeToString([]byte(`{"created_at":"2026-03-24T12:00:00Z","id":"` + ids[10] + `"}`))
	if got := apptest.Column(s.Do("GET", "/v1/targets?page_token="+std, "").Want(200), "id"); got != ids[11]+" "+ids[12] {
		s.Errorf("by a token of the client's making: %s", got)
	}
	if n := len(apptest.Items(s.Do("GET", "/v1/targets?limit=500", "").Want(200))); n != 10 {
		s.Errorf("%d targets, want 10", n)
	}
}
