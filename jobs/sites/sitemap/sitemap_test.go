package sitemap

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf16"

	"linkwatch/models"
	"linkwatch/models/sites"
)

// readAll reads a file and returns its entries as "URL" or "URL lastmod".
func readAll(t testing.TB, r io.Reader) ([]string, Result, error) {
	t.Helper()
	return readSome(t, sites.MaxSitemapBytes, r)
}

func readSome(t testing.TB, limit int64, r io.Reader) ([]string, Result, error) {
	t.Helper()
	var entries []string
	got, err := readUpTo(limit, r, func(kind sites.Kind, e sites.Entry) error {
		if kind == sites.KindUnread {
			t.Error("entry without a kind")
		}
		s := e.URL.Given
		if !e.Lastmod.IsZero() {
			s += " " + e.Lastmod.Format(time.RFC3339Nano)
		}
		entries = append(entries, s)
		return nil
	})
	if got.Entries != len(entries) {
		t.Errorf("%d entries counted, %d passed on", got.Entries, len(entries))
	}
	if got.Complete && err != nil || got.Kind == sites.KindUnread && err == nil {
		t.Errorf("got %+v, %v", got, err)
	}
	return entries, got, err
}

func gzipped(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func utf16le(s string) string {
	b := []byte{}
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return string(b)
}

func utf16be(s string) string {
	b := []byte{}
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.BigEndian.AppendUint16(b, u)
	}
	return string(b)
}

const (
	xmlHead = `<?xml version="1.0" encoding="UTF-8"?>`
	ns      = `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`
)

func pages(entries ...string) string {
	return xmlHead + "<urlset " + ns + ">\n" + strings.Join(entries, "\n") + "\n</urlset>\n"
}

func page(url string) string { return "<url><loc>" + url + "</loc></url>" }

