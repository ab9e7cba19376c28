package help

import (
	"strings"
	"testing"
)

func TestRender(t *testing.T) {
	for markdown, want := range map[string]string{
		"a <b>bold</b> word":       "<p>a <!-- raw HTML omitted -->bold<!-- raw HTML omitted --> word</p>",
		"## A \"heading\"":         `<h2 id="about-a-heading"><a href="#about-a-heading">A &quot;heading&quot;</a></h2>`,
		"```sh\na <b>\n```":        "<pre tabindex=\"0\"><code class=\"language-sh\">a &lt;b&gt;\n</code></pre>",
		"[alerts](alerts.md)":      `<p><a href="/help/alerts">alerts</a></p>`,
		"[there](#keys)":           `<p><a href="#about-keys">there</a></p>`,
		"[site](https://go.dev/)":  `<p><a href="https://go.dev/">site</a></p>`,
		"[x](javascript:alert(1))": `<p><a href="">x</a></p>`,

		"<!-- a comment -->\n\ntext":              "<p>text</p>",
		"before\n\n![a picture](../images/a.png)": "<p>before</p>",
		"before ![a picture](../images/a.png)":    "<p>before </p>",
		"[a *b*](../settings.md#short-links)":     `<p><a href="/help/settings#about-short-links">a <em>b</em></a></p>`,
		"[/links](http://127.0.0.1:8080/links)":   `<p><a href="/links">/links</a></p>`,
		"[ADR `1`](../adr/0001.md), then":         "<p>ADR <code>1</code> (docs/adr/0001.md), then</p>",
		"[deploy/a.conf](../../deploy/a.conf)":    "<p>deploy/a.conf</p>",
	} {
		g, err := render("guide/links.md", []byte("# Title\n\n"+markdown+"\n"))
		if got := strings.TrimSpace(g.HTML); err != nil || got != want || g.Title != "Title" {
			t.Errorf("%q: got %q, %v, want %q", markdown, got, err, want)
		}
	}
	g, err := render("settings.md", []byte("# T\n\n| a | b |\n|---|--:|\n| 1 \\| | `2` |\n"))
	if err != nil || strings.Contains(g.HTML, "style=") {
		t.Errorf("got %s, %v", g.HTML, err)
	}
	for _, want := range []string{
		`<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>`,
		`<td align="right"><code>2</code></td>`, "</table></div>",
	} {
		if !strings.Contains(g.HTML, want) {
			t.Errorf("got %s without %s", g.HTML, want)
		}
	}
}

func TestExcerpt(t *testing.T) {
	text := strings.Repeat("before ", 30) + "the Word é " + strings.Repeat("after ", 60)
	for words, want := range map[string]string{
		"word":    "… before before before before before before before the Word é after",
		"before":  "before before",
		"missing": "before before",
	} {
		got := excerpt(text, []string{words})
		if !strings.HasPrefix(got, want) || len(got) > excerptLength+10 || !strings.HasSuffix(got, " …") {
			t.Errorf("%s: got %q", words, got)
		}
	}
	if got := excerpt("A short text.", []string{"short"}); got != "A short text." {
		t.Errorf("got %q", got)
	}
}
