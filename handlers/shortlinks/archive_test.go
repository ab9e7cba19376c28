package shortlinks_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"linkwatch/app/apptest"
)

// cleanUp runs a batch of the kinds of the reaper that delete short links, and returns the numbers of rows.
func (s *server) cleanUp() (n [2]int64) {
	s.Helper()
	for i, kind := range s.Cleanup.Kinds()[:len(n)] {
		var err error
		n[i], err = s.Cleanup.Batch(s.Context(), kind.Kind, 1000, kind.Remove)
		s.Must(err)
	}
	return n
}

// cleaned returns the totals and the last batches of these kinds.
func (s *server) cleaned() string {
	s.Helper()
	totals, err := s.Cleanup.Totals(s.Context())
	s.Must(err)
	return fmt.Sprintf("%s %d %d, %s %d %d", totals[0].Kind, totals[0].Cleaned, totals[0].LastBatchSize,
		totals[1].Kind, totals[1].Cleaned, totals[1].LastBatchSize)
}

// An expired short link keeps its page, its record and its statistics for SHORT_KEEP_EXPIRED after the reaper has archived it.
// Its key stays taken, visitors get 410, and a later expiry brings it back on every instance.
func TestArchivedShortLink(t *testing.T) {
	eachCache(t, func(s *server, another func() *server) {
		at := s.shorten(`"short_key":"spring","ttl_seconds":60,"title":"Spring campaign"`)
		s.shorten(`"short_key":"live"`)
		s.visit("spring", byDesktop, "https://news.example/item")
		s.visit("spring", byMobile, "")
		s.writeVisits()
		s.Clock.Advance(time.Hour + time.Minute)
		record, stats := s.Do("GET", at, "").Want(200), s.Do("GET", at+"/stats", "").Want(200)
		if n := s.cleanUp(); n != [2]int64{1, 0} {
			s.Fatalf("got %v rows", n)
		}
		if got := s.cleaned(); got != "short_links 1 1, archived_short_links 0 0" {
			s.Errorf("got %s", got)
		}

		other := another()
		apptest.Has(s.TB, s.Do("GET", at, "").Want(200), record)
		apptest.Has(s.TB, s.Do("GET", at, "").Want(200), map[string]any{"status": "expired", "visits": 2.0, "title": "Spring campaign"})
		apptest.Has(s.TB, s.Do("GET", at+"/stats", "").Want(200), stats)
		for path, want := range map[string]string{"?status=expired": "spring", "?status=active": "live", "": "live spring", "?q=campaign": "spring"} {
			if got := apptest.Column(s.Do("GET", "/v1/shortlinks"+path, "").Want(200), "short_key"); got != want {
				s.Errorf("%s: got %s, want %s", path, got, want)
			}
		}
		s.Do("POST", "/v1/shortlinks", `{"long_url":"https://other.test","short_key":"spring"}`).Want(409)
		for _, in := range []*server{s, other} {
			in.Do("GET", "/s/spring", "").Want(410)
		}

		s.Do("PATCH", at, fmt.Sprintf(`{"expires_at":%q}`, s.Clock.Now().Add(time.Hour).Format(time.RFC3339))).Want(200)
		for _, in := range []*server{s, another()} {
			in.Request("GET", "/s/spring").Want(302)
		}
		s.writeVisits()
		apptest.Has(s.TB, s.Do("GET", at, "").Want(200), map[string]any{"status": "active"})
		s.Clock.Advance(3 * time.Hour)
		s.cleanUp()

		s.Do("DELETE", at, "").Want(204)
		s.Do("GET", at, "").Want(404)
		s.Do("GET", "/s/spring", "").Want(410)
		s.Do("POST", at+"/restore", "").Want(200)
		s.Post("/short/spring/disabled", url.Values{"disabled": {"true"}})
		apptest.Has(s.TB, s.Do("GET", at, "").Want(200), map[string]any{"status": "disabled"})
		s.Clock.Advance(400 * 24 * time.Hour)
		if n := s.cleanUp(); n != [2]int64{0, 1} {
			s.Errorf("got %v rows", n)
		}
		if got := s.cleaned(); got != "short_links 2 1, archived_short_links 1 1" {
			s.Errorf("got %s", got)
		}
		s.Do("GET", at, "").Want(404)
		s.shorten(`"short_key":"spring"`)
	})
}

func TestArchivedShortLinkPages(t *testing.T) {
	s := newServer(t)
	s.shorten(`"short_key":"spring","ttl_seconds":60,"title":"Spring campaign"`)
	s.visit("spring", byDesktop, "https://news.example/item")
	s.writeVisits()
	s.Clock.Advance(time.Hour + time.Minute)
	s.cleanUp()
	page := s.Get("/short/spring")
	apptest.WantText(t, page, ".state", "expired")
	apptest.WantText(t, page, ".state", "It is kept with its statistics until 28 Apr 2027, 12:01 UTC. Extend it to use it again.")
	apptest.WantText(t, page, ".ranges", "1 30 days")
	apptest.WantText(t, page, "main", "news.example")
	apptest.WantText(t, s.Get("/short"), ".short-links", "Spring campaign")
	apptest.WantText(t, s.Get("/short?status=expired"), ".short-links", "Spring campaign")
	apptest.WantText(t, s.Get("/search?q=spring"), "main", "Spring campaign")
	apptest.WantText(t, s.Follow("/short/spring/extend", url.Values{"by": {"24h"}}), ".state", "active expires")
	apptest.WantText(t, s.Follow("/short/spring/delete", nil), ".flash", "Short link deleted.")
}
