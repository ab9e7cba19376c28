package crawl_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/crawl"
)

// polls returns a server that polls feeds, with one feed that was read and one that failed.
func polls(t *testing.T) (s *site, read, failed crawl.Feed) {
	t.Helper()
	a := apptest.New(t, apptest.Set("CRAWLER_FEED_POLL_ENABLED", "true"), apptest.Set("CRAWLER_FEED_DISCOVERY_ENABLED", "true"), apptest.Set("CRAWLER_FEED_POLL_INTERVAL", "10m"))
	s = &site{a, a.Systems.Crawl.Store}
	j := s.AddJob("https://one.test", named(hostile))
	var err error
	read, _, err = s.Crawl.AddFeed(t.Context(), "https://one.test/feed.xml", j.SourceID)
	s.Must(err)
	failed, _, err = s.Crawl.AddFeed(t.Context(), "https://two.test/feed.xml", "")
	s.Must(err)
	feeds, _, err := s.Crawl.ClaimFeeds(t.Context(), s.Holder(), 10)
	s.Must(err)
	for _, f := range feeds {
		p := &crawl.Poll{Feed: f, Outcome: crawl.PollFailed, Reason: "status 500"}
		if f.Seq == read.Seq {
			p = &crawl.Poll{Feed: f, Outcome: crawl.PollRead, Title: hostile, Entries: []string{"https://one.test/a", "https://one.test/b"}, Truncated: true}
		}
		_, err := s.Crawl.RecordPolls(t.Context(), p)
		s.Must(err)
	}
	return s, read, failed
}

func TestFeedsPage(t *testing.T) {
	s, read, failed := polls(t)
	a := s.Get("/crawl/feeds")
	apptest.WantCount(t, a, "tbody tr", 2)
	apptest.WantCount(t, a, "main script, main img", 0)
	apptest.WantText(t, a, "#"+read.ID()+" .title", hostile)
	apptest.WantText(t, a, "#"+read.ID()+" .num", "2")
	apptest.WantText(t, a, "#"+read.ID()+" td:first-child", "Only the first 15 MiB or 500 entries were read.")
	apptest.WantText(t, a, "#"+failed.ID(), "two.test/feed.xml two.test just now in 20 min status 500 0")
	apptest.WantCount(t, a, `tbody .title[rel="noreferrer noopener"]`, 2)
	a = s.Get(a.Find("#"+read.ID()+" td:nth-child(2) a").AttrOr("href", ""))
	apptest.WantCount(t, a, "tbody tr", 1)
	apptest.WantText(t, a, ".chip.on", hostile)
	apptest.WantText(t, s.Submit(a, "tbody form"), ".flash", "The feed is polled within a minute.")
	f, err := s.Crawl.Feed(t.Context(), read.ID())
	if s.Must(err); !f.NextPollAt.Equal(s.Crawl.Now().Time) {
		t.Errorf("got next poll at %s", f.NextPollAt)
	}

	a = s.Follow("/crawl/feeds?source="+read.SourceID, url.Values{"url": {"other.test/rss"}})
	apptest.WantText(t, a, ".flash", "Feed added.")
	apptest.WantCount(t, a, "tbody tr", 2)
	apptest.WantText(t, s.Follow("/crawl/feeds?source="+read.SourceID, url.Values{"url": {"https://other.test/rss"}}), ".flash", "The source already has this feed.")
	a = s.Post("/crawl/feeds", url.Values{"url": {"ftp://one.test"}})
	apptest.WantStatus(t, a, http.StatusBadRequest)
	apptest.WantText(t, a, "#url-error", "URL must start with http://")

	a = s.Get("/crawl/feeds/" + read.ID() + "/delete")
	apptest.WantText(t, a, "h1", "Delete this feed?")
	apptest.WantCount(t, s.Get("/crawl/feeds"), "tbody tr", 3)
	a = s.Submit(a, "main form")
	apptest.WantText(t, a, ".flash", "Feed deleted.")
	apptest.WantCount(t, a, "tbody tr", 2)
	for _, action := range []string{"poll", "delete"} {
		apptest.WantStatus(t, s.Post("/crawl/feeds/"+read.ID()+"/"+action, nil), http.StatusNotFound)
	}
	apptest.WantStatus(t, s.Get("/crawl/feeds/"+read.ID()+"/delete"), http.StatusNotFound)
	apptest.WantStatus(t, s.Get("/crawl/feeds?source="+noSource), http.StatusNotFound)
	apptest.WantStatus(t, s.Get("/crawl/feeds?page_token=x"), http.StatusBadRequest)

	_, err = s.Crawl.EditSource(t.Context(), failed.SourceID, crawl.SourceEdit{Enabled: new(false)})
	s.Must(err)
	a = s.Get("/crawl/feeds?source=" + failed.SourceID)
	apptest.WantText(t, a, "tbody tr", "source is disabled")
	apptest.WantCount(t, a, "tbody form", 0)
	apptest.WantStatus(t, s.Post("/crawl/feeds/"+failed.ID()+"/poll", nil), http.StatusConflict)
}

