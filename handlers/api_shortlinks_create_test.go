package handlers_test

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

func TestShortLinkIdempotencyByKey(t *testing.T) {
	eachEngine(t, func(s *server) {
		post := func(on *server, key, body string) answer {
			return on.send("POST", "/v1/shortlinks", "application/json", body, "Idempotency-Key", key)
		}
		made := post(s, "key-1", `{"long_url":"https://a.test","title":"first"}`).want(http.StatusCreated)
		at := "/v1/shortlinks/" + fmt.Sprint(made["short_key"])
		for _, body := range []string{
			`{"long_url":"https://a.test","title":"first"}`, `{"long_url":"https://b.test","short_key":"other"}`,
		} {
			a := post(s, "key-1", body)
			has(s.t, a.want(http.StatusOK), made)
			if got := a.header.Get("Location"); got != at {
				s.t.Errorf("Location %q, want %q", got, at)
			}
		}
		restarted := newServerOn(s.t, s.db)
		made["short_url"] = restarted.url + "/s/" + fmt.Sprint(made["short_key"])
		has(s.t, post(restarted, "key-1", `{"long_url":"https://c.test"}`).want(http.StatusOK), made)
		s.do("PATCH", at, `{"title":"second"}`).want(200)
		has(s.t, post(s, "key-1", `{"long_url":"https://a.test"}`).want(http.StatusOK), map[string]any{"title": "second"})
		if got := column(s.do("GET", "/v1/shortlinks", "").want(200), "short_key"); got != made["short_key"] {
			s.t.Errorf("short links %q, want only %v", got, made["short_key"])
		}

		for _, refused := range []string{`{"long_url":"ftp://d.test"}`, `{"long_url":"https://d.test","short_key":"admin"}`, `{}`} {
			post(s, "key-2", refused).want(http.StatusBadRequest)
		}
		taken := `{"long_url":"https://d.test","short_key":"` + fmt.Sprint(made["short_key"]) + `"}`
		post(s, "key-2", taken).problem(409, "conflict", "")
		post(s, "key-2", `{"long_url":"https://second.test"}`).want(http.StatusCreated) // what was refused left it free
		post(s, strings.Repeat("k", 255), `{"long_url":"https://d.test"}`).want(http.StatusCreated)
		for _, key := range []string{"two words", strings.Repeat("k", 256), canary + "é"} {
			a := post(s, key, `{"long_url":"https://e.test"}`)
			a.problem(400, "invalid-request", "header.Idempotency-Key")
			if strings.Contains(a.body, canary) {
				s.t.Errorf("the key is echoed: %s", a.body)
			}
		}
		// The keys of targets are others.
		s.send("POST", "/v1/targets", "application/json", `{"url":"https://a.test"}`, "Idempotency-Key", "key-1").want(http.StatusCreated)
		s.clock.Advance(24 * time.Hour)
		post(s, "key-1", `{"long_url":"https://a.test"}`).want(http.StatusCreated)
	})
}

func TestShortLinkIdempotencyAtOnce(t *testing.T) {
	eachEngine(t, func(s *server) {
		other := newServerOn(s.t, s.db) // another instance
		for name, c := range map[string]struct {
			key, body string
			refused   int // the status of those that made nothing
		}{
			"same Idempotency-Key":        {"at-once", `{"long_url":"https://keyed.test/%d"}`, http.StatusOK},
			"same, and a short key":       {"at-once-2", `{"long_url":"https://keyed.test/%d","short_key":"keyed"}`, http.StatusOK},
			"same short key and no other": {"", `{"long_url":"https://taken.test/%d","short_key":"taken"}`, http.StatusConflict},
		} {
			var created atomic.Int64
			var keys sync.Map
			var all sync.WaitGroup
			for i := range 20 {
				all.Go(func() {
					on := []*server{s, other}[i%2]
					a := on.send("POST", "/v1/shortlinks", "application/json", fmt.Sprintf(c.body, i), "Idempotency-Key", c.key)
					if a.status == http.StatusCreated {
						created.Add(1)
					} else if a.status != c.refused {
						s.t.Errorf("%s: %d %s", name, a.status, a.body)
					}
					var got struct {
						ShortKey string `json:"short_key"`
					}
					if err := json.Unmarshal([]byte(a.body), &got); err != nil {
						s.t.Error(err)
					}
					if a.status < 300 {
						keys.Store(got.ShortKey, nil)
					}
				})
			}
			all.Wait()
			different := 0
			keys.Range(func(any, any) bool { different++; return true })
			if created.Load() != 1 || different != 1 {
				s.t.Errorf("%s: %d times 201 and %d short links, want 1 and 1", name, created.Load(), different)
			}
		}
		if n := len(items(s.do("GET", "/v1/shortlinks", "").want(200))); n != 3 {
			s.t.Errorf("%d short links are stored, want 3", n)
		}
	})
}

// TestShortLinkPagination walks the list while short links come and go. All
// were created at the same time: the key alone tells them apart.
func TestShortLinkPagination(t *testing.T) {
	eachEngine(t, func(s *server) {
		// In the order of bytes, which no language's rules have.
		keys := []string{"----", "0000", "9zzz", "AAAA", "Zaaa", "__-a", "____", "aAAA", "aaaa", "aaab", "zZZZ", "zzzz"}
		for _, key := range slices.Backward(keys) {
			s.shorten(`"short_key":"` + key + `"`)
		}
		del := func(i int) { s.do("DELETE", "/v1/shortlinks/"+keys[i], "").want(http.StatusNoContent) }
		var seen []string
		token := ""
		for page := range 10 {
			list := s.do("GET", "/v1/shortlinks?limit=3&page_token="+token, "").want(200)
			seen = append(seen, strings.Fields(column(list, "short_key"))...)
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
				s.shorten(`"short_key":"AAAB"`) // before the place of the token: it is not seen
				s.clock.Advance(time.Microsecond)
				s.shorten(`"short_key":"0001"`)
				s.clock.Advance(-time.Microsecond)
			}
		}
		want := append(slices.Delete(slices.Clone(keys), 5, 6), "0001")
		if !slices.Equal(seen, want) {
			s.t.Errorf("saw  %v\nwant %v", seen, want)
		}
		std := base64.StdEncoding.EncodeToString([]byte(`{"created_at":"2026-03-24T12:00:00Z","id":"zZZZ"}`))
		if got := column(s.do("GET", "/v1/shortlinks?page_token="+std, "").want(200), "short_key"); got != "zzzz 0001" {
			s.t.Errorf("by a token of the client's making: %s", got)
		}
		filtered := s.do("GET", "/v1/shortlinks?limit=2&status=active&q=aa", "").want(200)
		if got := column(filtered, "short_key"); got != "AAAA AAAB" {
			s.t.Errorf("a filtered page: %s", got)
		}
		rest := s.do("GET", "/v1/shortlinks?status=active&q=aa&page_token="+fmt.Sprint(filtered["next_page_token"]), "").want(200)
		if got := column(rest, "short_key"); got != "Zaaa aAAA aaaa aaab" {
			s.t.Errorf("and the next: %s", got)
		}
	})
}
