package sites

import "linkwatch/models"

// Limits of sitemaps.
const (
	MaxSitemaps     = 1000     // of a website, those that indexes name included
	MaxSitemapURLs  = 50_000   // of a sitemap (sitemaps.org)
	MaxSitemapBytes = 50 << 20 // of a sitemap, decompressed (sitemaps.org)
	MaxDepth        = 3        // indexes that lead to a sitemap
	maxReasons      = 5        // lines of SkippedWhy
)

// Origin says who named a sitemap.
type Origin string

// The origins.
const (
	Given      Origin = "given"  // a user
	FromRobots Origin = "robots" // robots.txt
	FromIndex  Origin = "index"  // a sitemap index
)

// Kind is the format of a sitemap.
type Kind string

// The kinds.
const (
	KindUnread  Kind = ""        // it was not read yet
	KindSitemap Kind = "sitemap" // XML with pages
	KindIndex   Kind = "index"   // XML with sitemaps
	KindText    Kind = "text"    // a URL on each line
	KindFeed    Kind = "feed"    // RSS or Atom
)

// Sitemap is a list of the pages of a website, or of further sitemaps.
type Sitemap struct {
	Seq          int64 `gorm:"primaryKey"`
	WebsiteSeq   int64
	URL          string
	Origin       Origin
	ParentSeq    *int64 // the index that named it
	RootSeq      *int64 // the first of the indexes that lead to it
	Depth        int    // how many indexes lead to it
	Kind         Kind
	Pages        int    // when it was last read; of an index, sitemaps
	Skipped      int    // entries that were passed over then
	SkippedWhy   string // the first reasons, a line each
	ETag         string `gorm:"column:etag"`
	LastModified string
	ContentHash  []byte // SHA-256 of what was received in full last; nil = none
	Complete     bool   // all of that is stored
	Reading      int64  // counts the times that its entries were stored
	CreatedAt    models.Time
	LastReadAt   models.Time
	ChangedAt    models.Time // when its entries last changed
	SubmittedAt  models.Time // when Google was last told of it
	SubmitError  string
	LastError    string
	DeletedAt    models.Time // its pages are being detached

	WebsiteID string `gorm:"->"`
}

// ID is the sitemap's id.
func (m Sitemap) ID() string { return models.TimedID(models.KindSitemap, m.CreatedAt, m.Seq) }

// Entry is a page in a sitemap.
type Entry struct {
	URL     models.URL
	Lastmod models.Time // zero = it does not say
}
