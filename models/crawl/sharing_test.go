package crawl_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// TestSourcesOfAHostByScope checks that the default source of a URL is shared or the caller's own. It is created again if
// another user has one privately. A private job never gets a shared source.
func TestSourcesOfAHostByScope(t *testing.T) {
	each(t, func(w *world) {
		alice, bob := w.as("alice"), w.as("bob")
		p := w.secretOf(bob)
		of := func(ctx context.Context, private bool) string {
			j, err := w.AddJob(ctx, crawl.NewJob{URL: "http://a.example/", Source: crawl.NewSource{Private: private}})
			w.ok(err)
			return j.SourceID
		}
		if of(bob, false) != p.sourceID || of(bob, true) != p.sourceID {
			w.Error("bob's jobs have another source than his")
		}
		// For alice, the same manual URL and the same feed are new.
		e, created, err := w.AddEntry(alice, "http://a.example/hand", "")
		w.ok(err)
		if !created || e.SourceID == p.sourceID || e.ID() == p.entry {
			w.Errorf("alice gets the entry %+v, created %t", e, created)
		}
		shared := e.SourceID
		f, created, err := w.AddFeed(alice, "http://a.example/feed.xml", "")
		w.ok(err)
		if !created || f.SourceID != shared {
			w.Errorf("alice gets the feed %+v, created %t", f, created)
		}
		if of(alice, false) != shared || of(w.admin(), false) != shared || of(w.Context(), false) != shared {
			w.Error("the job of a shared source has another one")
		}
		if of(bob, false) != shared {
			w.Error("the shared source does not come first")
		}
		own := of(alice, true)
		if own == shared || own == p.sourceID || of(alice, true) != own {
			w.Errorf("a private job has the source %s", own)
		}
		if _, created, err := w.AddEntry(bob, "http://a.example/hand", p.sourceID); err != nil || !created { // the first one has failed
			w.Errorf("bob's entry: created %t, %v", created, err)
		}
		if _, created, err := w.AddEntry(alice, "http://a.example/hand", own); err != nil || !created {
			w.Errorf("alice's own entry: created %t, %v", created, err)
		}
		if n := w.n("SELECT count(*) FROM frontier WHERE crawl_seq = 0 AND url = 'http://a.example/hand'"); n != 3 {
			w.Errorf("the URL waits %d times", n)
		}
	})
}

// TestSharingASource checks that only the owner and admins can change the visibility of a source. Manual entries move to the
// new scope.
func TestSharingASource(t *testing.T) {
	each(t, func(w *world) {
		alice, bob := w.as("alice"), w.as("bob")
		p := w.secretOf(bob)
		yes, no := true, false
		set := func(ctx context.Context, private *bool) (crawl.Source, error) {
			return w.EditSource(ctx, p.sourceID, crawl.SourceEdit{Private: private})
		}
		src, err := set(bob, &no)
		w.ok(err)
		if src.Private() || src.Owner != "bob" {
			w.Errorf("shared: %+v", src)
		}
		if _, created, err := w.AddEntry(alice, "http://a.example/new", ""); err != nil || !created {
			w.Errorf("created %t, %v", created, err)
		}
		if _, err := set(alice, &yes); models.CodeOf(err) != models.CodeForbidden {
			w.Errorf("alice makes it private: %v", err)
		}
		if _, err := set(alice, &no); err != nil { // unchanged
			w.Errorf("alice leaves it shared: %v", err)
		}
		src, err = set(w.admin(), &yes)
		w.ok(err)
		if src.PrivateTo != "bob" {
			w.Errorf("made private by an admin: %+v", src)
		}
		if n := w.n("SELECT count(*) FROM frontier WHERE crawl_seq = 0 AND scope_seq <> ?", src.Seq); n != 0 {
			w.Errorf("%d entries are in the scope of shared sources", n)
		}
		if _, created, err := w.AddEntry(alice, "http://a.example/new", ""); err != nil || !created { // of her own source
			w.Errorf("created %t, %v", created, err)
		}
		_, err = set(bob, &no)
		w.ok(err)
		if n := w.n("SELECT count(*) FROM frontier WHERE scope_seq <> 0"); n != 0 {
			w.Errorf("%d entries of a shared source are in a scope of their own", n)
		}
		if n := w.n("SELECT count(*) FROM frontier WHERE url = 'http://a.example/new'"); n != 1 {
			w.Errorf("the URL waits %d times", n)
		}
	})
}