func TestFormats(t *testing.T) {
	const two = "<url><loc>http://a.de/1</loc></url><url><loc>http://a.de/ü</loc></url>"
	both := []string{"http://a.de/1", "http://a.de/ü"}
	for name, tc := range map[string]struct {
		file string
		kind sites.Kind
		want []string
	}{
		"urlset":            {pages(two), sites.KindSitemap, both},
		"empty urlset":      {pages(), sites.KindSitemap, nil},
		"closed urlset":     {"<urlset/>", sites.KindSitemap, nil},
		"UTF-8 BOM":         {"\ufeff" + pages(two), sites.KindSitemap, both},
		"white space first": {" \r\n\t" + pages(two), sites.KindSitemap, both},
		"no declaration":    {"<urlset>" + two + "</urlset>", sites.KindSitemap, both},
		"wrong namespace":   {`<urlset xmlns="http://www.google.com/schemas/sitemap/0.84">` + two + `</urlset>`, sites.KindSitemap, both},
		"prefix":            {`<sm:urlset xmlns:sm="x"><sm:url><sm:loc>http://a.de/1</sm:loc><image:loc>http://a.de/i</image:loc></sm:url></sm:urlset>`, sites.KindSitemap, both[:1]},
		"UTF-16 LE":         {"\xff\xfe" + utf16le(`<?xml version="1.0" encoding="UTF-16"?><urlset>`+two+"</urlset>"), sites.KindSitemap, both},
		"UTF-16 BE":         {"\xfe\xff" + utf16be("<urlset>"+two+"</urlset>"), sites.KindSitemap, both},
		"UTF-16 no BOM":     {utf16le(`<?xml version="1.0" encoding="UTF-16"?><urlset>` + two + "</urlset>"), sites.KindSitemap, both},
		"UTF-16BE no BOM":   {utf16be(`<urlset>` + two + "</urlset>"), sites.KindSitemap, both},
		"ISO-8859-1":        {`<?xml version='1.0' encoding='ISO-8859-1' ?><urlset>` + strings.ReplaceAll(two, "ü", "\xfc") + "</urlset>", sites.KindSitemap, both},
		"not UTF-16":        {`<?xml version="1.0" encoding="UTF-16"?><urlset>` + two + "</urlset>", sites.KindSitemap, both},
		"BOM counts":        {"\ufeff" + `<?xml version="1.0" encoding="ISO-8859-1"?><urlset>` + two + "</urlset>", sites.KindSitemap, both},
		"gzip":              {gzipped(t, pages(two)), sites.KindSitemap, both},
		"gzip, members":     {gzipped(t, "<urlset><url><loc>http://a") + gzipped(t, ".de/1</loc></url></urlset>"), sites.KindSitemap, both[:1]},
		"gzip, garbage":     {gzipped(t, pages(two)) + "\x00\x00\x00\x00garbage", sites.KindSitemap, both},
		"after the root":    {pages(two) + "<!-- 12 ms --> <html>", sites.KindSitemap, both},
		"index": {xmlHead + "<sitemapindex " + ns + "><sitemap><loc>http://a.de/1</loc><lastmod>2026-01-02</lastmod></sitemap><sitemap>\n<loc>http://a.de/ü</loc></sitemap></sitemapindex>",
			sites.KindIndex, []string{"http://a.de/1 2026-01-02T00:00:00Z", "http://a.de/ü"}},
		"text":         {"http://a.de/1\nhttp://a.de/ü", sites.KindText, both},
		"text, BOM":    {"\ufeffhttp://a.de/1\r\n\r\n  http://a.de/ü  \r\n", sites.KindText, both},
		"text, CR":     {"http://a.de/1\rhttp://a.de/ü\r", sites.KindText, both},
		"text, UTF-16": {"\xff\xfe" + utf16le("http://a.de/1\nhttp://a.de/ü\n"), sites.KindText, both},
		"text, gzip":   {gzipped(t, "http://a.de/1\nhttp://a.de/ü\n"), sites.KindText, both},
		"RSS": {xmlHead + `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>T</title><link>http://a.de/</link>
			<atom:link href="http://a.de/feed" rel="self"/><image><link>http://a.de/i</link></image>
			<item><title/><link> http://a.de/1 </link><atom:link href="http://a.de/x"/><pubDate>Mon, 02 Mar 2026 10:20:30 EST</pubDate><content:encoded><![CDATA[<a href="x">]]></content:encoded></item>
			<item><title>&lt;</title><guid>http://a.de/g</guid><dc:date>2026-03-02</dc:date></item>
			<item><guid isPermaLink="false">17</guid><link><![CDATA[http://a.de/2?a&b]]></link><pubDate>Mon, 02 Mar 2026 10:20 GMT</pubDate><atom:updated>2026-03-04T00:00:00Z</atom:updated><media:date>1</media:date></item></channel></rss>`,
			sites.KindFeed, []string{"http://a.de/1 2026-03-02T15:20:30Z", "http://a.de/g 2026-03-02T00:00:00Z", "http://a.de/2?a&b 2026-03-04T00:00:00Z"}},
		"RSS 1.0": {`<rdf:RDF><channel><link>http://a.de/</link></channel><item rdf:about="x"><link>http://a.de/1</link></item></rdf:RDF>`, sites.KindFeed, both[:1]},
		"Atom": {`<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://a.de/"/><updated>2026-01-01T00:00:00Z</updated>
			<entry><link rel="edit" href="http://a.de/e"/><link rel='alternate' href="http://a.de/1?a&amp;b"/><link href="http://a.de/z"/><published>2026-01-02T03:04:05.5+01:00</published><updated>2026-01-03T00:00:00Z</updated>
			<content type="xhtml"><div><link href="http://a.de/c"/><p>x</p></div></content></entry></feed>`,
			sites.KindFeed, []string{"http://a.de/1?a&b 2026-01-03T00:00:00Z"}},
		"Atom, long link":   {`<feed><entry><link rel="alternate" title="` + strings.Repeat("x", 600) + `" href="http://a.de/1"/></entry></feed>`, sites.KindFeed, both[:1]},
		"Atom, typed links": {`<feed><entry><link type="application/json" href="http://a.de/1.json"/><link rel="alternate" type="text/html" href="http://a.de/1"/><link href="http://a.de/x"/></entry></feed>`, sites.KindFeed, both[:1]},
		"tags in a DOCTYPE": {`<!DOCTYPE urlset [<!ENTITY a "<url><loc>http://a.de/</loc></url>"><!-- ]> --><!ELEMENT url ANY> ]>` + pages(two), sites.KindSitemap, both},
	} {
		for way, r := range map[string]io.Reader{"whole": strings.NewReader(tc.file), "bytes": iotest.OneByteReader(strings.NewReader(tc.file)), "at the end": iotest.DataErrReader(strings.NewReader(tc.file))} {
			got, result, err := readAll(t, r)
			if err != nil || !slices.Equal(got, tc.want) || result.Kind != tc.kind || result.Skipped != 0 || len(result.Reasons) > 0 || !result.Complete {
				t.Errorf("%s, %s: got %q, %+v, %v", name, way, got, result, err)
			}
		}
	}
}

