package outbound

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// Limits of a feed.
const (
	// FeedLimit is the maximum number of bytes of a feed that are read: 15 MiB.
	FeedLimit = 15 << 20
	// FeedEntries is the maximum number of entries of a feed that are read.
	FeedEntries = 500

	feedTitleLimit = 200 // runes
)

// Errors of ParseFeed. Their texts may be stored and shown.
var (
	ErrNotFeed   = errors.New("not an RSS, Atom or JSON feed")
	ErrFeedCut   = errors.New("the feed ends before its first entry is complete")
	ErrFeedParts = errors.New("the feed is nested too deeply, or has a tag that is too long")
)

// Feed is the content of an RSS, Atom or JSON feed that a crawler uses.
type Feed struct {
	Title     string   // plain text, at most 200 runes; "" = none
	Entries   []string // absolute http or https URLs without fragment, in the order of the feed, unique
	Truncated bool     // the feed has more than the first FeedEntries entries, or than could be read
}

// ParseFeed parses a feed of which body has the first FeedLimit bytes, in UTF-8 unless it declares another encoding.
// cut says that the feed has more. base is the feed's URL.
//
// The feed need not be well-formed (see XMLTokens), and may end early: all entries that are complete count. The URL of
// an entry is its link to an HTML page, else another alternate link, else its id if that is a URL. It is relative to
// xml:base, else to the page of the feed, else to base. Entries without a valid http or https URL are left out.
//
// Time and memory are bounded for any input. Errors are ErrNotFeed, ErrFeedCut and ErrFeedParts.
func ParseFeed(body []byte, base string, cut bool) (Feed, error) {
	if !utf8.Valid(body) {
		var shortened bool
		body, shortened = toUTF8(body, "application/xml", cut, FeedLimit)
		cut = cut || shortened
	}
	body = bytes.TrimLeft(body, "\uFEFF \t\r\n\x00")
	read := readFeed{url: base}
	var err error
	if bytes.HasPrefix(body, []byte("{")) {
		err = read.json(body)
	} else {
		err = read.xml(body)
	}
	switch {
	case errors.Is(err, io.EOF): // before the end of the feed
		if read.more = read.more || cut; !read.more && read.complete == 0 {
			return Feed{}, ErrFeedCut
		}
	case errors.Is(err, ErrFeedParts) && read.complete > 0:
		read.more = true
	case err != nil:
		return Feed{}, err
	}
	return read.result(), nil
}

// readFeed is what was read of a feed.
type readFeed struct {
	url      string // of the feed
	title    string
	page     feedLink
	links    []string // of the entries, unresolved
	complete int      // entries
	more     bool     // there are more entries
}

func (f *readFeed) result() Feed {
	out := Feed{Title: cleanText(f.title, feedTitleLimit), Truncated: f.more}
	urls, seen := newResolver(f.url, f.page.url), map[string]bool{}
	for _, link := range f.links {
		if u := urls.resolve(link); u != "" && !seen[u] {
			seen[u] = true
			out.Entries = append(out.Entries, u)
		}
	}
	return out
}

// add adds a complete entry with a link or an id.
func (f *readFeed) add(link feedLink, id string) {
	f.complete++
	if link.url == "" && (strings.HasPrefix(id, "http://") || strings.HasPrefix(id, "https://")) {
		link.url = id
	}
	if link.url != "" {
		f.links = append(f.links, link.url)
	}
}

// feedLink is the best link so far of a feed or of an entry.
type feedLink struct {
	url  string // unresolved; "" = none
	rank int    // LinkRank, or ownLink
}

// ownLink is the rank of links without a relation and a type: the text of <link> in RSS, url in JSON. It is above all
// of LinkRank.
const ownLink = 4

// take replaces the link if the other is better.
func (l *feedLink) take(url string, rank int) {
	if url = cleanURL(url); url != "" && rank > l.rank {
		l.url, l.rank = url, rank
	}
}

// LinkRank tells which link of an Atom entry leads to its page: the one of the highest rank, and the first of several.
// rel and mediaType are its attributes. Alternate links to HTML have 3, without a type 2, and with another type 1.
// Other links have 0. A missing relation is alternate (RFC 4287, 4.2.7.2).
func LinkRank(rel, mediaType string) int {
	if rel != "" && !hasToken(rel, "alternate") {
		return 0
	}
	kind, _, _ := strings.Cut(mediaType, ";")
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "text/html", "application/xhtml+xml":
		return 3
	case "":
		return 2
	}
	return 1
}
