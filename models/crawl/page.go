package crawl

import (
	"iter"
	"strings"

	"linkwatch/models"
)

// OpenGraph is the stored part of a page's OpenGraph data. Missing values are "".
type OpenGraph struct{ Title, Description, Image, SiteName, Type string }

// Page is the stored data of a fetched page.
type Page struct {
	Seq          int64 `gorm:"primaryKey"`
	SourceSeq    int64
	CrawlSeq     int64 // of the last crawl that stored it
	URL          string
	StatusCode   int
	ContentType  string
	Title        string
	Description  string
	Language     string
	OpenGraph    OpenGraph `gorm:"embedded;embeddedPrefix:og_"`
	ContentHash  string    // hexadecimal SHA-256 of its text; "" = no text
	LinksFound   int
	NoIndex      bool   `gorm:"column:noindex"`
	Canonical    string // its absolute canonical URL; "" = none
	ETag         string `gorm:"column:etag"`
	LastModified string
	CreatedAt    models.Time
	FetchedAt    models.Time
	ChangedAt    models.Time // last change of ContentHash

	Author      string
	PublishedAt models.Time // according to the page; zero = unknown
	ModifiedAt  models.Time
	Headings    string // one per line
	JSONLD      string `gorm:"column:json_ld"` // a JSON array; "" = none
	WordCount   int
	Links       CompressedText // lines of URL, tab and link text; nil = not stored
	Versions    int            // number of its newest version
	TextVersion int            // version that has its text; 0 = no text
	Revision    int64          // number of changes to the data that search shows
	GoneAt      models.Time    // zero = not gone
	DeletedAt   models.Time    // by a user; zero = not deleted
	Duplicate   bool           // of its canonical URL, which lists and searches show instead; see Report
	Unindexed   bool           // the search index is not up to date
	Unsent      bool           // the search engine is not up to date

	Text      CompressedText `gorm:"->"` // of its newest version with a text
	SourceID  string         `gorm:"->"`
	PrivateTo string         `gorm:"->"` // of its source; set by PagesByID only
}

// TableName implements schema.Tabler.
func (Page) TableName() string { return "crawled_pages" }

// ID returns the public id of the page.
func (p Page) ID() string { return models.TimedID(models.KindCrawled, p.CreatedAt, p.Seq) }

// indexed reports whether search can find the page.
func (p Page) indexed() bool {
	return !p.NoIndex && p.ContentHash != "" && p.GoneAt.IsZero() && !p.Duplicate
}

// OtherCanonical returns the normalized canonical URL of the page. ok is false if it has none, or it is its own URL.
func (p Page) OtherCanonical() (url string, ok bool) {
	url, ok = Normalize(p.Canonical)
	return url, ok && url != p.URL
}

// HeadingList returns the headings of the page.
func (p Page) HeadingList() []string {
	if p.Headings == "" {
		return []string{}
	}
	return strings.Split(p.Headings, "\n")
}

// PageLink is a link of a page within the allowed domains.
type PageLink struct{ URL, Text string }

// EachLink yields the stored links of the page. It stops at an error.
func (p Page) EachLink() iter.Seq2[PageLink, error] {
	return func(yield func(PageLink, error) bool) {
		lines, err := p.Links.Decompress()
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

// DiscoveredLink is a link from a page to a host outside the allowed domains.
type DiscoveredLink struct {
	Seq       int64 `gorm:"primaryKey"`
	SourceSeq int64
	URL       string
	Text      string // of the link
	FoundOn   string // URL of the page
	CreatedAt models.Time
	DeletedAt models.Time // zero: not deleted

	SourceID  string `gorm:"->"`
	PrivateTo string `gorm:"->"` // of its source; set by DiscoveredLinksByID only
}

// TableName implements schema.Tabler.
func (DiscoveredLink) TableName() string { return "discovered_links" }

// ID returns the public id of the link.
func (d DiscoveredLink) ID() string { return models.TimedID(models.KindDiscovered, d.CreatedAt, d.Seq) }
