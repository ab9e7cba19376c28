package crawl

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/crawl"
	views "linkwatch/views/crawl"
	"linkwatch/views/ui"
)

// crawledPlaceOf parses the place in the list of crawled pages from the query.
func crawledPlaceOf(q url.Values) (at views.CrawledPlace, f crawl.PageFilter, after models.Cursor, err error) {
	at = views.CrawledPlace{
		Text: models.CleanLine(q.Get("q")), SourceID: q.Get("source"), Language: q.Get("language"),
		Since: q.Get("since"), Until: q.Get("until"), Token: q.Get("page_token"),
	}
	if f, err = (listPagesInput{Query: at.Text, SourceID: at.SourceID, Language: at.Language, Since: at.Since, Until: at.Until}).filter(); err == nil {
		after, err = models.ParseToken(at.Token)
	}
	return at, f, after, err
}

// CrawledPages shows the crawled pages. For htmx it returns only the results.
func (p Pages) CrawledPages(c *gin.Context) {
	ctx := c.Request.Context()
	var v views.CrawledPages
	var f crawl.PageFilter
	var after models.Cursor
	var flash ui.Flash
	if !p.Read(c,
		func() (err error) { v.Place, f, after, err = crawledPlaceOf(c.Request.URL.Query()); return },
		func() (err error) { flash, err = p.Flash(c, v.Place.Path()); return },
		func() (err error) { v.Source, err = p.sourceName(ctx, v.Place.SourceID); return },
		func() (err error) {
			v.List, err = p.Crawl.Pages(ctx, f, after, listSize)
			v.Query, err = pages.FilterError(err, "language")
			return err
		},
		func() (err error) { v.Lag, err = p.Crawl.IndexLag(ctx); return },
		func() (err error) {
			v.Saved, err = savedRows(ctx, p.Saver, v.List.Items, func(page crawl.FoundPage) string { return page.URL })
			return
		},
	) {
		return
	}
	v.Page = p.Page("Crawled pages", "crawl", flash)
	v.Search = true
	pages.ReplaceURL(c, v.Place.Path())
	p.ShowList(c, http.StatusOK, v.Query, views.CrawledPagesPage(v), views.CrawledResults(v))
}

// BulkPages saves, watches or deletes the selected pages.
func (p Pages) BulkPages(c *gin.Context) {
	ctx, here := c.Request.Context(), p.Back(c, views.CrawledPlace{}.Path())
	ids, action := c.PostFormArray("id"), c.PostForm("action")
	switch {
	case len(ids) == 0:
		p.Done(c, nil, here, "none_selected")
	case action == actionSave, action == actionWatch:
		found, err := p.Crawl.PagesByID(ctx, ids...)
		if err != nil {
			p.Fail(c, err)
			return
		}
		urls := make([]FoundURL, len(found))
		for i, page := range found {
			urls[i] = FoundURL{URL: page.URL, Name: page.Title, Private: page.PrivateTo != ""}
		}
		p.saveURLs(c, action, urls, here)
	case action == actionDelete:
		d, err := p.Crawl.DeletePages(ctx, ids...)
		if err != nil {
			p.Fail(c, err)
			return
		}
		if len(ids) == 1 && here == views.PagePath(ids[0]) { // the page was just deleted
			here = views.CrawledPlace{}.Path()
		}
		p.SeeOther(c, pages.With(here, paramPagesDeleted, strconv.FormatInt(d.At.UnixMicro(), 10)))
	default:
		p.Fail(c, errAction)
	}
}

// RestorePages undoes a deletion of crawled pages.
func (p Pages) RestorePages(c *gin.Context) {
	p.restore(c, p.Crawl.RestorePages, views.CrawledPlace{}.Path(), "pages_restored", "pages_gone")
}
