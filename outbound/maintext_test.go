package outbound

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const prose = "A paragraph of an article has some words, a comma or two, and goes on for a while without a link to another page. "

func TestMainText(t *testing.T) {
	p := "<p>" + prose + prose + "</p>"
	for name, page := range map[string]string{
		"semantic":       "<header><a href=/>Home</a></header><nav><a href=/a>Menu</a></nav><main>" + p + p + p + "</main><footer>Imprint</footer>",
		"hints":          "<div class=top-menu><a href=/a>Menu</a></div><div id=content>" + p + p + p + "</div><div class='cookie-notice'>" + prose + "</div>",
		"hidden":         "<div><p hidden>no</p><div style='display: none'>no</div><div aria-hidden=true>no</div>" + p + p + p + "</div>",
		"comments":       "<div class=post>" + p + p + p + "<div class=comments><p>" + prose + "</p></div><ul class=share><li><a href=/s>Share</a></ul></div>",
		"parts":          "<article><div><div>" + p + "</div></div><div><div>" + p + "</div></div><div><div>" + p + "</div></div></article><aside>" + prose + "</aside>",
		"unclosed":       "<nav><ul><li><a href=/>Home</a><li><a href=/a>A</a></ul></nav><div>" + strings.ReplaceAll(p+p+p, "</p>", ""),
		"links in lists": "<div>" + p + p + p + "<ul><li><a href=/1>Another page</a><li><a href=/2>One more</a></ul></div>",
	} {
		paragraph := strings.TrimSpace(prose + prose)
		if got, want := ParsePage([]byte(page), testPage, nil, "").Main, strings.Join([]string{paragraph, paragraph, paragraph}, "\n"); got != want {
			t.Errorf("%s: got %q", name, got)
		}
	}
	for in, want := range map[string]string{
		"":                               "",
		"<p>a <b>b</b><br>c<br><br>d":    "a b c\nd",
		"<nav>Menu</nav><p>Few words":    "Menu\nFew words",
		"<table><td>a<td>b<tr><td>c":     "a\nb\nc",
		"<pre>a\n  b</pre><my-card>c":    "a b\nc",
		"<select><option>a<option>b":     "a\nb",
		"</div></p></table>x<br></br>y":  "x\ny",
		"<p>\x00a\u202e</p><p hidden>no": "a",
	} {
		if got := ParsePage([]byte(in), testPage, nil, "").Main; got != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
}

func TestHeadings(t *testing.T) {
	got := ParsePage([]byte("<h1> One <b>1</b></h1><h2>Two<h3>Three</h3><h4>no</h4><h2></h2><h1 hidden>no</h1><h3>"+strings.Repeat("ж", 300)), testPage, nil, "").Headings
	if want := []string{"One 1", "Two", "Three", strings.Repeat("ж", headingLimit)}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	if got := ParsePage([]byte(strings.Repeat("<h2>x</h2>", 60)), testPage, nil, "").Headings; len(got) != maxHeadings {
		t.Errorf("got %d", len(got))
	}
}

func TestFeeds(t *testing.T) {
	page := `<link rel=alternate type="application/rss+xml" title="News " href=/rss><link rel="alternate" type=application/atom+xml href=/rss#x>
		<link rel=alternate type=application/feed+json href=feed.json><link rel=alternate type=application/json href=/wp-json/1>
		<link rel=alternate type=application/json href=/x title="A Feed"><link rel=alternate hreflang=de href=/de><link rel=stylesheet type=application/rss+xml href=/no>`
	want := []Link{{"https://example.com/rss", "News"}, {"https://example.com/a/feed.json", ""}, {"https://example.com/x", "A Feed"}}
	if got := ParsePage([]byte(page), testPage, nil, "").Feeds; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	if got := ParsePage([]byte(page+"<meta name=robots content=nofollow>"), testPage, nil, "").Feeds; got != nil {
		t.Errorf("nofollow: got %q", got)
	}
	var many strings.Builder
	for i := range 30 {
		fmt.Fprintf(&many, "<link rel=alternate type=application/rss+xml href=/%d>", i)
	}
	if got := ParsePage([]byte(many.String()), testPage, nil, "").Feeds; len(got) != maxFeeds {
		t.Errorf("got %d", len(got))
	}
}

// Each of these pages takes well under a second. With quadratic time they would take minutes.
func TestHostilePages(t *testing.T) {
	t.Parallel()
	const size = 2 << 20 // work that grows with its square takes minutes
	for _, part := range []string{
		"<div>", "</div>", "<div class=content>x", "<p>x", "<li>", "</p>", "<a href=x>", "<a href=x>y", "<table><tr><td>", "<ul><li><ul>", "<b>", "x", "x ", "\x00", "<", "<!--",
		"<svg>", "<template>", "<x-y>", "<br>", "ж,", "<div class='" + strings.Repeat("comment ", 40) + "'>", "<h1>x", "<time datetime=x pubdate>", "<script type=application/ld+json>{</script>",
		"<link rel=alternate type=application/rss+xml href=x>", "<meta itemprop=author content=x>", "<p>" + prose,
	} {
		body := []byte(strings.Repeat(part, size/len(part)))
		if p := ParsePage(body, testPage, nil, ""); len(p.Main) > textLimit || len(p.Headings) > maxHeadings || len(p.Feeds) > maxFeeds {
			t.Errorf("%.20q: %d bytes, %d headings", part, len(p.Main), len(p.Headings))
		}
	}
	mixed := strings.Repeat("<div>", maxDepth) + strings.Repeat("</li>", size/5)
	if p := ParsePage([]byte(mixed), testPage, nil, ""); p.Main != "" {
		t.Errorf("got %q", p.Main)
	}
}

// The tags of <html>, <head> and <body> may be left out: the page itself is the element
// that holds the paragraphs then.
func TestMainTextWithoutBody(t *testing.T) {
	var b strings.Builder
	b.WriteString("<!doctype html><title>T</title>")
	for i := range 30 {
		fmt.Fprintf(&b, "<p>Paragraph %d tells of the weather, of the harvest, and of what the people of the valley make of both.\n", i)
	}
	b.WriteString("<pre>some code that is long enough to be a block of its own, with commas, and more</pre>")
	p := ParsePage([]byte(b.String()), "http://example.com/", nil, "x")
	if n := strings.Count(p.Main, "Paragraph"); n != 30 {
		t.Errorf("%d of 30 paragraphs are in the main text", n)
	}
}
