package crawl

import (
	"context"
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

// discoveredPlaceOf parses the place in the list of discovered links from the query.
func discoveredPlaceOf(q url.Values) (views.DiscoveredPlace, models.Cursor, error) {
	at := views.DiscoveredPlace{
		DiscoveredFilter: crawl.DiscoveredFilter{SourceID: q.Get("source"), Host: models.CleanLine(q.Get("host")), Text: models.CleanLine(q.Get("q"))},
		Token:            q.Get("page_token"),
	}
	after, err := models.ParseToken(at.Token)
	return at, after, err
}

// DiscoveredPage shows the discovered links. For htmx it returns only the results.
func (p Pages) DiscoveredPage(c *gin.Context) {
	ctx := c.Request.Context()
	var v views.DiscoveredLinks
	var after models.Cursor
	var flash ui.Flash
	if !p.Read(c,
		func() (err error) { v.Place, after, err = discoveredPlaceOf(c.Request.URL.Query()); return },
		func() (err error) { flash, err = p.Flash(c, v.Place.Path()); return },
		func() (err error) { v.Source, err = p.sourceName(ctx, v.Place.SourceID); return },
		func() (err error) {
			v.Links, err = p.Crawl.DiscoveredLinks(ctx, v.Place.DiscoveredFilter, after, listSize)
			v.Query, err = pages.FilterError(err, "host")
			return err
		},
		func() (err error) {
			v.Saved, err = savedRows(ctx, p.Saver, v.Links.Items, func(d crawl.DiscoveredLink) string { return d.URL })
			return
		},
	) {
		return
	}
	v.Page = p.Page("Discovered links", "crawl", flash)
	v.Search = true
	pages.ReplaceURL(c, v.Place.Path())
	p.ShowList(c, http.StatusOK, v.Query, views.DiscoveredPage(v), views.DiscoveredResults(v))
}

// sourceName returns the name of a source; "" for an empty id.
func (p Pages) sourceName(ctx context.Context, id string) (string, error) {
	if id == "" {
		return "", nil
	}
	src, err := p.Crawl.Source(ctx, id)
	return src.Name, err
}

// BulkDiscovered saves, watches or deletes the selected links.
func (p Pages) BulkDiscovered(c *gin.Context) {
	ctx, here := c.Request.Context(), p.Back(c, views.DiscoveredPlace{}.Path())
	ids, action := c.PostFormArray("id"), c.PostForm("action")
	switch {
	case len(ids) == 0:
		p.Done(c, nil, here, "none_selected")
	case action == actionSave, action == actionWatch:
		links, err := p.Crawl.DiscoveredLinksByID(ctx, ids...)
		if err != nil {
			p.Fail(c, err)
			return
		}
		urls := make([]FoundURL, len(links))
		for i, d := range links {
			urls[i] = FoundURL{URL: d.URL, Private: d.PrivateTo != ""}
		}
		p.saveURLs(c, action, urls, here)
	case action == actionDelete:
		d, err := p.Crawl.DeleteDiscoveredLinks(ctx, ids...)
		if err != nil {
			p.Fail(c, err)
			return
		}
		p.SeeOther(c, pages.With(here, paramLinksDeleted, strconv.FormatInt(d.At.UnixMicro(), 10)))
	default:
		p.Fail(c, errAction)
	}
}

// RestoreDiscovered undoes a deletion of discovered links.
func (p Pages) RestoreDiscovered(c *gin.Context) {
	p.restore(c, p.Crawl.RestoreDiscoveredLinks, views.DiscoveredPlace{}.Path(), "discovered_restored", "discovered_gone")
}
