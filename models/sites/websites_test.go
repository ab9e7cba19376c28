package sites_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

func TestWebsites(t *testing.T) {
	each(t, func(w *fixture) {
		ctx := w.Context()
		a := w.site("https://Example.com")
		if a.Name != "example.com" || a.SiteURL != "https://example.com/" || !a.AutoSubmit || a.IndexingEnabled || a.UsesGoogle() {
			t.Errorf("added: %+v", a)
		}
		_, err := w.Add(ctx, sites.NewWebsite{SiteURL: "https://example.com/"})
		w.wantCode(err, models.CodeConflict)
		_, err = w.Add(ctx, sites.NewWebsite{SiteURL: "example.com"})
		w.wantCode(err, models.CodeInvalid)
		_, err = w.Add(ctx, sites.NewWebsite{SiteURL: "https://keyed.example/", IndexNowKey: "short"})
		w.wantCode(err, models.CodeInvalid)
		w.clock.Advance(time.Second)
		b := w.site("sc-domain:example.com")
		list, err := w.List(ctx, models.Cursor{}, 1)
		w.must(err)
		if len(list.Items) != 1 || list.Items[0].ID != a.ID || !list.More() {
			t.Errorf("list: %+v", list)
		}
		if list, err = w.List(ctx, list.Next, 1); err != nil || len(list.Items) != 1 || list.Items[0].ID != b.ID || list.More() {
			t.Errorf("the rest: %+v %v", list, err)
		}
		b, err = w.Edit(ctx, b.ID, sites.Edit{Name: ptr(" Shop "), IndexingEnabled: ptr(true), AutoSubmit: ptr(false)})
		w.must(err)
		if b.Name != "Shop" || !b.IndexingEnabled || b.AutoSubmit {
			t.Errorf("edited: %+v", b)
		}
		keyed, err := w.Add(ctx, sites.NewWebsite{SiteURL: "https://keyed.example/", IndexNowKey: "0123-abcd"})
		if err != nil || !keyed.UsesIndexNow() || keyed.KeyFileURL() != "https://keyed.example/0123-abcd.txt" {
			t.Errorf("with a key: %+v %v", keyed, err)
		}
		w.must(w.Delete(ctx, a.ID))
		_, err = w.Get(ctx, a.ID)
		w.wantCode(err, models.CodeNotFound)
		w.wantCode(w.Delete(ctx, a.ID), models.CodeNotFound)
		if a, err = w.Restore(ctx, a.ID); err != nil || !a.DeletedAt.IsZero() {
			t.Errorf("restored: %+v %v", a, err)
		}
		w.must(w.Delete(ctx, a.ID))
		w.site("https://example.com/")
		_, err = w.Restore(ctx, a.ID)
		w.wantCode(err, models.CodeConflict)
		w.clock.Advance(25 * time.Hour)
		_, err = w.Restore(ctx, a.ID)
		w.wantCode(err, models.CodeNotFound)
	})
}

func TestCredentials(t *testing.T) {
	each(t, func(w *fixture) {
		a := w.site("https://example.com/")
		_, err := w.Key(a)
		w.wantCode(err, models.CodeConflict)
		a = w.google(a)
		if key, err := w.Key(a); err != nil || string(key) != "{}" || a.ProjectID != "p" {
			t.Errorf("the key: %s %v", key, err)
		}
		other := w.site("https://other.example/")
		other.Credentials = a.Credentials
		_, err = w.Key(other)
		w.wantCode(err, models.CodeConflict)
		a, err = w.RemoveCredentials(w.Context(), a.ID)
		w.must(err)
		if a.UsesGoogle() || a.ClientEmail != "" {
			t.Errorf("removed: %+v", a)
		}
	})
}

