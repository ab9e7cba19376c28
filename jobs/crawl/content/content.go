// Package content makes documents of crawled pages: their main text and what the pages say about it.
package content

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"linkwatch/outbound"
)

// Options are the settings of Extract.
type Options struct {
	Agent       string // the name by which a page may give the crawler rules of its own
	Readability bool   // read a page with go-readability if its main text is poor; costs milliseconds for such a page
}

// Document is a page as it is indexed. Two fields hide those of the page: Language and Text.
type Document struct {
	outbound.Page
	// Language is the language of Text: detected if the text has at least 20 words and the result is reliable, else that which the
	// page declares. It is an ISO 639-1 code, or the three letters of ISO 639-3 for a language without one; "" = unknown.
	Language string
	// Text is the main text, one paragraph a line, at most 1 MiB. Page.Text is all visible text.
	Text string
	// Words is the number of words in Text. A character of Chinese, Japanese, Thai and other scripts without spaces is a word.
	Words int
	// Hash is the SHA-256 of Text in hexadecimal digits, or "" without text. It changes with the main text, not with what is around it.
	Hash string
	// Readable tells that Text is from go-readability.
	Readable bool
}

// A main text is poor if it has fewer than poorWords of at least muchText visible words, or if nothing of so many was left out.
const (
	poorWords = 100
	muchText  = 300
)

// Extract reads an HTML page in UTF-8. base is the page's URL and header that of its response. It never fails: a page that
// says nothing gives a Document without text. Its work is linear in the size of the page, but for go-readability,
// which gets only pages of a limited size.
func Extract(body []byte, base string, header http.Header, o Options) Document {
	d := Document{Page: outbound.ParsePage(body, base, header, o.Agent)}
	d.Text, d.Words = d.Main, countWords(d.Main)
	if o.Readability && (d.Words < poorWords || len(d.Main) == len(d.Page.Text)) {
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