func TestValues(t *testing.T) {
	for name, tc := range map[string]struct {
		entry string
		want  string
	}{
		"white space":         {"<url >\n<loc\n>\n\t http://a.de/\r\n </loc\n></url>", "http://a.de/"},
		"line break":          {page("http://a.de/x\ny"), "http://a.de/xy"},
		"CDATA":               {page("<![CDATA[http://a.de/?a=1&b=<2>&amp;]]>"), "http://a.de/?a=1&b=<2>&amp;"},
		"CDATA and text":      {page("http://<![CDATA[a.de]]>/&amp;<!-- c -->x"), "http://a.de/&x"},
		"the five":            {page("http://a.de/?&amp;&lt;&gt;&quot;&apos;"), `http://a.de/?&<>"'`},
		"numbers":             {page("http://a.de/?&#38;&#x26;&#X26;&#252;&#x1F600;"), "http://a.de/?&&&ü😀"},
		"once":                {page("http://a.de/?&amp;amp;"), "http://a.de/?&amp;"},
		"not escaped":         {page("http://a.de/?a=1&copy=2&b&&;"), "http://a.de/?a=1&copy=2&b&&;"},
		"of an attribute":     {`<url id="a>b"><loc x='<y>'>http://a.de/</loc></url>`, "http://a.de/"},
		"element inside":      {page("http://a.de/<b>bold</b>x"), "http://a.de/x"},
		"first of two":        {"<url><loc>http://a.de/1</loc><loc>http://a.de/2</loc></url>", "http://a.de/1"},
		"empty, then one":     {"<url><loc/><loc>http://a.de/2</loc></url>", "http://a.de/2"},
		"lastmod":             {"<url><lastmod>\n<![CDATA[2026-01-02]]> </lastmod><loc>http://a.de/</loc></url>", "http://a.de/ 2026-01-02T00:00:00Z"},
		"empty lastmod":       {"<url><loc>http://a.de/</loc><lastmod> </lastmod></url>", "http://a.de/"},
		"other elements":      {"<url><changefreq>daily</changefreq><loc>http://a.de/</loc><priority>0.5</priority></url>", "http://a.de/"},
		"image":               {"<url><image:image><image:loc>http://a.de/i</image:loc></image:image><loc>http://a.de/</loc></url>", "http://a.de/"},
		"image, no prefix":    {"<url><image xmlns='x'><loc>http://a.de/i</loc><lastmod>2000</lastmod></image><loc>http://a.de/</loc></url>", "http://a.de/"},
		"image, no container": {"<url><image:loc>http://a.de/i</image:loc><loc>http://a.de/</loc></url>", "http://a.de/"},
		"hreflang":            {`<url><xhtml:link rel="alternate" hreflang="de" href="http://a.de/de"/><loc>http://a.de/</loc><xhtml:link href="x"></xhtml:link></url>`, "http://a.de/"},
		"video and news": {"<url><loc>http://a.de/</loc><video:video><video:title>t</video:title><video:player_loc>http://a.de/v</video:player_loc></video:video>" +
			"<news:news><news:publication_date>2000</news:publication_date><news:title>&lt;/url></news:title></news:news></url>", "http://a.de/"},
		"elements named as in HTML": {"<url><script><plaintext><title/><style/></plaintext></script><loc>http://a.de/</loc></url>", "http://a.de/"},
		"comment":                   {"<!-- <url><loc>http://a.de/no</loc></url> -->" + page("http://a.de/"), "http://a.de/"},
		"instruction":               {"<?php x ?>" + page("http://a.de/"), "http://a.de/"},
		"much white space":          {page(strings.Repeat(" ", 100_000) + "http://a.de/" + strings.Repeat("\n", 100_000)), "http://a.de/"},
		"2048 bytes":                {page("http://a.de/" + strings.Repeat("x", 2036)), "http://a.de/" + strings.Repeat("x", 2036)},
	} {
		got, result, err := readAll(t, strings.NewReader(pages(tc.entry)))
		if err != nil || len(got) != 1 || got[0] != tc.want || result.Skipped != 0 || len(result.Reasons) > 0 {
			t.Errorf("%s: got %.200q, %+v, %v", name, got, result, err)
		}
	}
}

