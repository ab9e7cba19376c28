package outbound

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
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
		got, err := ParseFeed([]byte(tc.feed), feedBase, false)
		if err != nil || got.Title != tc.title || !slices.Equal(got.Entries, tc.entries) || got.Truncated {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}

func TestParseFeedRefusesWhatIsNone(t *testing.T) {
	for _, none := range []string{
		"", "text", "<html><title>Page</title></html>", "{", "[]", `{"a": 1}`, `{"version": "x", "items": 1}`, "\x1f\x8b", `{"items": [{"url": }]}`, `{"items": null}`,
		"<!DOCTYPE html><rss><channel><item><link>/a</link></item></channel></rss>", "<opml><body><rss/></body></opml>", "<urlset/>",
		"<b>Page</b><rss/>", strings.Repeat("<b>", 100) + `<?xml version="1.0"?><rss/>`, "<!DOCTYPE rss [<rss></rss>", strings.Repeat("x", 3<<20),
	} {
		if got, err := ParseFeed([]byte(none), feedBase, false); !errors.Is(err, ErrNotFeed) {
			t.Errorf("%q: %v %v", none[:min(len(none), 100)], got, err)
		}
	}
	for _, cut := range []string{"<rss><channel><item></rss", "<rss><channel><item><link>x", "<feed><title>T</title>", `{"items": [`, `{"items": [{"url": "x"`} {
		if got, err := ParseFeed([]byte(cut), feedBase, false); !errors.Is(err, ErrFeedCut) {
			t.Errorf("%q: %v %v", cut, got, err)
		}
	}
}

const (
	nearHead = `<rss version="2.0"><channel><title>T</title>`
	nearTail = `<item><link>/2</link></item></channel></rss>`
)

