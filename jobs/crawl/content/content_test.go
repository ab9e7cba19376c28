package content

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

const (
	base    = "https://example.com/a"
	english = "The committee said on Monday that it would publish the report before the end of the year, after the members had read all of it. "
	german  = "Der Ausschuss teilte am Montag mit, dass der Bericht noch vor dem Ende des Jahres erscheint, nachdem die Mitglieder ihn gelesen haben. "
)

func TestExtract(t *testing.T) {
	page := `<html lang=fr-CA><head><title>A title</title><meta name=description content=What><meta name=author content="An Author">
		<meta property=article:published_time content=2024-03-05><link rel=canonical href=/c></head>
		<nav><a href=/x>Menu</a></nav><main><h1>Head</h1><p>` + strings.Repeat(english, 3) + `<p>` + strings.Repeat(english, 3) + `</main>`
	d := Extract([]byte(page), base, http.Header{"X-Robots-Tag": {"bot: noindex"}}, Options{Agent: "bot", Readability: true})
	paragraph := strings.TrimSpace(strings.Repeat(english, 3))
	if want := "Head\n" + paragraph + "\n" + paragraph; d.Text != want || d.Words != 1+6*25 || len(d.Hash) != 64 || d.Readable {
		t.Errorf("got %d words, hash %s: %q", d.Words, d.Hash, d.Text)
	}
	if d.Title != "A title" || d.Description != "What" || d.Author != "An Author" || d.Language != "en" || d.Page.Language != "fr-CA" ||
		!d.Published.Equal(time.Date(2024, 3, 5, 0, 0, 0, 0, time.UTC)) || d.Canonical == "" || !d.NoIndex || len(d.Links) != 1 {
		t.Errorf("got %+v", d)
	}
	other := Extract([]byte(strings.Replace(page, "Menu", "Another menu", 1)), base, nil, Options{})
	if other.Hash != d.Hash || other.Page.Text == d.Page.Text {
		t.Error("the menu changes the hash of the main text")
	}
	if none := Extract(nil, "", nil, Options{Readability: true}); none.Hash != "" || none.Words != 0 || none.Language != "" {
		t.Errorf("got %+v", none)
	}
}

func TestExtractText(t *testing.T) {
	lines := strings.Repeat(english+"\n", 40)
	d := Extract([]byte("# A <b>file</b>\r\n\r\n"+lines), base, http.Header{"X-Robots-Tag": {"noindex"}}, Options{Plain: true, Readability: true})
	if !strings.HasPrefix(d.Text, "# A <b>file</b>\nThe committee") || d.Words != 2+40*25 || len(d.Hash) != 64 || d.Language != "en" || d.Readable {
		t.Errorf("got %d words, hash %s, language %s, %v: %.80q", d.Words, d.Hash, d.Language, d.Readable, d.Text)
	}
	if d.Title != "" || d.Links != nil || !d.NoIndex {
		t.Errorf("got title %q, links %v, noindex %v", d.Title, d.Links, d.NoIndex)
	}
}

func TestLanguages(t *testing.T) {
	for _, c := range []struct{ lang, text, want string }{
		{"", english, "en"},
		{"en", german, "de"},
		{"de-AT", "Too few words", "de"},
		{"", "Too few words", ""},
		{"x-klingon", "", ""},
		{"GSW", "", "gsw"},
		{"", strings.Repeat("これは日本語の文章です。", 5), "ja"},
		{"", "Комитет сообщил в понедельник, что отчёт будет опубликован до конца года, после того как все члены его прочитают. Это решение было принято, потому что раньше документы часто выходили с большим опозданием, и люди не могли узнать, что было сделано.", "ru"},
	} {
		if got := Extract([]byte("<html lang="+c.lang+"><p>"+c.text), base, nil, Options{}).Language; got != c.want {
			t.Errorf("%q %.40q: got %q, want %q", c.lang, c.text, got, c.want)
		}
	}
}