func TestBadEntries(t *testing.T) {
	for entry, want := range map[string]string{
		"<url/>": "the URL is missing",
		"<url><lastmod>2026-01-01</lastmod></url>": "the URL is missing",
		page(""):                                            "the URL is missing",
		page(" <![CDATA[ ]]>"):                              "the URL is missing",
		page("/relative"):                                   "the URL must start with http:// or https://",
		page("ftp://a.de/"):                                 "the URL must start with http:// or https://",
		page("javascript:alert(1)"):                         "the URL must start with http:// or https://",
		page("http://"):                                     "the URL has no host",
		page("http://u:p@a.de/"):                            "the URL must not contain a user name or password",
		page("http://a.de:99999/"):                          "the URL has an invalid port; use a number up to 65535",
		page("http://a.de/\xff"):                            "the URL is not valid UTF-8",
		page("http://a.de/\x01"):                            "the URL has a control character",
		page("http://a.de/&nbsp;"):                          "the URL has an entity that XML does not define",
		page("&xxe;"):                                       "the URL has an entity that XML does not define",
		page("http://a.de/&#0;"):                            "the URL has an entity that XML does not define",
		page("http://a.de/&#xD800;"):                        "the URL has an entity that XML does not define",
		page("http://a.de/&#99999999999;"):                  "the URL has an entity that XML does not define",
		page("http://a.de/&#x;"):                            "the URL has an entity that XML does not define",
		page("http://a.de/" + strings.Repeat("x", 2037)):    "the URL must have at most 2,048 bytes",
		page("http://a.de/" + strings.Repeat("x", 100_000)): "the URL must have at most 2,048 bytes",
		page("http://a.de/" + strings.Repeat("ü", 1000)):    "the URL must have at most 2,048 bytes once its special characters are escaped",
		"<sitemap><loc>http://a.de/s.xml</loc></sitemap>":   "<sitemap> is not allowed in this kind of sitemap",
	} {
		got, result, err := readAll(t, strings.NewReader(pages(page("http://a.de/1"), entry, page("http://a.de/3"))))
		if err != nil || !slices.Equal(got, []string{"http://a.de/1", "http://a.de/3"}) || result.Skipped != 1 || !result.Complete ||
			!slices.Equal(result.Reasons, []string{"Entry 2: " + want}) {
			t.Errorf("%.100s: got %.100q, %+v, %v", entry, got, result, err)
		}
	}
}

