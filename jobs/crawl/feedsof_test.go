package crawl

import (
	"fmt"
	"testing"

	"linkwatch/models/crawl"
	"linkwatch/outbound"
)

func TestStartPagesAddFeeds(t *testing.T) {
	t.Parallel()
	links := []outbound.Link{{URL: "https://example.com/feed?utm_source=x", Text: "News"}, {URL: "javascript:alert(1)"}}
	for i := range 30 {
		links = append(links, outbound.Link{URL: fmt.Sprintf("https://example.com/%d", i)})
	}
	q := &queue{opts: Options{FeedDiscovery: true}}
	start := crawl.Entry{CrawlSeq: 1, Crawl: &crawl.Crawl{Source: 7}}
	found := q.feedsOf(start, links)
	if len(found) != crawl.MaxFoundFeeds-1 || found[0] != (crawl.FoundFeed{Source: 7, URL: "https://example.com/feed", Title: "News"}) {
		t.Errorf("got feeds %v", found)
	}
	deeper := start
	deeper.Depth = 1
	if n := len(q.feedsOf(deeper, links)); n != 0 {
		t.Errorf("got %d feeds of a page that is not a start page, want 0", n)
	}
	q.opts.FeedDiscovery = false
	if n := len(q.feedsOf(start, links)); n != 0 {
		t.Errorf("got %d feeds without discovery, want 0", n)
	}
}