// The page shows that polling is off and names the setting that enables it.
func TestFeedsPageWithoutPolling(t *testing.T) {
	s := newSite(t)
	a := s.Get("/crawl/feeds")
	apptest.WantText(t, a, ".lead", "CRAWLER_FEED_POLL_ENABLED=true")
	apptest.WantText(t, a, ".empty h2", "No feeds yet")
	apptest.WantText(t, a, ".lead", "CRAWLER_FEED_DISCOVERY_ENABLED=true")
	a = s.Follow("/crawl/feeds", url.Values{"url": {"one.test/feed"}})
	apptest.WantText(t, a, "tbody tr", "one.test/feed one.test never polling is off – 0")
	apptest.WantCount(t, a, "tbody form", 0)
	list, err := s.Crawl.Feeds(t.Context(), "", models.Cursor{}, 1)
	s.Must(err)
	apptest.WantStatus(t, s.Post("/crawl/feeds/"+list.Items[0].ID()+"/poll", nil), http.StatusConflict)
	apptest.WantCount(t, s.Get("/crawl"), `main a[href="/crawl/feeds"]`, 1)
}

// The number of queries does not depend on the number of feeds.
func TestFeedsPageConstantNumberOfQueries(t *testing.T) {
	s := newSite(t)
	add := func(n int) {
		for i := range n {
			_, _, err := s.Crawl.AddFeed(t.Context(), fmt.Sprintf("https://h%d-%d.test/feed", n, i), "")
			s.Must(err)
		}
	}
	add(1)
	few := s.Count("/crawl/feeds")
	add(60)
	if many := s.Count("/crawl/feeds"); many != few {
		t.Errorf("got %d queries for many feeds, %d for one", many, few)
	}
}

func TestFeeds_API(t *testing.T) {
	s, read, failed := polls(t)
	list := apptest.Items(s.Do("GET", "/v1/feeds", "").Want(200))
	if len(list) != 2 || list[0]["title"] != hostile || list[0]["last_error"] != nil || list[1]["title"] != nil || list[1]["last_error"] != "status 500" {
		t.Errorf("got feeds %v", list)
	}
	now := s.Crawl.Now()
	apptest.Has(t, list[0], map[string]any{
		"id": read.ID(), "source_id": read.SourceID, "url": "https://one.test/feed.xml", "failures": 0, "entries_found": 2, "truncated": true,
		"last_polled_at": now.Format(time.RFC3339Nano), "next_poll_at": now.Add(10 * time.Minute).Format(time.RFC3339Nano),
	})
	apptest.Has(t, list[1], map[string]any{"truncated": false})
	page := s.Do("GET", "/v1/feeds?limit=1", "").Want(200)
	next := apptest.Items(s.Do("GET", "/v1/feeds?limit=1&page_token="+page["next_page_token"].(string), "").Want(200))
	if len(next) != 1 || next[0]["id"] != failed.ID() {
		t.Errorf("second page: got %v", next)
	}
	if of := apptest.Items(s.Do("GET", "/v1/feeds?source_id="+failed.SourceID, "").Want(200)); len(of) != 1 {
		t.Errorf("feeds of a source: got %v", of)
	}
	added := s.Do("POST", "/v1/feeds", `{"url":"https://one.test/atom.xml#top","source_id":"`+read.SourceID+`"}`).Want(201)
	apptest.Has(t, added, map[string]any{"url": "https://one.test/atom.xml", "title": nil, "last_polled_at": nil, "last_error": nil, "source_id": read.SourceID})
	apptest.Has(t, s.Do("POST", "/v1/feeds", `{"url":"https://one.test/atom.xml"}`).Want(200), map[string]any{"id": added["id"]})
	path := "/v1/feeds/" + added["id"].(string)
	s.Do("DELETE", path, "").Want(204)
	s.Do("DELETE", path, "").Problem(404, "not-found", "")
	s.Do("DELETE", "/v1/feeds/h_1", "").Problem(404, "not-found", "")
	for body, location := range map[string]string{
		`{}`: "url", `{"url":"one.test"}`: "url", `{"url":"https://u@one.test/"}`: "url", `{"url":"https://one.test","source_id":"` + noSource + `"}`: "source_id",
		`{"url":"https://one.test","colour":"red"}`: "body",
	} {
		s.Do("POST", "/v1/feeds", body).Problem(400, "invalid-request", location)
	}
	s.Do("GET", "/v1/feeds?page_token=zzz", "").Problem(400, "invalid-request", "query.page_token")
	for i := range crawl.MaxFeeds {
		_, _, err := s.Crawl.AddFeed(t.Context(), fmt.Sprintf("https://full.test/%d", i), "")
		s.Must(err)
	}
	s.Do("POST", "/v1/feeds", `{"url":"https://full.test/more"}`).Problem(409, "conflict", "")
}
