package links_test

import (
	"testing"

	"linkwatch/app/apptest"
)

// TestWhatAnAddressSays: only a link's page offers to put a tag back.
func TestWhatAnAddressSays(t *testing.T) {
	s := apptest.New(t)
	l := s.Save("https://example.com/a")
	apptest.WantCount(t, s.Get("/links/"+l.ID+"?untagged=x"), ".flash form", 1)
	for _, path := range []string{"/?untagged=x", "/links?untagged=x", "/tags?untagged=x", "/?done=nonsense", "/links?change=x"} {
		apptest.WantCount(t, s.Get(path), ".flash", 0)
	}
}

// An address that names an action of which nothing is left says nothing else.
func TestFlash_GoneActionSaysNothingElse(t *testing.T) {
	s := apptest.New(t)
	target := s.Watch("https://watched.test", "").ID
	for _, q := range []string{"saved=none&done=edited", "change=none&done=edited", "saved=none&removed=first-20", "known=none&deleted=" + target} {
		apptest.WantCount(t, s.Get("/links?"+q), ".flash", 0)
	}
	apptest.WantText(t, s.Get("/links?done=edited"), ".flash", "Saved.")
}
