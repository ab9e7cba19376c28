package sites

import (
	"context"
	"errors"
	"strings"

	"linkwatch/jobs/sites/google"
	"linkwatch/models"
	"linkwatch/models/sites"
)

// verify asks Google which pages are indexed, those first of which it tells most. It goes
// on while the Indexing API refuses calls.
func (t *task) verify() error {
	if !t.site.Google() || t.site.Paused(sites.SearchConsole, t.Store.Now()) {
		return nil
	}
	client, err := t.client(sites.SearchConsole)
	if err != nil || client == nil {
		return err
	}
	return t.pages(sites.Verifying, t.Store.ToVerify, func(p sites.Page) (sites.Answer, error) { return t.verifyOne(client, p) })
}

// verifyOne asks Google of a page.
func (t *task) verifyOne(client *google.Client, p sites.Page) (a sites.Answer, err error) {
	v := sites.Verified{Page: p}
	permit, err := t.permit(sites.CallInspect)
	if err != nil {
		return a, err
	}
	v.Inspection, err = client.Inspect(t.ctx, t.site.SiteURL, p.URL)
	t.done(permit)
	a = answer(err)
	if a.Status != sites.Accepted {
		v.Problem = &a
		t.count(a, 1)
	} else {
		v.Cause = sites.CauseOf(v.Inspection)
		v.NotifiedAt = t.notified(client, p)
		t.did.add(func(d *did) {
			d.asked++
			if v.Inspection.Status() == sites.Indexed {
				d.indexed++
			}
		})
	}
	return a, t.record(func(ctx context.Context) error { return t.Store.RecordVerified(ctx, v) })
}

// notified is when the Indexing API received the latest notification of a page, if it
// was published since that was asked last; zero: not known. The quota of notifications is
// not touched, and a failure changes nothing about the verification.
func (t *task) notified(client *google.Client, p sites.Page) (at models.Time) {
	if !t.site.IndexingEnabled || p.LastSubmittedAt.IsZero() || !p.NotifiedAt.Before(p.LastSubmittedAt.Time) || t.site.Paused(sites.Indexing, t.Store.Now()) {
		return at
	}
	permit, err := t.permit(sites.CallMetadata)
	if err != nil {
		return at
	}
	defer t.done(permit)
	n, err := client.Metadata(t.ctx, p.URL)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Log.Debug("metadata not received", "website_id", t.site.ID, "error", err)
	}
	return n.Latest()
}

// hostOf is the host of an origin, with its port: that of https://example.com:8443 is
// example.com:8443.
func hostOf(origin string) string {
	_, host, _ := strings.Cut(origin, "://")
	return host
}
