package links_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/links"
)

func TestAdd(t *testing.T) {
	each(t, func(t fixture) {
		og := links.OpenGraph{Title: "OG Title", Description: "OG Desc", Image: "https://example.com/image.jpg", SiteName: "Example", Type: "website"}
		t.web.set("https://Example.com/page/#top", links.Page{Status: 200, URL: "https://example.com/page/", Title: "OG Title", OpenGraph: og})
		l, created, err := t.Add(t.Context(), links.New{URL: " https://Example.com/page/#top ", Tags: []string{"Go", "DevOps", "go"}, Notes: "mine"})
		t.must(err)
		if !created || l.URL != "https://Example.com/page/#top" || l.CanonicalURL != "https://example.com/page" ||
			l.Title != "OG Title" || l.OpenGraph != og || l.Owner != "system" || l.Notes != "mine" ||
			l.Health != links.OK || l.LastStatusCode != 200 || l.Expired() || l.ViewCount != 0 {
			t.Errorf("saved %+v", l)
		}
		if !slices.Equal(l.Tags, []string{"Go", "DevOps"}) {
			t.Errorf("tags %q", l.Tags)
		}
		if err := models.CheckID(models.KindLink, l.ID); err != nil {
			t.Error(err)
		}
		got := t.get(l.ID)
		if got.CreatedAt != models.At(t.clock.Now()) || got.LastCheckedAt != got.CreatedAt || got.UpdatedAt != got.CreatedAt {
			t.Errorf("times %+v", got)
		}
		if next := got.NextCheckAt.Sub(t.clock.Now()); next < week*9/10 || next > week*11/10 {
			t.Errorf("next check in %v", next)
		}

		again, created, err := t.Add(t.Context(), links.New{URL: "HTTPS://example.com:443/page", Tags: []string{"GO", "new"}})
		t.must(err)
		if created || again.ID != l.ID || !slices.Equal(again.Tags, []string{"Go", "DevOps", "new"}) {
			t.Errorf("duplicate: created %v, %+v", created, again)
		}
		if n := len(t.web.requests); n != 1 {
			t.Errorf("%d fetches for a link and its duplicate, want 1", n)
		}

		_, err = t.SetExpired(t.Context(), true, l.ID)
		t.must(err)
		again, created, err = t.Add(t.Context(), links.New{URL: l.URL})
		t.must(err)
		if created || !again.Expired() {
			t.Errorf("duplicate of an expired link: created %v, expired %v", created, again.Expired())
		}
	})
}

func TestAddErrors(t *testing.T) {
	each(t, func(t fixture) {
		t.web.set("https://a.test/404", links.Page{Status: 404})
		t.web.set("https://a.test/401", links.Page{Status: 401})
		t.web.set("https://a.test/204", links.Page{Status: 204})
		t.web.fail("https://a.test/gone", &links.FetchError{Reason: "host not found"})
		t.web.fail("https://a.test/private", &links.FetchError{Reason: "address not allowed", Blocked: true})
		t.web.fail("https://a.test/busy", &links.FetchError{Reason: "rate limited (429)", RetryAfter: 7 * time.Second})
		t.web.fail("https://a.test/full", &links.FetchError{Reason: "too many fetches", Busy: true, RetryAfter: 5 * time.Second})
		t.web.fail("https://a.test/bug", errors.New("SELECT secret"))
		many := make([]string, 65)
		for i := range many {
			many[i] = fmt.Sprint("t", i)
		}
		for _, c := range []struct {
			n    links.New
			code models.Code
		}{
			{links.New{URL: "https://a.test/404"}, models.CodeUnresolvable},
			{links.New{URL: "https://a.test/401"}, models.CodeUnresolvable},
			{links.New{URL: "https://a.test/204"}, models.CodeUnresolvable},
			{links.New{URL: "https://a.test/gone"}, models.CodeUnresolvable},
			{links.New{URL: "https://a.test/private"}, models.CodeBlocked},
			{links.New{URL: "https://a.test/busy"}, models.CodeUnresolvable},
			{links.New{URL: "https://a.test/full"}, models.CodeUnavailable},
			{links.New{URL: "https://a.test/bug"}, ""},
			{links.New{URL: ""}, models.CodeInvalid},
			{links.New{URL: "ftp://a.test/"}, models.CodeInvalid},
			{links.New{URL: "https://u:p@a.test/"}, models.CodeInvalid},
			{links.New{URL: "https://a.test/ok", Tags: many}, models.CodeTooManyTags},
			{links.New{URL: "https://a.test/ok", Tags: []string{"ok", " "}}, models.CodeInvalid},
			{links.New{URL: "https://a.test/ok", Tags: []string{"a,b"}}, models.CodeInvalid},
			{links.New{URL: "https://a.test/ok", Tags: []string{strings.Repeat("x", 65)}}, models.CodeInvalid},
			{links.New{URL: "https://a.test/ok", Notes: strings.Repeat("x", 10_001)}, models.CodeInvalid},
			{links.New{URL: "https://a.test/ok", Owner: strings.Repeat("x", 101)}, models.CodeInvalid},
		} {
			_, _, err := t.Add(t.Context(), c.n)
			if err == nil || models.CodeOf(err) != c.code {
				t.Errorf("saving %+v: %v, want code %q", c.n.URL, err, c.code)
			}
		}
		c, err := t.Counts(t.Context())
		t.must(err)
		if c.Active+c.Expired+c.Tags != 0 {
			t.Errorf("a link was stored: %+v", c)
		}
	})
}

