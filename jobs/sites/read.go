package sites

import (
	"time"

	"golang.org/x/sync/errgroup"

	"linkwatch/models"
	"linkwatch/models/sites"
)

// Limits of reading sitemaps.
const (
	readTime      = 3 * time.Minute // of one sitemap
	readParallel  = 2               // sitemaps of a website at a time
	readRedirects = 5
	maxValidator  = 1024 // bytes of an ETag or Last-Modified that is kept
)

// read reads the sitemaps of the website: first those that users and robots.txt name,
// then, level by level, those that indexes name.
func (t *task) read() error {
	robots, err := t.readRobots()
	if err != nil {
		return err
	}
	for depth := 0; depth <= sites.MaxDepth; depth++ {
		if ok, err := t.refresh(sites.Reading); err != nil || !ok { // it was deleted meanwhile
			return err
		}
		ms, err := t.Store.ToRead(t.ctx, t.site, depth)
		if err != nil {
			return err
		}
		var group errgroup.Group
		group.SetLimit(readParallel)
		for _, m := range ms {
			group.Go(func() error {
				if t.ending() {
					return nil
				}
				return t.readOne(m)
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	if err := t.detachDeleted(); err != nil {
		return err
	}
	if t.ending() {
		t.again = true
		return nil
	}
	return t.Store.ReadEnded(t.ctx, t.site, robots)
}

// readRobots adds the sitemaps that robots.txt names. problem is why it could not be read,
// "" = it could: the sitemaps that are known are read all the same.
func (t *task) readRobots() (problem string, err error) {
	named, err := t.Client.Sitemaps(t.ctx, t.site.Property().Root())
	if err != nil {
		return fetchError("robots.txt", err), t.ctx.Err()
	}
	var urls []string
	for _, name := range named {
		if u, err := models.ParseURL("url", name); err == nil {
			urls = append(urls, u.Requested) // as users and indexes name it
		}
	}
	_, _, err = t.Store.AddFound(t.ctx, t.site, nil, urls)
	return "", err
}

// detachDeleted takes the pages from sitemaps that were deleted, and forgets these.
func (t *task) detachDeleted() error {
	ms, err := t.Store.DeletedSitemaps(t.ctx, t.site)
	if err != nil {
		return err
	}
	for _, m := range ms {
		if err := t.detach(m, true); err != nil {
			return err
		}
		if t.ending() {
			return nil
		}
		if err := t.Store.Forget(t.ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// detach takes the pages from a sitemap that it no longer has.
func (t *task) detach(m sites.Sitemap, every bool) error {
	for n := sites.StoreBatch; n == sites.StoreBatch && !t.ending(); {
		var err error
		if n, err = t.Store.Detach(t.ctx, t.site, m, every); err != nil {
			return err
		}
	}
	return nil
}
