package sites

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"linkwatch/jobs/sites/google"
	"linkwatch/jobs/sites/indexnow"
	"linkwatch/models/sites"
)

// Limits of submitting.
const (
	batch       = 50 // pages that are looked up at a time
	maxFailures = 5  // requests in a row without a useful answer, after which the service pauses
)

// submit submits what waits: by IndexNow, and to Google by its Indexing API if the owner
// says that the pages qualify, else as sitemaps.
func (t *task) submit() error {
	if t.site.IndexNow() && !t.site.Paused(sites.IndexNow, t.Store.Now()) {
		if err := t.submitIndexNow(); err != nil {
			return err
		}
	}
	switch {
	case !t.site.Google():
		return nil
	case t.site.IndexingEnabled:
		return t.publish()
	default:
		return t.submitSitemaps()
	}
}

// submitIndexNow submits pages in batches, each of one host.
func (t *task) submitIndexNow() error {
	for !t.ending() {
		if ok, err := t.refresh(sites.Submitting); err != nil || !ok || !t.site.IndexNow() {
			return err
		}
		pages, err := t.Store.ToIndexNow(t.ctx, t.site)
		if err != nil || len(pages) == 0 {
			return err
		}
		origin := pages[0].URL[:pages[0].PathAt-1]
		b := indexnow.Batch{Host: hostOf(origin), Key: t.site.IndexNowKey, KeyLocation: origin + "/" + t.site.IndexNowKey + ".txt"}
		seqs := make([]int64, len(pages))
		for i, p := range pages {
			b.URLs, seqs[i] = append(b.URLs, p.URL), p.Seq
		}
		sub := sites.Submission{Method: sites.ByIndexNow, Action: sites.Updated, Pages: len(pages), LoadedAt: pages[0].LoadedAt}
		if len(pages) == 1 {
			sub.URL, sub.PageSeq = pages[0].URL, &pages[0].Seq
			if pages[0].Removal {
				sub.Action = sites.Deleted
			}
		}
		if sub, err = t.Store.Begin(t.ctx, t.site, sub); err != nil {
			return err
		}
		status, err := t.IndexNow.Submit(t.ctx, b)
		a := ofAll(answer(err))
		a.StatusCode = status
		if err := t.record(func(ctx context.Context) error { return t.Store.Answered(ctx, sub, seqs, a) }); err != nil {
			return err
		}
		t.count(a, len(pages))
		if a.Status != sites.Accepted && a.Status != sites.Refused || a.Sitewide {
			return t.ctx.Err()
		}
	}
	t.again = true
	return nil
}

// refresh loads the website again, as users have changed it meanwhile. ok is false if it
// was deleted, or is no longer ours.
func (t *task) refresh(a sites.Activity) (ok bool, err error) {
	site, ok, err := t.Store.Refresh(t.ctx, t.holder, a, t.site.Seq)
	if ok {
		t.site = site
	}
	return ok, err
}

// record stores what became of a request, also when the task's context has ended.
func (t *task) record(store func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), recordTime)
	defer cancel()
	return store(ctx)
}

// count counts what became of pages.
func (t *task) count(a sites.Answer, n int) {
	t.did.add(func(d *did) {
		switch {
		case a.Status == sites.Unsent:
		case a.Status == sites.Accepted:
			d.accepted += n
		case a.Sitewide || a.Limited:
			t.stopped.Store(true)
		case a.Status == sites.Refused:
			d.refused += n
		default:
			d.failed += n
		}
	})
}

// publish submits pages by the Indexing API.
func (t *task) publish() error {
	if t.site.Paused(sites.Indexing, t.Store.Now()) {
		return nil
	}
	client, err := t.client(sites.Indexing)
	if err != nil || client == nil {
		return err
	}
	return t.pages(sites.Submitting, t.Store.ToPublish, func(p sites.Page) (sites.Answer, error) { return t.publishOne(client, p) })
}

