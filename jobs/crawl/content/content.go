// Package content extracts the main text and the metadata of crawled pages.
package content

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"linkwatch/outbound"
)

// Options are the settings of Extract.
type Options struct {
	Plain       bool   // the body is a text, not HTML
	Agent       string // name of the crawler in robots meta tags
	Readability bool   // use go-readability if the main text is poor, which takes some milliseconds
}

// Document is a page with its extracted content. Its fields Language and Text hide those of Page.
type Document struct {
	outbound.Page
	// Language is the language of Text: the detected one if the text has at least 20 words and the result is reliable, else the
	// declared one. It is an ISO 639-1 code, or an ISO 639-3 code for a language without one; "" = unknown.
	Language string
	// Text is the main text, one paragraph per line, at most 1 MiB. Page.Text is the whole visible text.
	Text string
	// Words is the number of words in Text. In scripts without spaces, such as Chinese or Thai, each character is a word.
	Words int
	// Hash is the hexadecimal SHA-256 of Text, or "" without text. It does not change with navigation or footers.
	Hash string
	// Readable reports whether Text is from go-readability.
	Readable bool
}

// On a page with at least muchText visible words, a main text is poor if it has fewer than poorWords. It is also poor if it is
// the whole visible text.
const (
	poorWords = 100
	muchText  = 300
)

// Extract parses an HTML page, or a text with o.Plain, in UTF-8. base is the page's URL and header the header of its response.
// It never fails: a page without content gives a Document without text. It runs in linear time, except for go-readability,
// which is limited to small pages.
func Extract(body []byte, base string, header http.Header, o Options) Document {
	parse := outbound.ParsePage
	if o.Plain {
		parse = outbound.ParseText
	}
	d := Document{Page: parse(body, base, header, o.Agent)}
	d.Text, d.Words = d.Main, countWords(d.Main)
	if o.Readability && !o.Plain && (d.Words < poorWords || len(d.Main) == len(d.Page.Text)) {
		if all := countWords(d.Page.Text); all >= muchText {
			if text := readable(body, base); countWords(text) >= poorWords {
				d.Text, d.Words, d.Readable = text, countWords(text), true
			}
		}
	}
	d.Language = languageOf(d.Text, d.Words, d.Page.Language)
	if d.Text != "" {
		sum := sha256.Sum256([]byte(d.Text))
		d.Hash = hex.EncodeToString(sum[:])
	}
	return d
}
