package sites

import (
	"time"

	"golang.org/x/sync/errgroup"

	"linkwatch/models"
	"linkwatch/models/sites"
)

// Limits of reading.
const (
	readTime      = 3 * time.Minute // per sitemap
	readParallel  = 2               // sitemaps per website at a time
	readRedirects = 5
	maxValidator  = 1024 // bytes of a stored ETag or Last-Modified
)

// read reads the sitemaps of the website level by level: first those added by users or listed in robots.txt, then those
// listed in indexes.
func (t *task) read() error {
	robots, err := t.readRobots()
	if err != nil {
		return err
	}
	for depth := 0; depth <= sites.MaxDepth; depth++ {
		if ok, err := t.refresh(sites.Reading); err != nil || !ok { // deleted meanwhile
			return err
		}
		ms, err := t.Store.SitemapsToRead(t.ctx, t.site, depth)
		if err != nil {
			return err
		}
		var group errgroup.Group
		group.SetLimit(readParallel)
		for _, m := range ms {
			group.Go(func() error {
				if t.stopping() {
					return nil
				}
				return t.readSitemap(m)
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	if err := t.detachDeleted(); err != nil {
		return err
	}
	if t.stopping() {
		t.requestAgain = true
		return nil
	}
	return t.Store.FinishReading(t.ctx, t.site, robots)
}

// readRobots adds the sitemaps listed in robots.txt. problem is why it could not be read, "" = read. Known sitemaps are read in
// any case.
func (t *task) readRobots() (problem string, err error) {
	listed, err := t.Client.Sitemaps(t.ctx, t.site.Property().Root())
	if err != nil {
		return fetchError("robots.txt", err), t.ctx.Err()
	}
	var urls []string
	for _, name := range listed {
		if u, err := models.ParseURL("url", name); err == nil {
			urls = append(urls, u.Requested) // same form as for users and indexes
		}
	}
	_, _, err = t.Store.AddFound(t.ctx, t.site, nil, urls)
	return "", err
}

func (t *task) detachDeleted() error {
	ms, err := t.Store.DeletedSitemaps(t.ctx, t.site)
	if err != nil {
		return err
	}
	for _, m := range ms {
		if err := t.detach(m, true); err != nil {
			return err
		}
		if t.stopping() {
			return nil
		}
		if err := t.Store.PurgeSitemap(t.ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// detach detaches the pages that the sitemap no longer lists, or all its pages.
func (t *task) detach(m sites.Sitemap, all bool) error {
	for n := sites.StoreBatch; n == sites.StoreBatch && !t.stopping(); {
		var err error
		if n, err = t.Store.DetachPages(t.ctx, t.site, m, all); err != nil {
			return err
		}
	}
	return nil
}
