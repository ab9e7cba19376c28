package sites

import (
	"linkwatch/models"
	"linkwatch/models/audit"
)

// Status is the submission and index status of a page.
type Status string

// The statuses.
const (
	Pending    Status = "pending"     // not submitted yet
	Submitted  Status = "submitted"   // accepted by a search engine; Google has not reported since whether it is indexed
	Indexed    Status = "indexed"     // by Google
	NotIndexed Status = "not_indexed" // by Google
	Failed     Status = "failed"      // submission failed
)

// gone is the status of page_counts for pages that are in no sitemap.
const gone Status = "gone"

// Statuses returns all statuses in the order of a page's life.
func Statuses() []Status { return []Status{Pending, Submitted, Indexed, NotIndexed, Failed} }

// Page is a page of a website.
type Page struct {
	Seq               int64 `gorm:"primaryKey"`
	WebsiteSeq        int64
	URL               string
	PathStart         int         // where in URL the path begins, counted from 1
	Lastmod           models.Time // from the sitemap; zero = unknown
	AutoPriority      int
	ManualPriority    *int // nil = none
	QueueRank         int  // 100 - Priority()
	Status            Status
	Cause             string // slug of a Cause; "" = none
	QueuedForGoogle   bool   // waits to be submitted to Google
	QueuedForIndexNow bool   `gorm:"column:queued_for_indexnow"` // waits to be submitted by IndexNow
	SubmitAfter       models.Time
	Attempts          int // consecutive failures
	SubmitRequestedAt models.Time
	Removal           bool // the submission request is for a removal
	VerifyRequestedAt models.Time
	Unverified        bool // submitted after the last verification
	CreatedAt         models.Time

	LastSubmittedAt   models.Time
	LastVerifiedAt    models.Time // last index status from Google
	VerifyAttemptedAt models.Time // last attempt, successful or not
	LastError         string
	GoneAt            models.Time // when it left the last sitemap; zero = in a sitemap

	Inspection `gorm:"embedded"`
	NotifiedAt models.Time // latest notification received by the Indexing API

	WebsiteID   string `gorm:"->"`
	WebsiteName string `gorm:"->"` // set for single pages only

	LoadedAt     models.Time `gorm:"-"`                       // when loaded for processing
	UsesGoogle   bool        `gorm:"->"`                      // the website has credentials
	UsesIndexNow bool        `gorm:"->;column:uses_indexnow"` // the website has a key
}

// ID returns the ID of the page.
func (p Page) ID() string { return models.TimedID(models.KindPage, p.CreatedAt, p.Seq) }

func (p Page) subject() audit.Subject { return audit.Subject{Kind: "page", ID: p.ID(), Name: p.URL} }

// Priority is the effective priority: the manual one if set, else the automatic one.
func (p Page) Priority() int { return MaxPriority - p.QueueRank }

// Queued reports whether the page is queued for submission. If the website uses IndexNow only, the queue for Google does
// not count.
func (p Page) Queued() bool {
	return p.QueuedForGoogle && (p.UsesGoogle || !p.UsesIndexNow) || p.QueuedForIndexNow && p.UsesIndexNow
}

// Path returns the URL without scheme and host.
func (p Page) Path() string { return p.URL[min(max(p.PathStart-1, 0), len(p.URL)):] }

// Inspection is the result of Google's URL Inspection API. "" = unknown.
type Inspection struct {
	Verdict         string // PASS, PARTIAL, FAIL or NEUTRAL
	CoverageState   string // such as "Submitted and indexed"
	RobotsState     string // ALLOWED or DISALLOWED
	IndexingState   string // such as BLOCKED_BY_META_TAG
	FetchState      string // such as SOFT_404
	GoogleCanonical string // chosen by Google
	UserCanonical   string // declared by the page
	LastCrawledAt   models.Time
}

// OtherCanonical reports whether Google chose the URL of another page as canonical.
func (i Inspection) OtherCanonical(url string) bool {
	if i.GoogleCanonical == "" {
		return false
	}
	google, err := models.ParseURL("google_canonical", i.GoogleCanonical)
	if err != nil {
		return true
	}
	own, err := models.ParseURL("url", url)
	return err != nil || google.Canonical != own.Canonical
}
