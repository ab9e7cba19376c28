package web

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/shortlinks"
	"linkwatch/models/targets"
	adminviews "linkwatch/views/admin"
	linkviews "linkwatch/views/links"
	views "linkwatch/views/overview"
	shortviews "linkwatch/views/shortlinks"
	targetviews "linkwatch/views/targets"
	"linkwatch/views/ui"
)

const (
	glanceSize  = 8 // recent and popular links
	shortGlance = 5 // short links
)

// OverviewPage shows what needs attention, or the first steps.
func (p *Pages) OverviewPage(c *gin.Context) {
	ctx := c.Request.Context()
	var (
		l  = linkviews.Overview{BaseURL: p.Addresses.Base(c.Request)}
		t  targetviews.Overview
		sl shortviews.Overview
		a  adminviews.Overview
	)
	var flash ui.Flash
	glance := models.Page{Number: 1, Size: glanceSize}
	for _, read := range []func() error{
		func() (err error) { flash, err = p.flash(c, "/"); return },
		func() (err error) { l.Counts, err = p.Links.Counts(ctx); return },
		func() (err error) { l.Attention, err = p.Links.NeedAttention(ctx, ui.AttentionRows); return },
		func() (err error) { t.Counts, err = p.Targets.Counts(ctx); return },
		func() (err error) { t.Down, err = p.Targets.NeedAttention(ctx, ui.AttentionRows); return },
		func() (err error) { t.Expired, err = p.certificates(ctx, targets.CertificateExpired); return },
		func() (err error) { t.Expiring, err = p.certificates(ctx, targets.CertificateExpiring); return },
		func() error {
			newest, err := p.ShortLinks.List(ctx, shortlinks.Filter{Newest: true}, models.Cursor{}, shortGlance)
			sl.Newest = newest.Items
			return err
		},
		func() (err error) { a.Jobs, err = p.Schedule.Jobs(ctx); return },
		func() error {
			found, err := p.Links.List(ctx, links.Filter{}, glance)
			l.Recent = found.Items
			return err
		},
		func() error {
			found, err := p.Links.Popular(ctx, glance)
			l.Popular = found.Items
			return err
		},
	} {
		if err := read(); err != nil {
			p.fail(c, err)
			return
		}
	}
	v := views.Overview{Page: p.page("Overview", "overview", flash)}
	l.Now, t.Now, a.Now = v.Now, v.Now, v.Now
	v.Parts = []ui.OverviewPart{l.Part(), t.Part(), sl.Part(), a.Part()}
	p.show(c, http.StatusOK, views.Page(v))
}

func (p *Pages) certificates(ctx context.Context, which targets.Certificate) (c targetviews.Certificates, err error) {
	c.Count, c.First, err = p.Targets.Certificates(ctx, which, ui.AttentionRows)
	return c, err
}
