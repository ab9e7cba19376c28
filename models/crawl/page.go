package crawl

import (
	"iter"
	"strings"

	"linkwatch/models"
)

// OpenGraph is the part of a page's OpenGraph data that is kept; "" = it says nothing.
type OpenGraph struct{ Title, Description, Image, SiteName, Type string }

// Page is what is kept of a page that was fetched.
type Page struct {
	Seq          int64 `gorm:"primaryKey"`
	SourceSeq    int64
	CrawlSeq     int64 // of the crawl that stored it last
	URL          string
	StatusCode   int
	ContentType  string
	Title        string
	Description  string
	Language     string
	OpenGraph    OpenGraph `gorm:"embedded;embeddedPrefix:og_"`
	ContentHash  string    // SHA-256 of its text in hexadecimal; "" = it has no text
	LinksFound   int
	NoIndex      bool   `gorm:"column:noindex"`
	Canonical    string // absolute URL that it names as its canonical one; "" = none
	ETag         string `gorm:"column:etag"`
	LastModified string
	CreatedAt    models.Time
	FetchedAt    models.Time
	ChangedAt    models.Time // when ContentHash last changed

	Author      string
	PublishedAt models.Time // by the page; zero = it does not say
	ModifiedAt  models.Time
	Headings    string // a line each
	JSONLD      string `gorm:"column:json_ld"` // a JSON array; "" = none
	WordCount   int
	Links       Packed      // lines of URL, tab and the link's text; nil = not kept
	Versions    int         // the number of its newest version
	TextVersion int         // the version that has its text; 0 = it has none
	Revision    int64       // counts the changes of what search shows
	GoneAt      models.Time // zero = it is there
	DeletedAt   models.Time // by a user; zero = not deleted
	Unindexed   bool        // the search index is behind
	Unsent      bool        // the search engine is behind

	Text      Packed `gorm:"->"` // of its newest version that has one
	SourceID  string `gorm:"->"`
	PrivateTo string `gorm:"->"` // of its source; only PagesByID fills it
}

// TableName implements schema.Tabler.
func (Page) TableName() string { return "crawled_pages" }

// ID is the page's id.
func (p Page) ID() string { return models.TimedID(models.KindCrawled, p.CreatedAt, p.Seq) }

// indexed reports whether the page may be searched for.
func (p Page) indexed() bool { return !p.NoIndex && p.ContentHash != "" && p.GoneAt.IsZero() }

// HeadingList are the headings of the page.
func (p Page) HeadingList() []string {
	if p.Headings == "" {
		return []string{}
	}
	return strings.Split(p.Headings, "\n")
}

// PageLink is a link of a page within the allowed domains.
type PageLink struct{ URL, Text string }

// EachLink gives the links that are kept with the page, until an error.
func (p Page) EachLink() iter.Seq2[PageLink, error] {
	return func(yield func(PageLink, error) bool) {
		lines, err := p.Links.Unpack()
		if err != nil {
			yield(PageLink{}, err)
			return
		}
		for line := range strings.SplitSeq(strings.TrimRight(lines, "\n"), "\n") {
			url, text, ok := strings.Cut(line, "\t")
			if ok && !yield(PageLink{url, text}, nil) {
				return
			}
		}
	}
}

// Discovered is a link of a page that leads out of the allowed domains.
type Discovered struct {
	Seq       int64 `gorm:"primaryKey"`
	SourceSeq int64
	URL       string
	Text      string // of the link
	FoundOn   string // URL of the page
	CreatedAt models.Time
	DeletedAt models.Time // zero: it is there

	SourceID  string `gorm:"->"`
	PrivateTo string `gorm:"->"` // of its source; only DiscoveredByID fills it
}

// TableName implements schema.Tabler.
func (Discovered) TableName() string { return "discovered_links" }

// ID is the id of the link.
func (d Discovered) ID() string { return models.TimedID(models.KindDiscovered, d.CreatedAt, d.Seq) }
