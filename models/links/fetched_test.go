package links_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
	"linkwatch/models/secret"
)

// sealing returns another instance with the web of f, whose previews are sealed with this key.
func (f fixture) sealing(key string) fixture {
	f.Helper()
	box, err := secret.FromText(key)
	f.must(err)
	f.Store = links.NewStore(f.db, f.clock.Now, f.web, links.Options{CheckInterval: week, Seal: box.Seal, Open: box.Open})
	return f
}

// changed returns a sealed text in which one character in the middle is another one.
func changed(sealed string) string {
	b := []byte(sealed)
	if i := len(b) / 2; b[i] == 'A' {
		b[i] = 'B'
	} else {
		b[i] = 'A'
	}
	return string(b)
}

// Add uses the result of a preview of the same URL by the same actor, also on another instance with the same key. It ignores any
// other text.
func TestAddUsesThePreview(t *testing.T) {
	each(t, func(f fixture) {
		const page = "https://page.test/a"
		alice := models.WithActor(f.Context(), models.Actor{Name: "alice", Via: "session"})
		f = f.sealing("one key")
		f.web.set(page, links.Page{Status: 200, URL: page, Title: "The page", OpenGraph: links.OpenGraph{Description: "About"}})
		_, fetched, err := f.Preview(alice, page)
		f.must(err)
		if len(fetched) == 0 || len(f.web.requests) != 1 {
			t.Fatalf("got %q after %v", fetched, f.web.requests)
		}
		for _, c := range []struct {
			name    string
			in      fixture
			as      context.Context
			url     string
			fetched string
			later   time.Duration
			want    int // requests
		}{
			{name: "same", in: f.sealing("one key"), as: alice, url: page, fetched: fetched},
			{name: "another URL", in: f, as: alice, url: "https://page.test/b", fetched: fetched, want: 1},
			{name: "another user", in: f, as: models.WithActor(f.Context(), models.Actor{Name: "bob", Via: "session"}), url: page, fetched: fetched, want: 1},
			{name: "another key", in: f.sealing("another key"), as: alice, url: page, fetched: fetched, want: 1},
			{name: "changed", in: f, as: alice, url: page, fetched: changed(fetched), want: 1},
			{name: "no base64", in: f, as: alice, url: page, fetched: "{}", want: 1},
			{name: "old", in: f, as: alice, url: page, fetched: fetched, later: time.Hour, want: 1},
		} {
			f.web.requests = nil
			f.clock.Advance(c.later)
			l, created, err := c.in.Add(c.as, links.New{URL: c.url, Fetched: c.fetched})
			if err != nil || !created || len(f.web.requests) != c.want {
				t.Errorf("%s: got created %v, %v after %v", c.name, created, err, f.web.requests)
			}
			if c.name == "same" && (l.Title != "The page" || l.OpenGraph.Description != "About" || l.Health != links.OK) {
				t.Errorf("got %+v", l)
			}
			_, err = f.Delete(c.as, l.ID)
			f.must(err)
		}
	})
}

// A failed preview is not repeated by Save, nor by Save anyway. A minute later it is.
func TestAddUsesTheFailedPreview(t *testing.T) {
	each(t, func(f fixture) {
		f = f.sealing("one key")
		f.web.fail("https://slow.test", &links.FetchError{Reason: "timed out"})
		f.web.set("https://lost.test", links.Page{Status: 404, URL: "https://lost.test"})
		for _, url := range []string{"https://slow.test", "https://lost.test"} {
			f.web.requests = nil
			_, fetched, previewErr := f.Preview(f.Context(), url)
			_, _, err := f.Add(f.Context(), links.New{URL: url, Fetched: fetched})
			if previewErr == nil || err == nil || err.Error() != previewErr.Error() {
				t.Errorf("%s: got %v, want %v", url, err, previewErr)
			}
			l, created, err := f.Add(f.Context(), links.New{URL: url, Fetched: fetched, Force: true})
			if err != nil || !created || l.Health == links.OK || len(f.web.requests) != 1 {
				t.Errorf("%s: got %+v, %v after %v", url, l, err, f.web.requests)
			}
			_, err = f.Delete(f.Context(), l.ID)
			f.must(err)
			f.clock.Advance(2 * time.Minute)
			_, _, err = f.Add(f.Context(), links.New{URL: url, Fetched: fetched})
			if err == nil || len(f.web.requests) != 2 {
				t.Errorf("%s: got %v after %v", url, err, f.web.requests)
			}
		}
		f.web.fail("https://busy.test", &links.FetchError{Reason: "busy", Busy: true})
		if _, fetched, err := f.Preview(f.Context(), "https://busy.test"); err == nil || fetched != "" {
			t.Errorf("nothing was sent: got %q, %v", fetched, err)
		}
	})
}

// Requests of one actor for the same URL at the same time fetch its page once and make one link. Others fetch it themselves.
func TestConcurrentAddsFetchOnce(t *testing.T) {
	each(t, func(f fixture) {
		const page = "https://page.test"
		release := make(chan struct{})
		f.web.onRequest = func() { <-release }
		var wg sync.WaitGroup
		var mu sync.Mutex
		ids, created := map[string]bool{}, 0
		add := func(ctx context.Context) {
			wg.Go(func() {
				l, isNew, err := f.Add(ctx, links.New{URL: page})
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				ids[l.ID] = true
				if isNew {
					created++
				}
			})
		}
		wg.Go(func() {
			if _, _, err := f.Preview(f.Context(), page); err != nil {
				t.Error(err)
			}
		})
		for range 3 {
			add(f.Context())
		}
		add(models.WithActor(f.Context(), models.Actor{Name: "bob", Via: "session"}))
		// A request that ends does not end the fetch of the others.
		gone, cancel := context.WithCancel(f.Context())
		cancel()
		if _, _, err := f.Preview(gone, page); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		modelstest.Eventually(t, "all wait", func() bool { return links.Flights(f.Store) == 4+1+1+1 }) // and two fetches
		close(release)
		wg.Wait()
		if len(f.web.requests) != 2 || len(ids) != 1 || created != 1 {
			t.Errorf("got %v, %d links, %d created", f.web.requests, len(ids), created)
		}
		modelstest.Eventually(t, "nothing is kept", func() bool { return links.Flights(f.Store) == 0 })
	})
}

// If the browser drops a request because its user presses Save again, the second request uses the first fetch.
func TestRepeatedAddUsesTheDroppedFetch(t *testing.T) {
	each(t, func(f fixture) {
		const page = "https://page.test"
		started, release := make(chan struct{}, 1), make(chan struct{})
		f.web.onRequest = func() { started <- struct{}{}; <-release }
		ctx, cancel := context.WithCancel(f.Context())
		dropped := make(chan error)
		go func() { _, _, err := f.Add(ctx, links.New{URL: page}); dropped <- err }()
		<-started
		cancel()
		if err := <-dropped; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		close(release)
		modelstest.Eventually(t, "the fetch is done", func() bool { return links.Flights(f.Store) == 0 })
		if _, created, err := f.Add(f.Context(), links.New{URL: page}); err != nil || !created || len(f.web.requests) != 1 {
			t.Errorf("got created %v, %v after %v", created, err, f.web.requests)
		}
	})
}

// A page that makes the parser panic fails the request only.
func TestPanicOfAFetch(t *testing.T) {
	each(t, func(f fixture) {
		f.web.onRequest = func() { panic("parser") }
		if _, _, err := f.Add(f.Context(), links.New{URL: "https://page.test"}); err == nil {
			t.Error("want an error")
		}
	})
}
