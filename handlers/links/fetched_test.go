package links_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models/modelstest"
)

// standIn is a site that counts its requests. It answers when release is closed.
type standIn struct {
	*httptest.Server
	requests atomic.Int64
	release  chan struct{}
}

func newStandIn(t *testing.T, status int) *standIn {
	s := &standIn{release: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.requests.Add(1)
		<-s.release
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, `<title>Spring news</title><meta property="og:description" content="All about it">`)
	}))
	t.Cleanup(s.Close)
	return s
}

// fetching returns a program that sends requests.
func fetching(t *testing.T) *apptest.App {
	return apptest.New(t, apptest.Set("OUTBOUND_ALLOW_CIDRS", "127.0.0.0/8,::1/128"), func(s *apptest.Setup) { s.Fetcher = nil })
}

// preview previews a URL as the form does, and returns the page and what the form sends of it.
func preview(a *apptest.App, u string) (p apptest.Page, fetched string) {
	a.Helper()
	r := httptest.NewRequestWithContext(a.Context(), http.MethodPost, "/links/preview", strings.NewReader(url.Values{"url": {u}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("HX-Request", "true")
	p = a.Browse(r)
	return p, p.Find(`input[name="fetched"]`).AttrOr("value", "")
}

// The form sends one request for a page: Save uses what the preview has read.
func TestSaveUsesThePreview(t *testing.T) {
	a, site := fetching(t), newStandIn(t, http.StatusOK)
	close(site.release)
	p, fetched := preview(a, site.URL+"/a")
	apptest.WantText(t, p, ".preview-text", "Spring news")
	saved := a.Follow("/links", url.Values{"url": {site.URL + "/a"}, "fetched": {fetched}})
	apptest.WantText(t, saved, "#results", "Spring news")
	if n := site.requests.Load(); n != 1 {
		t.Errorf("got %d requests", n)
	}
	// What a client made up is not used.
	a.Follow("/links", url.Values{"url": {site.URL + "/b"}, "fetched": {fetched}})
	a.Follow("/links", url.Values{"url": {site.URL + "/c"}, "fetched": {"bm90aGluZw"}})
	if n := site.requests.Load(); n != 3 {
		t.Errorf("got %d requests", n)
	}
}

// A page that cannot be saved is requested once: by the preview, and not by Save and Save anyway.
func TestSaveAnywayUsesThePreview(t *testing.T) {
	a, site := fetching(t), newStandIn(t, http.StatusTeapot)
	close(site.release)
	_, fetched := preview(a, site.URL)
	refused := a.Post("/links", url.Values{"url": {site.URL}, "fetched": {fetched}})
	apptest.WantStatus(t, refused, http.StatusUnprocessableEntity)
	again := a.Post("/links", url.Values{"url": {site.URL}, "failed": {refused.Find(`input[name="failed"]`).AttrOr("value", "")}, "force": {"true"}})
	apptest.WantStatus(t, again, http.StatusSeeOther)
	if n := site.requests.Load(); n != 1 {
		t.Errorf("got %d requests", n)
	}
	// Save in the form with the error is a retry.
	second := newStandIn(t, http.StatusTeapot)
	close(second.release)
	_, fetched = preview(a, second.URL)
	a.Post("/links", url.Values{"url": {second.URL}, "failed": {fetched}})
	if n := second.requests.Load(); n != 2 {
		t.Errorf("got %d requests", n)
	}
}

// Three presses of Save, without JavaScript, send one request and make one link. So do three API calls.
func TestSaveIsPressedThreeTimes(t *testing.T) {
	for name, press := range map[string]func(a *apptest.App, u string) int{
		"page": func(a *apptest.App, u string) int { return a.Post("/links", url.Values{"url": {u}}).StatusCode },
		"API":  func(a *apptest.App, u string) int { return a.Do("POST", "/v1/links", `{"url":"`+u+`"}`).Status },
	} {
		t.Run(name, func(t *testing.T) {
			a, site := fetching(t), newStandIn(t, http.StatusOK)
			before := a.Queries.Load()
			var presses sync.WaitGroup
			var mu sync.Mutex
			got := map[int]int{}
			for range 3 {
				presses.Go(func() {
					status := press(a, site.URL+"/slow")
					mu.Lock()
					defer mu.Unlock()
					got[status]++
				})
			}
			modelstest.Eventually(t, "each has looked for the link", func() bool { return a.Queries.Load() >= before+3 && site.requests.Load() > 0 })
			close(site.release)
			presses.Wait()
			want := map[string]map[int]int{"page": {303: 3}, "API": {201: 1, 200: 2}}[name]
			if n := site.requests.Load(); n != 1 || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %d requests, answers %v, want %v", n, got, want)
			}
			if got := a.Do("GET", "/v1/links", "").Want(200)["total_results"]; got != 1.0 {
				t.Errorf("got %v links", got)
			}
		})
	}
}

// The button of the form says that it saves.
func TestSaveButtonIsBusy(t *testing.T) {
	p := apptest.New(t).Get("/links")
	apptest.WantText(t, p, "#add button[data-busy] .idle", "Save")
	apptest.WantText(t, p, "#add button[data-busy] .busy", "Saving…")
}
