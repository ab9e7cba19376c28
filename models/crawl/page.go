package crawl

import (
	"net/http"

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
	ETag         string `gorm:"column:etag"`
	LastModified string
	Outlinks     string // the URLs to follow, a line each; "" = not kept
	CreatedAt    models.Time
	FetchedAt    models.Time
	ChangedAt    models.Time // when ContentHash last changed

	SourceID string `gorm:"->"`
}

// TableName implements schema.Tabler.
func (Page) TableName() string { return "crawled_pages" }

// ID is the page's id.
func (p Page) ID() string { return models.TimedID(models.KindCrawled, p.CreatedAt, p.Seq) }

// indexed reports whether the page may be searched for.
func (p Page) indexed() bool {
	return p.StatusCode == http.StatusOK && !p.NoIndex && p.ContentHash != ""
}

// Discovered is a link of a page that leads out of the allowed domains.
type Discovered struct {
	Seq       int64 `gorm:"primaryKey"`
	SourceSeq int64
	URL       string
	Text      string // of the link
	FoundOn   string // URL of the page
	CreatedAt models.Time

	SourceID string `gorm:"->"`
}

// TableName implements schema.Tabler.
func (Discovered) TableName() string { return "discovered_links" }

// ID is the id of the link.
func (d Discovered) ID() string { return models.TimedID(models.KindDiscovered, d.CreatedAt, d.Seq) }
