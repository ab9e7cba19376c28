package targets_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/targets"
)

func TestDeleteTargetAndUndo(t *testing.T) {
	s := apptest.New(t)
	id := s.Watch("https://example.com", "One").ID
	s.CheckDue(isUp)
	a := s.Follow("/watch/"+id+"/delete", nil)
	apptest.WantText(t, a, ".flash", "Target deleted.")
	apptest.WantCount(t, a, ".targets", 0)
	apptest.WantStatus(t, s.Get("/watch/"+id), http.StatusNotFound)
	a = s.Submit(a, ".flash form")
	apptest.WantText(t, a, ".flash", "Target restored.")
	apptest.WantText(t, a, "h1", "One")
	apptest.WantCount(t, a, ".checks tbody tr", 1)
	apptest.WantStatus(t, s.Post("/watch/"+id+"/restore", nil), http.StatusNotFound)

	s.Follow("/watch/"+id+"/delete", nil)
	s.Watch("https://example.com", "Another")
	apptest.WantStatus(t, s.Post("/watch/"+id+"/restore", nil), http.StatusConflict)
	apptest.WantCount(t, s.Get("/watch?deleted="+url.QueryEscape(`"><script>`)), ".flash", 0)
}

// TestCheckNowOnPages checks that the page waits for the result and shows it.
func TestCheckNowOnPages(t *testing.T) {
	s := apptest.New(t)
	id := s.Watch("https://example.com", "One").ID
	<-s.Targets.Wanted() // by the new target
	s.CheckDue(isUp)
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
		answer := make(chan apptest.Page)
		go func() { answer <- s.Post("/watch/"+id+"/check", url.Values{"back": {"/watch"}}) }()
		<-s.Targets.Wanted()
		s.CheckDue(c.find)
		a := <-answer
		apptest.WantStatus(t, a, http.StatusSeeOther)
		a = s.Get(a.Header.Get("Location"))
		apptest.WantText(t, a, ".flash", c.says)
		apptest.WantCount(t, a, ".targets", 1)
	}
	answer := make(chan apptest.Page)
	go func() { answer <- s.Post("/watch/"+id+"/check", nil) }()
	<-s.Targets.Wanted()
	s.CheckDue(func(targets.Target) targets.Checked {
		return targets.Checked{RetryAfter: time.Hour, Result: targets.Result{Outcome: targets.ThrottledOutcome, StatusCode: 429, Error: "throttled: status 429"}}
	})
	<-answer
	for _, back := range []string{"/watch/" + id, "/watch?q=one", "/"} {
		a := s.Follow("/watch/"+id+"/check", url.Values{"back": {back}})
		apptest.WantText(t, a, ".flash.bad", "This target is rate limited. Try again in 59 min 35 s.")
	}
	s.Clock.Advance(time.Hour)
	apptest.WantCount(t, s.Get("/watch?resting="+id), ".flash", 0)

	s.Follow("/watch/"+id+"/paused", url.Values{"paused": {"true"}})
	apptest.WantStatus(t, s.Post("/watch/"+id+"/check", nil), http.StatusConflict)
	apptest.WantStatus(t, s.Post("/watch/"+models.NewID(models.KindTarget)+"/check", nil), http.StatusNotFound)
}

func TestCertificateExpiry(t *testing.T) {
	s := apptest.New(t)
	ends := map[string]time.Duration{"/soon": 9 * 24 * time.Hour, "/ended": -time.Hour, "/far": 15 * 24 * time.Hour}
	ids := map[string]string{}
	for path := range ends {
		ids[path] = s.Watch("https://example.com"+path, path).ID
	}
	s.CheckDue(func(t targets.Target) targets.Checked {
		c := isUp(t)
		c.TLSExpiresAt = s.Targets.Now().Add(ends[t.Name] + time.Minute)
		return c
	})
	apptest.WantText(t, s.Get("/watch/"+ids["/soon"]), ".state", "The certificate expires in 9 days")
	apptest.WantText(t, s.Get("/watch/"+ids["/ended"]), ".state", "The certificate expired 59 min ago")
	apptest.WantCount(t, s.Get("/watch/"+ids["/far"]), ".state .suspect", 0)
	a := s.Get("/")
	apptest.WantCount(t, a, ".attention li", 2)
	apptest.WantText(t, a, ".attention li:first-child", "The certificate expired 59 min ago")
}

// TestWatchALink adds a target from the page of a link, which then shows its history.
func TestWatchALink(t *testing.T) {
	s := apptest.New(t)
	s.Web.Set("https://example.com/x", links.Page{Status: 200, URL: "https://example.com/x", Title: hostile + strings.Repeat("é", targets.MaxName)})
	l := s.Save("https://example.com/x")
	a := s.Get("/links/" + l.ID)
	apptest.WantCount(t, a, "#watched", 0)
	a = s.Submit(a, `form[action="/watch"]`)
	apptest.WantText(t, a, ".flash", "Target added: "+hostile)
	apptest.WantCount(t, a, `form[action="/watch"]`, 0)
	apptest.WantText(t, a, "section[aria-labelledby=watched]", "pending")
	s.CheckDue(isDown)
	a = s.Get("/links/" + l.ID)
	apptest.WantText(t, a, "section[aria-labelledby=watched]", "Unexpected status 503")
	apptest.WantText(t, a, "section[aria-labelledby=watched]", "Uptime: 0% in 24 h")
	a = s.Get(a.Find(".section-head a").AttrOr("href", ""))
	apptest.WantCount(t, a, `a[href="/links/`+l.ID+`"]`, 1)
	apptest.WantCount(t, a, "main script, main img", 0)

	id := s.Watch("https://example.com/other", "").ID
	a = s.Submit(s.Get("/watch/"+id), `aside form[action="/links"]`)
	apptest.WantText(t, a, ".flash", "Link saved: ")
	apptest.WantText(t, s.Get("/watch/"+id), "aside section", "https://example.com/other")
}
