package crawl

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	views "linkwatch/views/crawl"
	"linkwatch/views/ui"
)

// DiscoveredPage is a page of the discovered links.
func (p Pages) DiscoveredPage(c *gin.Context) {
	ctx := c.Request.Context()
	v := views.DiscoveredLinks{Place: views.DiscoveredPlace{SourceID: c.Query("source"), Token: c.Query("page_token")}}
	var after models.Cursor
	var flash ui.Flash
	for _, read := range []func() error{
		func() (err error) { after, err = models.ParseToken(v.Place.Token); return },
		func() (err error) { flash, err = p.Flash(c, v.Place.Path()); return },
		func() (err error) { v.Source, err = p.sourceName(ctx, v.Place.SourceID); return },
		func() (err error) {
			v.Links, err = p.Crawl.DiscoveredLinks(ctx, v.Place.SourceID, after, listSize)
			return
		},
	} {
		if err := read(); err != nil {
			p.Fail(c, err)
			return
		}
	}
	v.Page = p.Page("Discovered links", "crawl", flash)
	p.Show(c, http.StatusOK, views.DiscoveredPage(v))
}

// sourceName is the name of the source that a list is limited to; "" = it is not.
func (p Pages) sourceName(ctx context.Context, id string) (string, error) {
	if id == "" {
		return "", nil
	}
	src, err := p.Crawl.Source(ctx, id)
	return src.Name, err
}

// DeleteDiscovered deletes a discovered link.
func (p Pages) DeleteDiscovered(c *gin.Context) {
	err := p.Crawl.DeleteDiscovered(c.Request.Context(), c.Param("id"))
	p.Done(c, err, p.Back(c, views.DiscoveredPlace{}.Path()), "discovered_deleted")
}
