package handlers_test

// What seed 000 names in its §4: create idempotency and cursor pagination.

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
	"time"
)

func TestCreateIdempotencyByURL(t *testing.T) {
	s := newServer(t)
	id := s.watch("http://example.com/")
	a := s.do("POST", "/v1/targets", `{"url":"HTTP://EXAMPLE.com:80","name":"other"}`)
	if got := a.want(http.StatusOK); got["id"] != id || got["name"] != "" || a.header.Get("Location") != "/v1/targets/"+id {
		t.Errorf("got %v, %v", got, a.header)
	}
}

func TestCreateIdempotencyByKey(t *testing.T) {
	eachEngine(t, func(s *server) {
		post := func(on *server, key, body string) answer {
			return on.send("POST", "/v1/targets", "application/json", body, "Idempotency-Key", key)
		}
		id := post(s, "key-1", `{"url":"https://a.test"}`).want(http.StatusCreated)["id"]
		for _, body := range []string{`{"url":"https://a.test"}`, `{"url":"https://b.test"}`} {
			if got := post(s, "key-1", body).want(http.StatusOK)["id"]; got != id {
				s.t.Errorf("%s: %v, want %v", body, got, id)
			}
		}
		restarted := newServerOn(s.t, s.db)
		if got := post(restarted, "key-1", `{"url":"https://c.test"}`).want(http.StatusOK)["id"]; got != id {
			s.t.Errorf("after a restart: %v, want %v", got, id)
		}
		if got := column(s.do("GET", "/v1/targets", "").want(200), "id"); got != id {
			s.t.Errorf("targets %q, want only %v", got, id)
		}
		for _, refused := range []string{`{"url":"ftp://d.test"}`, `{"url":"https://d.test","expect":{"status":"99"}}`, `{}`} {
			post(s, "key-2", refused).want(http.StatusBadRequest)
		}
		post(s, "key-2", `{"url":"https://second.test"}`).want(http.StatusCreated) // what was refused left it free
		post(s, strings.Repeat("k", 255), `{"url":"https://d.test"}`).want(http.StatusCreated)
		for _, key := range []string{"two words", strings.Repeat("k", 256), canary + "é"} {
			a := post(s, key, `{"url":"https://e.test"}`)
			a.problem(400, "invalid-request", "header.Idempotency-Key")
			if strings.Contains(a.body, canary) {
				s.t.Errorf("the key is echoed: %s", a.body)
			}
		}
	})
}

func TestCreateIdempotencyAtOnce(t *testing.T) {
	eachEngine(t, func(s *server) {
		for name, post := range map[string]func(i int) answer{
			"same URL": func(int) answer { return s.do("POST", "/v1/targets", `{"url":"https://same.test"}`) },
			"same key": func(i int) answer {
				return s.send("POST", "/v1/targets", "application/json", fmt.Sprintf(`{"url":"https://keyed.test/%d"}`, i%3), "Idempotency-Key", "at-once")
			},
		} {
			var created atomic.Int64
			var ids sync.Map
			var all sync.WaitGroup
			for i := range 20 {
				all.Go(func() {
					a := post(i)
					if a.status == http.StatusCreated {
						created.Add(1)
					} else if a.status != http.StatusOK {
						s.t.Errorf("%s: %d %s", name, a.status, a.body)
					}
					var got struct{ ID string }
					if err := json.Unmarshal([]byte(a.body), &got); err != nil {
						s.t.Error(err)
					}
					ids.Store(got.ID, nil)
				})
			}
			all.Wait()
			different := 0
			ids.Range(func(any, any) bool { different++; return true })
			if created.Load() != 1 || different != 1 {
				s.t.Errorf("%s: %d times 201 and %d ids, want 1 and 1", name, created.Load(), different)
			}
		}
		if n := len(items(s.do("GET", "/v1/targets", "").want(200))); n != 2 {
			s.t.Errorf("%d targets are stored, want 2", n)
		}
	})
}

// wantToken checks what a page token holds (seed 000): the place of the last item.
func (s *server) wantToken(token string, createdAt time.Time, id string) {
	s.t.Helper()
	var cursor struct {
		CreatedAt time.Time `json:"created_at"`
		ID        string
	}
	b, err := base64.URLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(b, &cursor)
	}
	if err != nil || cursor.ID != id || !cursor.CreatedAt.Equal(createdAt) {
		s.t.Errorf("token %q: %+v %v", token, cursor, err)
	}
}

// TestCursorPagination walks the list while targets come and go. All were
// created at the same time: the id alone tells them apart.
func TestCursorPagination(t *testing.T) {
	eachEngine(t, func(s *server) {
		var ids []string
		for i := range 12 {
			ids = append(ids, s.watch(fmt.Sprintf("https://h%d.test", i)))
		}
		del := func(i int) { s.do("DELETE", "/v1/targets/"+ids[i], "").want(http.StatusNoContent) }
		var seen []string
		token := ""
		for page := range 10 {
			list := s.do("GET", "/v1/targets?limit=3&page_token="+token, "").want(200)
			seen = append(seen, strings.Fields(column(list, "id"))...)
			if token = fmt.Sprint(list["next_page_token"]); token == "" {
				break
			}
			s.wantToken(token, s.clock.Now(), seen[len(seen)-1])
			switch page {
			case 0:
				del(1) // was seen
				del(2) // the token's own
				del(5) // is to come
			case 1:
				ids = append(ids, s.watch("https://new.test"))
			}
		}
		if want := slices.Delete(slices.Clone(ids), 5, 6); !slices.Equal(seen, want) {
			s.t.Errorf("saw  %v\nwant %v", seen, want)
		}
		std := base64.StdEncoding.EncodeToString([]byte(`{"created_at":"2026-03-24T12:00:00Z","id":"` + ids[10] + `"}`))
		if got := column(s.do("GET", "/v1/targets?page_token="+std, "").want(200), "id"); got != ids[11]+" "+ids[12] {
			s.t.Errorf("by a token of the client's making: %s", got)
		}
		if n := len(items(s.do("GET", "/v1/targets?limit=500", "").want(200))); n != 10 {
			s.t.Errorf("%d targets, want 10", n)
		}
	})
}
