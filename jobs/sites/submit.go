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
	pageBatch   = 50 // pages loaded at a time
	maxFailures = 5  // consecutive failed requests before the service is paused
)

// submit submits queued pages: through IndexNow, and to Google through the Indexing API if the website uses it, else as
// sitemaps.
func (t *task) submit() error {
	if t.site.UsesIndexNow() && !t.site.Paused(sites.IndexNow, t.Store.Now()) {
		if err := t.submitIndexNow(); err != nil {
			return err
		}
	}
	switch {
	case !t.site.UsesGoogle():
		return nil
	case t.site.IndexingEnabled:
		return t.publish()
	default:
		return t.submitSitemaps()
	}
}

// submitIndexNow submits pages through IndexNow in batches of one host.
func (t *task) submitIndexNow() error {
	for !t.stopping() {
		if ok, err := t.refresh(sites.Submitting); err != nil || !ok || !t.site.UsesIndexNow() {
			return err
		}
		pages, err := t.Store.PagesForIndexNow(t.ctx, t.site)
		if err != nil || len(pages) == 0 {
			return err
		}
		origin := pages[0].URL[:pages[0].PathStart-1]
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
		if sub, err = t.Store.BeginSubmission(t.ctx, t.site, sub); err != nil {
			return err
		}
		status, err := t.IndexNow.Submit(t.ctx, b)
		a := forWebsite(outcome(err))
		a.StatusCode = status
		if err := t.record(func(ctx context.Context) error { return t.Store.RecordOutcome(ctx, sub, seqs, a) }); err != nil {
			return err
		}
		t.count(a, len(pages))
		if a.Status != sites.Accepted && a.Status != sites.Refused || a.Sitewide {
			return t.ctx.Err()
		}
	}
	t.requestAgain = true
	return nil
}

// refresh reloads the website, which users may have changed. ok is false if it was deleted or is no longer claimed.
func (t *task) refresh(a sites.Activity) (ok bool, err error) {
	site, ok, err := t.Store.Reload(t.ctx, t.holder, a, t.site.Seq)
	if ok {
		t.site = site
	}
	return ok, err
}

// record stores a result even if the context of the task has ended.
func (t *task) record(store func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), recordTime)
	defer cancel()
	return store(ctx)
}

func (t *task) count(a sites.Outcome, n int) {
	t.summary.add(func(d *summary) {
		switch {
		case a.Status == sites.Unsent:
		case a.Status == sites.Accepted:
			d.accepted += n
		case a.Sitewide || a.RateLimited:
			t.stoppedEarly.Store(true)
		case a.Status == sites.Refused:
			d.refused += n
		default:
			d.failed += n
		}
	})
}

func (t *task) publish() error {
	if t.site.Paused(sites.Indexing, t.Store.Now()) {
		return nil
	}
	client, err := t.client(sites.Indexing)
	if err != nil || client == nil {
		return err
	}
	return t.pages(sites.Submitting, t.Store.PagesToPublish, func(p sites.Page) (sites.Outcome, error) { return t.publishOne(client, p) })
}

