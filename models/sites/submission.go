package sites

import "linkwatch/models"

// Method is how a search engine is told of pages.
type Method string

// The methods.
const (
	ByIndexingAPI Method = "indexing_api" // Google's Indexing API: a page
	BySitemap     Method = "sitemap"      // Google's Search Console API: a sitemap
	ByIndexNow    Method = "indexnow"     // IndexNow: a batch of pages
)

// Service is the service that a method uses.
func (m Method) Service() Service {
	switch m {
	case ByIndexingAPI:
		return Indexing
	case BySitemap:
		return SearchConsole
	default:
		return IndexNow
	}
}

// Action is what a search engine is told.
type Action string

// The actions.
const (
	Updated Action = "updated"
	Deleted Action = "deleted"
)

// SubmissionStatus is what became of a submission.
type SubmissionStatus string

// The statuses of submissions.
const (
	Unsent   SubmissionStatus = ""         // it was given up before it was sent: it is not kept
	Sent     SubmissionStatus = "sent"     // there is no answer yet, or it was lost
	Accepted SubmissionStatus = "accepted" // 2xx
	Refused  SubmissionStatus = "refused"  // it is not tried again as it is
	Retried  SubmissionStatus = "failed"   // it is tried again
)

// Submission is one request to a search engine.
type Submission struct {
	Seq        int64 `gorm:"primaryKey"`
	WebsiteSeq int64
	PageSeq    *int64 // nil = of many pages, or of a sitemap
	URL        string // of the page or sitemap; "" = of many pages
	Method     Method
	Action     Action
	Pages      int // how many
	Status     SubmissionStatus
	StatusCode int // 0 = no answer
	Error      string
	CreatedAt  models.Time
	AnsweredAt models.Time

	LoadedAt    models.Time `gorm:"-"` // when the pages that it is of were loaded
	WebsiteID   string      `gorm:"->"`
	PageCreated models.Time `gorm:"->"` // zero = there is no such page any more
}

// TableName implements schema.Tabler.
func (Submission) TableName() string { return "submissions" }

// ID is the submission's id.
func (r Submission) ID() string {
	return models.TimedID(models.KindSubmission, r.CreatedAt, r.Seq)
}

// PageID is the id of the page; "" = there is none.
func (r Submission) PageID() string {
	if r.PageSeq == nil || r.PageCreated.IsZero() {
		return ""
	}
	return models.TimedID(models.KindPage, r.PageCreated, *r.PageSeq)
}
