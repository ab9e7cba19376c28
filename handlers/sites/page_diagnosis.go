package sites

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
)

const (
	csvBatch = 500    // pages per batch of the CSV file
	maxCSV   = 50_000 // maximum pages in the CSV file
)

// diagnose returns the pages with the reasons why they are not indexed, based on Google and on other systems.
func (d *Deps) diagnose(ctx context.Context, list ...sites.Page) ([]views.Diagnosed, error) {
	canonical, canonicalOf := make([]string, 0, len(list)), make([]string, len(list))
	for i, page := range list {
		if u, err := models.ParseURL("url", page.URL); err == nil { // validated when stored
			canonicalOf[i], canonical = u.Canonical, append(canonical, u.Canonical)
		}
	}
	facts, err := d.OtherSystems.Evidence(ctx, canonical)
	if err != nil {
		return nil, err
	}
	rows := make([]views.Diagnosed, len(list))
	for i, page := range list {
		known := facts[canonicalOf[i]]
		rows[i] = views.Diagnosed{Page: page, Evidence: known, Findings: sites.Diagnose(page, known)}
	}
	return rows, nil
}

// UnindexedPage shows the pages that are not indexed; for htmx only the results.
func (p Pages) UnindexedPage(c *gin.Context) {
	ctx := c.Request.Context()
	v := views.Unindexed{Place: unindexedPlaceOf(c)}
	var after models.Cursor
	if !p.Read(c,
		func() (err error) { after, err = models.ParseToken(v.Place.Token); return },
		func() (err error) { v.Flash, err = p.Flash(c, v.Place.Path()); return },
		func() (err error) { v.Site, err = p.Sites.Get(ctx, v.Place.SiteID); return },
		func() (err error) { v.Counts, err = p.Sites.Counts(ctx, v.Site); return },
		func() (err error) {
			v.List, err = p.Sites.Pages(ctx, v.Site.ID, v.Place.Filter(), after, queueSize)
			v.Query, err = pages.FilterError(err, "cause")
			return err
		},
		func() (err error) { v.Rows, err = p.diagnose(ctx, v.List.Items...); return },
	) {
		return
	}
	v.Page = p.Page("Not indexed · "+v.Site.Name, "sites", v.Flash)
	v.Search = true
	pages.ReplaceURL(c, v.Place.Path())
	p.ShowList(c, http.StatusOK, v.Query, views.UnindexedPage(v), views.UnindexedResults(v))
}

func unindexedPlaceOf(c *gin.Context) views.UnindexedPlace {
	return views.UnindexedPlace{SiteID: c.Param("id"), Cause: models.CleanLine(c.Query("cause")), Text: models.CleanLine(c.Query("q")), Token: c.Query("page_token")}
}

// DownloadUnindexed sends the list of UnindexedPage as CSV, at most maxCSV pages.
func (p Pages) DownloadUnindexed(c *gin.Context) {
	ctx, at := c.Request.Context(), unindexedPlaceOf(c)
	next := func(after models.Cursor) (list models.Slice[sites.Page], rows []views.Diagnosed, err error) {
		if list, err = p.Sites.Pages(ctx, at.SiteID, at.Filter(), after, csvBatch); err == nil {
			rows, err = p.diagnose(ctx, list.Items...)
		}
		return list, rows, err
	}
	list, rows, err := next(models.Cursor{})
	if err != nil {
		p.Fail(c, err)
		return
	}
	pages.CSVBatches(c, at.SiteID+"-not-indexed.csv", func(yield func([][]string, error) bool) {
		if !yield([][]string{csvColumns}, nil) {
			return
		}
		for sent := 0; ; {
			if !yield(csvRows(rows), err) || err != nil {
				return
			}
			if sent += len(rows); !list.More() || sent >= maxCSV {
				return
			}
			list, rows, err = next(list.Next)
		}
	})
}

var csvColumns = []string{
	"url", "status", "priority", "coverage_state", "verified_at", "last_crawled_at", "google_canonical", "error", "crawl", "checks", "cause", "certainty", "reason", "fix",
}

func csvRows(rows []views.Diagnosed) [][]string {
	out := make([][]string, len(rows))
	for i, d := range rows {
		var first sites.Finding
		if len(d.Findings) > 0 {
			first = d.Findings[0]
		}
		p := d.Page
		out[i] = []string{
			p.URL, string(p.Status), strconv.Itoa(p.Priority()), p.CoverageState, csvTime(p.LastVerifiedAt), csvTime(p.LastCrawledAt), p.GoogleCanonical, p.LastError,
			d.Crawl(), d.Checks(), first.Cause, string(first.Certainty), first.Text, first.Fix,
		}
	}
	return out
}

// csvTime formats a time; zero = "".
func csvTime(t models.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
