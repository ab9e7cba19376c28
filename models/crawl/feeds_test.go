package crawl_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
)

func (w *world) feed(url string) crawl.Feed {
	w.Helper()
	f, created, err := w.AddFeed(w.Context(), url, "")
	w.ok(err)
	if !created {
		w.Fatalf("the feed %s was there", url)
	}
	return f
}

func (w *world) again(f crawl.Feed) crawl.Feed {
	w.Helper()
	f, err := w.Feed(w.Context(), f.ID())
	w.ok(err)
	return f
}

func (w *world) claimFeeds() []crawl.ClaimedFeed {
	w.Helper()
	feeds, _, err := w.ClaimFeeds(w.Context(), w.me, 100)
	w.ok(err)
	return feeds
}

// poll records that the only due feed was read with these entries. change can modify the poll.
func (w *world) poll(change func(*crawl.Poll), entries ...string) int {
	w.Helper()
	due := w.claimFeeds()
	if len(due) != 1 {
		w.Fatalf("%d feeds are due", len(due))
	}
	p := &crawl.Poll{Feed: due[0], Outcome: crawl.PollRead, Entries: entries, ETag: `"1"`}
	if change != nil {
		change(p)
	}
	n, err := w.RecordPolls(w.Context(), p)
	w.ok(err)
	return n
}

// queued returns the URLs in the frontier with their status.
func (w *world) queued() map[string]crawl.EntryStatus {
	w.Helper()
	list, err := w.Frontier(w.Context(), crawl.EntryFilter{}, models.Cursor{}, models.MaxLimit)
	w.ok(err)
	all := map[string]crawl.EntryStatus{}
	for _, e := range list.Items {
		all[e.URL] = e.Status
	}
	return all
}

func TestFeedIsAddedOnce(t *testing.T) {
	each(t, func(w *world) {
		f := w.feed("HTTP://Example.com/feed.xml#top")
		if f.URL != "http://example.com/feed.xml" || f.SourceName != "example.com" || !f.NextPollAt.Equal(w.Now().Time) || f.ID()[:2] != "h_" {
			w.Errorf("the feed is %+v", f)
		}
		twice, created, err := w.AddFeed(w.Context(), "http://example.com/feed.xml?utm_source=x", f.SourceID)
		if w.ok(err); created || twice.Seq != f.Seq {
			w.Error("the feed was added twice")
		}
		for _, bad := range [][2]string{{"ftp://example.com", ""}, {"http://user@example.com", ""}, {"http://example.com/", "s_none"}} {
			if _, _, err := w.AddFeed(w.Context(), bad[0], bad[1]); models.CodeOf(err) != models.CodeInvalid {
				w.Errorf("%q: %v", bad, err)
			}
		}
		for i := range crawl.MaxFeeds - 1 {
			w.feed(fmt.Sprintf("http://example.com/%d.xml", i))
		}
		if _, _, err := w.AddFeed(w.Context(), "http://example.com/more.xml", ""); models.CodeOf(err) != models.CodeConflict {
			w.Errorf("a source has more than %d feeds: %v", crawl.MaxFeeds, err)
		}
		list, err := w.Feeds(w.Context(), f.SourceID, models.Cursor{}, 60)
		w.ok(err)
		rest, err := w.Feeds(w.Context(), "", list.Next, 60)
		if w.ok(err); len(list.Items) != 60 || len(rest.Items) != 40 || rest.More() {
			w.Errorf("the list has %d and %d feeds", len(list.Items), len(rest.Items))
		}
		w.ok(w.DeleteFeed(w.Context(), f.ID()))
		for _, err := range []error{w.DeleteFeed(w.Context(), f.ID()), w.PollFeed(w.Context(), f.ID()), w.DeleteFeed(w.Context(), "h_none")} {
			if models.CodeOf(err) != models.CodeNotFound {
				w.Errorf("a deleted feed: %v", err)
			}
		}
	})
}

func TestFeedsOfAStartPageAreLimited(t *testing.T) {
	each(t, func(w *world) {
		w.job("http://example.com/", 0)
		w.begin()
		turn := w.turn()
		r := fetched(turn, w.Now())
		for i := range 2 * crawl.MaxFoundFeeds {
			r.Feeds = append(r.Feeds, crawl.FoundFeed{Source: r.Entry.SourceSeq, URL: fmt.Sprintf("http://example.com/%d.xml", i/2), Title: " A\nfeed "})
		}
		r.Feeds = append(r.Feeds, crawl.FoundFeed{Source: r.Entry.SourceSeq, URL: "http://example.com/last.xml"})
		w.feed("http://example.com/1.xml")
		turn.Add(r)
		w.ok(w.Record(w.Context(), turn))
		list, err := w.Feeds(w.Context(), "", models.Cursor{}, 100)
		if w.ok(err); len(list.Items) != crawl.MaxFoundFeeds {
			w.Fatalf("there are %d feeds", len(list.Items))
		}
		if f := list.Items[1]; f.URL != "http://example.com/0.xml" || f.Title != "A feed" || f.NextPollAt.IsZero() {
			w.Errorf("a feed that was found is %+v", f)
		}
	})
}

