package sites

import "linkwatch/models"

// Limits of sitemaps.
const (
	MaxSitemaps     = 1000     // per website, including those listed in indexes
	MaxSitemapURLs  = 50_000   // per sitemap (sitemaps.org)
	MaxSitemapBytes = 50 << 20 // per sitemap, decompressed (sitemaps.org)
	MaxDepth        = 3        // nested indexes
	maxReasons      = 5        // lines of SkippedReasons
)

// Origin is where a sitemap comes from.
type Origin string

// The origins.
const (
	FromUser   Origin = "given"  // added by a user
	FromRobots Origin = "robots" // listed in robots.txt
	FromIndex  Origin = "index"  // listed in a sitemap index
)

// Kind is the format of a sitemap.
type Kind string

// The kinds.
const (
	KindUnread  Kind = ""        // not read yet
	KindSitemap Kind = "sitemap" // XML with pages
	KindIndex   Kind = "index"   // XML with sitemaps
	KindText    Kind = "text"    // a URL on each line
	KindFeed    Kind = "feed"    // RSS or Atom
)

// Sitemap lists pages of a website, or other sitemaps.
type Sitemap struct {
	Seq            int64 `gorm:"primaryKey"`
	WebsiteSeq     int64
	URL            string
	Origin         Origin
	ParentSeq      *int64 // index that lists it
	RootSeq        *int64 // top-level index above it
	Depth          int    // number of indexes above it
	Kind           Kind
	Pages          int    // at the last read; for an index, sitemaps
	Skipped        int    // entries skipped at the last read
	SkippedReasons string // first reasons, one per line
	ETag           string `gorm:"column:etag"`
	LastModified   string
	ContentHash    []byte // SHA-256 of the last complete body; nil = none
	Complete       bool   // all entries of that body are stored
	Generation     int64  // counts readings that stored entries
	CreatedAt      models.Time
	LastReadAt     models.Time
	ChangedAt      models.Time // when the content last changed
	SubmittedAt    models.Time // last submission to Google
	SubmitError    string
	LastError      string
	DeletedAt      models.Time // set while its pages are being detached

	WebsiteID string `gorm:"->"`
}

// ID returns the ID of the sitemap.
func (m Sitemap) ID() string { return models.TimedID(models.KindSitemap, m.CreatedAt, m.Seq) }

// Entry is a page in a sitemap.
type Entry struct {
	URL     models.URL
	Lastmod models.Time // zero = unknown
}