// pages processes pages in batches until none is left, each page once. It stops early if a quota is used up, a service refuses
// requests or the credentials change. After maxFailures consecutive failures it pauses the service.
func (t *task) pages(a sites.Activity, next func(context.Context, sites.Website, int) ([]sites.Page, error), work func(sites.Page) (sites.Outcome, error)) error {
	tried := map[int64]bool{}
	var failures atomic.Int64
	var stop atomic.Bool
	before := t.site
	for !t.stopping() && !stop.Load() {
		ok, err := t.refresh(a)
		if err != nil || !ok || !bytes.Equal(t.site.Credentials, before.Credentials) || t.site.IndexingEnabled != before.IndexingEnabled {
			return err
		}
		all, err := next(t.ctx, t.site, pageBatch)
		if err != nil {
			return err
		}
		var group errgroup.Group
		group.SetLimit(max(1, t.Concurrency))
		started := 0
		for _, p := range all {
			if tried[p.Seq] {
				continue
			}
			tried[p.Seq] = true
			started++
			group.Go(func() error {
				if t.stopping() || stop.Load() {
					return nil
				}
				result, err := work(p)
				switch {
				case errors.Is(err, errStop):
					t.stoppedEarly.Store(true)
					stop.Store(true)
					return nil
				case err != nil:
					stop.Store(true)
					return err
				}
				switch {
				case result.Sitewide || result.RateLimited:
					stop.Store(true)
				case result.Status == sites.Accepted || result.Status == sites.Refused:
					failures.Store(0)
				case failures.Add(1) == maxFailures:
					stop.Store(true)
					return t.pause(a, result)
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		if started == 0 {
			return nil
		}
	}
	t.requestAgain = t.stopping()
	return nil
}

// pause pauses the service of an activity after consecutive failures; a is the last outcome.
func (t *task) pause(activity sites.Activity, a sites.Outcome) error {
	if a.Status == sites.Unsent { // says nothing about the service
		return nil
	}
	service := sites.SearchConsole
	if activity == sites.Submitting {
		service = sites.Indexing
	}
	t.stoppedEarly.Store(true)
	return t.record(func(ctx context.Context) error {
		return t.Store.RecordServiceOutcome(ctx, t.site, service, forWebsite(a))
	})
}

func (t *task) publishOne(client *google.Client, p sites.Page) (a sites.Outcome, err error) {
	send, done, err := t.acquire(sites.CallPublish)
	if err != nil {
		return a, err
	}
	defer done()
	action := sites.Updated
	if p.Removal {
		action = sites.Deleted
	}
	sub, err := t.Store.BeginSubmission(t.ctx, t.site, sites.Submission{PageSeq: &p.Seq, URL: p.URL, Method: sites.ByIndexingAPI, Action: action, Pages: 1, LoadedAt: p.LoadedAt})
	if err != nil {
		return a, err
	}
	a = outcome(client.Publish(send, p.URL, p.Removal))
	if err := t.record(func(ctx context.Context) error { return t.Store.RecordOutcome(ctx, sub, []int64{p.Seq}, a) }); err != nil {
		return a, err
	}
	t.count(a, 1)
	return a, t.ctx.Err()
}

func (t *task) submitSitemaps() error {
	if t.site.Paused(sites.SearchConsole, t.Store.Now()) {
		return nil
	}
	ms, err := t.Store.SitemapsToSubmit(t.ctx, t.site)
	if err != nil || len(ms) == 0 {
		return err
	}
	client, err := t.client(sites.SearchConsole)
	if err != nil || client == nil {
		return err
	}
	for _, m := range ms {
		if t.stopping() {
			t.requestAgain = true
			return nil
		}
		sub, err := t.Store.BeginSubmission(t.ctx, t.site, sites.Submission{URL: m.URL, Method: sites.BySitemap, Action: sites.Updated, Pages: m.Pages})
		if err != nil {
			return err
		}
		a := forWebsite(outcome(client.SubmitSitemap(t.ctx, t.site.SiteURL, m.URL)))
		if a.Status == sites.Accepted {
			if err := t.markSubmitted(m); err != nil {
				return err
			}
		}
		if err := t.record(func(ctx context.Context) error { return t.Store.RecordSitemapOutcome(ctx, sub, m, a) }); err != nil {
			return err
		}
		if a.Status == sites.Accepted {
			t.summary.add(func(d *summary) { d.sitemaps++ })
		} else {
			t.count(a, 1)
		}
		if a.Status != sites.Accepted && a.Status != sites.Refused || a.Sitewide {
			return t.ctx.Err()
		}
	}
	return nil
}

// markSubmitted marks the pages of a sitemap and of those below it as submitted.
func (t *task) markSubmitted(root sites.Sitemap) error {
	group, err := t.Store.SitemapGroup(t.ctx, root)
	for _, m := range group {
		for after := int64(0); err == nil; {
			if after, err = t.Store.MarkSubmitted(t.ctx, t.site, m, after); after == 0 {
				break
			}
		}
	}
	return err
}
