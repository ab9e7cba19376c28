// Package smoke is the part of the end-to-end tests that go test ./... runs. The others, in package e2e, need the build
// tag e2e.
package smoke

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	_ "linkwatch/app" // else go test would not run this again when the program has changed
	"linkwatch/e2e"
)

func TestMain(m *testing.M) { os.Exit(e2e.Run(m)) }

// The real program saves a link with its title, and a program that starts after kill -9 finds it.
func TestLinkSurvivesKill(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<!DOCTYPE html><title>A page about otters</title>"))
	}))
	defer site.Close()
	store := "DATABASE_URL=" + filepath.Join(t.TempDir(), "linkwatch.db")

	s := e2e.Start(t, store)
	if got := s.Call(http.MethodPost, "/v1/links", map[string]any{"url": site.URL, "tags": []string{"animals"}}, nil); got != http.StatusCreated {
		t.Fatalf("saving a link: got status %d, want 201", got)
	}
	s.Kill()

	again := e2e.Start(t, store)
	var found struct {
		Results []struct {
			Title string
			Tags  []string
		}
	}
	got := again.Call(http.MethodGet, "/v1/search?q=otters", nil, &found)
	if got != http.StatusOK || len(found.Results) != 1 || found.Results[0].Title != "A page about otters" || found.Results[0].Tags[0] != "animals" {
		t.Errorf("searching the link after kill -9: got status %d, %+v", got, found.Results)
	}
}
