package outbound

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseMetadata(t *testing.T) {
	const page = "https://example.com/a/b.html"
	og := func(o OpenGraph) Metadata {
		return Metadata{Title: o.Title, TitleSource: "opengraph", Description: o.Description, OG: o}
	}
	title := func(s string) Metadata { return Metadata{Title: s, TitleSource: "title"} }
	image := func(s string) Metadata { return Metadata{OG: OpenGraph{Image: s}} }
	long := strings.Repeat("ж", 2000)
	for name, tc := range map[string]struct {
		in   string
		want Metadata
	}{
		"nothing":            {"", Metadata{}},
		"title":              {"<title> A &amp; B\n\t C </title>", title("A & B C")},
		"OpenGraph first":    {`<title>t</title><meta name="twitter:title" content=tw><meta property="og:title" content="o">`, og(OpenGraph{Title: "o"})},
		"Twitter second":     {`<title>t</title><meta name="twitter:title" content=tw>`, Metadata{Title: "tw", TitleSource: "twitter"}},
		"Twitter, property":  {`<meta property="twitter:title" content=tw>`, Metadata{Title: "tw", TitleSource: "twitter"}},
		"empty ones skipped": {`<meta property=og:title content=" &nbsp;"><meta property=og:title content=""><title>t</title>`, title("t")},
		"all": {`<META PROPERTY="OG:Title" CONTENT="T"><meta name=og:description content=D><meta property=og:image content=/i.png>
			<meta property=og:site_name content=S /><meta property=og:type content=article>`,
			og(OpenGraph{Title: "T", Description: "D", Image: "https://example.com/i.png", SiteName: "S", Type: "article"})},
		"description":          {`<meta name="description" content=" D ">`, Metadata{Description: "D"}},
		"two descriptions":     {`<meta name=description content=d><meta property=og:description content=o>`, Metadata{Description: "d", OG: OpenGraph{Description: "o"}}},
		"the first counts":     {`<meta property=og:title content=1><meta property=og:title content=2>`, og(OpenGraph{Title: "1"})},
		"a list is no name":    {`<meta property="dc:title og:title" content=x><title>t</title>`, title("t")},
		"blanks around a name": {"<meta property=' og:title\n' content=x>", og(OpenGraph{Title: "x"})},
		"property and name":    {`<meta property=dc:title name=og:title content=x>`, og(OpenGraph{Title: "x"})},
		"in the body":          {`<head></head><body><p><meta property=og:title content=x></p>`, og(OpenGraph{Title: "x"})},
		"not in a comment":     {`<!-- <title>no</title> --><title>yes</title>`, title("yes")},
		"not in a script":      {`<script>"</head><title>no</title>"</script><title>yes</title>`, title("yes")},
		"not in a drawing":     {`<svg><title>no</title></svg><title>yes</title>`, title("yes")},
		"after svg unclosed":   {`<title>yes</title><svg><title>no`, title("yes")},
		"not in a template": {
			`<template><title>no</title><meta property=og:title content=no><base href="/no/"></template><title>t</title><meta property=og:image content=i.png>`,
			Metadata{Title: "t", TitleSource: "title", OG: OpenGraph{Image: "https://example.com/a/i.png"}},
		},
		"templates in templates": {`<template><template></template><title>no</title></template><title>yes</title>`, title("yes")},
		"template never closed":  {`<title></title><template><title>no</title>`, Metadata{}},
		"not in a shadow root":   {`<div><template shadowrootmode=open><title>no</title></template></div><title>yes</title>`, title("yes")},
		"template with svg":      {`<template><svg></template><title>yes</title>`, title("yes")},
		"svg with template":      {`<svg><template></svg><title>yes</title>`, title("yes")},
		"template in svg":        {`<svg><foreignObject><template><title>no</title></template></foreignObject><title>no</title></svg><title>yes</title>`, title("yes")},
		"stray end of template":  {`</template><title>yes</title>`, title("yes")},
		"never closed":           {`<title>open`, title("open")},
		"empty title":            {`<title></title><title>second</title>`, title("second")},
		"markup is text":         {`<title><b>x</b></title>`, title("<b>x</b>")},
		"NUL and controls":       {"<title>a\x00b\x07c\u0085d\u009be</title>", title("a\uFFFDbc de")},
		"marks of direction":     {"<title>\uFEFF\u202Eevil\u202C \u2066x\u2069\u200F\u200E</title>", title("evil x")},
		"Arabic stays":           {"<title>مرحبا\u200Cبالعالم</title>", title("مرحبا\u200Cبالعالم")},
		"invalid UTF-8":          {"<title>a\xffb</title>", title("a\uFFFDb")},
		"long":                   {"<title>" + long + "</title>", title(long[:2*titleLimit])},
		"image against base":     {`<meta property=og:image content=i.png><base href="/c/">`, image("https://example.com/c/i.png")},
		"base on another host":   {`<base href="//cdn.example/x/"><base href=/no><meta property=og:image content=i.png>`, image("https://cdn.example/x/i.png")},
		"hopeless base":          {`<base href="javascript:x"><meta property=og:image content=i.png>`, image("https://example.com/a/i.png")},
		"image in two lines":     {"<meta property=og:image content=' /i\n.png '>", image("https://example.com/i.png")},
		"image aliases":          {`<meta property=og:image content="data:x"><meta property=og:image:url content="http://x.example/i">`, image("http://x.example/i")},
		"data image":             {`<meta property=og:image content="data:image/png;base64,AA==">`, Metadata{}},
		"script image":           {`<meta property=og:image content="javascript:alert(1)">`, Metadata{}},
		"image with password":    {`<meta property=og:image content="http://u:p@x.example/i">`, Metadata{}},
		"image too long":         {`<meta property=og:image content="http://x.example/` + strings.Repeat("i", 2048) + `">`, Metadata{}},
		"image, reordered":       {"<meta property=og:image content='http://x.example/?q=\u202Ea\xff'>", image("http://x.example/?q=a")},
	} {
		if got := ParseMetadata([]byte(tc.in), page, nil); got != tc.want {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, tc.want)
		}
	}
	all := ParseMetadata(fmt.Appendf(nil, `<meta property=og:description content=%[1]s><meta property=og:site_name content=%[1]s><meta property=og:type content=%[1]s>`, long), "::", nil)
	if d, s, k := utf8.RuneCountInString(all.OG.Description), utf8.RuneCountInString(all.OG.SiteName), utf8.RuneCountInString(all.OG.Type); d != 1000 || s != 200 || k != 100 {
		t.Errorf("limits: %d %d %d", d, s, k)
	}
}