func TestEntriesOfAFeedAreFetchedOnce(t *testing.T) {
	each(t, func(w *world) {
		f := w.feed("http://example.com/feed.xml")
		entries := []string{"http://example.com/a?utm_source=rss", "http://www.example.com/b", "https://other.example/c", "javascript:alert(1)", "/d", "http://example.com/a", "http://example.com/x/x/x"}
		if n := w.poll(nil, entries...); n != 3 {
			w.Errorf("%d entries were queued", n)
		}
		want := map[string]crawl.EntryStatus{"http://example.com/a": crawl.EntryPending, "http://www.example.com/b": crawl.EntryPending, "http://example.com/x/x/x": crawl.EntryFailed}
		if got := w.queued(); fmt.Sprint(got) != fmt.Sprint(want) {
			w.Errorf("the frontier has %v", got)
		}
		if f = w.again(f); f.EntriesFound != 3 || !f.LastPolledAt.Equal(w.Now().Time) || !f.NextPollAt.Equal(w.Now().Add(every).Time) {
			w.Errorf("the feed is %+v", f)
		}
		w.crawlAll(func(string) []string { return nil })
		w.clock.Advance(2 * models.Day)
		modelstest.Exec(w.T, w.db, "DELETE FROM frontier")
		if n := w.poll(nil, append(entries, "http://example.com/new")...); n != 1 {
			w.Errorf("%d entries were queued of one that is new", n)
		}
		w.clock.Advance(every)
		other := w.feed("http://example.com/atom.xml")
		w.ok(w.DeleteFeed(w.Context(), f.ID()))
		if n := w.poll(nil, "http://example.com/new"); n != 0 {
			w.Error("an entry of two feeds was queued twice")
		}
		if f := w.again(other); f.EntriesFound != 1 {
			w.Errorf("the other feed is %+v", f)
		}
	})
}

const every = 15 * time.Minute // crawl.Options.FeedInterval of the tests

func TestFeedEntriesAreLimited(t *testing.T) {
	each(t, func(w *world) {
		w.feed("http://example.com/feed.xml")
		for round := range 5 {
			var entries []string
			for i := range crawl.MaxFeedEntries + 100 {
				entries = append(entries, fmt.Sprintf("http://example.com/%d/%d", round, i))
			}
			if n := w.poll(nil, entries...); n != crawl.MaxFeedEntries {
				w.Errorf("%d entries were queued", n)
			}
			w.clock.Advance(every)
		}
		var n int
		w.ok(w.db.Read(w.Context()).Raw("SELECT count(*) FROM feed_entries").Scan(&n).Error)
		if n != 2000 {
			w.Errorf("%d entries are remembered", n)
		}
		if n := w.poll(nil, "http://example.com/4/1", "http://example.com/1/1"); n != 0 {
			w.Errorf("%d entries were queued that are remembered", n)
		}
		w.clock.Advance(61 * models.Day)
		reap := func() (n int64) {
			w.ok(w.db.Write(w.Context(), func(tx *gorm.DB) (err error) { n, err = w.ReapFeedEntries(tx, 1500); return err }))
			return n
		}
		if a, b := reap(), reap(); a != 1500 || b != 500 {
			w.Errorf("the reaper deleted %d and %d entries", a, b)
		}
	})
}

