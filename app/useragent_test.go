package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestUserAgent checks that outbound requests name the program, and PUBLIC_URL if it is set.
func TestUserAgent(t *testing.T) {
	for publicURL, suffix := range map[string]string{"": "", "https://links.example": " (+https://links.example)"} {
		agents := make(chan string, 10)
		site := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { agents <- r.UserAgent() }))
		defer site.Close()
		p := start(t, env(t, map[string]string{"PUBLIC_URL": publicURL, "OUTBOUND_ALLOW_CIDRS": "127.0.0.1"}))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+"/v1/links", strings.NewReader(`{"url":"`+site.URL+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusCreated {
			t.Fatalf("status %d", res.StatusCode)
		}
		if got, want := <-agents, "Linkwatch/"+version()+suffix; got != want {
			t.Errorf("User-Agent %q, want %q", got, want)
		}
		p.stop()
		if err := p.wait(t); err != nil {
			t.Error(err)
		}
	}
}
