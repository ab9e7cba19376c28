package sites_test

import (
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

func TestWebsitesWithProblems(t *testing.T) {
	each(t, func(w *fixture) {
		ctx := w.Context()
		refused, unread, gone := w.google(w.site("https://a.test/")), w.site("https://b.test/"), w.google(w.site("https://c.test/"))
		w.clock.Advance(time.Second)
		both := w.google(w.site("https://d.test/"))
		for _, s := range []sites.Website{refused, gone, both} {
			w.must(w.RecordServiceOutcome(ctx, s, sites.Indexing, sites.Outcome{Sitewide: true, Error: "not an owner"}))
		}
		for _, s := range []sites.Website{unread, both} {
			w.must(w.RecordRead(ctx, w.sitemap(s, s.SiteURL+"1.xml"), sites.ReadResult{Error: "status 404"}))
			w.must(w.RecordRead(ctx, w.sitemap(s, s.SiteURL+"2.xml"), sites.ReadResult{Error: "no XML"}))
			w.must(w.RecordRead(ctx, w.sitemap(s, s.SiteURL+"3.xml"), sites.ReadResult{Kind: sites.KindSitemap}))
		}
		w.must(w.Delete(ctx, gone.ID))
		n, in, err := w.ProblemCounts(ctx)
		w.must(err)
		if n != 3 || in[sites.ProblemGoogle] != 2 || in[sites.ProblemSitemaps] != 2 {
			t.Errorf("%d websites, %v", n, in)
		}
		for problem, want := range map[sites.Problem]sites.Website{sites.ProblemGoogle: refused, sites.ProblemSitemaps: unread} {
			list, err := w.WithProblem(ctx, problem, models.Cursor{}, 1)
			w.must(err)
			if len(list.Items) != 1 || list.Items[0].ID != want.ID || !list.More() {
				t.Errorf("%s: %+v", problem, list)
			}
			if list, err = w.WithProblem(ctx, problem, list.Next, 1); err != nil || len(list.Items) != 1 || list.Items[0].ID != both.ID || list.More() {
				t.Errorf("the rest of %s: %+v %v", problem, list, err)
			}
		}
		modelstest.Exec(t, w.db, "INSERT INTO page_counts (website_seq, status, cause, pages) VALUES (?, 'failed', '', 3), (?, 'failed', '', 0), (?, 'indexed', '', 9)", unread.Seq, both.Seq, refused.Seq)
		if _, in, err = w.ProblemCounts(ctx); err != nil || in[sites.ProblemPages] != 1 {
			t.Errorf("pages of %d websites failed, %v", in[sites.ProblemPages], err)
		}
		if list, err := w.WithProblem(ctx, sites.ProblemPages, models.Cursor{}, 5); err != nil || len(list.Items) != 1 || list.Items[0].ID != unread.ID {
			t.Errorf("with failed pages: %+v %v", list, err)
		}
		_, err = w.WithProblem(ctx, "none", models.Cursor{}, 1)
		w.wantCode(err, models.CodeInvalid)
		_, err = w.WithProblem(ctx, sites.ProblemGoogle, models.Cursor{ID: "x", CreatedAt: w.Now()}, 1)
		w.wantCode(err, models.CodeInvalid)
		failed, err := w.SitemapErrors(ctx, []sites.Website{refused, unread, both})
		w.must(err)
		if len(failed) != 2 || failed[unread.Seq] != 2 || failed[both.Seq] != 2 {
			t.Errorf("failed: %v", failed)
		}
	})
}

// TestWebsitesWithIndexNowErrors: a refusal or a missing key file is a problem only while IndexNow is used.
func TestWebsitesWithIndexNowErrors(t *testing.T) {
	each(t, func(w *fixture) {
		ctx := w.Context()
		missing, refused, stopped, fine := w.site("https://a.test/"), w.site("https://b.test/"), w.site("https://c.test/"), w.site("https://d.test/")
		for _, s := range []*sites.Website{&missing, &refused, &stopped, &fine} {
			var err error
			*s, err = w.Edit(ctx, s.ID, sites.Edit{IndexNowKey: ptr("abcdef123456")})
			w.must(err)
		}
		w.must(w.KeyChecked(ctx, missing, "no key file"))
		w.must(w.KeyChecked(ctx, fine, ""))
		_, err := w.Edit(ctx, stopped.ID, sites.Edit{IndexNowKey: ptr("")})
		w.must(err)
		for _, s := range []sites.Website{refused, stopped} { // a request was in progress when IndexNow was disabled
			w.must(w.RecordServiceOutcome(ctx, s, sites.IndexNow, sites.Outcome{Status: sites.Refused, Sitewide: true, Error: "status 403"}))
		}
		n, in, err := w.ProblemCounts(ctx)
		w.must(err)
		if n != 4 || in[sites.ProblemIndexNow] != 2 || in[sites.ProblemGoogle] != 0 {
			t.Errorf("%d websites, %v", n, in)
		}
		list, err := w.WithProblem(ctx, sites.ProblemIndexNow, models.Cursor{}, 5)
		w.must(err)
		if len(list.Items) != 2 || list.Items[0].ID != missing.ID || list.Items[1].ID != refused.ID {
			t.Errorf("%+v", list)
		}
		if stopped, err = w.Get(ctx, stopped.ID); err != nil || stopped.IndexNowState.Error == "" || len(stopped.Refusals()) != 0 {
			t.Errorf("got %+v %v", stopped.Refusals(), err)
		}
	})
}

// TestSitemapTree: each index is followed by its sitemaps.
func TestSitemapTree(t *testing.T) {
	each(t, func(w *fixture) {
		ctx := w.Context()
		s := w.site("https://a.test/")
		index := w.sitemap(s, "https://a.test/index.xml")
		single := w.sitemap(s, "https://a.test/single.xml")
		_, _, err := w.AddFound(ctx, s, &index, []string{"https://a.test/1.xml", "https://a.test/2.xml"})
		w.must(err)
		tree, err := w.SitemapTree(ctx, s)
		w.must(err)
		nested := tree[1]
		_, _, err = w.AddFound(ctx, s, &nested, []string{"https://a.test/1a.xml"})
		w.must(err)
		tree, err = w.SitemapTree(ctx, s)
		w.must(err)
		got := ""
		for _, m := range tree {
			got += m.URL[len("https://a.test/"):] + " "
		}
		if got != "index.xml 1.xml 1a.xml 2.xml single.xml " {
			t.Errorf("tree: %s", got)
		}
		if m, err := w.Sitemap(ctx, s.ID, single.ID()); err != nil || m.URL != single.URL {
			t.Errorf("sitemap: %+v %v", m, err)
		}
		_, err = w.Sitemap(ctx, s.ID, "x")
		w.wantCode(err, models.CodeNotFound)
		_, err = w.Sitemap(ctx, models.NewID(models.KindWebsite), single.ID())
		w.wantCode(err, models.CodeNotFound)
		_, err = w.Sitemap(ctx, w.site("https://b.test/").ID, single.ID())
		w.wantCode(err, models.CodeNotFound)
	})
}
