package apptest

import (
	"strings"

	"github.com/PuerkitoBio/goquery"
)

// Doc reads an answer's HTML.
func (a Answer) Doc() *goquery.Document {
	a.TB.Helper()
	d, err := goquery.NewDocumentFromReader(strings.NewReader(a.Body))
	if err != nil {
		a.TB.Fatal(err)
	}
	return d
}
