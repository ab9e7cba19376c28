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
	send, done, err := t.permit(sites.CallInspect)
	if err != nil {
		return a, err
	}
	v.Inspection, err = client.Inspect(send, t.site.SiteURL, p.URL)
	done()
	a = answer(err)
	switch {
	case a.Status == sites.Unsent || a.Status == sites.Sent && t.ctx.Err() != nil: // it is asked again
		return a, t.ctx.Err()
	case a.Status != sites.Accepted:
		v.Problem = &a
	default:
		v.Cause = sites.CauseOf(v.Inspection)
		if v.NotifiedAt, err = t.notified(client, p); err != nil {
			return a, err
		}
	}
	if err := t.record(func(ctx context.Context) error { return t.Store.RecordVerified(ctx, v) }); err != nil {
		return a, err
	}
	if v.Problem != nil {
		t.count(a, 1)
		return a, nil
	}
	t.did.add(func(d *did) {
		d.asked++
		if v.Inspection.Status() == sites.Indexed {
			d.indexed++
		}
	})
	return a, nil
}

// notified is when the Indexing API received the latest notification of a page, if it
// was published since that was asked last; zero: not known. The quota of notifications is
// not touched, and a failure of Google changes nothing about the verification.
func (t *task) notified(client *google.Client, p sites.Page) (at models.Time, err error) {
	if !t.site.IndexingEnabled || t.site.Paused(sites.Indexing, t.Store.Now()) || t.ctx.Err() != nil {
		return at, nil
	}
	published, err := t.Store.Published(t.ctx, p)
	if err != nil || !published {
		return at, err
	}
	send, done, err := t.permit(sites.CallMetadata)
	if errors.Is(err, errStop) {
		return at, nil
	}
	if err != nil {
		return at, err
	}
	defer done()
	n, err := client.Metadata(send, p.URL)
	if err != nil {
		t.Log.Debug("metadata not received", "website_id", t.site.ID, "error", err)
	}
	return n.Latest(), nil
}

// hostOf is the host of an origin, with its port: that of https://example.com:8443 is
// example.com:8443.
func hostOf(origin string) string {
	_, host, _ := strings.Cut(origin, "://")
	return host
}
