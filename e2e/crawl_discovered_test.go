//go:build e2e

package e2e

import "testing"

// Links that a crawl discovers are saved with the keyboard, watched with a button, deleted
// and restored. The pages are accessible.
func TestDiscoveredLinks(t *testing.T) {
	t.Parallel() // axe is slow
	s := Start(t, "CRAWLER_POLL_INTERVAL=100ms")
	start := hosts(t, 1, document(`<title>Start</title><p><a href="http://127.9.9.9:9/a">One</a> <a href="http://127.9.9.9:9/b">Another</a>`))[0] + "/"
	j := s.addJob(start, nil)
	s.jobBecomes(j.ID, "completed")
	s.Call("POST", "/v1/jobs", map[string]any{"url": start, "interval_minutes": 1, "interval_type": "days"}, nil)
	b := browse(t, s, wide, "/crawl/discovered")
	b.expect("status of 4")
	for _, key := range []string{"j", "x", "j", "x"} {
		b.press(key)
	}
	b.see("2 selected")
	b.inEveryLook("/crawl/discovered, with a selection", b.accessible)
	b.resize(narrow)
	b.fits(narrow, "/crawl/discovered, with a selection")
	b.resize(wide)
	b.click("#bulk button[value=save]")
	b.see("2 links added.")
	b.click("tbody tr:first-child button[value=watch]")
	b.see("1 target added.")
	b.has("tbody tr:first-child .kept[href^='/watch/']")
	b.inEveryLook("/crawl/discovered, kept", b.accessible)
	b.resize(wide)
	b.press("j")
	b.press("x")
	b.click("#bulk button[value=delete]")
	b.see("1 link deleted.")
	b.press("u")
	b.see("Links restored.")
	b.fill("#q", "nothing like it")
	b.see("No matching links")
	for _, path := range []string{"/crawl/frontier?status=done", "/crawl/schedule"} {
		b.open(path)
		b.inEveryLook(path, b.accessible)
	}
	b.resize(narrow)
	b.fits(narrow, "/crawl/schedule")
}
