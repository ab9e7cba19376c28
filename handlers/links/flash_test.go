package links_test

import (
	"testing"

	"linkwatch/app/apptest"
)

// Only the page of a link offers to restore a removed tag.
func TestFlash_ByPage(t *testing.T) {
	s := apptest.New(t)
	l := s.Save("https://example.com/a")
	apptest.WantCount(t, s.Get("/links/"+l.ID+"?untagged=x"), ".flash form", 1)
	for _, path := range []string{"/?untagged=x", "/links?untagged=x", "/tags?untagged=x", "/?done=nonsense", "/links?change=x"} {
		apptest.WantCount(t, s.Get(path), ".flash", 0)
	}
}

// A notice about an item that no longer exists hides the other notices.
func TestFlash_HidesOthersWithoutItem(t *testing.T) {
	s := apptest.New(t)
	target := s.Watch("https://watched.test", "").ID
	for _, q := range []string{"saved=none&done=edited", "change=none&done=edited", "saved=none&removed=first-20", "existing=none&deleted=" + target} {
		apptest.WantCount(t, s.Get("/links?"+q), ".flash", 0)
	}
	apptest.WantText(t, s.Get("/links?done=edited"), ".flash", "Saved.")
}
