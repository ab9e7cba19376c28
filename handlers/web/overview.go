package web

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/linkwatch/linkwatch/models"
	"github.com/linkwatch/linkwatch/models/links"
	"github.com/linkwatch/linkwatch/models/shortlinks"
	"github.com/linkwatch/linkwatch/views"
	"github.com/linkwatch/linkwatch/views/ui"
)

const (
	attentionSize = 12 // links, and targets, that need attention
	glanceSize    = 8  // recent and popular links
	shortGlance   = 5  // short links
)

// OverviewPage shows what needs attention, or the first steps.
func (p *Pages) OverviewPage(c *gin.Context) {
	ctx := c.Request.Context()
	v := views.Overview{BaseURL: p.Addresses.Base(c.Request)}
	var flash ui.Flash
	glance := models.Page{Number: 1, Size: glanceSize}
	for _, read := range []func() error{
		func() (err error) { flash, err = p.flash(c, "/"); return },
		func() (err error) { v.Counts, err = p.Links.Counts(ctx); return },
		func() (err error) { v.Attention, err = p.Links.NeedAttention(ctx, attentionSize); return },
		func() (err error) { v.Targets, err = p.Targets.Counts(ctx); return },
		func() (err error) { v.Down, err = p.Targets.NeedAttention(ctx, attentionSize); return },
		func() (err error) { v.Expiring, err = p.Targets.ExpiringTLS(ctx, views.TLSSoon, attentionSize); return },
		func() error {
			newest, err := p.ShortLinks.List(ctx, shortlinks.Filter{Newest: true}, models.Cursor{}, shortGlance)
			v.Short = newest.Items
			return err
		},
		func() (err error) { v.Jobs, err = p.Schedule.Jobs(ctx); return },
		func() error {
			found, err := p.Links.List(ctx, links.Filter{}, glance)
			v.Recent = found.Items
			return err
		},
		func() error {
			found, err := p.Links.Popular(ctx, glance)
			v.Popular = found.Items
			return err
		},
	} {
		if err := read(); err != nil {
			p.fail(c, err)
			return
		}
	}
	v.Page = p.page("Overview", "overview", flash)
	p.show(c, http.StatusOK, views.OverviewPage(v))
}
