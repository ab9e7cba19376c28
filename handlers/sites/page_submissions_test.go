package sites_test

import (
	"fmt"
	"net/http"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

func TestSubmissionsPage(t *testing.T) {
	q := newQueue(t)
	apptest.WantText(t, q.Get(q.at("/submissions")), ".empty", "No submissions yet")
	q = filled(t)
	ctx := t.Context()
	m, err := q.Sites.BeginSubmission(ctx, q.site, sites.Submission{URL: "https://example.com/sitemap.xml", Method: sites.BySitemap, Action: sites.Updated})
	q.Must(err)
	q.Must(q.Sites.RecordSitemapOutcome(ctx, m, sites.Sitemap{}, sites.Outcome{Status: sites.Retried, StatusCode: 500, Error: injected}))
	_, err = q.Sites.BeginSubmission(ctx, q.site, sites.Submission{Method: sites.ByIndexNow, Action: sites.Deleted, Pages: 1200})
	q.Must(err)
	a := q.Get(q.at("/submissions"))
	for i, want := range []string{
		"1,200 pages IndexNow removed No response yet", "Sitemap /sitemap.xml Search Console updated Failed (500) " + injected,
		"/refused Indexing API updated Refused (403) Not an owner", "/old Indexing API updated Accepted (200)",
	} {
		apptest.WantText(t, a, fmt.Sprintf("tbody tr:nth-child(%d)", i+1), want)
	}
	apptest.WantCount(t, a, "main script, main img", 0)
	apptest.WantCount(t, a, `tbody a[href="`+q.of("/old", "")+`"]`, 1)
	modelstest.Exec(t, q.DB, "DELETE FROM pages WHERE seq = ?", q.page("/old").Seq)
	apptest.WantCount(t, q.Get(q.at("/submissions")), "tbody tr:nth-child(4) a", 0)
	apptest.WantStatus(t, q.Get(q.at("/submissions?page_token=x")), http.StatusBadRequest)
	apptest.WantStatus(t, q.Get("/sites/"+models.NewID(models.KindWebsite)+"/submissions"), http.StatusNotFound)

	few := q.Count(q.at("/submissions"))
	for range 101 {
		_, err := q.Sites.BeginSubmission(ctx, q.site, sites.Submission{Method: sites.ByIndexNow, Action: sites.Updated, Pages: 1})
		q.Must(err)
	}
	if many := q.Count(q.at("/submissions")); many != few {
		t.Errorf("%d queries for 100 submissions, %d for 4", many, few)
	}
	a = q.Get(q.Get(q.at("/submissions")).Find("a[rel=next]").AttrOr("href", ""))
	apptest.WantCount(t, a, "tbody tr", 5)
	apptest.WantCount(t, q.Part(q.at("/submissions")), "nav[aria-label=Main]", 0)
}
