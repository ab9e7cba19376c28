package outbound

import (
	"bytes"
	"errors"
	"strings"

	"github.com/mmcdole/gofeed"
)

// Limits of what is read of a feed.
const (
	// FeedLimit is how many bytes of a feed are read at most: 2 MiB.
	FeedLimit = 2 << 20
	// FeedEntries is how many entries ParseFeed returns at most, the first of the feed.
	FeedEntries = 500

	feedTitleLimit = 200 // runes
)

// Errors of ParseFeed. Their texts may be stored and shown.
var (
	ErrNotFeed     = errors.New("not an RSS, Atom or JSON feed")
	ErrFeedTooLong = errors.New("the feed is longer than 2 MiB")
	ErrFeedParts   = errors.New("the feed has too many parts, or is nested too deeply")
)

// Feed is what a crawler takes from an RSS, Atom or JSON feed.
type Feed struct {
	Title   string   // clean text, at most 200 runes; "" = none
	Entries []string // absolute http or https URLs without fragment, in the order of the feed, unique
}

// ParseFeed reads a feed in UTF-8. base is the feed's URL. Relative links of entries are relative to xml:base, else to the
// page that the feed says it is of, else to base. Entries whose URL may not be requested are left out. Custom entities are
// not expanded. Time and memory are bounded, whatever the feed holds. Errors are ErrNotFeed, ErrFeedTooLong and ErrFeedParts.
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

// readFeed has the library read a feed. A panic of it is an error.
func readFeed(body []byte) (feed *gofeed.Feed, err error) {
	defer func() {
		if p := recover(); p != nil {
			feed, err = nil, ErrNotFeed
		}
	}()
	return gofeed.NewParser().Parse(bytes.NewReader(body))
}

// entryLink is the link of an entry as it is written: its page, or its id if that is a URL.
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
