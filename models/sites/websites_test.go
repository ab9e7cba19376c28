package sites_test

import (
	"errors"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

func TestWebsites(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.Context()
		a := w.site("https://Example.com")
		if a.Name != "example.com" || a.SiteURL != "https://example.com/" || !a.AutoSubmit || a.IndexingEnabled || a.Google() {
			t.Errorf("added: %+v", a)
		}
		_, err := w.Add(ctx, sites.NewWebsite{SiteURL: "https://example.com/"})
		w.code(err, models.CodeConflict)
		_, err = w.Add(ctx, sites.NewWebsite{SiteURL: "example.com"})
		w.code(err, models.CodeInvalid)
		_, err = w.Add(ctx, sites.NewWebsite{SiteURL: "https://keyed.example/", IndexNowKey: "short"})
		w.code(err, models.CodeInvalid)
		w.clock.Advance(time.Second)
		b := w.site("sc-domain:example.com")
		list, err := w.List(ctx, models.Cursor{}, 1)
		w.ok(err)
		if len(list.Items) != 1 || list.Items[0].ID != a.ID || !list.More() {
			t.Errorf("list: %+v", list)
		}
		if list, err = w.List(ctx, list.Next, 1); err != nil || len(list.Items) != 1 || list.Items[0].ID != b.ID || list.More() {
			t.Errorf("the rest: %+v %v", list, err)
		}
		b, err = w.Edit(ctx, b.ID, sites.Edit{Name: ptr(" Shop "), IndexingEnabled: ptr(true), AutoSubmit: ptr(false)})
		w.ok(err)
		if b.Name != "Shop" || !b.IndexingEnabled || b.AutoSubmit {
			t.Errorf("edited: %+v", b)
		}
		keyed, err := w.Add(ctx, sites.NewWebsite{SiteURL: "https://keyed.example/", IndexNowKey: "0123-abcd"})
		if err != nil || !keyed.IndexNow() || keyed.KeyFile() != "https://keyed.example/0123-abcd.txt" {
			t.Errorf("with a key: %+v %v", keyed, err)
		}
		w.ok(w.Delete(ctx, a.ID))
		_, err = w.Get(ctx, a.ID)
		w.code(err, models.CodeNotFound)
		w.code(w.Delete(ctx, a.ID), models.CodeNotFound)
		if a, err = w.Restore(ctx, a.ID); err != nil || !a.DeletedAt.IsZero() {
			t.Errorf("restored: %+v %v", a, err)
		}
		w.ok(w.Delete(ctx, a.ID))
		w.site("https://example.com/")
		_, err = w.Restore(ctx, a.ID)
		w.code(err, models.CodeConflict)
		w.clock.Advance(25 * time.Hour)
		_, err = w.Restore(ctx, a.ID)
		w.code(err, models.CodeNotFound)
	})
}

func TestCredentials(t *testing.T) {
	each(t, func(w *world) {
		a := w.site("https://example.com/")
		_, err := w.Key(a)
		w.code(err, models.CodeConflict)
		a = w.google(a)
		if key, err := w.Key(a); err != nil || string(key) != "{}" || a.ProjectID != "p" {
			t.Errorf("the key: %s %v", key, err)
		}
		other := w.site("https://other.example/")
		other.Credentials = a.Credentials
		_, err = w.Key(other)
		w.code(err, models.CodeConflict)
		a, err = w.RemoveCredentials(w.Context(), a.ID)
		w.ok(err)
		if a.Google() || a.ClientEmail != "" {
			t.Errorf("removed: %+v", a)
		}
	})
}

func TestClaim(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.Context()
		a := w.site("https://example.com/")
		seqs, err := w.WantedFor(ctx, sites.Reading, 10)
		w.ok(err)
		if len(seqs) != 1 || seqs[0] != a.Seq {
			t.Errorf("wanted: %v", seqs)
		}
		got, ok, err := w.Claim(ctx, w.me, sites.Reading, a.Seq, false)
		if err != nil || !ok || got.ID != a.ID || got.SitemapsWantedAt.IsZero() {
			t.Errorf("claimed: %+v %v %v", got, ok, err)
		}
		if _, ok, err = w.Claim(ctx, w.me, sites.Reading, a.Seq, false); ok || err != nil {
			t.Errorf("claimed twice: %v %v", ok, err)
		}
		if _, ok, err = w.Claim(ctx, w.me, sites.Submitting, a.Seq, false); !ok || err != nil {
			t.Errorf("another activity: %v %v", ok, err)
		}
		w.clock.Advance(time.Microsecond)
		_, err = w.Want(ctx, a.ID, sites.Reading) // while it is being read
		w.ok(err)
		if seqs, err = w.WantedFor(ctx, sites.Reading, 10); err != nil || len(seqs) != 0 {
			t.Errorf("wanted while it is claimed: %v %v", seqs, err)
		}
		w.ok(w.Release(ctx, w.me, sites.Reading, got, false))
		if seqs, err = w.WantedFor(ctx, sites.Reading, 10); err != nil || len(seqs) != 1 {
			t.Errorf("wanted after it was released: %v %v", seqs, err)
		}
		// An instance that dies leaves it wanted.
		if got, ok, err = w.Claim(ctx, w.me, sites.Reading, a.Seq, true); !ok || err != nil {
			t.Errorf("claimed because it is wanted: %v %v", ok, err)
		}
		modelstest.Exec(t, w.db, "DELETE FROM instances")
		w.me = modelstest.Lease(t, w.db, "i_next")
		if seqs, err = w.WantedFor(ctx, sites.Reading, 10); err != nil || len(seqs) != 1 {
			t.Errorf("wanted after the instance died: %v %v", seqs, err)
		}
		w.ok(w.Release(ctx, "i_me", sites.Reading, got, false)) // it is not theirs any more
		if got, ok, err = w.Claim(ctx, w.me, sites.Reading, a.Seq, true); !ok || err != nil {
			t.Errorf("claimed by the next one: %v %v", ok, err)
		}
		w.ok(w.Release(ctx, w.me, sites.Reading, got, true))
		if got, ok, err = w.Claim(ctx, w.me, sites.Reading, a.Seq, true); !ok || err != nil || got.SitemapsWantedAt.IsZero() {
			t.Errorf("claimed after it was released with the rest: %+v %v %v", got, ok, err)
		}
		w.ok(w.Release(ctx, w.me, sites.Reading, got, false))
		if _, ok, err = w.Claim(ctx, w.me, sites.Reading, a.Seq, true); ok || err != nil {
			t.Errorf("claimed although it was not wanted: %v %v", ok, err)
		}
		if _, _, err = w.Claim(ctx, "i_me", sites.Reading, a.Seq, false); !errors.Is(err, lease.ErrLost) {
			t.Errorf("claimed without a lease: %v", err)
		}
		w.ok(w.Delete(ctx, a.ID))
		if _, ok, err = w.Claim(ctx, w.me, sites.Reading, a.Seq, false); ok || err != nil {
			t.Errorf("claimed after it was deleted: %v %v", ok, err)
		}
		if seqs, err := w.All(ctx); err != nil || len(seqs) != 0 {
			t.Errorf("all: %v %v", seqs, err)
		}
	})
}
