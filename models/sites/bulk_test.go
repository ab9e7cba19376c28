package sites_test

import (
	"slices"
	"testing"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

func TestBulk(t *testing.T) {
	each(t, func(w *fixture) {
		ctx := w.Context()
		s, other := w.site("https://example.com/"), w.site("https://other.example/")
		m := w.sitemap(s, "https://example.com/sitemap.xml")
		m = w.read(s, m, w.entry("https://example.com/a", 0), w.entry("https://example.com/b", 20), w.entry("https://example.com/c", -1), w.entry("https://example.com/d", -1))
		w.read(other, w.sitemap(other, "https://other.example/sitemap.xml"), w.entry("https://other.example/x", 0))
		w.read(s, m, w.entry("https://example.com/a", 0), w.entry("https://example.com/b", 20), w.entry("https://example.com/c", -1)) // d becomes gone
		a, b, c, d, x := w.page(s, "/a").ID(), w.page(s, "/b").ID(), w.page(s, "/c").ID(), w.page(s, "/d").ID(), w.page(other, "/x").ID()
		list, err := w.PagesByID(ctx, s.ID, c, x, "no id", a, a, models.TimedID(models.KindPage, w.Now(), 1))
		w.must(err)
		if len(list) != 2 || list[0].Path() != "/a" || list[1].Path() != "/c" || list[0].WebsiteID != s.ID {
			t.Errorf("pages by id: %v", list)
		}

		boost, err := w.SetPrioritiesByID(ctx, s.ID, ptr(100), c, b, x)
		w.must(err)
		if got := w.urls(s, sites.Filter{}); boost.N != 2 || boost.More || !slices.Equal(got, []string{"/a", "/b", "/c"}) {
			t.Errorf("boosted: %v %v", boost, got)
		}
		if w.page(other, "/x").ManualPriority != nil {
			t.Error("page of another website was boosted")
		}
		if n, err := w.UndoPriorities(ctx, s.ID, boost.At); err != nil || n != 2 || w.page(s, "/b").ManualPriority != nil {
			t.Errorf("undone: %d %v", n, err)
		}
		if again, err := w.SetPrioritiesByID(ctx, s.ID, nil, a, b, c); err != nil || again.N != 0 {
			t.Errorf("reset: %v %v", again, err)
		}
		_, err = w.SetPrioritiesByID(ctx, s.ID, ptr(101), a)
		w.wantCode(err, models.CodeInvalid)
		_, err = w.SetPrioritiesByID(ctx, models.NewID(models.KindWebsite), nil, a)
		w.wantCode(err, models.CodeNotFound)
		_, err = w.PagesByID(ctx, models.NewID(models.KindWebsite), a)
		w.wantCode(err, models.CodeNotFound)
		_, err = w.PagesByID(ctx, s.ID, slices.Repeat([]string{a}, sites.MaxBulk+1)...)
		w.wantCode(err, models.CodeInvalid)

		_, err = w.RequestSubmissions(ctx, s.ID, a)
		w.wantCode(err, models.CodeConflict)
		_, err = w.RequestVerifications(ctx, s.ID, a)
		w.wantCode(err, models.CodeConflict)
		s = w.google(s)
		modelstest.Exec(t, w.db, "UPDATE pages SET queued_for_google = false, attempts = 3, removal = true, submit_after = 5")
		if n, err := w.RequestSubmissions(ctx, s.ID, a, b, d, x); err != nil || n != 2 {
			t.Errorf("got %d submission requests, %v", n, err)
		}
		if n, err := w.RequestVerifications(ctx, s.ID, a, c, x); err != nil || n != 2 {
			t.Errorf("got %d verification requests, %v", n, err)
		}
		p := w.page(s, "/a")
		if p.SubmitRequestedAt.IsZero() || p.VerifyRequestedAt.IsZero() || !p.QueuedForGoogle || p.QueuedForIndexNow || p.Removal || p.Attempts != 0 || !p.SubmitAfter.IsZero() {
			t.Errorf("requested page: %+v", p)
		}
		if p := w.page(s, "/d"); !p.SubmitRequestedAt.IsZero() {
			t.Error("submission of a gone page was requested")
		}
		got, err := w.Get(ctx, s.ID)
		w.must(err)
		if got.SubmitRequestedAt.IsZero() || got.VerifyRequestedAt.IsZero() {
			t.Error("requests are not stored for the website")
		}
	})
}

func TestUnindexedPages(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.site("https://example.com/")
		var entries []sites.Entry
		for _, path := range []string{"indexed", "new", "refused", "sent", "no", "unclear", "unknown", "gone"} {
			entries = append(entries, w.entry("https://example.com/"+path, -1))
		}
		m := w.sitemap(s, "https://example.com/sitemap.xml")
		w.read(s, m, entries...)
		for path, set := range map[string]string{
			"indexed": "status = 'indexed', last_verified_at = 1", "refused": "status = 'failed', cause = 'x'", "sent": "status = 'submitted', last_verified_at = 1, unverified = true",
			"no": "status = 'not_indexed', cause = 'y', last_verified_at = 1, queue_rank = 0", "unclear": "last_verified_at = 1", "unknown": "status = 'submitted', last_verified_at = 1", "gone": "status = 'not_indexed', gone_at = 1",
		} {
			modelstest.Exec(t, w.db, "UPDATE pages SET "+set+" WHERE url = ?", "https://example.com/"+path)
		}
		for _, c := range []struct {
			f    sites.Filter
			want []string
		}{
			{sites.Filter{Unindexed: true}, []string{"/no", "/refused", "/unclear", "/unknown"}},
			{sites.Filter{Unindexed: true, Cause: "y"}, []string{"/no"}},
			{sites.Filter{Unindexed: true, Match: "/un*"}, []string{"/unclear", "/unknown"}},
			{sites.Filter{Unindexed: true, Cause: "z"}, []string{}},
		} {
			if got := w.urls(s, c.f); !slices.Equal(got, c.want) {
				t.Errorf("%+v: %v, want %v", c.f, got, c.want)
			}
		}
	})
}