// Only a read changes whether a feed is truncated, and only one whose entries are stored.
func TestTruncatedFeedSaysSo(t *testing.T) {
	each(t, func(w *world) {
		f := w.feed("http://example.com/feed.xml")
		if f.Truncated {
			w.Error("a feed that was never polled is truncated")
		}
		enabled := func(yes bool) {
			_, err := w.EditSource(w.Context(), f.SourceID, crawl.SourceEdit{Enabled: &yes})
			w.ok(err)
		}
		for i, step := range []struct {
			outcome         crawl.PollOutcome
			truncated, want bool
		}{
			{crawl.PollRead, true, true}, {crawl.PollUnchanged, false, true}, {crawl.PollFailed, false, true}, {crawl.PollRead, false, false},
			{crawl.PollFailed, true, false}, {crawl.PollRead, true, true}, {crawl.PollGone, false, true},
		} {
			w.ok(w.PollFeed(w.Context(), f.ID()))
			w.poll(func(p *crawl.Poll) { p.Outcome, p.Truncated = step.outcome, step.truncated }, "http://example.com/a")
			if got := w.again(f).Truncated; got != step.want {
				w.Errorf("after poll %d: truncated %v", i, got)
			}
		}
		w.ok(w.PollFeed(w.Context(), f.ID()))
		w.poll(func(*crawl.Poll) { enabled(false) })
		if !w.again(f).Truncated {
			w.Error("a read of a disabled source was stored")
		}
		list, err := w.Feeds(w.Context(), "", models.Cursor{}, 1)
		if w.ok(err); !list.Items[0].Truncated {
			w.Errorf("the list has %+v", list.Items[0])
		}
	})
}

func TestFailingFeedIsPolledLessOften(t *testing.T) {
	each(t, func(w *world) {
		f := w.feed("http://example.com/feed.xml")
		fail := func(p *crawl.Poll) { p.Outcome, p.Reason = crawl.PollFailed, "status 500" }
		for _, want := range []time.Duration{30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 16 * time.Hour, models.Day, models.Day} {
			w.poll(fail)
			if f = w.again(f); f.NextPollAt.Sub(w.Now().Time) != want || f.LastError != "status 500" {
				w.Errorf("after %d failures the pause is %s", f.Failures, f.NextPollAt.Sub(w.Now().Time))
			}
			w.clock.Advance(want)
		}
		w.poll(func(p *crawl.Poll) { p.Outcome = crawl.PollUnchanged })
		if f = w.again(f); f.Failures != 0 || f.LastError != "" || f.NextPollAt.Sub(w.Now().Time) != every {
			w.Errorf("after a success the feed is %+v", f)
		}
		w.clock.Advance(every)
		w.poll(func(p *crawl.Poll) { fail(p); p.RetryAfter = 50 * time.Minute })
		if f = w.again(f); f.NextPollAt.Sub(w.Now().Time) != 50*time.Minute {
			w.Errorf("Retry-After is not kept: %s", f.NextPollAt.Sub(w.Now().Time))
		}
		w.clock.Advance(time.Hour)
		w.poll(func(p *crawl.Poll) { p.Outcome, p.Reason = crawl.PollGone, "status 410" })
		if f = w.again(f); !f.NextPollAt.IsZero() || f.LastError != "status 410" {
			w.Errorf("a feed that is gone is %+v", f)
		}
		w.ok(w.PollFeed(w.Context(), f.ID()))
		if n := len(w.claimFeeds()); n != 1 {
			w.Errorf("%d feeds are polled by hand", n)
		}
	})
}

func TestOneInstancePollsAFeed(t *testing.T) {
	each(t, func(w *world) {
		f := w.feed("http://example.com/feed.xml")
		first := w.claimFeeds()
		other := modelstest.Lease(w.T, w.db, "i_other")
		again, next, err := w.ClaimFeeds(w.Context(), other, 10)
		if w.ok(err); len(first) != 1 || len(again) != 0 || !next.IsZero() {
			w.Fatalf("claimed %d and %d, next at %s", len(first), len(again), next)
		}
		h, _, ok, err := w.ClaimHost(w.Context(), w.me, f.URL, time.Second)
		if w.ok(err); !ok || h.Host != "example.com" {
			w.Fatalf("the host was not claimed: %+v", h)
		}
		if _, _, ok, err := w.ClaimHost(w.Context(), other, f.URL, time.Second); err != nil || ok {
			w.Errorf("the host was claimed twice: %v", err)
		}
		w.kill()
		again, _, err = w.ClaimFeeds(w.Context(), other, 10)
		if w.ok(err); len(again) != 1 {
			w.Fatal("the feed of a dead instance is not free")
		}
		if _, err := w.RecordPolls(w.Context(), &crawl.Poll{Feed: first[0], Hosts: []crawl.Host{h}, Outcome: crawl.PollRead, Entries: []string{"http://example.com/late"}}); err != nil {
			w.Fatal(err)
		}
		if f := w.again(f); len(w.queued()) != 0 || !f.LastPolledAt.IsZero() {
			w.Errorf("a poll whose claim was lost was stored: %+v", f)
		}
		if _, wait, ok, err := w.ClaimHost(w.Context(), other, f.URL, time.Second); err != nil || ok || wait != crawl.MaxClaimTime {
			w.Errorf("the pause of the dead instance is not kept: %s %v", wait, err)
		}
		if _, _, err := w.ClaimFeeds(w.Context(), "i_none", 1); err != nil && !errors.Is(err, lease.ErrLost) {
			w.Error(err)
		}
		w.ok(w.ReleaseFeeds(w.Context(), []crawl.ReleasedFeed{{ClaimedFeed: again[0], Delay: time.Minute}}))
		if f := w.again(f); f.NextPollAt.Sub(w.Now().Time) != time.Minute {
			w.Errorf("the feed was released until %s", f.NextPollAt)
		}
		w.clock.Advance(time.Minute)
		if n := len(w.claimFeeds()); n != 1 {
			w.Error("a released feed is not claimed")
		}
		w.ok(w.ReleaseOtherFeeds(w.Context(), w.me, nil))
		if n := len(w.claimFeeds()); n != 1 {
			w.Error("a forgotten feed is not claimed")
		}
	})
}

