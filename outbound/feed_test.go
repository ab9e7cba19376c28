package outbound

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

const feedBase = "https://example.com/blog/feed.xml"

func TestParseFeed(t *testing.T) {
	for name, tc := range map[string]struct {
		feed, title string
		entries     []string
	}{
		"RSS": {
			`<?xml version="1.0"?><rss version="2.0"><channel><title> News &amp;
				more</title><link>https://example.com/blog/</link>
				<item><title>a</title><link>https://example.com/a?x=1&amp;y=2#top</link></item>
				<item><link>b</link></item><item><link>/c</link></item>
				<item><guid isPermaLink="true">https://example.com/d</guid></item><item><guid>urn:x</guid></item>
				<item><link>https://example.com/c</link></item></channel></rss>`,
			"News & more",
			[]string{"https://example.com/a?x=1&y=2", "https://example.com/blog/b", "https://example.com/c", "https://example.com/d"},
		},
		"RSS 1.0": {
			`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel><title>Old</title></channel>
				<item rdf:about="x"><link>https://example.com/old</link></item></rdf:RDF>`,
			"Old",
			[]string{"https://example.com/old"},
		},
		"Atom": {
			`<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://example.com/posts/"><title>Atom</title>
				<entry><link rel="edit" href="edit"/><link href="1"/></entry>
				<entry xml:base="/more/"><link rel="alternate" href="2"/></entry></feed>`,
			"Atom",
			[]string{"https://example.com/posts/1", "https://example.com/more/2"},
		},
		"Atom without xml:base": {
			`<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="one"/></entry></feed>`, "",
			[]string{"https://example.com/blog/one"},
		},
		"JSON": {
			`{"version": "https://jsonfeed.org/version/1.1", "title": "JSON", "home_page_url": "https://example.com/", "authors": [{}],
				"items": [{"id": "1", "url": "one", "tags": ["x"]}, {"id": "https://example.com/2"}, {"id": "3", "external_url": "https://other.example/"}]}`,
			"JSON",
			[]string{"https://example.com/one", "https://example.com/2", "https://other.example/"},
		},
		"hostile links": {
			`<rss><channel><item><link>javascript:alert(1)</link></item><item><link>data:text/html,x</link></item><item><link>ftp://example.com/</link></item>
				<item><link>https://user:password@example.com/</link></item><item><link>//other.example/x</link></item><item><link>` + strings.Repeat("x", 3000) + `</link></item>
				<item><link>http://127.0.0.1/private</link></item></channel></rss>`,
			"",
			[]string{"https://other.example/x", "http://127.0.0.1/private"}, // the guard refuses addresses
		},
		"control characters": {"<rss><channel><title>a\x01b</title><item><link>https://example.com/\x02c</link></item></channel></rss>", "ab", []string{"https://example.com/c"}},
	} {
		got, err := ParseFeed([]byte(tc.feed), feedBase)
		if err != nil || got.Title != tc.title || !slices.Equal(got.Entries, tc.entries) {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
}

func TestParseFeedRefusesWhatIsNone(t *testing.T) {
	for _, none := range []string{
		"", "text", "<html><title>Page</title></html>", "<rss><channel><item></rss", "{", "[]", `{"a": 1}`, `{"version": "x", "items": 1}`, "<rss><channel><item><link>x", "\x1f\x8b",
	} {
		if got, err := ParseFeed([]byte(none), feedBase); !errors.Is(err, ErrNotFeed) {
			t.Errorf("%q: %v %v", none, got, err)
		}
	}
}

// The entities of a "billion laughs" are not expanded.
func TestParseFeedExpandsNoEntities(t *testing.T) {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY l0 "lol">`)
	for i := range 20 {
		fmt.Fprintf(&b, `<!ENTITY l%d "%s">`, i+1, strings.Repeat(fmt.Sprintf("&l%d;", i), 10))
	}
	b.WriteString(`<!ENTITY file SYSTEM "file:///etc/passwd">]><rss><channel><title>&l20;&file;</title><item><link>https://example.com/&l20;</link></item></channel></rss>`)
	got, err := ParseFeed([]byte(b.String()), feedBase)
	if err != nil || len(got.Title) > 100 || strings.Contains(got.Title, "lol") || strings.Contains(got.Title, "root") {
		t.Errorf("%q %v", got, err)
	}
}

func TestParseFeedIsBounded(t *testing.T) {
	wrap := func(content string) string { return "<rss><channel><title>T</title>" + content + "</channel></rss>" }
	entries := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, tc := range map[string]struct {
		feed    string
		entries int
		err     error
	}{
		"RSS":         {wrap(entries(20_000, "<item><link>https://example.com/%d</link></item>")), FeedEntries, nil},
		"Atom":        {`<a:feed xmlns:a="http://www.w3.org/2005/Atom">` + entries(20_000, `<a:entry><a:link href="https://example.com/%d"/></a:entry>`) + "</a:feed>", FeedEntries, nil},
		"JSON":        {`{"version": "1", "items": [` + entries(20_000, `{"url": "https://example.com/%d"},`) + "{}]}", FeedEntries, nil},
		"empty items": {wrap(strings.Repeat("<item/>", 250_000)), 0, nil},
		"JSON parts":  {`{"version": "1", "items": [{"url": "https://example.com/", "attachments": [` + strings.Repeat("{},", 600_000) + `{}]}]}`, 1, nil},
		"one item of many parts": {
			wrap("<item><link>https://example.com/</link></item><item>" + strings.Repeat("<x:y/>", 200_000) + "</item>"), 1, nil,
		},
		"many parts":    {wrap(strings.Repeat("<x:y/>", 200_000)), 0, ErrFeedParts},
		"attributes":    {wrap("<x:y " + entries(100_000, `a%d="" `) + "/>"), 0, ErrFeedParts},
		"namespaces":    {"<rss " + entries(300, `xmlns:a%d="x" `) + "></rss>", 0, ErrFeedParts},
		"nesting":       {wrap(strings.Repeat("<a>", 100_000)), 0, ErrFeedParts},
		"JSON nesting":  {`{"version": "1", "items": ` + strings.Repeat("[", 100_000) + "}", 0, ErrNotFeed},
		"markup within": {`<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://example.com/"><entry><content type="html">` + strings.Repeat("&lt;b>&lt;a>", 150_000) + `</content></entry></feed>`, 0, nil},
		"length":        {wrap(strings.Repeat("x", FeedLimit)), 0, ErrFeedTooLong},
	} {
		got, err := ParseFeed([]byte(tc.feed), feedBase)
		if len(got.Entries) != tc.entries || !errors.Is(err, tc.err) {
			t.Errorf("%s: %d entries, %v", name, len(got.Entries), err)
		}
	}
}

func FuzzParseFeed(f *testing.F) {
	for _, s := range []string{
		`<rss><channel><title>T</title><link>/</link><item><link>a</link></item></channel></rss>`,
		`<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/x"><entry><link href="a"/><content type="xhtml"><p>x</p></content></entry></feed>`,
		`<rdf:RDF xmlns:rdf="x"><item><link>http://a/</link></item></rdf:RDF>`,
		`{"version": "1", "title": "x", "items": [{"id": 1, "url": "a"}]}`, `<!DOCTYPE a [<!ENTITY b "c">]><rss>&b;`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := ParseFeed(body, feedBase)
		if err != nil && (len(got.Entries) > 0 || got.Title != "") || len(got.Entries) > FeedEntries {
			t.Errorf("%v %v", got, err)
		}
		for _, e := range got.Entries {
			if u, err := url.Parse(e); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(e) > urlLimit {
				t.Errorf("entry %q: %v", e, err)
			}
		}
	})
}
