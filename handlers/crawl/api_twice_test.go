package crawl_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
)

// The same URL twice returns the existing source, unchanged. Private sources of others do not exist.
func TestSourceTwice_API(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	post := func(as *apptest.App, body string, status int) map[string]any {
		s.Helper()
		made := as.Do("POST", "/v1/sources", body)
		src := made.Want(status)
		if to := made.Header.Get("Location"); to != fmt.Sprint("/v1/sources/", src["id"]) {
			s.Errorf("%s: got Location %q", body, to)
		}
		return src
	}
	first := post(s, `{"url":"https://example.com/","name":"First","max_depth":2}`, 201)
	for _, body := range []string{`{"url":"https://Example.com:443","name":"Second","max_depth":4,"enabled":false}`, `{"url":"https://example.com/#x"}`} {
		apptest.Has(s.TB, post(s, body, 200), first)
	}
	post(s, `{"url":"https://example.com/docs"}`, 201)
	post(s, `{"url":"http://example.com/"}`, 201)
	s.Do("POST", "/v1/sources", `{"url":"https://example.com/","max_depth":-1}`).Problem(400, "invalid-request", "max_depth")

	alice, bob := s.As("alice"), s.As("bob")
	apptest.Has(s.TB, post(bob, `{"url":"https://example.com/","private":true}`, 200), first) // as with websites
	secret := post(bob, `{"url":"https://secret.test","name":"Secret","private":true}`, 201)
	apptest.Has(s.TB, post(bob, `{"url":"https://secret.test"}`, 200), secret)
	for _, other := range []*apptest.App{alice, s} { // s sees all sources
		if made := post(other, `{"url":"https://secret.test","private":true}`, 201); made["id"] == secret["id"] || made["name"] != "secret.test" {
			s.Errorf("got %v", made)
		}
	}
	s.Do("DELETE", fmt.Sprint("/v1/sources/", first["id"]), "").Want(204)
	post(alice, `{"url":"https://example.com"}`, 201)
	post(alice, `{"url":"https://example.com"}`, 200)
}

// Of requests for the same URL at the same time, exactly one adds the item, and all return it. They add one source for its host.
func TestTwiceAtOnce_API(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	for path, url := range map[string]string{"/v1/sources": "https://one.test", "/v1/feeds": "https://two.test/feed", "/v1/frontier": "https://three.test/x"} {
		ids, created, mu := map[any]bool{}, 0, sync.Mutex{}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				made := s.Do("POST", path, `{"url":"`+url+`"}`)
				mu.Lock()
				defer mu.Unlock()
				if made.Status == http.StatusCreated {
					created++
				} else if made.Status != http.StatusOK {
					s.Errorf("%s: got %d %s", path, made.Status, made.Body)
				}
				_, id, _ := strings.Cut(made.Header.Get("Location"), path+"/")
				ids[id] = true
			})
		}
		all.Wait()
		if created != 1 || len(ids) != 1 {
			s.Errorf("%s: %d were created, with the ids %v", path, created, ids)
		}
	}
	sources, err := s.Systems.Crawl.Store.Sources(s.TB.Context(), "", models.Cursor{}, 10)
	if s.Must(err); len(sources.Items) != 3 {
		s.Errorf("got %d sources", len(sources.Items))
	}
}

// A feed or URL in a private source of another user does not exist for a user who adds the same.
func TestTwicePrivate_API(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	alice, bob := s.As("alice"), s.As("bob")
	for path, host := range map[string]string{"/v1/feeds": "one.test", "/v1/frontier": "two.test"} {
		bob.Do("POST", "/v1/sources", `{"url":"https://`+host+`","private":true}`).Want(201)
		body := `{"url":"https://` + host + `/x"}`
		mine := bob.Do("POST", path, body).Want(201)
		apptest.Has(s.TB, bob.Do("POST", path, body).Want(200), map[string]any{"id": mine["id"]})
		other := alice.Do("POST", path, body).Want(201)
		if other["id"] == mine["id"] {
			s.Errorf("%s: alice got the private item", path)
		}
		apptest.Has(s.TB, alice.Do("POST", path, body).Want(200), map[string]any{"id": other["id"]})
	}
}

// A source can have many jobs with the same URL. Jobs that are added at once for a new host get one source.
func TestJobTwice_API(t *testing.T) {
	apptest.EachEngine(t, func(s *apptest.App) {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if made := s.Do("POST", "/v1/jobs", `{"url":"https://at.once.test/"}`); made.Status != http.StatusCreated {
					s.Errorf("got %d %s", made.Status, made.Body)
				}
			})
		}
		all.Wait()
		jobs := strings.Fields(apptest.Column(s.Do("GET", "/v1/jobs", "").Want(200), "source_id"))
		slices.Sort(jobs)
		if len(jobs) != 8 || len(slices.Compact(jobs)) != 1 {
			s.Errorf("got the sources %v", jobs)
		}
	})
	s := newSite(t)
	first := s.Do("POST", "/v1/jobs", `{"url":"https://example.com/"}`).Want(201)
	second := s.Do("POST", "/v1/jobs", `{"url":"https://example.com/"}`).Want(201)
	if first["id"] == second["id"] || first["source_id"] != second["source_id"] {
		t.Errorf("got %v and %v", first, second)
	}
}
