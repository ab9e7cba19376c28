package sites

import "linkwatch/models"

// Method is a way to notify a search engine.
type Method string

// The methods.
const (
	ByIndexingAPI Method = "indexing_api" // Google's Indexing API: a page
	BySitemap     Method = "sitemap"      // Google's Search Console API: a sitemap
	ByIndexNow    Method = "indexnow"     // IndexNow: a batch of pages
)

// Service returns the service that the method uses.
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

// Action is the kind of a notification.
type Action string

// The actions.
const (
	Updated Action = "updated"
	Deleted Action = "deleted"
)

// SubmissionStatus is the result of a submission.
type SubmissionStatus string

// The statuses of submissions.
const (
	Unsent   SubmissionStatus = ""         // canceled before it was sent; not stored
	Sent     SubmissionStatus = "sent"     // no response yet, or the response was lost
	Accepted SubmissionStatus = "accepted" // 2xx
	Refused  SubmissionStatus = "refused"  // not retried
	Retried  SubmissionStatus = "failed"   // retried
)

// Submission is one request to a search engine.
type Submission struct {
	Seq        int64 `gorm:"primaryKey"`
	WebsiteSeq int64
	PageSeq    *int64 // nil = batch or sitemap
	URL        string // of the page or sitemap; "" = batch
	Method     Method
	Action     Action
	Pages      int // number of pages
	Status     SubmissionStatus
	StatusCode int // 0 = no response
	Error      string
	CreatedAt  models.Time
	AnsweredAt models.Time

	LoadedAt    models.Time `gorm:"-"` // when its pages were loaded
	WebsiteID   string      `gorm:"->"`
	PageCreated models.Time `gorm:"->"` // zero = the page was deleted
}

// TableName implements schema.Tabler.
func (Submission) TableName() string { return "submissions" }

// ID returns the ID of the submission.
func (r Submission) ID() string {
	return models.TimedID(models.KindSubmission, r.CreatedAt, r.Seq)
}

// PageID returns the ID of the page; "" = none.
func (r Submission) PageID() string {
	if r.PageSeq == nil || r.PageCreated.IsZero() {
		return ""
	}
	return models.TimedID(models.KindPage, r.PageCreated, *r.PageSeq)
}