// Feeds that are nearly XML are read like those that are.
func TestParseFeedRepairs(t *testing.T) {
	item := "<item><link>/1</link></item>"
	for name, feed := range map[string]string{
		"XML 1.1":                    `<?xml version="1.1"?>` + nearHead + item + nearTail,
		"XML 2.0":                    `<?xml version="2.0" standalone="maybe"?>` + nearHead + item + nearTail,
		"no version":                 `<?xml encoding="utf-8"?>` + nearHead + item + nearTail,
		"unknown encoding":           `<?xml version="1.0" encoding="x-unknown"?>` + nearHead + item + nearTail,
		"other encoding":             `<?xml version="1.0" encoding="utf-16"?>` + nearHead + item + nearTail,
		"white space first":          "\n\t " + `<?xml version="1.0"?>` + nearHead + item + nearTail,
		"byte order marks":           "\ufeff\ufeff" + `<?xml version="1.0"?>` + nearHead + item + nearTail,
		"text first":                 "Notice: a < b in x.php\n" + `<?xml version="1.0"?>` + nearHead + item + nearTail,
		"message of a program first": `<br /><b>Warning</b>: x in <b>y.php</b> on line <b>3</b><br />` + `<?xml version="1.0"?>` + nearHead + item + nearTail,
		"comment first":              "<!-- x --> <?pi x?>" + nearHead + item + nearTail,
		"references to controls":     nearHead + "<item><title>&#x1F;&#11;&#0;&#xFFFE;&#xD800;&#x110000;&#99999999999;&#x;&#;</title><link>/&#x1;1&#0;</link></item>" + nearTail,
		"control characters":         nearHead + "<i\x00tem><link>/\x0b1\x1f</link></item>" + nearTail,
		"invalid UTF-8":              nearHead + "<item><title>\xff\xfe</title><link>/1</link></item>" + nearTail,
		"]]> in text":                nearHead + "<item><title>]]> a ]]></title><link>/1</link></item>]]>" + nearTail,
		"-- in comments":             nearHead + "<!-- a -- b --><!-- c ---><!--- d --->" + item + nearTail,
		"entities of HTML":           nearHead + "<item><title>&nbsp;&eacute;&unknown;</title><link>/1</link></item>" + nearTail,
		"bare ampersands":            nearHead + "<item><title>A & B &; &amp</title><link>/1</link></item>" + nearTail,
		"bare <":                     nearHead + "<item><title>1 < 2 <3 <</title><link>/1</link></item>" + nearTail,
		"undeclared prefixes":        nearHead + "<item><a:b c:d='x'><link>/no</link></a:b><media:title>x</media:title><link>/1</link></item>" + nearTail,
		"attributes":                 nearHead + "<item a=1 b a='2' a><link x=y>/1</link></item>" + nearTail,
		"wrong end tags":             nearHead + "<item><title>a</b></titel><link>/1</link></i></item></x>" + nearTail,
		"crossed elements":           nearHead + "<item><category><b>a</category></b><link>/1</link></item>" + nearTail,
		"unclosed elements":          nearHead + "<item><guid>x<title>a<link>/1<description>b<p>c</item>" + nearTail,
		"unclosed channel fields":    "<rss><channel><title>T<description>x<image><url>y" + item + nearTail,
		"unclosed items":             nearHead + "<item><link>/1</link><item><link>/2</link></channel></rss>",
		"HTML in descriptions":       nearHead + "<item><description><p>x<br>y<img src=z></p></description><link>/1</link></item>" + nearTail,
		"unclosed end tag":           nearHead + "<item><link>/1</link ></item\n>" + nearTail,
		"names in other case":        "<RSS><Channel><Title>T</TITLE><Item><LINK>/1</Link></ITEM><item><link>/2</link></item></channel></RSS>",
		"two roots":                  nearHead + item + nearTail + nearHead + "<item><link>/3</link></item>" + nearTail,
		"text after the root":        nearHead + item + nearTail + "<!-- 12 ms --> x <html><item><link>/3</link></item>",
		"DOCTYPE":                    `<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://example.com/rss.dtd">` + nearHead + item + nearTail,
		"internal subset":            `<!DOCTYPE rss [<!ENTITY a "<item><link>/3</link></item>"><!-- ]> --><!ELEMENT rss ANY> ] >` + nearHead + item + nearTail,
		"empty subset":               `<!DOCTYPE rss []>` + nearHead + item + nearTail,
		"CDATA":                      nearHead + "<item><title><![CDATA[</item>]]]]><![CDATA[>]]></title><link> <![CDATA[ /1 ]]> </link></item>" + nearTail,
		"long texts":                 nearHead + "<item><description><![CDATA[" + strings.Repeat("]]<item>", 500_000) + "]]></description><link>/1</link></item>" + nearTail,
		"long comments":              nearHead + "<!--" + strings.Repeat("--<item>", 500_000) + "-->" + item + nearTail,
		"long escaped texts":         nearHead + "<item><description>" + strings.Repeat("&lt;p>", 1_000_000) + "</description><link>/1</link></item>" + nearTail,
	} {
		got, err := ParseFeed([]byte(feed), feedBase, false)
		if want := []string{"https://example.com/1", "https://example.com/2"}; err != nil || !slices.Equal(got.Entries, want) || got.Title != "T" || got.Truncated {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}

// A text of any length continues, wherever the reader's buffer ends in it.
func TestParseFeedContinuesAfterALongText(t *testing.T) {
	t.Parallel()
	for _, text := range [][2]string{{"", ""}, {"<![CDATA[", "]]>"}, {"<![CDATA[", "]]]]>"}, {"<!--", "-->"}, {"<?pi ", "?>"}} {
		for n := maxXMLToken - 20; n < maxXMLToken+5; n++ {
			feed := "<rss><channel><item><link>/1</link>" + text[0] + strings.Repeat("x", n) + text[1] + "</item>" + nearTail
			if got, err := ParseFeed([]byte(feed), feedBase, false); err != nil || len(got.Entries) != 2 {
				t.Fatalf("%s, %d: %+v %v", text[0], n, got, err)
			}
		}
	}
}

// Of a feed that ends early, the entries that are complete are read.
func TestParseFeedThatEndsEarly(t *testing.T) {
	for name, feed := range map[string]string{
		"RSS":  nearHead + "<item><title>&#228; <b>x</b></title><link>/ä</link><!-- x --><description><![CDATA[<ü>]]></description></item>" + nearTail,
		"Atom": `<feed><title type="html">T</title><entry><link href="/ä"/><content>&lt;ü></content></entry><entry><link rel='alternate' href='/2'/><id>1</id></entry></feed>`,
		"JSON": `{"version": "1", "title": "T", "items": [{"url": "/ä", "content_html": "\u00fc <p>\n"}, {"id": "2", "url": "/2", "tags": ["x"]}]}`,
	} {
		for _, cut := range []bool{false, true} {
			before := 0
			for n := 1; n < len(feed); n++ {
				got, err := ParseFeed([]byte(feed[:n]), feedBase, cut)
				switch k := len(got.Entries); {
				case k < before, k > 2, k > 0 && got.Entries[0] != "https://example.com/%C3%A4", k > 0 && got.Title != "T",
					k > 0 && err != nil, k == 0 && !cut && err == nil, err == nil && got.Truncated != cut:
					t.Fatalf("%s, %q: %+v %v", name, feed[:n], got, err)
				}
				before = len(got.Entries)
			}
			if before != 2 {
				t.Errorf("%s: %d entries", name, before)
			}
		}
	}
}

// A feed may be cut inside a character, also before it is converted.
func TestParseFeedInOtherEncodings(t *testing.T) {
	utf16le := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(`<?xml version="1.0" encoding="UTF-16"?><rss><channel><title>Bücher</title><item><link>/ü</link></item><item>`)) {
		utf16le = binary.LittleEndian.AppendUint16(utf16le, u)
	}
	latin1 := []byte("<?xml version='1.0' encoding='ISO-8859-1'?><rss><channel><title>B\xfccher</title><item><link>/\xfc</link></item><item>")
	for _, body := range [][]byte{utf16le[:len(utf16le)-1], latin1, []byte("<rss><channel><title>Bücher</title><item><link>/ü</link></item><item>\xc3")} {
		got, err := ParseFeed(body, feedBase, true)
		if err != nil || got.Title != "Bücher" || !slices.Equal(got.Entries, []string{"https://example.com/%C3%BC"}) || !got.Truncated {
			t.Errorf("%q: %+v %v", body, got, err)
		}
	}
}

func TestLinksOfEntries(t *testing.T) {
	atom := func(links string) string {
		return `<feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="/self/"/><link rel="hub" href="/hub/"/><link type="application/json" href="/api/"/>` +
			`<link rel="alternate" type="text/html" href="/site/"/><entry>` + links + `</entry></feed>`
	}
	rss := func(links string) string {
		return `<rss><channel><atom:link rel="self" href="/self/"/><atom:link href="/other/"/><link>/site/</link><item>` + links + `</item></channel></rss>`
	}
	for _, tc := range []struct{ feed, want string }{
		{atom(`<link rel="alternate" type="application/activity+json" href="1.json"/><link rel="alternate" type="text/html" href="1"/>`), "1"},
		{atom(`<link type="application/json" href="2.json"/><link href="2"/>`), "2"},
		{atom(`<link href="3.x"/><link type="TEXT/HTML; charset=utf-8" rel="Alternate" href="3"/><link type="text/html" href="3.y"/>`), "3"},
		{atom(`<link type="application/xhtml+xml" href="4"/><link type="text/html" href="4.x"/>`), "4"},
		{atom(`<link type="application/json" href="5"/><link rel="edit" type="text/html" href="5.x"/><link rel="self" href="5.y"/><link rel="replies" href="5.z"/>`), "5"},
		{atom(`<link rel="enclosure" type="text/html" href="x"/><id>https://example.com/site/6</id>`), "6"},
		{atom(`<link rel="alternate" href=""/><link href="7" type="application/json"/><id>https://example.com/x</id>`), "7"},
		{atom(`<link rel=alternate href=8/><title>x</title><link rel=edit href=/x/>`), "8/"},
		{atom(`<source><link href="/x"/></source><content type="xhtml"><div><link href="/x"/></div></content><link href="9"/>`), "9"},
		{atom(`<link hreflang="de" type="text/html" href="10"></link><link type="text/html" hreflang="en" href="x"/>`), "10"},
		{rss(`<atom:link rel="alternate" type="text/html" href="x"/><link>1</link>`), "1"},
		{rss(`<a10:link type="application/json" href="x"/><a10:link type="text/html" href="2"/><guid>https://example.com/x</guid>`), "2"},
		{rss(`<atom:link rel="self" href="x"/><guid isPermaLink="true">https://example.com/site/3</guid>`), "3"},
		{rss(`<link href="4"/>`), "4"},
		{rss(`<media:content><link>x</link></media:content><x:link>x</x:link><link>5</link><link>x</link>`), "5"},
		{rss(`<link/><link></link><guid> https://example.com/site/6 </guid>`), "6"},
		{rss("<link>\n https://example.com/si\n\tte/7?a=1&b=2&amp;c=3&copy=4#x\n</link>"), "7?a=1&b=2&c=3&copy=4"},
		{rss(`<link>` + strings.Repeat("x", 1<<20) + `</link><guid>https://example.com/site/8</guid>`), "8"},
		{`{"items": [{"external_url": "https://example.com/x", "url": "/site/1", "id": "https://example.com/y"}]}`, "1"},
		{`{"home_page_url": "/site/", "items": [{"url": null, "external_url": "2", "id": "https://example.com/y"}]}`, "2"},
		{`{"items": [5, null, "x", [], {"url": 5, "external_url": {}, "id": "https://example.com/site/3"}], "home_page_url": 7}`, "3"},
		{`{"items": [{"id": 12, "url": "4"}], "title": 3, "home_page_url": "https://example.com/site/"}`, "4"},
	} {
		got, err := ParseFeed([]byte(tc.feed), feedBase, false)
		want, _ := strings.CutPrefix(strings.Join(got.Entries, " "), "https://example.com/site/")
		if err != nil || want != tc.want {
			t.Errorf("%.400s: %.100q %v", tc.feed, got.Entries, err)
		}
	}
}

func TestTitleOfAFeed(t *testing.T) {
	atom := func(title string) string { return `<feed xmlns="http://www.w3.org/2005/Atom">` + title + `</feed>` }
	rss := func(title string) string { return `<rss><channel>` + title + `</channel></rss>` }
	for _, tc := range []struct{ feed, want string }{
		{atom(`<title type="html">A &amp;amp; B</title>`), "A & B"},
		{atom(`<title type="HTML">&lt;b&gt;x&lt;/b&gt; &amp;lt;i&amp;gt;</title>`), "x <i>"},
		{atom(`<title type="html"><![CDATA[A &amp; <b>B</b>]]> &amp;eacute;</title>`), "A & B é"},
		{atom(`<title type="html">a&lt;br>b&lt;script>c&lt;/script>&lt;style>d&lt;/style> 1 &lt; 2</title>`), "a b 1 < 2"},
		{atom(`<title type="html">A <b>B</b> &amp;nbsp;C</title>`), "A B C"},
		{atom(`<title type="text/html" mode="escaped">A &amp;amp; B</title>`), "A & B"},
		{atom(`<title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">A &amp;amp; <b>B</b></div></title>`), "A &amp; B"},
		{atom(`<title type="text">A &amp;amp; &lt;b></title>`), "A &amp; <b>"},
		{atom(`<title>A &amp;amp; B &eacute;</title>`), "A &amp; B é"},
		{atom(`<title><![CDATA[A &amp; <b>]]></title>`), "A &amp; <b>"},
		{atom(`<title/><title> One </title><title>Two</title><entry><title>Three</title></entry>`), "One"},
		{atom(`<media:title>x</media:title><author><title>x</title></author><entry><title>x</title></entry>`), ""},
		{rss(`<title>A &amp;amp; B</title>`), "A & B"},
		{rss(`<title><![CDATA[A &amp; B &#8211; C]]></title>`), "A & B – C"},
		{rss(`<title>&lt;b&gt;x&lt;/b&gt; y</title>`), "x y"},
		{rss(`<title>The &lt;b> tag, AT&amp;T, a &lt; b</title>`), "The <b> tag, AT&T, a < b"},
		{rss(`<title>A & B</title><image><title>x</title></image>`), "A & B"},
		{rss(`<image><title>x</title></image><itunes:title>x</itunes:title><title>` + strings.Repeat("&#228;", 300) + `</title>`), strings.Repeat("ä", 200)},
		{rss(`<title>` + strings.Repeat("x", 2<<20) + `</title>`), strings.Repeat("x", 200)},
		{`{"items": [], "title": "A &amp; <b>B</b>"}`, "A &amp; <b>B</b>"},
	} {
		if got, err := ParseFeed([]byte(tc.feed), feedBase, false); err != nil || got.Title != tc.want {
			t.Errorf("%.200s: %q %v", tc.feed, got.Title, err)
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
	got, err := ParseFeed([]byte(b.String()), feedBase, false)
	if err != nil || len(got.Title) > 100 || strings.Contains(got.Title, "lol") || strings.Contains(got.Title, "root") {
		t.Errorf("%+v %v", got, err)
	}
}

func TestParseFeedIsBounded(t *testing.T) {
	wrap := func(content string) string { return "<rss><channel><title>T</title>" + content + "</channel></rss>" }
	numbered := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	fill := func(part string) string { return strings.Repeat(part, 3<<20/len(part)) }
	item := "<item><link>https://example.com/</link></item>"
	for name, tc := range map[string]struct {
		feed      string
		entries   int
		truncated bool
		err       error
		mb        uint64 // maximum allocation
	}{
		"RSS":               {wrap(numbered(20_000, "<item><link>https://example.com/%d</link></item>")), FeedEntries, true, nil, 4},
		"RSS of 500":        {wrap(numbered(FeedEntries, "<item><link>https://example.com/%d</link></item>")), FeedEntries, false, nil, 4},
		"Atom":              {`<a:feed xmlns:a="http://www.w3.org/2005/Atom">` + numbered(20_000, `<a:entry><a:link href="https://example.com/%d"/></a:entry>`) + "</a:feed>", FeedEntries, true, nil, 4},
		"JSON":              {`{"version": "1", "items": [` + numbered(20_000, `{"url": "https://example.com/%d"},`) + "{}]}", FeedEntries, true, nil, 16},
		"JSON of 500":       {`{"items": [` + numbered(FeedEntries-1, `{"url": "https://example.com/%d"},`) + "{}]}", FeedEntries - 1, false, nil, 4},
		"empty items":       {wrap(fill("<item/>")), 0, true, nil, 4},
		"JSON parts":        {`{"items": [{"url": "https://example.com/", "attachments": [` + fill("{},") + `{}]}]}`, 1, false, nil, 32},
		"JSON text":         {`{"items": [{"url": "https://example.com/"}, {"url": "` + fill("x") + `"}]}`, 1, false, nil, 32},
		"JSON members":      {`{"items": [{"url": "https://example.com/"}]` + fill(`,"title":"x"`) + `}`, 1, false, nil, 200},
		"parts of an item":  {wrap(item + "<item>" + fill("<x:y/>") + "</item>"), 1, false, nil, 32},
		"parts":             {wrap(fill("<x:y/>") + item), 1, false, nil, 32},
		"attributes":        {wrap(item + "<x:y " + numbered(100_000, `a%d="" `) + "/>"), 1, true, nil, 64},
		"only attributes":   {wrap("<x:y " + numbered(100_000, `a%d="" `) + "/>"), 0, false, ErrFeedParts, 64},
		"long tag":          {wrap(item + `<x:y a="` + fill("x") + `"/>`), 1, true, nil, 16},
		"namespaces":        {"<rss " + numbered(300, `xmlns:a%d="x" `) + "></rss>", 0, false, ErrNotFeed, 4},
		"nesting":           {wrap(fill("<a>")), 0, false, ErrFeedParts, 4},
		"nesting in items":  {wrap(item + fill("<a>")), 1, true, nil, 4},
		"unclosed items":    {wrap(fill("<item>")), 0, true, nil, 4},
		"end tags":          {wrap(item + fill("</a>")), 1, false, nil, 32},
		"links":             {wrap("<item>" + fill("<link>x</link>") + "</item>"), 1, false, nil, 32},
		"bases":             {wrap(`<item xml:base="/a/">` + fill(`<link xml:base="/b/">x</link>`) + "</item>"), 1, false, nil, 32},
		"titles":            {`<feed>` + fill(`<title type="html">&lt;p></title>`) + item + "</feed>", 0, false, nil, 32},
		"pieces of a title": {wrap(fill("<title><![CDATA[x]]></title>")), 0, false, nil, 32},
		"JSON nesting":      {`{"version": "1", "items": ` + fill("[") + "}", 0, false, ErrNotFeed, 64},
		"escaped markup":    {`<feed xml:base="https://example.com/"><entry><content type="html">` + fill("&lt;b>") + `</content></entry></feed>`, 0, false, nil, 16},
		"text":              {wrap(fill("x") + item), 1, false, nil, 16},
		"entities":          {wrap("<title>" + fill("&nbsp;") + "</title>" + item), 1, false, nil, 32},
		"text first":        {fill("x") + wrap(item), 1, false, nil, 16},
		"subset":            {"<!DOCTYPE rss [" + fill("<!ENTITY a 'b'>") + "]>" + wrap(item), 1, false, nil, 16},
		"comments":          {wrap(fill("<!-- x -->") + item), 1, false, nil, 16},
		"controls":          {wrap(fill("\x00") + item), 1, false, nil, 16},
	} {
		var got Feed
		var err error
		used := allocated(func() { got, err = ParseFeed([]byte(tc.feed), feedBase, false) })
		if len(got.Entries) != tc.entries || !errors.Is(err, tc.err) || got.Truncated != tc.truncated {
			t.Errorf("%s: %d entries, truncated %v, %v", name, len(got.Entries), got.Truncated, err)
		}
		if used -= min(used, uint64(len(tc.feed))); used > tc.mb<<20 {
			t.Errorf("%s: %d MiB allocated", name, used>>20)
		}
	}
}

// allocated returns the number of bytes that f allocates, including those that are freed.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func FuzzParseFeed(f *testing.F) {
	for _, s := range []string{
		`<rss><channel><title>T</title><link>/</link><item><link>a</link></item></channel></rss>`,
		`<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/x"><title type="html">&amp;lt;</title><entry><link href="a"/><content type="xhtml"><p>x</p></content></entry></feed>`,
		`<rdf:RDF xmlns:rdf="x"><item><link>http://a/</link></item></rdf:RDF>`, `<?xml version="1.1"?><rss><channel><item><link>a<item><guid>http://a/&#1;</item>`,
		`{"version": "1", "title": "x", "items": [{"id": 1, "url": "a"}]}`, `<!DOCTYPE a [<!ENTITY b "c">]><rss>&b;`, "<?xml", "<rss><channel><item><link><![CDATA[a]]>",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		whole, err := ParseFeed(body, feedBase, false)
		if err != nil && (len(whole.Entries) > 0 || whole.Title != "" || whole.Truncated) {
			t.Errorf("%v %v", whole, err)
		}
		if len(whole.Entries) > FeedEntries || utf8.RuneCountInString(whole.Title) > feedTitleLimit || !utf8.ValidString(whole.Title) {
			t.Errorf("%d entries, title %q", len(whole.Entries), whole.Title)
		}
		for _, e := range whole.Entries {
			if u, err := url.Parse(e); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(e) > urlLimit {
				t.Errorf("entry %q: %v", e, err)
			}
		}
	})
}
