package sites

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"linkwatch/jobs/sites/sitemap"
	"linkwatch/models"
	"linkwatch/models/sites"
	"linkwatch/outbound"
)

// Limits of reading sitemaps.
const (
	readTime      = 3 * time.Minute // of one sitemap
	readParallel  = 2               // sitemaps of a website at a time; each needs memory for its entries
	readRedirects = 5
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

// readRobots adds the sitemaps that robots.txt names. ok is false if it was not read: then
// the sitemaps that are known are read all the same.
func (t *task) readRobots() (ok bool, err error) {
	named, err := t.Client.Sitemaps(t.ctx, t.site.Property().Root())
	if err != nil {
		t.Log.Debug("robots.txt not read", "website_id", t.site.ID, "error", err)
		return false, t.ctx.Err()
	}
	var urls []string
	for _, name := range named {
		if u, err := models.ParseURL("url", name); err == nil {
			urls = append(urls, u.Requested) // as users and indexes name it
		}
	}
	_, _, err = t.Store.AddFound(t.ctx, t.site, nil, urls)
	return err == nil, err
}

// detachDeleted takes the pages from sitemaps that were deleted, and forgets these.
func (t *task) detachDeleted() error {
	ms, err := t.Store.DeletedSitemaps(t.ctx, t.site)
	if err != nil {
		return err
	}
	for _, m := range ms {
		if err := t.detach(m, 0, true); err != nil {
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
func (t *task) detach(m sites.Sitemap, reading int64, every bool) error {
	for n := sites.StoreBatch; n == sites.StoreBatch && !t.ending(); {
		var err error
		if n, err = t.Store.Detach(t.ctx, t.site, m, reading, every); err != nil {
			return err
		}
	}
	return nil
}

// readOne reads a sitemap and stores what it has. Whatever is wrong with it is stored as
// its error; an error is one of the store.
func (t *task) readOne(m sites.Sitemap) error {
	read, found := t.fetch(m)
	if t.ctx.Err() != nil {
		return t.ctx.Err()
	}
	if read.Unchanged || read.Kind == sites.KindUnread {
		if err := t.Store.RecordRead(t.ctx, m, read); err != nil {
			return err
		}
		t.did.add(func(d *did) {
			if read.Unchanged {
				d.unchanged++
			} else {
				d.unread++
			}
		})
		return nil
	}
	store := t.storePages
	if read.Kind == sites.KindIndex {
		store = t.storeSitemaps
	}
	if err := store(m, &read, found); err != nil {
		return err
	}
	if t.ending() { // it was not stored in full: that is done the next time
		read.ContentHash, read.ETag, read.LastModified = nil, "", ""
	}
	if err := t.Store.RecordRead(t.ctx, m, read); err != nil {
		return err
	}
	t.did.add(func(d *did) {
		d.read++
		if read.Kind != sites.KindIndex {
			d.pages += read.Pages
		}
	})
	return nil
}

// storePages stores the pages of a sitemap that belong to the website.
func (t *task) storePages(m sites.Sitemap, read *sites.Read, found []sites.Entry) error {
	if err := t.Store.BeginReading(t.ctx, m); err != nil {
		return err
	}
	for len(found) > 0 && !t.ending() {
		n := min(len(found), sites.StoreBatch)
		if err := t.Store.StoreEntries(t.ctx, t.site, m, found[:n]); err != nil {
			return err
		}
		found = found[n:]
	}
	read.Stored = true
	if read.Error != "" || t.ending() { // a page that is missing may be in the part that was not stored
		return nil
	}
	return t.detach(m, m.Reading+1, false)
}

// storeSitemaps stores the sitemaps that an index names. Its own pages, of a time when it
// was no index, are gone.
func (t *task) storeSitemaps(m sites.Sitemap, read *sites.Read, found []sites.Entry) error {
	var urls []string
	foreign := 0
	for _, e := range found {
		if !t.site.Property().HasHost(e.URL.Host) && models.HostPort(e.URL.Canonical) != models.HostPort(m.URL) {
			foreign++
			continue
		}
		urls = append(urls, e.URL.Requested)
	}
	skip(read, foreign, "on another host than the website")
	if m.Depth >= sites.MaxDepth {
		skip(read, len(urls), fmt.Sprintf("more than %d indexes deep", sites.MaxDepth))
		urls = nil
	}
	_, refused, err := t.Store.AddFound(t.ctx, t.site, &m, urls)
	if err != nil {
		return err
	}
	skip(read, refused, fmt.Sprintf("beyond the limit of %s sitemaps for a website", humanize.Comma(sites.MaxSitemaps)))
	read.Pages, read.Stored = len(urls)-refused, true
	return t.detach(m, 0, true)
}

// skip notes entries that are passed over.
func skip(read *sites.Read, n int, why string) {
	if n == 0 {
		return
	}
	read.Skipped += n
	verb := "are"
	if n == 1 {
		verb = "is"
	}
	noun := "entries"
	if n == 1 {
		noun = "entry"
	}
	read.Reasons = append([]string{fmt.Sprintf("%s %s %s %s", humanize.Comma(int64(n)), noun, verb, why)}, read.Reasons...)
}

// fetch fetches a sitemap and returns the entries that belong to the website.
func (t *task) fetch(m sites.Sitemap) (read sites.Read, found []sites.Entry) {
	property := t.site.Property()
	if u, err := models.ParseURL("url", m.URL); m.Origin == sites.Given && (err != nil || !property.HasHost(u.Host)) {
		read.Error = "It is on another host than the website. List it in the robots.txt of the website, which proves that it is the website's own."
		return read, nil
	}
	known := len(m.ContentHash) > 0
	req := outbound.Request{URL: m.URL, MaxRedirects: readRedirects, Timeout: t.readTime, MaxBytes: sites.MaxSitemapBytes + 1}
	if known {
		req.IfNoneMatch, req.IfModifiedSince = m.ETag, m.LastModified
	}
	outside := 0
	var result sitemap.Result
	var bad error
	req.Stream = func(body io.Reader) error {
		result, bad = sitemap.Read(body, func(kind sites.Kind, e sites.Entry) error {
			if kind != sites.KindIndex && !property.Contains(e.URL) {
				outside++
				return nil
			}
			found = append(found, e)
			return nil
		})
		if _, ours := errors.AsType[*sitemap.Error](bad); ours {
			return nil
		}
		return bad
	}
	res, err := t.Client.Fetch(t.ctx, req)
	if err != nil {
		read.Error = fetchError(err)
		if result.Kind == sites.KindUnread {
			return read, nil
		}
	} else if res.StatusCode == http.StatusNotModified && known {
		return sites.Read{Unchanged: true}, nil
	} else if res.StatusCode != http.StatusOK {
		read.Error = fmt.Sprintf("The server answered with status %d.", res.StatusCode)
		return read, nil
	}
	if bad != nil && read.Error == "" {
		read.Error = bad.Error() + "."
	}
	if result.Kind == sites.KindUnread {
		return read, nil
	}
	if read.Error == "" && known && bytes.Equal(result.Hash, m.ContentHash) && result.Kind == m.Kind {
		return sites.Read{Unchanged: true}, nil
	}
	read.Kind, read.Pages, read.Skipped, read.Reasons = result.Kind, len(found), result.Skipped, result.Reasons
	skip(&read, outside, "outside the website")
	if read.Error == "" && !result.Complete {
		read.Error = fmt.Sprintf("It has more than %s URLs. The rest was not read.", humanize.Comma(sites.MaxSitemapURLs))
	}
	if res != nil && read.Error == "" {
		read.ContentHash, read.ETag, read.LastModified = result.Hash, res.Header.Get("ETag"), res.Header.Get("Last-Modified")
	}
	return read, found
}

// fetchError is what a failed request for a sitemap means, as a sentence.
func fetchError(err error) string {
	if e, ok := errors.AsType[*outbound.Error](err); ok && !errors.Is(err, context.Canceled) {
		return "It could not be fetched: " + e.Error() + "."
	}
	return "It could not be fetched."
}
