package sites_test

import (
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

func TestWebsitesInTrouble(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.Context()
		refused, unread, gone := w.google(w.site("https://a.test/")), w.site("https://b.test/"), w.google(w.site("https://c.test/"))
		w.clock.Advance(time.Second)
		both := w.google(w.site("https://d.test/"))
		for _, s := range []sites.Website{refused, gone, both} {
			w.ok(w.Note(ctx, s, sites.Indexing, sites.Answer{Sitewide: true, Error: "not an owner"}))
		}
		for _, s := range []sites.Website{unread, both} {
			w.ok(w.RecordRead(ctx, w.sitemap(s, s.SiteURL+"1.xml"), sites.Read{Error: "status 404"}))
			w.ok(w.RecordRead(ctx, w.sitemap(s, s.SiteURL+"2.xml"), sites.Read{Error: "no XML"}))
			w.ok(w.RecordRead(ctx, w.sitemap(s, s.SiteURL+"3.xml"), sites.Read{Kind: sites.KindSitemap}))
		}
		w.ok(w.Delete(ctx, gone.ID))
		n, in, err := w.Total(ctx)
		w.ok(err)
		if n != 3 || in[sites.GoogleRefuses] != 2 || in[sites.SitemapsUnread] != 2 {
			t.Errorf("%d websites, %v", n, in)
		}
		for trouble, want := range map[sites.Trouble]sites.Website{sites.GoogleRefuses: refused, sites.SitemapsUnread: unread} {
			list, err := w.InTrouble(ctx, trouble, models.Cursor{}, 1)
			w.ok(err)
			if len(list.Items) != 1 || list.Items[0].ID != want.ID || !list.More() {
				t.Errorf("%s: %+v", trouble, list)
			}
			if list, err = w.InTrouble(ctx, trouble, list.Next, 1); err != nil || len(list.Items) != 1 || list.Items[0].ID != both.ID || list.More() {
				t.Errorf("the rest of %s: %+v %v", trouble, list, err)
			}
		}
		modelstest.Exec(t, w.db, "INSERT INTO page_counts (website_seq, status, cause, pages) VALUES (?, 'failed', '', 3), (?, 'failed', '', 0), (?, 'indexed', '', 9)", unread.Seq, both.Seq, refused.Seq)
		if _, in, err = w.Total(ctx); err != nil || in[sites.PagesFailed] != 1 {
			t.Errorf("pages of %d websites failed, %v", in[sites.PagesFailed], err)
		}
		if list, err := w.InTrouble(ctx, sites.PagesFailed, models.Cursor{}, 5); err != nil || len(list.Items) != 1 || list.Items[0].ID != unread.ID {
			t.Errorf("with failed pages: %+v %v", list, err)
		}
		_, err = w.InTrouble(ctx, "none", models.Cursor{}, 1)
		w.code(err, models.CodeInvalid)
		_, err = w.InTrouble(ctx, sites.GoogleRefuses, models.Cursor{ID: "x", CreatedAt: w.Now()}, 1)
		w.code(err, models.CodeInvalid)
		broken, err := w.BrokenSitemaps(ctx, []sites.Website{refused, unread, both})
		w.ok(err)
		if len(broken) != 2 || broken[unread.Seq] != 2 || broken[both.Seq] != 2 {
			t.Errorf("broken: %v", broken)
		}
	})
}

// TestSitemapTree: each index is followed by the sitemaps that it names.
func TestSitemapTree(t *testing.T) {
	each(t, func(w *world) {
		ctx := w.Context()
		s := w.site("https://a.test/")
		index := w.sitemap(s, "https://a.test/index.xml")
		single := w.sitemap(s, "https://a.test/single.xml")
		_, _, err := w.AddFound(ctx, s, &index, []string{"https://a.test/1.xml", "https://a.test/2.xml"})
		w.ok(err)
		tree, err := w.SitemapTree(ctx, s)
		w.ok(err)
		nested := tree[1]
		_, _, err = w.AddFound(ctx, s, &nested, []string{"https://a.test/1a.xml"})
		w.ok(err)
		tree, err = w.SitemapTree(ctx, s)
		w.ok(err)
		got := ""
		for _, m := range tree {
			got += m.URL[len("https://a.test/"):] + " "
		}
		if got != "index.xml 1.xml 1a.xml 2.xml single.xml " {
			t.Errorf("the tree is %s", got)
		}
		if m, err := w.Sitemap(ctx, s.ID, single.ID()); err != nil || m.URL != single.URL {
			t.Errorf("sitemap: %+v %v", m, err)
		}
		_, err = w.Sitemap(ctx, s.ID, "x")
		w.code(err, models.CodeNotFound)
		_, err = w.Sitemap(ctx, models.NewID(models.KindWebsite), single.ID())
		w.code(err, models.CodeNotFound)
		_, err = w.Sitemap(ctx, w.site("https://b.test/").ID, single.ID())
		w.code(err, models.CodeNotFound)
	})
}
