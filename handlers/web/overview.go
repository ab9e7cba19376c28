package web

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/shortlinks"
	"linkwatch/models/targets"
	"linkwatch/views"
	"linkwatch/views/ui"
)

const (
	glanceSize  = 8 // recent and popular links
	shortGlance = 5 // short links
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
		func() (err error) { v.Links, err = p.Links.NeedAttention(ctx, views.AttentionRows); return },
		func() (err error) { v.Targets, err = p.Targets.Counts(ctx); return },
		func() (err error) { v.Down, err = p.Targets.NeedAttention(ctx, views.AttentionRows); return },
		func() (err error) { v.Expired, err = p.certificates(ctx, targets.CertificateExpired); return },
		func() (err error) { v.Expiring, err = p.certificates(ctx, targets.CertificateExpiring); return },
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

func (p *Pages) certificates(ctx context.Context, which targets.Certificate) (c views.Certificates, err error) {
	c.Count, c.First, err = p.Targets.Certificates(ctx, which, views.AttentionRows)
	return c, err
}
