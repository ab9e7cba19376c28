package targets

import (
	"context"

	"linkwatch/models/targets"
	views "linkwatch/views/targets"
	"linkwatch/views/ui"
)

// Overview returns the part of the overview about targets.
func (p Pages) Overview(ctx context.Context, _ string) (ui.OverviewPart, error) {
	v := views.Overview{Now: p.Clock.Now().Time}
	for _, read := range []func() error{
		func() (err error) { v.Counts, err = p.Targets.Counts(ctx); return },
		func() (err error) { v.Down, err = p.Targets.NeedAttention(ctx, ui.AttentionRows); return },
		func() (err error) { v.InMaintenance, err = p.Targets.InMaintenance(ctx, v.Down); return },
		func() (err error) { v.Overdue, v.OverdueFirst, err = p.Targets.Overdue(ctx, ui.AttentionRows); return },
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
	c.Count, c.First, err = p.Targets.Certificates(ctx, which, ui.AttentionRows)
	return c, err
}
