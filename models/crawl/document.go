package crawl

import "linkwatch/models"

// Document is a page as a search engine gets it.
type Document struct {
	Seq         int64
	Version     int64  // of the page's content: it grows with each change, and is not negative
	ID          string // of the page
	SourceID    string
	SourceName  string
	URL         string
	Title       string
	Description string
	Text        string
	Author      string
	Language    string
	ContentHash string
	OpenGraph   OpenGraph
	JSONLD      string // normalized: a JSON array; "" = the page has none
	Headings    []string
	WordCount   int
	StatusCode  int
	FetchedAt   models.Time
	ChangedAt   models.Time
	PublishedAt models.Time // zero: the page does not say
	ModifiedAt  models.Time // zero: the page does not say
	Gone        bool        // the search engine must delete it
}

// SentDocument is a document that need not be sent again until its page changes. A
// page whose content has another Version meanwhile still has to be sent.
type SentDocument struct {
	Seq     int64
	Version int64
	Error   string // why the search engine refused the document for good; "" = it is stored or deleted
}
