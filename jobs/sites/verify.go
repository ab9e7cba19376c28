package sites

import (
	"context"
	"errors"
	"strings"

	"linkwatch/jobs/sites/google"
	"linkwatch/models"
	"linkwatch/models/sites"
)

// verify checks with Google which pages are indexed. It continues while the Indexing API refuses requests.
func (t *task) verify() error {
	if !t.site.UsesGoogle() || t.site.Paused(sites.SearchConsole, t.Store.Now()) {
		return nil
	}
	client, err := t.client(sites.SearchConsole)
	if err != nil || client == nil {
		return err
	}
	return t.pages(sites.Verifying, t.Store.PagesToVerify, func(p sites.Page) (sites.Outcome, error) { return t.verifyOne(client, p) })
}

func (t *task) verifyOne(client *google.Client, p sites.Page) (a sites.Outcome, err error) {
	v := sites.Verification{Page: p}
	send, done, err := t.acquire(sites.CallInspect)
	if err != nil {
		return a, err
	}
	v.Inspection, err = client.Inspect(send, t.site.SiteURL, p.URL)
	done()
	a = outcome(err)
	switch {
	case a.Status == sites.Unsent || a.Status == sites.Sent && t.ctx.Err() != nil: // verified again later
		return a, t.ctx.Err()
	case a.Status != sites.Accepted:
		v.Problem = &a
	default:
		v.Cause = sites.CauseOf(v.Inspection)
		if v.NotifiedAt, err = t.notified(client, p); err != nil {
			return a, err
		}
	}
	if err := t.record(func(ctx context.Context) error { return t.Store.RecordVerification(ctx, v) }); err != nil {
		return a, err
	}
	if v.Problem != nil {
		t.count(a, 1)
		return a, nil
	}
	t.summary.add(func(d *summary) {
		d.verified++
		if v.Inspection.Status() == sites.Indexed {
			d.indexed++
		}
	})
	return a, nil
}

// notified returns the time of the latest notification of a page that the Indexing API received; zero = unknown. It asks only if
// the page was submitted since the last such request. It uses no quota of notifications. A failure of Google does not fail the
// verification.
func (t *task) notified(client *google.Client, p sites.Page) (at models.Time, err error) {
	if !t.site.IndexingEnabled || t.site.Paused(sites.Indexing, t.Store.Now()) || t.ctx.Err() != nil {
		return at, nil
	}
	published, err := t.Store.Published(t.ctx, p)
	if err != nil || !published {
		return at, err
	}
	send, done, err := t.acquire(sites.CallMetadata)
	if errors.Is(err, errStop) {
		return at, nil
	}
	if err != nil {
		return at, err
	}
	defer done()
	n, err := client.Metadata(send, p.URL)
	if err != nil {
		t.Log.Debug("metadata request failed", "website_id", t.site.ID, "error", err)
	}
	return n.Latest(), nil
}

// hostOf returns the host of an origin with its port: "example.com:8443" for https://example.com:8443.
func hostOf(origin string) string {
	_, host, _ := strings.Cut(origin, "://")
	return host
}
