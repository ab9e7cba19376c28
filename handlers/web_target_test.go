package handlers_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/targets"
)

func TestDeleteTargetAndUndo(t *testing.T) {
	s := newSite(t)
	id := s.watch("https://example.com", "One").ID
	s.check(isUp)
	a := s.follow("/watch/"+id+"/delete", nil)
	wantText(t, a, ".flash", "The target is deleted")
	wantCount(t, a, ".targets", 0)
	wantStatus(t, s.get("/watch/"+id), http.StatusNotFound)
	a = s.submit(a, ".flash form")
	wantText(t, a, ".flash", "It is watched again")
	wantText(t, a, "h1", "One")
	wantCount(t, a, ".checks tbody tr", 1)
	wantStatus(t, s.post("/watch/"+id+"/restore", nil), http.StatusNotFound)

	s.follow("/watch/"+id+"/delete", nil)
	s.watch("https://example.com", "Another")
	wantStatus(t, s.post("/watch/"+id+"/restore", nil), http.StatusConflict)
	wantCount(t, s.get("/watch?deleted="+url.QueryEscape(`"><script>`)), ".flash", 0)
}

// TestCheckNowOnPages: the page waits for what the check finds and says it.
func TestCheckNowOnPages(t *testing.T) {
	s := newSite(t)
	id := s.watch("https://example.com", "One").ID
	<-s.targets.Wanted() // by the new target
	s.check(isUp)
	for _, c := range []struct {
		find func(targets.Target) targets.Checked
		says string
	}{
		{isUp, "Checked: up, status 200 in 84 ms."},
		{isDown, "Checked: down, unexpected status 503."},
		{func(targets.Target) targets.Checked {
			return targets.Checked{Result: targets.Result{Outcome: targets.ThrottledOutcome, StatusCode: 429, Error: "throttled: status 429"}}
		}, "Checked: throttled: status 429."},
	} {
		answer := make(chan page)
		go func() { answer <- s.post("/watch/"+id+"/check", url.Values{"back": {"/watch"}}) }()
		<-s.targets.Wanted()
		s.check(c.find)
		a := <-answer
		wantStatus(t, a, http.StatusSeeOther)
		a = s.get(a.Header.Get("Location"))
		wantText(t, a, ".flash", c.says)
		wantCount(t, a, ".targets", 1)
	}
	answer := make(chan page)
	go func() { answer <- s.post("/watch/"+id+"/check", nil) }()
	<-s.targets.Wanted()
	s.check(func(targets.Target) targets.Checked {
		return targets.Checked{RetryAfter: time.Hour, Result: targets.Result{Outcome: targets.ThrottledOutcome, StatusCode: 429, Error: "throttled: status 429"}}
	})
	<-answer
	for _, back := range []string{"/watch/" + id, "/watch?q=one", "/"} {
		a := s.follow("/watch/"+id+"/check", url.Values{"back": {back}})
		wantText(t, a, ".flash.bad", "Checks of this target are postponed. The next check is in 59 min 35 s.")
	}
	s.clock.Advance(time.Hour)
	wantCount(t, s.get("/watch?resting="+id), ".flash", 0)

	s.follow("/watch/"+id+"/paused", url.Values{"paused": {"true"}})
	wantStatus(t, s.post("/watch/"+id+"/check", nil), http.StatusConflict)
	wantStatus(t, s.post("/watch/"+models.NewID(models.KindTarget)+"/check", nil), http.StatusNotFound)
}

func TestCertificateEnds(t *testing.T) {
	s := newSite(t)
	ends := map[string]time.Duration{"/soon": 9 * 24 * time.Hour, "/ended": -time.Hour, "/far": 15 * 24 * time.Hour}
	ids := map[string]string{}
	for path := range ends {
		ids[path] = s.watch("https://example.com"+path, path).ID
	}
	s.check(func(t targets.Target) targets.Checked {
		c := isUp(t)
		c.TLSExpiresAt = s.targets.Now().Add(ends[t.Name] + time.Minute)
		return c
	})
	wantText(t, s.get("/watch/"+ids["/soon"]), ".state", "The certificate ends in 9 days")
	wantText(t, s.get("/watch/"+ids["/ended"]), ".state", "The certificate ended 59 min ago")
	wantCount(t, s.get("/watch/"+ids["/far"]), ".state .suspect", 0)
	a := s.get("/")
	wantCount(t, a, ".attention li", 2)
	wantText(t, a, ".attention li:first-child", "The certificate ended 59 min ago")
}

// TestWatchALink: one click on a link watches it, and its history stands there.
func TestWatchALink(t *testing.T) {
	s := newSite(t)
	s.web.set("https://example.com/x", links.Page{Status: 200, URL: "https://example.com/x", Title: hostile + strings.Repeat("é", targets.MaxName)})
	l := s.save("https://example.com/x")
	a := s.get("/links/" + l.ID)
	wantCount(t, a, "#watched", 0)
	a = s.submit(a, `form[action="/watch"]`)
	wantText(t, a, ".flash", "Watching "+hostile)
	wantCount(t, a, `form[action="/watch"]`, 0)
	wantText(t, a, "section[aria-labelledby=watched]", "pending")
	s.check(isDown)
	a = s.get("/links/" + l.ID)
	wantText(t, a, "section[aria-labelledby=watched]", "Unexpected status 503")
	wantText(t, a, "section[aria-labelledby=watched]", "24 h 0")
	a = s.get(a.Find(".section-head a").AttrOr("href", ""))
	wantCount(t, a, `a[href="/links/`+l.ID+`"]`, 1)
	wantCount(t, a, "main script, main img", 0)

	id := s.watch("https://example.com/other", "").ID
	a = s.submit(s.get("/watch/"+id), `aside form[action="/links"]`)
	wantText(t, a, ".flash", "Saved: ")
	wantText(t, s.get("/watch/"+id), "aside section", "https://example.com/other")
}