func TestClaim(t *testing.T) {
	each(t, func(w *fixture) {
		ctx := w.Context()
		a := w.site("https://example.com/")
		seqs, err := w.RequestedWebsites(ctx, sites.Reading, 10)
		w.must(err)
		if len(seqs) != 1 || seqs[0] != a.Seq {
			t.Errorf("requested: %v", seqs)
		}
		got, ok, err := w.Claim(ctx, w.me, sites.Reading, a.Seq, false)
		if err != nil || !ok || got.ID != a.ID || got.SitemapsRequestedAt.IsZero() {
			t.Errorf("claimed: %+v %v %v", got, ok, err)
		}
		if _, ok, err = w.Claim(ctx, w.me, sites.Reading, a.Seq, false); ok || err != nil {
			t.Errorf("claimed twice: %v %v", ok, err)
		}
		if _, ok, err = w.Claim(ctx, w.me, sites.Submitting, a.Seq, false); !ok || err != nil {
			t.Errorf("another activity: %v %v", ok, err)
		}
		w.clock.Advance(time.Microsecond)
		_, err = w.Request(ctx, a.ID, sites.Reading) // while it is being read
		w.must(err)
		if seqs, err = w.RequestedWebsites(ctx, sites.Reading, 10); err != nil || len(seqs) != 0 {
			t.Errorf("requested while claimed: %v %v", seqs, err)
		}
		w.must(w.Release(ctx, w.me, sites.Reading, got, false))
		if seqs, err = w.RequestedWebsites(ctx, sites.Reading, 10); err != nil || len(seqs) != 1 {
			t.Errorf("requested after release: %v %v", seqs, err)
		}
		// The request stays open if an instance dies.
		if got, ok, err = w.Claim(ctx, w.me, sites.Reading, a.Seq, true); !ok || err != nil {
			t.Errorf("claimed on request: %v %v", ok, err)
		}
		modelstest.Exec(t, w.db, "DELETE FROM instances")
		w.me = modelstest.Lease(t, w.db, "i_next")
		if seqs, err = w.RequestedWebsites(ctx, sites.Reading, 10); err != nil || len(seqs) != 1 {
			t.Errorf("requested after the instance died: %v %v", seqs, err)
		}
		w.must(w.Release(ctx, "i_me", sites.Reading, got, false)) // no longer claimed by i_me
		if got, ok, err = w.Claim(ctx, w.me, sites.Reading, a.Seq, true); !ok || err != nil {
			t.Errorf("claimed by the next instance: %v %v", ok, err)
		}
		w.must(w.Release(ctx, w.me, sites.Reading, got, true))
		if got, ok, err = w.Claim(ctx, w.me, sites.Reading, a.Seq, true); !ok || err != nil || got.SitemapsRequestedAt.IsZero() {
			t.Errorf("claimed after release with again: %+v %v %v", got, ok, err)
		}
		w.must(w.Release(ctx, w.me, sites.Reading, got, false))
		if _, ok, err = w.Claim(ctx, w.me, sites.Reading, a.Seq, true); ok || err != nil {
			t.Errorf("claimed without a request: %v %v", ok, err)
		}
		if _, _, err = w.Claim(ctx, "i_me", sites.Reading, a.Seq, false); !errors.Is(err, lease.ErrLost) {
			t.Errorf("claimed without a lease: %v", err)
		}
		w.must(w.Delete(ctx, a.ID))
		if _, ok, err = w.Claim(ctx, w.me, sites.Reading, a.Seq, false); ok || err != nil {
			t.Errorf("claimed after deletion: %v %v", ok, err)
		}
		if seqs, err := w.AllSeqs(ctx); err != nil || len(seqs) != 0 {
			t.Errorf("all: %v %v", seqs, err)
		}
	})
}

// A website that exists is returned unchanged, also if several requests add it at once.
func TestEnsureAddsOnce(t *testing.T) {
	each(t, func(w *fixture) {
		var all sync.WaitGroup
		var mu sync.Mutex
		ids, created := map[string]bool{}, 0
		for i := range 8 {
			all.Go(func() {
				got, isNew, err := w.Ensure(w.Context(), sites.NewWebsite{SiteURL: []string{"https://Example.com", "https://example.com/"}[i%2], Name: fmt.Sprint("N", i)})
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				if ids[got.ID] = true; isNew {
					created++
				}
			})
		}
		all.Wait()
		list, err := w.List(w.Context(), models.Cursor{}, 10)
		w.must(err)
		if created != 1 || len(ids) != 1 || len(list.Items) != 1 {
			t.Fatalf("%d created, %d ids, %d websites", created, len(ids), len(list.Items))
		}
		again, isNew, err := w.Ensure(w.Context(), sites.NewWebsite{SiteURL: "https://example.com", Name: "Other", IndexingEnabled: true})
		if err != nil || isNew || again.Name != list.Items[0].Name || again.IndexingEnabled {
			t.Errorf("again: %+v, %v", again, err)
		}
		_, _, err = w.Ensure(w.Context(), sites.NewWebsite{SiteURL: "example.com"})
		w.wantCode(err, models.CodeInvalid)
	})
}

// A private website does not exist for other accounts. The one with the requested visibility comes first.
func TestEnsureRespectsPrivateWebsites(t *testing.T) {
	each(t, func(w *fixture) {
		ensure := func(name string, private, wantNew bool) sites.Website {
			w.Helper()
			got, isNew, err := w.Ensure(w.as(name), sites.NewWebsite{SiteURL: secretURL, Name: name, Private: private})
			if err != nil || isNew != wantNew {
				w.Errorf("%s, private %t: new %t, %v", name, private, isNew, err)
			}
			return got
		}
		bobs := ensure("bob", true, true)
		if got := ensure("bob", false, false); got.ID != bobs.ID {
			w.Errorf("bob again: %+v", got)
		}
		shared := ensure("alice", false, true)
		if shared.ID == bobs.ID || shared.Owner != "alice" {
			w.Errorf("alice: %+v", shared)
		}
		for private, want := range map[bool]sites.Website{true: bobs, false: shared} {
			if got := ensure("bob", private, false); got.ID != want.ID {
				w.Errorf("bob with both, private %t: %+v", private, got)
			}
		}
		if got := ensure("carol", true, false); got.ID != shared.ID {
			w.Errorf("carol: %+v", got)
		}
	})
}

// The same sitemap added at once is one sitemap.
func TestSitemapIsAddedOnce(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.site("https://example.com/")
		var all sync.WaitGroup
		var created atomic.Int32
		for range 8 {
			all.Go(func() {
				_, isNew, err := w.AddSitemap(w.Context(), s.ID, "https://example.com/sitemap.xml")
				if err != nil {
					t.Error(err)
				}
				if isNew {
					created.Add(1)
				}
			})
		}
		all.Wait()
		list, err := w.SitemapsOf(w.Context(), s.ID, models.Cursor{}, 10)
		w.must(err)
		if created.Load() != 1 || len(list.Items) != 1 {
			t.Errorf("%d created, %d sitemaps", created.Load(), len(list.Items))
		}
	})
}
