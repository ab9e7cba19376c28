package app

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestUserAgent checks that outbound requests name the program, and PUBLIC_URL if it is set.
func TestUserAgent(t *testing.T) {
	t.Parallel()
	for publicURL, suffix := range map[string]string{"": "", "https://links.example": " (+https://links.example)"} {
		agents := make(chan string, 10)
		site := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { agents <- r.UserAgent() }))
		defer site.Close()
		p := start(t, env(t, map[string]string{"PUBLIC_URL": publicURL, "OUTBOUND_ALLOW_CIDRS": "127.0.0.1"}))
		res := p.post(t, "/v1/links", `{"url":"`+site.URL+`"}`)
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
