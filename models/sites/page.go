package sites

import (
	"strconv"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// Status is what is known of a page.
type Status string

// The statuses.
const (
	Pending    Status = "pending"     // not submitted yet
	Submitted  Status = "submitted"   // a search engine was told, and Google not asked since
	Indexed    Status = "indexed"     // by Google
	NotIndexed Status = "not_indexed" // by Google
	Failed     Status = "failed"      // it was refused
)

// gone is the status under which pages are counted that no sitemap has.
const gone Status = "gone"

// Statuses are all of them, in the order of a page's life.
func Statuses() []Status { return []Status{Pending, Submitted, Indexed, NotIndexed, Failed} }

// Page is a page of a website.
type Page struct {
	Seq            int64 `gorm:"primaryKey"`
	WebsiteSeq     int64
	URL            string
	PathAt         int         // where in URL the path begins, counted from 1
	Lastmod        models.Time // by its sitemap; zero = it does not say
	AutoPriority   int
	ManualPriority *int // a user's; nil = none
	QueueRank      int  // 100 minus the priority that counts
	Status         Status
	Cause          string // by which failures and unindexed pages are grouped; "" = none
	ForGoogle      bool   // waits to be submitted to Google
	ForIndexNow    bool   `gorm:"column:for_indexnow"` // waits to be submitted by IndexNow
	SubmitAfter    models.Time
	Attempts       int // that failed in a row
	SubmitWantedAt models.Time
	Removal        bool // somebody waits for its removal to be submitted
	VerifyWantedAt models.Time
	Unverified     bool // submitted after it was last verified
	CreatedAt      models.Time

	LastSubmittedAt models.Time
	LastVerifiedAt  models.Time // when Google last answered whether it is indexed
	AskedAt         models.Time // when Google was last asked
	LastError       string
	GoneAt          models.Time // since when no sitemap has it; zero = one has it

	Inspection `gorm:"embedded"`
	NotifiedAt models.Time // of the latest notification that the Indexing API has received

	WebsiteID   string `gorm:"->"`
	WebsiteName string `gorm:"->"` // filled in where single pages are loaded

	LoadedAt     models.Time `gorm:"-"`                       // where pages are loaded to be worked on: when
	UsesGoogle   bool        `gorm:"->"`                      // the website has credentials
	UsesIndexNow bool        `gorm:"->;column:uses_indexnow"` // the website has a key
}

// ID is the page's id.
func (p Page) ID() string { return models.TimedID(models.KindPage, p.CreatedAt, p.Seq) }

// subject is the page as the audit log names it.
func (p Page) subject() audit.Subject { return audit.Subject{Kind: "page", ID: p.ID(), Name: p.URL} }

// Priority is the one that counts: the manual one, else the automatic one.
func (p Page) Priority() int { return MaxPriority - p.QueueRank }

// Queued reports whether the page waits to be submitted. On a website that uses IndexNow
// alone it does not wait for Google.
func (p Page) Queued() bool {
	return p.ForGoogle && (p.UsesGoogle || !p.UsesIndexNow) || p.ForIndexNow && p.UsesIndexNow
}

// Path is the URL without scheme and host.
func (p Page) Path() string { return p.URL[min(max(p.PathAt-1, 0), len(p.URL)):] }

// Inspection is what Google's URL Inspection API says of a page. "" = not known.
type Inspection struct {
	Verdict         string // PASS, PARTIAL, FAIL or NEUTRAL
	CoverageState   string // such as "Submitted and indexed"
	RobotsState     string // ALLOWED or DISALLOWED
	IndexingState   string // such as BLOCKED_BY_META_TAG
	FetchState      string // such as SOFT_404
	GoogleCanonical string // the page that Google chose
	UserCanonical   string // the page that the page names
	LastCrawledAt   models.Time
}

// OtherCanonical reports whether Google shows another page in place of url.
func (i Inspection) OtherCanonical(url string) bool {
	if i.GoogleCanonical == "" {
		return false
	}
	theirs, err := models.ParseURL("google_canonical", i.GoogleCanonical)
	if err != nil {
		return true
	}
	ours, err := models.ParseURL("url", url)
	return err != nil || theirs.Canonical != ours.Canonical
}

func itoa(n int) string { return strconv.Itoa(n) }