func TestFeedsOfDisabledSourcesAreNotPolled(t *testing.T) {
	each(t, func(w *world) {
		f := w.feed("http://example.com/feed.xml")
		claimed := w.claimFeeds()
		_, err := w.EditSource(w.Context(), f.SourceID, crawl.SourceEdit{Enabled: new(false)})
		w.ok(err)
		n, err := w.RecordPolls(w.Context(), &crawl.Poll{Feed: claimed[0], Outcome: crawl.PollRead, ETag: "x", Entries: []string{"http://example.com/a"}})
		if w.ok(err); n != 0 {
			w.Error("an entry of a disabled source was queued")
		}
		w.clock.Advance(every)
		if due := w.claimFeeds(); len(due) != 0 {
			w.Error("a feed of a disabled source was claimed")
		}
		if err := w.PollFeed(w.Context(), f.ID()); models.CodeOf(err) != models.CodeConflict {
			w.Error(err)
		}
		_, err = w.EditSource(w.Context(), f.SourceID, crawl.SourceEdit{Enabled: new(true)})
		w.ok(err)
		if due := w.claimFeeds(); len(due) != 1 || due[0].ETag != "" {
			w.Errorf("after it was enabled, %+v is due", due)
		}
		w.ok(w.DeleteSource(w.Context(), f.SourceID))
		if _, err := w.Feed(w.Context(), f.ID()); models.CodeOf(err) != models.CodeNotFound {
			w.Error("a feed of a deleted source is shown")
		}
	})
}

func TestMovedFeedIsPolledAtItsNewURL(t *testing.T) {
	each(t, func(w *world) {
		f := w.feed("http://example.com/old.xml")
		w.poll(func(p *crawl.Poll) { p.MovedTo = "http://example.com/new.xml" })
		if f = w.again(f); f.URL != "http://example.com/new.xml" || f.NextPollAt.IsZero() {
			w.Errorf("the feed is %+v", f)
		}
		other := w.feed("http://example.com/third.xml")
		w.poll(func(p *crawl.Poll) { p.MovedTo = "http://example.com/new.xml" })
		if other = w.again(other); other.URL != "http://example.com/third.xml" || !other.NextPollAt.IsZero() || other.LastError == "" {
			w.Errorf("the other feed is %+v", other)
		}
	})
}

func TestFeedsAreDeletedWithTheirSource(t *testing.T) {
	each(t, func(w *world) {
		f := w.feed("http://example.com/feed.xml")
		w.poll(nil, "http://example.com/a", "http://example.com/b")
		w.ok(w.DeleteSource(w.Context(), f.SourceID))
		w.clock.Advance(2 * models.Day)
		for range 10 {
			w.ok(w.db.Write(w.Context(), func(tx *gorm.DB) error { _, err := w.ReapSources(tx, 1); return err }))
		}
		for _, table := range []string{"feeds", "feed_entries", "sources"} {
			var n int
			w.ok(w.db.Read(w.Context()).Raw("SELECT count(*) FROM " + table).Scan(&n).Error)
			if n != 0 {
				w.Errorf("%d rows of %s are left", n, table)
			}
		}
	})
}

func TestFeedIsSometimesReadUnconditionally(t *testing.T) {
	w := newWorld(t, modelstest.New(t))
	f := w.feed("http://example.com/feed.xml")
	w.poll(nil)
	w.clock.Advance(29 * models.Day)
	due := w.claimFeeds()[0]
	if etag, _ := due.Validators(w.Now()); etag != `"1"` {
		t.Errorf("got ETag %s", etag)
	}
	w.clock.Advance(2 * models.Day)
	if etag, _ := due.Validators(w.Now()); etag != "" {
		t.Errorf("after a month: got a conditional request for %s", f.URL)
	}
}
