package outbound

import (
	"bytes"
	"errors"
	"strings"

	"github.com/mmcdole/gofeed"
)

// Limits of a feed.
const (
	// FeedLimit is the maximum size of a feed: 2 MiB.
	FeedLimit = 2 << 20
	// FeedEntries is the maximum number of entries that ParseFeed returns: the first of the feed.
	FeedEntries = 500

	feedTitleLimit = 200 // runes
)

// Errors of ParseFeed. Their texts may be stored and shown.
var (
	ErrNotFeed     = errors.New("not an RSS, Atom or JSON feed")
	ErrFeedTooLong = errors.New("the feed is longer than 2 MiB")
	ErrFeedParts   = errors.New("the feed has too many elements, or is nested too deeply")
)

// Feed is the content of an RSS, Atom or JSON feed that a crawler uses.
type Feed struct {
	Title   string   // clean text, at most 200 runes; "" = none
	Entries []string // absolute http or https URLs without fragment, in the order of the feed, unique
}

// ParseFeed parses a feed in UTF-8. base is the feed's URL. Links of entries are relative to xml:base, else to the page of
// the feed, else to base. Entries without a valid http or https URL are left out. Custom entities are not expanded. Time and
// memory are bounded for any input. Errors are ErrNotFeed, ErrFeedTooLong and ErrFeedParts.
func ParseFeed(body []byte, base string) (Feed, error) {
	if len(body) > FeedLimit {
		return Feed{}, ErrFeedTooLong
	}
	body, err := boundFeed(body)
	if err != nil {
		return Feed{}, err
	}
	read, err := readFeed(body)
	if err != nil {
		return Feed{}, ErrNotFeed
	}
	out := Feed{Title: cleanText(read.Title, feedTitleLimit)}
	urls, seen := newResolver(base, strings.TrimSpace(read.Link)), map[string]bool{}
	for _, item := range read.Items[:min(len(read.Items), FeedEntries)] {
		if link := entryLink(item); link != "" {
			if u := urls.resolve(link); u != "" && !seen[u] {
				seen[u] = true
				out.Entries = append(out.Entries, u)
			}
		}
	}
	return out, nil
}

// readFeed parses a feed with the library, and converts a panic of the library into an error.
func readFeed(body []byte) (feed *gofeed.Feed, err error) {
	defer func() {
		if p := recover(); p != nil {
			feed, err = nil, ErrNotFeed
		}
	}()
	return gofeed.NewParser().Parse(bytes.NewReader(body))
}

// entryLink returns the unresolved link of an entry, or its id if that is a URL.
func entryLink(item *gofeed.Item) string {
	if item == nil {
		return ""
	}
	for _, link := range append([]string{item.Link}, item.Links...) {
		if link = strings.TrimSpace(link); link != "" {
			return link
		}
	}
	if id := strings.TrimSpace(item.GUID); strings.HasPrefix(id, "http://") || strings.HasPrefix(id, "https://") {
		return id
	}
	return ""
}