// pages works on pages in batches until none is left, some at a time and each once. It
// ends early when the quota is used up, when the service refuses all, when the owner
// changes the credentials, and after failures in a row: then the service pauses.
func (t *task) pages(a sites.Activity, next func(context.Context, sites.Website, int) ([]sites.Page, error), work func(sites.Page) (sites.Answer, error)) error {
	tried := map[int64]bool{}
	var failures atomic.Int64
	var stop atomic.Bool
	before := t.site
	for !t.ending() && !stop.Load() {
		ok, err := t.refresh(a)
		if err != nil || !ok || !bytes.Equal(t.site.Credentials, before.Credentials) || t.site.IndexingEnabled != before.IndexingEnabled {
			return err
		}
		all, err := next(t.ctx, t.site, batch)
		if err != nil {
			return err
		}
		var group errgroup.Group
		group.SetLimit(max(1, t.Concurrency))
		began := 0
		for _, p := range all {
			if tried[p.Seq] {
				continue
			}
			tried[p.Seq] = true
			began++
			group.Go(func() error {
				if t.ending() || stop.Load() {
					return nil
				}
				got, err := work(p)
				switch {
				case errors.Is(err, errStop):
					t.stopped.Store(true)
					stop.Store(true)
					return nil
				case err != nil:
					stop.Store(true)
					return err
				}
				switch {
				case got.Sitewide || got.Limited:
					stop.Store(true)
				case got.Status == sites.Accepted || got.Status == sites.Refused:
					failures.Store(0)
				case failures.Add(1) == maxFailures:
					stop.Store(true)
					return t.pause(a, got)
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		if began == 0 {
			return nil
		}
	}
	t.again = t.ending()
	return nil
}

// pause pauses the service of an activity after failures in a row, the last of which had
// the answer a.
func (t *task) pause(of sites.Activity, a sites.Answer) error {
	if a.Status == sites.Unsent { // nothing is known of the service
		return nil
	}
	service := sites.SearchConsole
	if of == sites.Submitting {
		service = sites.Indexing
	}
	t.stopped.Store(true)
	return t.record(func(ctx context.Context) error { return t.Store.Note(ctx, t.site, service, ofAll(a)) })
}

// publishOne tells the Indexing API of a page.
func (t *task) publishOne(client *google.Client, p sites.Page) (a sites.Answer, err error) {
	send, done, err := t.permit(sites.CallPublish)
	if err != nil {
		return a, err
	}
	defer done()
	action := sites.Updated
	if p.Removal {
		action = sites.Deleted
	}
	sub, err := t.Store.Begin(t.ctx, t.site, sites.Submission{PageSeq: &p.Seq, URL: p.URL, Method: sites.ByIndexingAPI, Action: action, Pages: 1, LoadedAt: p.LoadedAt})
	if err != nil {
		return a, err
	}
	a = answer(client.Publish(send, p.URL, p.Removal))
	if err := t.record(func(ctx context.Context) error { return t.Store.Answered(ctx, sub, []int64{p.Seq}, a) }); err != nil {
		return a, err
	}
	t.count(a, 1)
	return a, t.ctx.Err()
}

// submitSitemaps tells the Search Console of sitemaps that are new or have changed.
func (t *task) submitSitemaps() error {
	if t.site.Paused(sites.SearchConsole, t.Store.Now()) {
		return nil
	}
	ms, err := t.Store.ToSubmit(t.ctx, t.site)
	if err != nil || len(ms) == 0 {
		return err
	}
	client, err := t.client(sites.SearchConsole)
	if err != nil || client == nil {
		return err
	}
	for _, m := range ms {
		if t.ending() {
			t.again = true
			return nil
		}
		sub, err := t.Store.Begin(t.ctx, t.site, sites.Submission{URL: m.URL, Method: sites.BySitemap, Action: sites.Updated, Pages: m.Pages})
		if err != nil {
			return err
		}
		a := ofAll(answer(client.SubmitSitemap(t.ctx, t.site.SiteURL, m.URL)))
		if a.Status == sites.Accepted {
			if err := t.markSubmitted(m); err != nil {
				return err
			}
		}
		if err := t.record(func(ctx context.Context) error { return t.Store.SitemapAnswered(ctx, sub, m, a) }); err != nil {
			return err
		}
		if a.Status == sites.Accepted {
			t.did.add(func(d *did) { d.sitemaps++ })
		} else {
			t.count(a, 1)
		}
		if a.Status != sites.Accepted && a.Status != sites.Refused || a.Sitewide {
			return t.ctx.Err()
		}
	}
	return nil
}

// markSubmitted marks the pages of a sitemap, and of those that it names, as submitted.
func (t *task) markSubmitted(root sites.Sitemap) error {
	group, err := t.Store.Group(t.ctx, root)
	for _, m := range group {
		for after := int64(0); err == nil; {
			if after, err = t.Store.MarkSubmitted(t.ctx, t.site, m, after); after == 0 {
				break
			}
		}
	}
	return err
}