func TestCountWords(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, " - ": 0, "one": 1, "don't stop\nnow": 3, "e-mail a/b 1,000.5": 3, "été über": 2, "漢字かな": 4, "漢a字 b": 4, "— “Quoted” —": 1, "สวัสดี": 4, "a\u00a0b": 2,
		"слово, ещё": 2, "\xff": 0,
	} {
		if got := countWords(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

// poor returns a page whose text is only in elements that the first pass ignores.
func poor() string {
	return "<div class=x><nav>" + strings.Repeat("<p>"+english+"</p>", 20) + "</nav><p>" + english + english + "</p></div>"
}

func TestReadableFallback(t *testing.T) {
	for _, page := range []string{poor(), "<div>" + strings.Repeat("<p>"+english+"</p>", 20) + "</div>"} {
		d := Extract([]byte(page), base, nil, Options{Readability: true})
		if !d.Readable || d.Words < poorWords {
			t.Errorf("with the fallback: got %d words, %v", d.Words, d.Readable)
		}
		if plain := Extract([]byte(page), base, nil, Options{}); plain.Readable || plain.Words == 0 {
			t.Errorf("without the fallback: got %d words, %v", plain.Words, plain.Readable)
		}
		if !utf8.ValidString(d.Text) || strings.Contains(d.Text, "  ") {
			t.Errorf("got %q", d.Text)
		}
	}
	if got := readable([]byte("<article><h2>Head</h2><p>"+english+"<b>x</b>y<br>z</p>"+strings.Repeat("<p>"+english+"</p>", 9)+"</article>"), "::"); !strings.Contains(got, "year, after the members had read all of it. xy z\nThe") {
		t.Errorf("got %q", got)
	}
}

// Each of these pages would take minutes if the time were quadratic in its size.
func TestHostilePages(t *testing.T) {
	for _, size := range []int{readableBytes, 5 << 20} {
		for _, part := range []string{
			"<div>", "<div>x ", "<p>" + english, "<b>x ", "<a href=x>y z ", "<table><tr><td>a b ", "<font><p>a ", "<ul><li>a b ", "</p>a ", "<form>a ", "\x00 ", "a b ",
			"<div class=content>a</div> ", "<span>a ", "<h1>a</h1>", "<br>a, b ", "<svg>a ", "<select><option>a ",
		} {
			body := []byte(strings.Repeat("<p>"+english, 30) + strings.Repeat(part, size/len(part)))
			d := Extract(body, base, nil, Options{Readability: true})
			if size == readableBytes {
				_ = readable(body[:size], base)
			}
			if len(d.Text) > 1<<20 || !utf8.ValidString(d.Text) {
				t.Errorf("%.20q: got %d bytes", part, len(d.Text))
			}
		}
	}
	for _, depth := range []int{readableDepth + 1, 600, 100_000} {
		if got := readable([]byte(strings.Repeat("<div>", depth)+"<p>"+strings.Repeat(english, 20)), base); got != "" {
			t.Errorf("%d levels: got %d bytes", depth, len(got))
		}
	}
}

func FuzzExtract(f *testing.F) {
	f.Add([]byte("<html lang=de><p>" + german + "<script type=application/ld+json>{}"))
	f.Add([]byte(poor()))
	f.Fuzz(func(t *testing.T, body []byte) {
		d := Extract(body, base, nil, Options{Readability: true})
		if (d.Hash == "") != (d.Text == "") || !utf8.ValidString(d.Text) || len(d.Language) > 3 || d.Words > len(d.Text) {
			t.Errorf("got %+v", d)
		}
		if text := readable(body, base); !utf8.ValidString(text) {
			t.Errorf("got %q", text)
		}
	})
}

func BenchmarkLanguage(b *testing.B) {
	text := strings.Repeat(english, 20)
	for _, declared := range []string{"", "en-GB", "de"} {
		b.Run("declared="+declared, func(b *testing.B) {
			for b.Loop() {
				if languageOf(text, 500, declared) != "en" {
					b.Fatal("language is not English")
				}
			}
		})
	}
}

func BenchmarkExtract(b *testing.B) {
	page := []byte("<html lang=en><title>t</title><main>" + strings.Repeat("<p>"+english+"<a href=/x>link</a>", 30) + "</main>")
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		if Extract(page, base, nil, Options{}).Words == 0 {
			b.Fatal("got no words")
		}
	}
}
