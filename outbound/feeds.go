package outbound

import "strings"

const maxFeeds = 20

// feed records a <link> to a feed.
func (p *pageScanner) feed(attr attributes) {
	if len(p.feedLinks) < maxFeeds && attr.href != "" && hasToken(attr.rel, "alternate") && isFeed(attr) {
		p.feedLinks = append(p.feedLinks, Link{URL: attr.href, Text: cleanText(attr.title, linkTextLimit)})
	}
}

// isFeed reports whether the type of a <link> is that of a feed. JSON counts only if its URL or title contains "feed".
func isFeed(attr attributes) bool {
	kind, _, _ := strings.Cut(strings.ToLower(attr.kind), ";")
	switch strings.TrimSpace(kind) {
	case "application/rss+xml", "application/atom+xml", "application/feed+json":
		return true
	case "application/json":
		return strings.Contains(strings.ToLower(attr.href+" "+attr.title), "feed")
	}
	return false
}
