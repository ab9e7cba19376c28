//go:build e2e

package bench

import (
	"bytes"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/go-shiori/go-readability"
	"github.com/markusmobius/go-trafilatura"
	"golang.org/x/net/html"

	"linkwatch/jobs/crawl/content"
	"linkwatch/outbound"
)

var corpusFolder = flag.String("corpus", "", "measure text extraction on the pages `folder`/*/{source,expected}.html; needs -figures")

// corpusPage is a page with its expected main text.
type corpusPage struct {
	name string
	html []byte
	text []string
}

// readCorpus reads the pages of -corpus, in the layout of the tests of mozilla/readability.
func readCorpus(t *testing.T) (pages []corpusPage) {
	t.Helper()
	sources, err := filepath.Glob(filepath.Join(*corpusFolder, "*", "source.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		p := corpusPage{name: filepath.Base(filepath.Dir(source))}
		if p.html, err = os.ReadFile(source); err != nil {
			t.Fatal(err)
		}
		expected, err := os.ReadFile(filepath.Join(filepath.Dir(source), "expected.html"))
		if err != nil {
			t.Fatal(err)
		}
		p.text = wordsOf(outbound.ParsePage(expected, "", nil, "").Text)
		pages = append(pages, p)
	}
	return pages
}

// wordsOf returns the words of a text in lower case. In scripts without spaces, each character is a word.
func wordsOf(text string) (words []string) {
	begin := -1
	for i, r := range text {
		wide := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
		letter := unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
		if begin >= 0 && (wide || !letter) {
			words = append(words, strings.ToLower(text[begin:i]))
			begin = -1
		}
		if wide {
			words = append(words, string(r))
		} else if letter && begin < 0 {
			begin = i
		}
	}
	if begin >= 0 {
		words = append(words, strings.ToLower(text[begin:]))
	}
	return words
}

// shingles counts the sequences of n words.
func shingles(words []string, n int) map[string]int {
	all := map[string]int{}
	for i := range max(0, len(words)-n+1) {
		all[strings.Join(words[i:i+n], " ")]++
	}
	return all
}

// overlap returns the precision and recall of the shingles of got.
func overlap(got, want map[string]int) (precision, recall float64) {
	same, g, w := 0, 0, 0
	for s, n := range got {
		same += min(n, want[s])
		g += n
	}
	for _, n := range want {
		w += n
	}
	if g == 0 || w == 0 {
		if g == w {
			return 1, 1
		}
		return 0, 0
	}
	return float64(same) / float64(g), float64(same) / float64(w)
}

// TestExtractionFigures measures the quality and speed of text extraction.
func TestExtractionFigures(t *testing.T) {
	if !*figures || *corpusFolder == "" {
		t.Skip("skipped without -figures and -corpus")
	}
	pages := readCorpus(t)
	base, _ := url.Parse("https://example.com/a/page")
	fmt.Printf("\nThe main text of %d pages\n\n| %-28s | precision | recall | F1 | F1 of shingles | ms a page |\n|---|---|---|---|---|---|\n", len(pages), "extraction")
	for _, e := range []struct {
		name string
		text func(page []byte) string
	}{
		{"all visible text", func(page []byte) string { return outbound.ParsePage(page, base.String(), nil, "").Text }},
		{"outbound.ParsePage", func(page []byte) string { return outbound.ParsePage(page, base.String(), nil, "").Main }},
		{"content.Extract", func(page []byte) string { return content.Extract(page, base.String(), nil, content.Options{}).Text }},
		{"content.Extract, Readability", func(page []byte) string {
			return content.Extract(page, base.String(), nil, content.Options{Readability: true}).Text
		}},
		{"go-readability", func(page []byte) string {
			a, err := readability.FromReader(bytes.NewReader(page), base)
			if err != nil {
				return ""
			}
			return textOf(a.Node)
		}},
		{"go-trafilatura", func(page []byte) string {
			r, err := trafilatura.Extract(bytes.NewReader(page), trafilatura.Options{OriginalURL: base})
			if err != nil {
				return ""
			}
			return r.ContentText
		}},
	} {
		var p, r, f, fs float64
		var took time.Duration
		for _, page := range pages {
			started := time.Now()
			text := e.text(page.html)
			took += time.Since(started)
			words := wordsOf(text)
			precision, recall := overlap(shingles(words, 1), shingles(page.text, 1))
			p, r, f = p+precision, r+recall, f+harmonic(precision, recall)
			fs += harmonic(overlap(shingles(words, 4), shingles(page.text, 4)))
		}
		n := float64(len(pages))
		fmt.Printf("| %-28s | %.3f | %.3f | %.3f | %.3f | %.2f |\n", e.name, p/n, r/n, f/n, fs/n, took.Seconds()*1000/n)
	}
}

func harmonic(p, r float64) float64 {
	if p+r == 0 {
		return 0
	}
	return 2 * p * r / (p + r)
}

func textOf(n *html.Node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	_ = html.Render(&b, n)
	return outbound.ParsePage([]byte(b.String()), "", nil, "").Text
}
