package shortlinks_test

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

	"linkwatch/app/apptest"
)

func TestShortLinkIdempotencyByKey(t *testing.T) {
	each(t, func(s *server) {
		post := func(on *server, key, body string) apptest.Response {
			return on.Send("POST", "/v1/shortlinks", "application/json", body, "Idempotency-Key", key)
		}
		made := post(s, "key-1", `{"long_url":"https://a.test","title":"first"}`).Want(http.StatusCreated)
		at := "/v1/shortlinks/" + fmt.Sprint(made["short_key"])
		for _, body := range []string{
			`{"long_url":"https://a.test","title":"first"}`, `{"long_url":"https://b.test","short_key":"other"}`,
		} {
			a := post(s, "key-1", body)
			apptest.Has(s.TB, a.Want(http.StatusOK), made)
			if got := a.Header.Get("Location"); got != at {
				s.Errorf("Location %q, want %q", got, at)
			}
		}
		restarted := newServer(s.TB, apptest.On(s.DB))
		made["short_url"] = restarted.URL + "/s/" + fmt.Sprint(made["short_key"])
		apptest.Has(s.TB, post(restarted, "key-1", `{"long_url":"https://c.test"}`).Want(http.StatusOK), made)
		s.Do("PATCH", at, `{"title":"second"}`).Want(200)
		apptest.Has(s.TB, post(s, "key-1", `{"long_url":"https://a.test"}`).Want(http.StatusOK), map[string]any{"title": "second"})
		if got := apptest.Column(s.Do("GET", "/v1/shortlinks", "").Want(200), "short_key"); got != made["short_key"] {
			s.Errorf("short links %q, want only %v", got, made["short_key"])
		}

		for _, refused := range []string{`{"long_url":"ftp://d.test"}`, `{"long_url":"https://d.test","short_key":"admin"}`, `{}`} {
			post(s, "key-2", refused).Want(http.StatusBadRequest)
		}
		taken := `{"long_url":"https://d.test","short_key":"` + fmt.Sprint(made["short_key"]) + `"}`
		post(s, "key-2", taken).Problem(409, "conflict", "")
		post(s, "key-2", `{"long_url":"https://second.test"}`).Want(http.StatusCreated) // a failed request does not use the key
		post(s, strings.Repeat("k", 255), `{"long_url":"https://d.test"}`).Want(http.StatusCreated)
		for _, key := range []string{"two words", strings.Repeat("k", 256), canary + "é"} {
			a := post(s, key, `{"long_url":"https://e.test"}`)
			a.Problem(400, "invalid-request", "header.Idempotency-Key")
			if strings.Contains(a.Body, canary) {
				s.Errorf("the key is echoed: %s", a.Body)
			}
		}
		// Targets have their own Idempotency-Keys.
		s.Send("POST", "/v1/targets", "application/json", `{"url":"https://a.test"}`, "Idempotency-Key", "key-1").Want(http.StatusCreated)
		s.Clock.Advance(24 * time.Hour)
		post(s, "key-1", `{"long_url":"https://a.test"}`).Want(http.StatusCreated)
	})
}

func TestShortLinkConcurrentIdempotency(t *testing.T) {
	each(t, func(s *server) {
		other := newServer(s.TB, apptest.On(s.DB)) // another instance
		for name, c := range map[string]struct {
			key, body string
			refused   int // status of the requests that add nothing
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
					a := on.Send("POST", "/v1/shortlinks", "application/json", fmt.Sprintf(c.body, i), "Idempotency-Key", c.key)
					if a.Status == http.StatusCreated {
						created.Add(1)
					} else if a.Status != c.refused {
						s.Errorf("%s: %d %s", name, a.Status, a.Body)
					}
					var got struct {
						ShortKey string `json:"short_key"`
					}
					if err := json.Unmarshal([]byte(a.Body), &got); err != nil {
						s.Error(err)
					}
					if a.Status < 300 {
						keys.Store(got.ShortKey, nil)
					}
				})
			}
			all.Wait()
			different := 0
			keys.Range(func(any, any) bool { different++; return true })
			if created.Load() != 1 || different != 1 {
				s.Errorf("%s: %d times 201 and %d short links, want 1 and 1", name, created.Load(), different)
			}
		}
		if n := len(apptest.Items(s.Do("GET", "/v1/shortlinks", "").Want(200))); n != 3 {
			s.Errorf("%d short links are stored, want 3", n)
		}
	})
}

// TestShortLinkPagination reads the list while short links are added and deleted.
// All have the same created_at, so only their keys order them.
func TestShortLinkPagination(t *testing.T) {
	each(t, func(s *server) {
		// In byte order.
		keys := []string{"----", "0000", "9zzz", "AAAA", "Zaaa", "__-a", "____", "aAAA", "aaaa", "aaab", "zZZZ", "zzzz"}
		for _, key := range slices.Backward(keys) {
			s.shorten(`"short_key":"` + key + `"`)
		}
		del := func(i int) { s.Do("DELETE", "/v1/shortlinks/"+keys[i], "").Want(http.StatusNoContent) }
		var seen []string
		token := ""
		for page := range 10 {
			list := s.Do("GET", "/v1/shortlinks?limit=3&page_token="+token, "").Want(200)
			seen = append(seen, strings.Fields(apptest.Column(list, "short_key"))...)
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
				s.shorten(`"short_key":"AAAB"`) // before the position of the token: not on a later page
				s.Clock.Advance(time.Microsecond)
				s.shorten(`"short_key":"0001"`)
				s.Clock.Advance(-time.Microsecond)
			}
		}
		want := append(slices.Delete(slices.Clone(keys), 5, 6), "0001")
		if !slices.Equal(seen, want) {
			s.Errorf("saw  %v\nwant %v", seen, want)
		}
		std := base64.StdEncoding.EncodeToString([]byte(`{"created_at":"2026-03-24T12:00:00Z","id":"zZZZ"}`))
		if got := apptest.Column(s.Do("GET", "/v1/shortlinks?page_token="+std, "").Want(200), "short_key"); got != "zzzz 0001" {
			s.Errorf("by a token of the client's making: %s", got)
		}
		filtered := s.Do("GET", "/v1/shortlinks?limit=2&status=active&q=aa", "").Want(200)
		if got := apptest.Column(filtered, "short_key"); got != "AAAA AAAB" {
			s.Errorf("a filtered page: %s", got)
		}
		rest := s.Do("GET", "/v1/shortlinks?status=active&q=aa&page_token="+fmt.Sprint(filtered["next_page_token"]), "").Want(200)
		if got := apptest.Column(rest, "short_key"); got != "Zaaa aAAA aaaa aaab" {
			s.Errorf("and the next: %s", got)
		}
	})
}
