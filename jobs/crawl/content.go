package crawl

import (
	"context"
	"net/http"
	"strings"
	"time"

	"linkwatch/jobs/crawl/content"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/outbound"
)

// content extracts the content of a page or a text, and the URLs to follow.
func (q *queue) content(ctx context.Context, f *fetched, res *outbound.Response) {
	e, kind := f.Entry, res.Content()
	if kind == outbound.ContentOther {
		return
	}
	started := time.Now()
	defer func() { f.CPU = time.Since(started) }()
	p := content.Extract(res.Body, e.URL, res.Header, content.Options{
		Plain: kind == outbound.ContentText, Agent: q.opts.Agent, Readability: q.opts.Readability,
	})
	if to, ok := crawl.Normalize(p.Refresh); ok && to != e.URL && q.opts.FollowRedirects {
		// Of a circle of pages that a browser shows, such as a slideshow, at least one must remain.
		if !p.Shown || e.Redirects < q.opts.MaxRedirects && !q.store.InFrontier(e.CrawlSeq, to) {
			q.refresh(ctx, f, res, to)
			return
		}
	}
	f.TextHash = p.Hash
	f.Feeds = q.feedsOf(e, p.Feeds)
	follow := e.Depth < e.Crawl.MaxDepth && !p.NoFollow
	describe(f.Page, p)
	if q.opts.Archive != nil && res.StatusCode == http.StatusOK && kind == outbound.ContentHTML {
		q.opts.Archive(Copy{Source: e.Crawl.Source, URL: e.URL, Body: res.Body, At: f.Page.FetchedAt})
	}
	q.followCanonical(f, *f.Page)
	q.links(f, p.Page, follow)
	if f.Page.Links != nil && !res.Truncated {
		f.Page.ETag, f.Page.LastModified = validators(res.Header)
	}
}

func describe(to *crawl.Page, p content.Document) {
	to.Title, to.Description, to.Language, to.NoIndex, to.Canonical = p.Title, p.Description, p.Language, p.NoIndex, p.Canonical
	to.OpenGraph, to.ContentHash, to.LinksFound = crawl.OpenGraph(p.OG), p.Hash, len(p.Links)
	to.Author, to.PublishedAt, to.ModifiedAt = p.Author, models.At(p.Published), models.At(p.Modified)
	to.Headings, to.JSONLD = strings.Join(p.Headings, "\n"), p.JSONLD
	to.Text, to.WordCount = crawl.CompressText(p.Text), p.Words
}

// Limits for the links of a page, in bytes.
const (
	maxPageLinks   = 1 << 20   // links that are followed, about 10,000
	maxStoredLinks = 128 << 10 // links that are stored with the page
)

// links collects the links of a page: the links to follow, the links to URLs outside the allowed
// domains, and the links to store with the page.
func (q *queue) links(f *fetched, p outbound.Page, follow bool) {
	e, left := f.Entry, maxPageLinks
	var stored strings.Builder
	complete := !p.LinksCut
	for _, l := range p.Links {
		if left -= len(l.URL) + len(l.Text); left < 0 {
			complete = false
			break
		}
		to, ok := crawl.Normalize(l.URL)
		switch {
		case !ok:
			continue
		case !e.Crawl.Allows(to):
			if !q.store.InFrontier(-e.Crawl.Source, to) {
				f.Discovered = append(f.Discovered, crawl.DiscoveredLink{SourceSeq: e.Crawl.Source, URL: to, Text: l.Text, FoundOn: e.URL})
			}
			continue
		case follow:
			q.add(f, to, e.Depth+1)
		}
		if complete = complete && stored.Len()+len(to)+len(l.Text) < maxStoredLinks; complete {
			stored.WriteString(to + "\t" + l.Text + "\n")
		}
	}
	if complete {
		f.Page.Links = crawl.CompressText(stored.String() + "\n")
	}
}

// validators returns the values for a conditional request. They are stored only if all links are,
// because a crawl follows the stored links of an unchanged page.
func validators(h http.Header) (etag, modified string) {
	etag, modified = h.Get("ETag"), h.Get("Last-Modified")
	if len(etag)+len(modified) > 500 {
		return "", ""
	}
	return etag, modified
}

// followCanonical adds the canonical URL of a page to the frontier if it is another URL in the allowed domains, even
// for a page at the maximum depth or with nofollow. The report of the crawl decides whether the page is a duplicate of
// it (RFC 6596). A start page is never one.
func (q *queue) followCanonical(f *fetched, p crawl.Page) {
	e := f.Entry
	to, ok := p.OtherCanonical()
	if !ok || e.IsStartPage() || !e.Crawl.Allows(to) {
		return
	}
	if f.Status == crawl.EntryDone {
		f.Reason = crawl.ReasonCanonical
	}
	q.add(f, to, e.Depth)
}

// follow adds a URL to the frontier if it is in the allowed domains.
func (q *queue) follow(f *fetched, url string, depth int) {
	if to, ok := crawl.Normalize(url); ok && f.Entry.Crawl.Allows(to) {
		q.add(f, to, depth)
	}
}

// add adds a URL in the allowed domains to the frontier.
func (q *queue) add(f *fetched, url string, depth int) {
	e := f.Entry
	if e.CrawlSeq == 0 || url == e.URL || q.store.InFrontier(e.CrawlSeq, url) {
		return
	}
	f.Links = append(f.Links, crawl.FoundURL{
		Crawl: e.CrawlSeq, Source: e.Crawl.Source, URL: url, Depth: depth, Reason: crawl.TrapOf(url, q.now().Time),
	})
}