func TestAddForced(t *testing.T) {
	each(t, func(t fixture) {
		now := models.At(t.clock.Now())
		for _, c := range []struct {
			response any // links.Page or error
			health   links.Health
			status   int
			problem  string
			next     time.Duration
		}{
			{links.Page{Status: 404, Title: "Not found"}, links.Dead, 404, "unexpected status 404", week},
			{links.Page{Status: 410}, links.Dead, 410, "unexpected status 410", week},
			{links.Page{Status: 403, Title: "Forbidden"}, links.Blocked, 403, "unexpected status 403", week},
			{links.Page{Status: 429}, links.Blocked, 429, "unexpected status 429", week},
			{links.Page{Status: 500}, links.Suspect, 500, "unexpected status 500", 24 * time.Hour},
			{links.Page{Status: 302}, links.Suspect, 302, "unexpected status 302", 24 * time.Hour},
			{&links.FetchError{Reason: "host not found"}, links.Suspect, 0, "host not found", 24 * time.Hour},
			{&links.FetchError{Reason: "address not allowed", Blocked: true}, links.Blocked, 0, "address not allowed", week},
			{&links.FetchError{Reason: "rate limited (429)", RetryAfter: 20 * time.Minute}, links.Unchecked, 0, "", 20 * time.Minute},
			{&links.FetchError{Reason: "too many fetches", Busy: true}, links.Unchecked, 0, "", 5 * time.Second},
		} {
			url := "https://a.test/" + models.NewID(models.KindLink)
			switch a := c.response.(type) {
			case links.Page:
				t.web.set(url, a)
			case error:
				t.web.fail(url, a)
			}
			l, created, err := t.Add(t.Context(), links.New{URL: url, Tags: []string{"Go"}, Notes: "mine", Force: true})
			t.must(err)
			got := t.get(l.ID)
			if !created || got.Health != c.health || got.LastStatusCode != c.status || got.LastError != c.problem || got.Expired() ||
				got.Title != url || got.OwnTitle != "" || got.FetchedTitle != "" || got.Notes != "mine" || !slices.Equal(got.Tags, []string{"Go"}) ||
				(got.LastCheckedAt == now) == (c.health == links.Unchecked) {
				t.Errorf("%+v is saved as %+v", c.response, got)
			}
			if next := got.NextCheckAt.Sub(now.Time); next < c.next*9/10 || next > c.next*11/10 {
				t.Errorf("%+v is checked in %v, want %v", c.response, next, c.next)
			}
			if _, created, err := t.Add(t.Context(), links.New{URL: url, Force: true}); err != nil || created {
				t.Errorf("saved again: %v %v", created, err)
			}
		}
		// link_count has the active links.
		tags, err := t.Tags(t.Context(), "", links.TagsByCount, models.Page{Number: 1, Size: 10})
		t.must(err)
		if len(tags.Items) != 1 || tags.Items[0].LinkCount != 10 {
			t.Errorf("tags %+v", tags.Items)
		}
	})
}

