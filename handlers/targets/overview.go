package targets

import (
	"context"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models/targets"
	views "linkwatch/views/targets"
	"linkwatch/views/ui"
)

// Overview is what the overview shows of targets.
func (p Pages) Overview(ctx context.Context, _ string) (ui.OverviewPart, error) {
	v := views.Overview{Now: p.Clock.Now().Time}
	for _, read := range []func() error{
		func() (err error) { v.Counts, err = p.Targets.Counts(ctx); return },
		func() (err error) { v.Down, err = p.Targets.NeedAttention(ctx, pages.AttentionRows); return },
		func() (err error) { v.Expired, err = p.certificates(ctx, targets.CertificateExpired); return },
		func() (err error) { v.Expiring, err = p.certificates(ctx, targets.CertificateExpiring); return },
	} {
		if err := read(); err != nil {
			return ui.OverviewPart{}, err
		}
	}
	return v.Part(), nil
}

func (p Pages) certificates(ctx context.Context, which targets.Certificate) (c views.Certificates, err error) {
	c.Count, c.First, err = p.Targets.Certificates(ctx, which, pages.AttentionRows)
	return c, err
}

// Watched shows beside a subject whether it is watched, or the way to watch it.
func (p Pages) Watched(c *gin.Context, s pages.Subject) (templ.Component, error) {
	t, _, err := p.Targets.ByURL(c.Request.Context(), s.CanonicalURL)
	return views.Watched(t, s.URL, s.Title, p.Clock.Now().Time), err
}