func TestMegabyteTitle(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, "<title>", strings.Repeat("lang ", 200_000), "</title><meta property=og:site_name content=S></head><body>")
	})
	res := get(t, testClient(t, Options{}), Request{URL: srv.URL, Until: NewHeadEnd()})
	m := ParseMetadata(res.Body, res.URL, nil)
	if utf8.RuneCountInString(m.Title) != 499 || m.OG.SiteName != "S" { // the 500th is a space
		t.Errorf("got %d runes, %q", utf8.RuneCountInString(m.Title), m.OG.SiteName)
	}
}

func TestHeadEnd(t *testing.T) {
	const named = `<meta property=og:title content=x>`
	filler := strings.Repeat("<p>text</p>\n", bodyAllowance/10)
	for name, tc := range map[string]struct{ before, after string }{ // true after before, not earlier
		"end tag":          {"<head>" + named + "</head>", "<body>"},
		"upper case":       {"<HEAD>" + named + "</HEAD>", ""},
		"body tag":         {named + "<body class=x>", ""},
		"script":           {"<head>" + named + "<script>'</head>'</script></head>", ""},
		"comment":          {"<head>" + named + "<!-- </head> <body> --></head>", ""},
		"style and title":  {"<title></head></title><style></head></style>" + named + "</head>", ""},
		"attribute":        {`<meta content="</head>">` + named + "</head>", ""},
		"template":         {"<head>" + named + "<template></head><body></template></head>", "<body>"},
		"og in a template": {"<head></head><body><template>" + named + "</template>" + named, "<p>"},
		"og in the body":   {"<head></head><body>" + named, "<p>"},
		"nothing for long": {"<head></head>" + strings.Repeat("x", bodyAllowance+1), "x"},
		"never":            {"<p>no head at all" + filler, ""},
	} {
		for _, step := range []int{1, 7, 1000, 1 << 30} {
			if step < 1000 && len(tc.before) > 10_000 { // slow
				continue
			}
			end, body := NewHeadEnd(), tc.before+tc.after
			at := 0
			for n := 0; n < len(body) && at == 0; {
				n = min(n+step, len(body))
				if end([]byte(body[:n])) {
					at = n
				}
			}
			// It may look a little later than it could: after twice of what it could not make sense of.
			if name == "never" && at != 0 || name != "never" && step == 1<<30 && at == 0 ||
				at != 0 && at < len(tc.before) {
				t.Errorf("%s in steps of %d: true at %d, want %d", name, step, at, len(tc.before))
			}
		}
	}
}

// A page in pieces of one byte, with a script that never ends, takes no longer than parsing it a few times.
func BenchmarkHeadEnd(b *testing.B) {
	page := []byte("<head><script>" + strings.Repeat("var a = '<!--'; ", 16<<10))
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		end := NewHeadEnd()
		for n := range page {
			end(page[:n])
		}
	}
}

func FuzzParseMetadata(f *testing.F) {
	f.Add([]byte(`<base href=/x><meta property="og:image" content="a b"><title>t`), "http://example.com/")
	f.Add([]byte("<svg><title>\x00</svg><meta name=og:title content='&#x202e;\xff'>"), "::")
	f.Add([]byte("<meta property=og:image content='http://h.example/?\u202e'>"), "")
	f.Fuzz(func(t *testing.T, body []byte, base string) {
		m := ParseMetadata(body, base, nil)
		for _, s := range []string{m.Title, m.OG.Title, m.OG.Description, m.OG.Image, m.OG.SiteName, m.OG.Type} {
			if !utf8.ValidString(s) || len(s) > 4*descriptionLimit || strings.TrimSpace(s) != s ||
				strings.IndexFunc(s, func(r rune) bool { return hidden(r) }) >= 0 {
				t.Errorf("unclean: %q", s)
			}
		}
		if (m.Title == "") != (m.TitleSource == "") || len(m.OG.Image) > imageLimit ||
			m.OG.Image != "" && !strings.HasPrefix(m.OG.Image, "http") {
			t.Errorf("got %+v", m)
		}
		// Early or late, in pieces or not, the end of the head is where it is, and looking for it does no harm.
		end := NewHeadEnd()
		for n := 0; n < len(body); n += 1 + n/2 {
			end(body[:n])
		}
	})
}