// TestPrivatePagesAreNotSent checks that the search engine gets no page of a private source, and not its name.
func TestPrivatePagesAreNotSent(t *testing.T) {
	each(t, func(w *world) {
		w.Store = crawl.NewStore(w.db, w.clock.Now, crawl.Options{StaleAfter: staleAfter, Elasticsearch: true})
		bob := w.as("bob")
		p := w.secretOf(bob)
		sent := func() (kept, deleted int) {
			docs, err := w.UnsentDocuments(w.Context(), 0, 50)
			w.ok(err)
			var done []crawl.SentDocument
			for _, d := range docs {
				done = append(done, crawl.SentDocument{Seq: d.Seq, Version: d.Version})
				if d.Gone {
					deleted++
				} else {
					kept++
				}
			}
			w.ok(w.MarkSent(w.Context(), done))
			return kept, deleted
		}
		want := func(when string, wantKept, wantDeleted int) {
			w.Helper()
			if kept, deleted := sent(); kept != wantKept || deleted != wantDeleted {
				w.Errorf("%s: %d sent, %d deleted", when, kept, deleted)
			}
		}
		want("private", 0, 0)
		pages, err := w.DeletePages(bob, p.pageID)
		w.ok(err)
		_, err = w.RestorePages(bob, pages.At)
		w.ok(err)
		want("deleted and restored", 0, 0)
		for _, private := range []bool{false, true} {
			_, err := w.EditSource(bob, p.sourceID, crawl.SourceEdit{Private: &private})
			w.ok(err)
			if private {
				want("made private", 0, 3) // one of them is broken
			} else {
				want("shared", 2, 1)
			}
		}
	})
}

// TestPlansOfRestrictedReads checks that reads of a non-admin need the same plans and number of queries as those of an
// admin, except for looking up sources.
func TestPlansOfRestrictedReads(t *testing.T) {
	w := newWorld(t, modelstest.New(t))
	for i := range 200 {
		ctx := w.as([]string{"alice", "bob"}[i%2])
		_, err := w.AddJob(ctx, crawl.NewJob{URL: fmt.Sprintf("http://h%d.example/", i), Interval: crawl.Interval{Count: 1, Type: crawl.Days}, Source: crawl.NewSource{Private: i%3 == 0}})
		w.ok(err)
	}
	p := w.secretOf(w.as("alice"))
	alice := w.as("alice")
	for _, r := range reads {
		switch r.name {
		case "counts", "distribution", "preview", "figures": // they count all jobs
			continue
		}
		byAdmin := modelstest.Sent(t, w.db, func() error { w.resultOf(w.admin(), p, r.do); return nil })
		sent := modelstest.Sent(t, w.db, func() error { w.resultOf(alice, p, r.do); return nil })
		if len(sent) != len(byAdmin) && !r.own {
			t.Errorf("%s: got %d queries, %d for an admin", r.name, len(sent), len(byAdmin))
		}
		known := map[string]bool{}
		for _, s := range byAdmin {
			for _, step := range modelstest.Plan(t, w.db, s) {
				known[step] = true
			}
		}
		for _, s := range sent {
			for _, step := range modelstest.Plan(t, w.db, s) {
				if (modelstest.ReadsAll(step) || modelstest.Sorts(step)) && !known[step] {
					t.Errorf("%s: %s\n  %s", r.name, s.SQL, step)
				}
			}
		}
	}
}

// TestEventsOfPrivateSources checks that events of a private source are visible to its owner only.
func TestEventsOfPrivateSources(t *testing.T) {
	each(t, func(w *world) {
		p := w.secretOf(w.as("bob"))
		modelstest.Exec(w.T, w.db, "DELETE FROM events")
		w.clock.Advance(time.Hour)
		w.crawlSite(p.job, site{"/": "Another home\n->/a\n->/dead", "/a": "Another secret"})
		var told []struct{ Kind, PrivateTo string }
		w.ok(w.db.Read(w.Context()).Raw("SELECT kind, private_to FROM events").Scan(&told).Error)
		if len(told) == 0 {
			w.Error("nothing was told")
		}
		for _, e := range told {
			if e.PrivateTo != "bob" {
				w.Errorf("%s is for %q", e.Kind, e.PrivateTo)
			}
		}
	})
}