func TestReasons(t *testing.T) {
	date := func(s string) string { return "<url><loc>http://a.de/</loc><lastmod>" + s + "</lastmod></url>" }
	got, result, err := readAll(t, strings.NewReader(pages(page("x"), date("soon"), page(""), page("y"), date("2026-13-01"), page("http://"),
		page("http://a:b@c/"), page("http://a.de:x/"), page("http://a.de:y/"))))
	want := []string{
		"2 entries, first at entry 1: the URL must start with http:// or https://",
		"2 entries, first at entry 2: lastmod is not a valid date; the URL was kept without it",
		"Entry 3: the URL is missing",
		"Entry 6: the URL has no host",
		"Entry 7: the URL must not contain a user name or password",
	}
	if err != nil || len(got) != 2 || result.Skipped != 7 || !slices.Equal(result.Reasons, want) {
		t.Errorf("got %q, %+v, %v", got, result, err)
	}
	got, result, err = readAll(t, strings.NewReader("http://a.de/1\r\n\r\nmy site\r\nhttp://a.de/2\nhttp://a.de/"+strings.Repeat("x", 200_000)+"\nhttp:\n"))
	want = []string{
		"2 lines, first at line 3: the URL must start with http:// or https://",
		"Line 5: the URL must have at most 2,048 bytes",
	}
	if err != nil || len(got) != 2 || result.Skipped != 3 || !slices.Equal(result.Reasons, want) {
		t.Errorf("got %.200q, %+v, %v", got, result, err)
	}
}

func TestNoSitemaps(t *testing.T) {
	const (
		empty, page, json = "The file is empty", "This is an HTML page, not a sitemap", "This is JSON, not a sitemap"
		binary            = "This is a binary file, not a sitemap"
		other             = "This XML file is neither a sitemap nor a feed"
	)
	for file, want := range map[string]string{
		"":                   empty,
		" \n\ufeff\t":        empty,
		"\xff\xfe":           empty,
		"<!DOCTYPE html><p>": page,
		"\n<!-- x --><!doctype HTML PUBLIC '-//W3C//DTD HTML 4.01//EN'>": page,
		"<html><head><title>404</title></head></html>":                   page,
		xmlHead + `<html xmlns="http://www.w3.org/1999/xhtml">`:          page,
		`{"urls": []}`:                          json,
		" [1]":                                  json,
		"\x00\x01\x02":                          binary,
		"GIF89a\x00\x01":                        binary,
		"<svg></svg>":                           other,
		"<!-- only -->":                         other,
		"</urlset>":                             other,
		"<?xml version='1.0'?>":                 other,
		"<":                                     other,
		"<opml><body/></opml>":                  other,
		"Not found":                             noURLs,
		"a\nb\nc\n":                             noURLs,
		strings.Repeat("User-agent: *\n", 5000): noURLs,
		`<?xml version="1.0" encoding="klingon"?><urlset/>`: "The XML declaration has an unknown encoding; use UTF-8",
		gzipped(t, ""):                        empty,
		gzipped(t, gzipped(t, pages())):       "This is a gzip file inside a gzip file, not a sitemap",
		gzipped(t, pages())[:20]:              "The gzip data is damaged after 0 entries",
		"\x1f\x8b":                            "The gzip data is damaged after 0 entries",
		"\x1f\x8b" + strings.Repeat("x", 100): "The gzip data is damaged after 0 entries",
	} {
		got, result, err := readAll(t, strings.NewReader(file))
		if e, ok := errors.AsType[*Error](err); !ok || e.Error() != want || len(got) > 0 || result.Skipped > 0 || len(result.Reasons) > 0 {
			t.Errorf("%.60q: got %q, %+v, %v", file, got, result, err)
		}
	}
}