func TestAddForcedTitles(t *testing.T) {
	each(t, func(t fixture) {
		const url = "https://a.test/down"
		t.web.set(url, links.Page{Status: 503})
		l, _, err := t.Add(t.Context(), links.New{URL: url, Title: " My own  title ", Force: true})
		t.must(err)
		if l.Title != "My own title" || l.OwnTitle != l.Title {
			t.Errorf("got %+v", l)
		}
		found, err := t.List(t.Context(), links.Filter{Query: "title:own"}, models.Page{Number: 1, Size: 10})
		t.must(err)
		if found.Total != 1 {
			t.Errorf("%d links found by title", found.Total)
		}

		// The title of the page replaces the URL after a successful check. A given title stays.
		long := "https://a.test/" + strings.Repeat("x", 1000)
		t.web.set(long, links.Page{Status: 503})
		other, _, err := t.Add(t.Context(), links.New{URL: long, Force: true})
		t.must(err)
		if other.Title != models.Truncate(long, links.MaxTitle) {
			t.Errorf("the title is %q", other.Title)
		}
		for _, l := range []links.Link{l, other} {
			t.web.set(l.URL, links.Page{Status: 200, URL: l.URL, Title: "Fetched"})
			_, err := t.Refresh(t.Context(), l.ID)
			t.must(err)
		}
		if got := t.get(l.ID); got.Title != "My own title" || got.FetchedTitle != "Fetched" {
			t.Errorf("got %+v", got)
		}
		if got := t.get(other.ID); got.Title != "Fetched" {
			t.Errorf("got %+v", got)
		}

		// With Force too, the metadata of a page is stored, and a given title has priority.
		ok, created, err := t.Add(t.Context(), links.New{URL: "https://a.test/ok", Title: "Mine", Force: true})
		t.must(err)
		if !created || ok.Health != links.OK || ok.Title != "Mine" || ok.FetchedTitle != "Page at https://a.test/ok" {
			t.Errorf("got %+v", ok)
		}
	})
}

// Force does not suppress validation errors and internal errors.
func TestAddForcedErrors(t *testing.T) {
	each(t, func(t fixture) {
		t.web.fail("https://a.test/bug", errors.New("SELECT secret"))
		for _, n := range []links.New{
			{URL: "ftp://a.test/"}, {URL: "https://256.1.1.1/"}, {URL: "https://a.test/bug"},
			{URL: "https://a.test/", Title: strings.Repeat("x", links.MaxTitle+1)},
		} {
			n.Force = true
			if _, _, err := t.Add(t.Context(), n); err == nil {
				t.Errorf("%s is saved", n.URL)
			}
		}
		c, err := t.Counts(t.Context())
		t.must(err)
		if c.Active+c.Expired+c.Tags != 0 {
			t.Errorf("a link was stored: %+v", c)
		}
	})
}

func TestAddCleansMetadata(t *testing.T) {
	each(t, func(t fixture) {
		t.web.set("https://a.test/", links.Page{
			Status: 200, URL: "https://a.test/",
			Title:     "a\x00b \u202egnp.exe\n\tc\xff " + strings.Repeat("é", 600),
			OpenGraph: links.OpenGraph{Image: "javascript:alert(1)", Description: strings.Repeat("d", 5000)},
		})
		l := t.get(t.add("https://a.test/").ID)
		if !strings.HasPrefix(l.Title, "ab gnp.exe c\uFFFD éé") || models.Runes(l.Title) != links.MaxTitle {
			t.Errorf("title %q", l.Title)
		}
		if l.OpenGraph.Image != "" || len(l.OpenGraph.Description) != 1000 {
			t.Errorf("OpenGraph %+v", l.OpenGraph)
		}
		for _, s := range []string{l.Title, l.OpenGraph.Description} {
			if strings.ContainsAny(s, "\x00\u202e\n") {
				t.Errorf("%q has control characters or is too long", s)
			}
		}
	})
}

func TestConcurrentAdd(t *testing.T) {
	each(t, func(t fixture) {
		const n = 16
		var created atomic.Int64
		ids := make([]string, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				l, isNew, err := t.Add(t.Context(), links.New{URL: "https://a.test/x", Tags: []string{"all", fmt.Sprint("t", i)}})
				if err != nil {
					t.Error(err)
				}
				if isNew {
					created.Add(1)
				}
				ids[i] = l.ID
			})
		}
		wg.Wait()
		if created.Load() != 1 || len(slices.Compact(ids)) != 1 {
			t.Errorf("%d created, ids %v", created.Load(), ids)
		}
		if l := t.get(ids[0]); len(l.Tags) != n+1 {
			t.Errorf("%d tags, want %d", len(l.Tags), n+1)
		}
	})
}
