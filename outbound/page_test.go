package outbound

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

const testPage = "https://example.com/a/b.html"

func TestParsePage(t *testing.T) {
	got := ParsePage([]byte(`<!doctype html><html lang=" en-GB"><head><title>A title</title>
		<meta name=Description content=" What  it is "><link rel="Canonical alternate" href="/c#x"></head>
		<body><h1>Head</h1><p>One <b>two</b>three<a href="/d">Four</a></body></html>`), testPage, nil, "Linkwatch")
	want := Page{
		Metadata: Metadata{Title: "A title", TitleSource: "title", Description: "What it is"}, Language: "en-GB",
		Canonical: "https://example.com/c", Links: []Link{{"https://example.com/d", "Four"}}, Text: "Head One twothreeFour",
		Main: "Head\nOne twothreeFour", Headings: []string{"Head"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestPageFacts(t *testing.T) {
	long := strings.Repeat("ж", 2000)
	for in, want := range map[string]Page{
		`<meta property=og:description content=d>`:                             {Metadata: Metadata{Description: "d"}},
		`<meta name=description content=" "><meta name=description content=x>`: {Metadata: Metadata{Description: "x"}},
		`<meta name=description content=` + long + `>`:                         {Metadata: Metadata{Description: long[:2*descriptionLimit]}},
		`<html lang="en_US">`:                                                  {},
		`<html lang="` + strings.Repeat("a", 36) + `">`:                        {},
		`<html><html lang=de>`:                                                 {},
		`<link rel=canonical href=x><link rel=canonical href=y>`:               {Canonical: "https://example.com/a/x"},
		`<link rel=canonical href="ftp://x/"><link rel=canonical href=y>`:      {},
		`<link rel=canonical href="">`:                                         {},
		`<link rel=canonical><link rel=canonical href=y>`:                      {},
		`<link rel=canonical href=x><base href="//b.example/c/">`:              {Canonical: "https://b.example/c/x"},
		`</head><link rel=canonical href=x>`:                                   {Canonical: "https://example.com/a/x"},
		`<body><link rel=canonical href=x>`:                                    {},
		`<svg></svg><link rel=canonical href=x>`:                               {},
		`<template><link rel=canonical href=x></template>`:                     {},
		`<noscript><link rel=canonical href=x></noscript>`:                     {},
		`<template><meta name=robots content=none></template>`:                 {},
		`<template><html lang=de></template>`:                                  {},
		`<template><meta name=author content=a><meta name=description content=d><meta name=date content=2024-01-02></template>`: {},
		`<template><script type="application/ld+json">{"name": "a"}</script></template>`:                                        {},
		`<template><link rel=alternate type=application/rss+xml href=/f></template>`:                                            {},
		`<div><template shadowrootmode=open><link rel=canonical href=x><meta name=robots content=none></template></div>`:        {},
		`<meta name=Robots content="NoIndex,nofollow">`:                                                                         {NoIndex: true, NoFollow: true},
		`<meta name=robots content=none>`:                                                                                       {NoIndex: true, NoFollow: true},
		`<meta name=robots content="index, max-snippet:0 ; nofollow">`:                                                          {NoFollow: true},
		`<meta name=robots content=all><meta name=LINKWATCH content=noindex>`:                                                   {NoIndex: true},
		`<meta name=googlebot content=noindex>`:                                                                                 {},
		`<meta name=robots content=nofollow><a href=/>`:                                                                         {NoFollow: true},
	} {
		got := ParsePage([]byte(in), testPage, nil, "Linkwatch")
		got.Metadata = Metadata{Description: got.Description}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%.80s\ngot  %.600s\nwant %.600s", in, fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want))
		}
	}
}

func TestRobotsHeaders(t *testing.T) {
	for line, want := range map[string]directives{
		"noindex":                             {true, false},
		"NoFollow , noindex":                  {true, true},
		"none":                                {true, true},
		"linkwatch: noindex":                  {true, false},
		"otherbot: noindex, none":             {},
		"otherbot: none, linkwatch: nofollow": {false, true},
		"nofollow, otherbot: noindex":         {false, true},
		"unavailable_after: 25 Jun 2010 15:00:00 PST, noindex":       {true, false},
		"unavailable_after: Friday, 25-Jun-10 15:00:00 PST, noindex": {true, false},
		"otherbot:none,max-snippet: 5,noindex":                       {},
		"noindexed, :none:":                                          {},
		"\x00\xff:,,:":                                               {},
	} {
		got := ParsePage(nil, "", http.Header{"X-Robots-Tag": {"all", line}}, "Linkwatch")
		if got.NoIndex != want.noIndex || got.NoFollow != want.noFollow {
			t.Errorf("%s: got %v %v", line, got.NoIndex, got.NoFollow)
		}
	}
}

func TestVisibleText(t *testing.T) {
	for in, want := range map[string]string{
		"a<b>b</b>c<!-- x --> d":                             "abc d",
		" a\n\t<p>b</p>c<br>d<td>e<my-card>f</my-card>g":     "a b c d e f g",
		"a&nbsp;&amp;&#38; b&shy;c\u200bd":                   "a && bcd",
		"a<script>x</script>b<style>x</style>c":              "abc",
		"a<noscript><p>x</noscript><iframe>x</iframe>b":      "ab",
		"a<template><p>x<template>y</template>z</template>b": "ab",
		"a<div><template shadowrootmode=open><p>b<template>x</template></p><slot></slot></template>c</div>": "a b c",
		"<template><template shadowrootmode=open>x</template>y</template>b<template shadowrootmode=x>z":     "b",
		"<svg><template></svg>a":                                            "a",
		"a<svg><title>x</title><text>y</text></svg>b":                       "ab",
		"<svg><style/><text>y</text></svg>b":                                "b",
		"<svg><path><p>never closed":                                        "never closed",
		"<svg><foreignObject><p>x</p></foreignObject><text>y</text></svg>b": "b",
		"<svg/>a<math><mi>x</mi></math>":                                    "ax",
		"<head><title>t</title></head>a":                                    "a",
		"<title></title>a<title>t</title>b":                                 "ab",
		"<textarea> <b>x</b></textarea>":                                    "<b>x</b>",
		"a\xffb\x00c":                                                       "a\uFFFDbc",
		"<p>":                                                               "",
		"<a>x</a><script":                                                   "x",
	} {
		if got := ParsePage([]byte(in), testPage, nil, "").Text; got != want {
			t.Errorf("%s\ngot  %q\nwant %q", in, got, want)
		}
	}
	same := ParsePage([]byte("<h1 class=a>A</h1>\n\n<p id=1>b <em>c</em></p>"), testPage, nil, "").Text
	if other := ParsePage([]byte("<h2>A</h2><div>b\n<i title=x> c</i></div>\n"), testPage, nil, "").Text; other != same {
		t.Errorf("markup changes the text: %q, %q", same, other)
	}
	long := ParsePage([]byte(strings.Repeat("ж", textLimit)+"<a href=x>after the limit</a>"), testPage, nil, "")
	if len(long.Text) != textLimit || !utf8.ValidString(long.Text) || long.Links[0].Text != "after the limit" {
		t.Errorf("got %d bytes, %+v", len(long.Text), long.Links)
	}
}

func TestPageLinks(t *testing.T) {
	const e = "https://example.com"
	for in, want := range map[string][]Link{
		`<a href="/x">X</a> <a href="http://h.example">Y</a>`:        {{e + "/x", "X"}, {"http://h.example/", "Y"}},
		`<a href=" ../x?a=1&amp;b=ü#f ">X`:                           {{e + "/x?a=1&b=%C3%BC", "X"}},
		`<a href>Self</a><a>none</a><a name=x>none</a>`:              {{e + "/a/b.html", "Self"}},
		`<a href=#top>T</a>`:                                         {{e + "/a/b.html", "T"}},
		`<a href=x><img></a><a href=x#2>Text</a><a href=x>Other</a>`: {{e + "/a/x", "Text"}},
		`a<a href=x> b <b>c</b><p>d</a> e`:                           {{e + "/a/x", "b c d"}},
		`<a href=x>one<a href=y>two`:                                 {{e + "/a/x", "one"}, {e + "/a/y", "two"}},
		`<a href=x>` + strings.Repeat("ж", 300):                      {{e + "/a/x", strings.Repeat("ж", 200)}},
		`<area href=x alt=" an  area ">`:                             {{e + "/a/x", "an area"}},
		`<a href=x><template><a href=y>no</a></template>yes</a>`:     {{e + "/a/x", "yes"}},
		`<svg><a href=x>S</a></svg>`:                                 {{e + "/a/x", ""}},
		`<a href=x>X</a><base href="/d/"><base href="/no/">`:         {{e + "/d/x", "X"}},
		`<base href="//other.example:8080/d/"><a href=x><a href=/y>`: {{"https://other.example:8080/d/x", ""}, {"https://other.example:8080/y", ""}},
		`<base href="javascript:x"><a href=x>`:                       {{e + "/a/x", ""}},
		`<a rel="NoFollow me" href=1><a rel=ugc href=2><a rel=sponsored href=3><a rel="nofollowed noopener" href=4>`:                                                            {{e + "/a/4", ""}},
		"<a href=javascript:x><a href='java\nscript:x'><a href=mailto:x><a href=tel:1><a href=data:,x><a href=ftp://x/><a href='http://u:p@x/'><a href='http://'><a href='//'>": nil,
		`<a href="HTTP://EXAMPLE.com:80/%7E/./x">`:                              {{"http://example.com/%7E/x", ""}},
		`<a href=/` + strings.Repeat("x", 2048-len(e)) + `>`:                    nil,
		`<a href=/` + strings.Repeat("x", 2047-len(e)) + `>`:                    {{e + "/" + strings.Repeat("x", 2047-len(e)), ""}},
		`<noscript><a href=x></noscript><!-- <a href=x> -->`:                    nil,
		`<div><template shadowrootmode=closed><a href=x>X</a></template></div>`: {{e + "/a/x", "X"}},
		// Frames.
		`<frameset cols="1,*"><frame src=menu name=" the  menu "><frame src="/x#top" title=X name=y><noframes><a href=no>no</a></noframes></frameset>`: {{e + "/a/menu", "the menu"}, {e + "/x", "X"}},
		`<frameset><frame src=x><frame src=x name=later>`:                                   {{e + "/a/x", "later"}},
		`<frameset><frame src=" "><frame><frame src=javascript:x><frame src=about:blank>`:   nil,
		`<base href=/d/><frameset><frame src=x></frameset>`:                                 {{e + "/d/x", ""}},
		`<template><frame src=x></template><svg><frame src=x></svg><iframe src=x></iframe>`: nil,
	} {
		got := ParsePage([]byte(in), testPage, nil, "")
		if !reflect.DeepEqual(got.Links, want) || got.LinksCut {
			t.Errorf("%.100s\ngot  %.300v\nwant %.300v", in, got.Links, want)
		}
	}
	if got := ParsePage([]byte(`<a href=/x><a href=http://h.example/y>`), "::", nil, ""); !reflect.DeepEqual(got.Links, []Link{{"http://h.example/y", ""}}) {
		t.Errorf("a page without a URL: %v", got.Links)
	}
}

func TestTooManyLinks(t *testing.T) {
	var page strings.Builder
	for i := range MaxLinks {
		fmt.Fprintf(&page, "<a href=/%d><a href=/%d#x><a href=mailto:x>", i, i)
	}
	if p := ParsePage([]byte(page.String()), testPage, nil, ""); len(p.Links) != MaxLinks || p.LinksCut {
		t.Errorf("got %d links, cut %v", len(p.Links), p.LinksCut)
	}
	if p := ParsePage([]byte(page.String()+"<a href=/one-more>"), testPage, nil, ""); len(p.Links) != MaxLinks || !p.LinksCut {
		t.Errorf("got %d links, cut %v", len(p.Links), p.LinksCut)
	}
	if p := ParsePage([]byte(strings.Repeat("<a href=x>", maxAnchors+1)), testPage, nil, ""); len(p.Links) != 1 || !p.LinksCut {
		t.Errorf("got %d links, cut %v", len(p.Links), p.LinksCut)
	}
}

var plainRefs = []string{
	"/", "/a", "/a/", "/a//b", "//a", "//a/b", "/a.b/c-d_e~f", "/.", "/..", "/.well-known/x", "/a/./b", "/a/../b", "/a/.../b", "/a?", "/a?b",
	"/a?b=c&d=+", "/a?/../x", "/a?b?c", "/a?'", "/a%20b", "/a%", "/a b", "/ü", "/a;b", "/a|b", `/a\b`, "/a:b", "/~x", "?a", "", "a", "./a", "../a", ".",
	"http://h.example", "https://h.example/", "http://h.example:80/", "https://h.example:80/x", "http://h.example:443", "http://h.example:08/",
	"http://h.example:0/", "http://h.example:65535/", "http://h.example:65536/", "http://h.example:/", "http://h.example:x/", "HTTP://h.example/",
	"http://H.example/", "http://h.example./", "http://.h/", "http://h..x/", "http://-h.x/", "http://h-.x/", "http://h.x-/", "http://a--b.example/",
	"http://xn--a.example/", "http://xn--mnchen-3ya.de/", "http://1.2.3.4/", "http://1.2/", "http://h.0x1/", "http://h.1/", "http://1h.example/", "http://h.1a/",
	"http://h_h.example/", "http://localhost/", "http://localhost", "http://h.example?x=1", "http://h.example/?x=1", "http://h.example/a/../b",
	"http://u@h.example/", "http://u:1@h.example/", "http://[::1]/", "http:/x", "http:x", "https:x", "http:///x", "https://", "http://?", "mailto:a@b", "a:b",
	"http+x://h/", "1a:b", "javascript:x", "JAVASCRIPT:x", " /a", "/a ", "/a\n", "\t/a", "/\t/a", "http://h.example/a\x00",
	"http://" + strings.Repeat("a", 63) + ".x/", "http://" + strings.Repeat("a", 64) + ".x/", "http://" + strings.Repeat("a.", 126) + "x/",
	"http://" + strings.Repeat("a.", 127) + "x/", "/" + strings.Repeat("x", 2020), "/" + strings.Repeat("x", 2040), "http://h.example/" + strings.Repeat("x", 2031),
	"http://h.example/" + strings.Repeat("x", 2032),
}

// sameAsResolveURL checks that a link of a page is what resolveURL gives, and reports whether it was plain.
func sameAsResolveURL(t *testing.T, base, ref string) (plain bool) {
	t.Helper()
	from, _ := resolveURL(nil, base)
	want := ""
	if u, err := resolveURL(from, ref); err == nil {
		want = href(u)
	}
	r := newResolver(base, "")
	if got := r.resolve(ref); got != want && len(ref) <= urlLimit {
		t.Errorf("%q at %q: got %q, want %q", ref, base, got, want)
	}
	ref, _, _ = strings.Cut(ref, "#")
	return r.plain(ref) != ""
}

func TestPlainURLs(t *testing.T) {
	n := 0
	for _, base := range []string{testPage, "http://example.com:8080/x/?y", "http://127.0.0.1/", ""} {
		for _, ref := range plainRefs {
			for _, fragment := range []string{"", "#", "#a#b"} {
				if sameAsResolveURL(t, base, ref+fragment) {
					n++
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d are plain", n)
	}
}

func FuzzPlainURL(f *testing.F) {
	for _, ref := range plainRefs {
		f.Add(testPage, ref)
	}
	f.Fuzz(func(t *testing.T, base, ref string) { sameAsResolveURL(t, base, ref) })
}

func FuzzParsePage(f *testing.F) {
	f.Add([]byte(benchmarkPage()), testPage, "noindex, x: none")
	f.Add([]byte("<svg><a href=/x>\x00<foreignObject></svg><title></title>a\xff<base href='//[::1]:8/'>"), "::", "x:")
	f.Add([]byte("<a href='http://h.example/?\u202e'><template><html lang=e><link rel=canonical href=' '>"), "", "")
	f.Fuzz(func(t *testing.T, body []byte, base, robots string) {
		header := http.Header{"X-Robots-Tag": {robots}}
		p := ParsePage(body, base, header, "x")
		if !reflect.DeepEqual(p, ParsePage(body, base, header, "x")) {
			t.Error("not the same twice")
		}
		want := p.Metadata
		if m := ParseMetadata(body, base, nil); m != want {
			t.Errorf("metadata %+v, want %+v", m, want)
		}
		seen := map[string]bool{}
		for _, l := range p.Links {
			if seen[l.URL] || !validLink(l.URL) || !cleanWithin(l.Text, linkTextLimit) {
				t.Errorf("link %q", l)
			}
			seen[l.URL] = true
		}
		if p.Canonical != "" && !validLink(p.Canonical) || len(p.Links) > MaxLinks || p.NoFollow && (p.Links != nil || p.LinksCut) ||
			len(p.Language) > languageLimit || len(p.Text) > textLimit || !cleanWithin(p.Text, textLimit) || !cleanWithin(p.Description, descriptionLimit) || len(p.Main) > textLimit ||
			!cleanWithin(strings.ReplaceAll(p.Main, "\n", " "), textLimit) || len(p.Headings) > maxHeadings || !cleanWithin(p.Author, authorLimit) ||
			p.Refresh != "" && !validLink(p.Refresh) || len(p.Feeds) > maxFeeds || len(p.JSONLD) > jsonLDLimit || p.JSONLD != "" && !json.Valid([]byte(p.JSONLD)) {
			t.Errorf("got %+v", p)
		}
	})
}

func validLink(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && validURL(u) && u.Fragment == "" && !strings.Contains(raw, "#")
}

func cleanWithin(s string, limit int) bool {
	return cleanText(s, limit) == s
}

// benchmarkPage is a page of 5 KB with 30 links, as they are written mostly.
func benchmarkPage() string {
	var b strings.Builder
	b.WriteString(`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A page of a site</title>
<meta name="description" content="What the page is about, in one sentence or two."><meta name="viewport" content="width=device-width">
<meta property="og:title" content="A page of a site"><meta property="og:image" content="/images/preview.png">
<link rel="stylesheet" href="/static/site.css"><link rel="canonical" href="https://example.com/a/page"></head><body>`)
	for i := range 30 {
		link := fmt.Sprintf("/articles/%d/a-title-of-some-words", i)
		if i%3 == 0 {
			link = fmt.Sprintf("https://www.site-%d.example/", i)
		}
		fmt.Fprintf(&b, `<div class="item"><p>Some words about <a class="link" href=%q>the article %d</a> and why it may be worth <em>reading</em>.</p></div>`+"\n", link, i)
	}
	b.WriteString("</body></html>")
	return b.String()
}

func BenchmarkParsePage(b *testing.B) {
	page := []byte(benchmarkPage())
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		if p := ParsePage(page, testPage, nil, "Linkwatch"); len(p.Links) != 30 {
			b.Fatal(p)
		}
	}
}