func TestBrokenFiles(t *testing.T) {
	const two = "<urlset><url><loc>http://a.de/1</loc></url><url><loc>http://a.de/2</loc></url>"
	const early, open = "The XML is broken after 2 entries: unexpected end of file", "The XML is broken after 2 entries: an element is not closed"
	for rest, want := range map[string]string{
		"":                                   early,
		"<url><loc>http://a.de/3":            early,
		"<url><loc>http://a.de/3</loc>":      early,
		"<url><loc><![CDATA[http://a.de/":    early,
		"<url":                               early,
		"<!-- ":                              early,
		"</url>":                             open,
		"<url><loc>http://a.de/3</url>":      open,
		"<url><image:image></url>":           open,
		"</rss>":                             open,
		"<url><loc>a<b</loc></url></urlset>": "The XML is broken after 2 entries: an element is not closed",
		"<!--" + strings.Repeat("x", 2<<20) + "--></urlset>":                "The XML is broken after 2 entries: a tag or text is too long",
		"<url x='" + strings.Repeat("x", 2<<20) + "'/></urlset>":            "The XML is broken after 2 entries: a tag or text is too long",
		"<" + strings.Repeat("x", 2<<20):                                    "The XML is broken after 2 entries: a tag or text is too long",
		"<url><loc>" + strings.Repeat("x", 2<<20) + "</loc></url></urlset>": "The XML is broken after 2 entries: a tag or text is too long",
		strings.Repeat("<a>", 1_000_000):                                    "The XML is broken after 2 entries: elements are nested too deeply",
		"<url " + manyAttributes(300) + "/></urlset>":                       "The XML is broken after 2 entries: a tag has too many attributes",
	} {
		got, result, err := readAll(t, strings.NewReader(two+rest))
		if e, ok := errors.AsType[*Error](err); !ok || e.Error() != want || len(got) != 2 || result.Complete || result.Kind != sites.KindSitemap {
			t.Errorf("%.60q: got %q, %+v, %v", rest, got, result, err)
		}
	}
	_, _, err := readAll(t, strings.NewReader("<urlset>"+page("http://a.de/")))
	if err == nil || err.Error() != "The XML is broken after 1 entry: unexpected end of file" {
		t.Errorf("got %v", err)
	}
	// A wrong checksum is detected at the end.
	packed := []byte(gzipped(t, "http://a.de/1\n"))
	packed[len(packed)-5] ^= 1
	if got, result, err := readAll(t, bytes.NewReader(packed)); err == nil || err.Error() != "The gzip data is damaged after 1 entry" || result.Complete {
		t.Errorf("got %q, %+v, %v", got, result, err)
	}
}

func manyAttributes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d=1 ", i)
	}
	return b.String()
}

// A long attribute with many spaces counts as one attribute.
func TestLongAttribute(t *testing.T) {
	file := `<rss><channel><item><media:content description="` + strings.Repeat("so many words ", 1000) + `"/><link>http://a.de/</link></item></channel></rss>`
	if got, _, err := readAll(t, strings.NewReader(file)); err != nil || len(got) != 1 {
		t.Errorf("got %q, %v", got, err)
	}
}

// Errors of the reader and the callback are returned unchanged.
func TestReaderAndCallbackErrors(t *testing.T) {
	lost := errors.New("connection lost")
	for _, file := range []string{"", "<urlset>", "<urlset>" + page("http://a.de/"), "http://a.de/\nhttp", pages(), gzipped(t, pages())[:30], "\x1f\x8b", "\x1f"} {
		got, result, err := readAll(t, io.MultiReader(strings.NewReader(file), iotest.ErrReader(lost)))
		if err != lost || result.Complete { //nolint:errorlint // must not be wrapped
			t.Errorf("%q: got %q, %+v, %v", file, got, result, err)
		}
	}
	full := errors.New("disk full")
	for _, file := range []string{pages(page("http://a.de/1"), page("http://a.de/2")), "http://a.de/1\nhttp://a.de/2"} {
		calls := 0
		got, err := Read(strings.NewReader(file), func(sites.Kind, sites.Entry) error {
			calls++
			return full
		})
		if err != full || got.Complete || got.Entries != 0 || calls != 1 { //nolint:errorlint // must not be wrapped
			t.Errorf("got %+v, %v after %d calls", got, err, calls)
		}
	}
	if _, err := Read(noProgress{}, nil); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v", err)
	}
}

type noProgress struct{}

func (noProgress) Read([]byte) (int, error) { return 0, nil }

func TestTooManyURLs(t *testing.T) {
	for name, file := range map[string]string{
		"urlset": pages(strings.Repeat(page("http://a.de/x"), sites.MaxSitemapURLs+1), "<url/>"),
		"text":   strings.Repeat("http://a.de/x\n", sites.MaxSitemapURLs+2),
	} {
		unit := map[string]string{"urlset": "entries, first at entry", "text": "lines, first at line"}[name]
		n := 0
		got, err := Read(strings.NewReader(file), func(sites.Kind, sites.Entry) error { n++; return nil })
		want := "2 " + unit + " 50,001: the file has more than 50,000 URLs"
		if err != nil || n != sites.MaxSitemapURLs || got.Entries != n || got.Skipped != 2 || got.Complete || !slices.Equal(got.Reasons, []string{want}) {
			t.Errorf("%s: %d entries, %+v, %v", name, n, got, err)
		}
	}
	file := pages(strings.Repeat(page("http://a.de/x"), sites.MaxSitemapURLs))
	if got, err := Read(strings.NewReader(file), func(sites.Kind, sites.Entry) error { return nil }); err != nil || !got.Complete || got.Entries != sites.MaxSitemapURLs {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestDates(t *testing.T) {
	for s, want := range map[string]string{
		"2026":                             "2026-01-01T00:00:00Z",
		"2026-03":                          "2026-03-01T00:00:00Z",
		"2026-03-02":                       "2026-03-02T00:00:00Z",
		"2026-03-02T10:20Z":                "2026-03-02T10:20:00Z",
		"2026-03-02T10:20+02:00":           "2026-03-02T08:20:00Z",
		"2026-03-02T10:20:30Z":             "2026-03-02T10:20:30Z",
		"2026-03-02T10:20:30-05:30":        "2026-03-02T15:50:30Z",
		"2026-03-02T10:20:30.1Z":           "2026-03-02T10:20:30.1Z",
		"2026-03-02T10:20:30.123456789Z":   "2026-03-02T10:20:30.123456Z",
		"2026-03-02T10:20:30.25+01:00":     "2026-03-02T09:20:30.25Z",
		"2026-03-02T10:20:30+0100":         "2026-03-02T09:20:30Z",
		"2026-03-02T10:20:30.5+0100":       "2026-03-02T09:20:30.5Z",
		"2026-03-02T10:20+0100":            "2026-03-02T09:20:00Z",
		"2026-03-02T10:20:30+01":           "2026-03-02T09:20:30Z",
		"2026-03-02T10:20:30":              "2026-03-02T10:20:30Z",
		"2026-03-02T10:20":                 "2026-03-02T10:20:00Z",
		"2026-03-02 10:20:30":              "2026-03-02T10:20:30Z",
		"2026-03-02 10:20:30 UTC":          "2026-03-02T10:20:30Z",
		"2026-03-02 10:20:30 +0200":        "2026-03-02T08:20:30Z",
		"2026-03-02t10:20:30z":             "2026-03-02T10:20:30Z",
		"1970-01-01":                       "1970-01-01T00:00:00Z",
		"2100-12-31T23:59:59Z":             "2100-12-31T23:59:59Z",
		"2024-02-29":                       "2024-02-29T00:00:00Z",
		"Mon, 02 Mar 2026 10:20:30 GMT":    "2026-03-02T10:20:30Z",
		"Mon, 2 Mar 2026 10:20:30 +0200":   "2026-03-02T08:20:30Z",
		"Monday, 02 March 2026 10:20 EST":  "2026-03-02T15:20:00Z",
		"02 Mar 26 10:20:30 pdt":           "2026-03-02T17:20:30Z",
		"2 Mar 2026 10:20:30 -01:00":       "2026-03-02T11:20:30Z",
		"2 Mar 2026 10:20:30":              "2026-03-02T10:20:30Z",
		"2 Mar 2026":                       "2026-03-02T00:00:00Z",
		"Mon,  02  Mar 2026 10:20:30 CEST": "2026-03-02T10:20:30Z", // not an RFC 822 zone
		"Mon, 02 Mar 2026 10:20:30 UT":     "2026-03-02T10:20:30Z",
	} {
		if got, ok := parseDate(s); !ok || got.Format(time.RFC3339Nano) != want {
			t.Errorf("%s: got %v, %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "soon", "0000-00-00", "2026-13-01", "2026-02-30", "2026-1-2", "26-01-02", "1969-12-31", "1969", "2101", "2101-01-01T00:00:00Z",
		"1970-01-01T00:00:00+01:00", "2026-03-02T", "2026-03-02T25:00:00Z", "2026-03-02T10", "2026-03-02T10:20:30+99:00", "20260302", "1772445600", "03/02/2026", "02 Foo 2026", "1 2 3",
		"Mon, 02 Mar 1950 10:20:30 GMT", "2 Mar 2026 10h +", "2 Ma 2026", "2026-03-02T10:20:30Z" + strings.Repeat(" ", 100), "٢٠٢٦"} {
		if got, ok := parseDate(s); ok || !got.IsZero() {
			t.Errorf("%q: got %v", s, got)
		}
	}
}

func FuzzDate(f *testing.F) {
	f.Add("2026-03-02T10:20:30.5+01:00")
	f.Add("Mon, 02 Mar 26 10:20 EST")
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := parseDate(s)
		if ok == got.IsZero() || ok && (got.Year() < 1970 || got.Year() > 2100 || got != models.At(got.Time)) {
			t.Errorf("%q: %v, %v", s, got, ok)
		}
	})
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{
		pages(page("http://a.de/1"), "<url><loc><![CDATA[http://a.de/2]]></loc><lastmod>2026-01-02</lastmod><image:image><image:loc>x</image:loc></image:image></url>", "<url/>"),
		"<sitemapindex><sitemap><loc>http://a.de/&#x26;&amp;</loc></sitemap><url/></sitemapindex>",
		`<rss><channel><item><link>http://a.de/1</link><guid isPermaLink="true">http://a.de/g</guid><pubDate>Mon, 02 Mar 2026 10:20:30 EST</pubDate></item></channel></rss>`,
		`<feed><entry><link rel="alternate" href="http://a.de/1"/><updated>2026</updated></entry></feed>`,
		"http://a.de/1\r\nhttp://a.de/2\n\nx", "\xff\xfe<\x00a\x00>\x00", `<?xml version="1.0" encoding="Shift_JIS"?><urlset>`, gzipped(f, pages()),
		"<!DOCTYPE urlset [<!ENTITY a 'b'>]><urlset><url><loc>&a;</loc></url></urlset>", "{}", "<html>", "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		entries, got, err := readAll(t, bytes.NewReader(file))
		if _, ok := errors.AsType[*Error](err); err != nil && !ok {
			t.Errorf("got %v", err)
		}
		for _, e := range entries {
			url, _, _ := strings.Cut(e, " 20")
			if _, err := models.ParseURL("url", url); err != nil && !strings.Contains(e, " ") {
				t.Errorf("%q: %v", e, err)
			}
		}
		again, other, err2 := readAll(t, iotest.HalfReader(bytes.NewReader(file)))
		if !slices.Equal(entries, again) || fmt.Sprint(got, err) != fmt.Sprint(other, err2) {
			t.Errorf("got %q, %+v, %v, then %q, %+v, %v", entries, got, err, again, other, err2)
		}
	})
}
