package sites

import (
	"strings"

	"linkwatch/models"
	"linkwatch/models/lease"
)

const maxName = 200 // runes

// Website is a website whose pages are submitted to search engines.
type Website struct {
	Seq             int64 `gorm:"primaryKey"`
	ID              string
	Owner           string // account that added it
	PrivateTo       string // owner; "" = shared with all accounts
	Name            string
	SiteURL         string // see Property
	IndexingEnabled bool   // submit through Google's Indexing API
	AutoSubmit      bool   // submit new and changed pages automatically
	CreatedAt       models.Time
	UpdatedAt       models.Time
	DeletedAt       models.Time // zero = not deleted

	Credentials []byte // encrypted; nil = none
	ClientEmail string // of the service account
	ProjectID   string // of the service account
	// GoogleAcceptedAt is when Google first accepted a request with these credentials; zero = not known yet.
	GoogleAcceptedAt models.Time

	IndexNowKey        string      `gorm:"column:indexnow_key"`         // "" = not used
	IndexNowVerifiedAt models.Time `gorm:"column:indexnow_verified_at"` // zero if the last check failed

	Indexing      ServiceState `gorm:"embedded;embeddedPrefix:indexing_"` // Google's Indexing API
	Console       ServiceState `gorm:"embedded;embeddedPrefix:console_"`  // Google's Search Console
	IndexNowState ServiceState `gorm:"embedded;embeddedPrefix:indexnow_"`

	RobotsReadAt          models.Time
	RobotsError           string // of the last read; "" = none
	SitemapsReadAt        models.Time
	SitemapsRequestedAt   models.Time // open request to read the sitemaps; zero = none
	SubmitRequestedAt     models.Time
	VerifyRequestedAt     models.Time
	SitemapsClaimedBy     lease.ID // instance that reads the sitemaps; "" = none
	SubmissionClaimedBy   lease.ID
	VerificationClaimedBy lease.ID
}

// ServiceState is the state of a service for a website.
type ServiceState struct {
	Error    string      // why it refuses all requests; "" = it does not
	Failures int         // consecutive refusals
	RetryAt  models.Time // no requests before this time
}

// Service is a service of a search engine.
type Service string

// The services. The values are the prefixes of their columns.
const (
	Indexing      Service = "indexing" // Google's Indexing API
	SearchConsole Service = "console"  // Google's Search Console
	IndexNow      Service = "indexnow"
)

// State returns the state of a service.
func (w *Website) State(s Service) *ServiceState {
	switch s {
	case Indexing:
		return &w.Indexing
	case SearchConsole:
		return &w.Console
	default:
		return &w.IndexNowState
	}
}

// Paused reports whether requests to a service are paused.
func (w *Website) Paused(s Service, now models.Time) bool { return w.State(s).RetryAt.After(now.Time) }

// forgetGoogle forgets how Google responded to the previous credentials.
func (w *Website) forgetGoogle() {
	w.Indexing, w.Console, w.GoogleAcceptedAt = ServiceState{}, ServiceState{}, models.Time{}
}

// Refusal is a service that refuses the requests of a website.
type Refusal struct {
	Name string // name of the service
	ServiceState
}

// Refusals returns the services that refuse the requests of the website.
func (w *Website) Refusals() (all []Refusal) {
	for _, r := range []Refusal{{"Search Console", w.Console}, {"Indexing API", w.Indexing}} {
		if r.Error != "" {
			all = append(all, r)
		}
	}
	if w.UsesIndexNow() && w.IndexNowState.Error != "" { // an error may be left after IndexNow is disabled
		all = append(all, Refusal{"IndexNow", w.IndexNowState})
	}
	return all
}

// KeyMissing reports whether the key file of IndexNow was not found at the last check. IndexNow may still accept submissions,
// but search engines then ignore them.
func (w *Website) KeyMissing() bool {
	return w.UsesIndexNow() && w.IndexNowState.Error != "" && w.IndexNowState.Failures == 0
}

// GoogleState returns the state of Google's services: that of Search Console if it has an error, else of the Indexing API.
func (w *Website) GoogleState() ServiceState {
	if w.Console.Error != "" {
		return w.Console
	}
	return w.Indexing
}

// Property returns the Search Console property.
func (w Website) Property() Property {
	p, err := ParseProperty(w.SiteURL)
	if err != nil { // validated when stored
		return Property{SiteURL: w.SiteURL}
	}
	return p
}

// Private reports whether only the owner and admins can see the website.
func (w Website) Private() bool { return w.PrivateTo != "" }

// UsesGoogle reports whether the website has credentials.
func (w Website) UsesGoogle() bool { return len(w.Credentials) > 0 }

// UsesIndexNow reports whether the website has an IndexNow key.
func (w Website) UsesIndexNow() bool { return w.IndexNowKey != "" }

// CanRemove reports whether search engines can be notified that a page is gone.
func (w Website) CanRemove() bool { return w.UsesIndexNow() || w.UsesGoogle() && w.IndexingEnabled }

// KeyFileURL returns the URL of the IndexNow key file.
func (w Website) KeyFileURL() string { return w.Property().Root() + w.IndexNowKey + ".txt" }

func (w *Website) normalize() error {
	p, wrong := ParseProperty(w.SiteURL)
	if w.Name = models.CleanLine(w.Name); models.Runes(w.Name) > maxName {
		wrong = models.Invalids(wrong, models.TooLong("name", maxName, "characters"))
	}
	if wrong != nil {
		return wrong
	}
	if w.SiteURL = p.SiteURL; w.Name == "" {
		w.Name = p.Host()
	}
	return nil
}

// checkIndexNowKey validates a key: 8 to 128 of a-z, A-Z, 0-9 and -.
func checkIndexNowKey(key string) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"
	if len(key) < 8 || len(key) > 128 || strings.Trim(key, letters) != "" {
		return models.Invalid("indexnow_key", "must have 8 to 128 characters: letters, digits and hyphens")
	}
	return nil
}

// Activity is work on a website that only one instance does at a time.
type Activity string

// The activities. The values are the IDs of the scheduled jobs.
const (
	Reading    Activity = "sitemaps"     // reading sitemaps
	Submitting Activity = "submission"   // submitting pages
	Verifying  Activity = "verification" // checking which pages are indexed
)

// columns returns the columns with the claiming instance and the time of the open request.
func (a Activity) columns() (claimedBy, requestedAt string) {
	switch a {
	case Reading:
		return "sitemaps_claimed_by", "sitemaps_requested_at"
	case Submitting:
		return "submission_claimed_by", "submit_requested_at"
	case Verifying:
		return "verification_claimed_by", "verify_requested_at"
	}
	panic("sites: unknown activity")
}

func (a Activity) auditVerb() string {
	return map[Activity]string{Reading: "read_sitemaps", Submitting: "submit", Verifying: "verify"}[a]
}

// requestedAt returns the time of the open request for an activity; zero = none.
func (w Website) requestedAt(a Activity) models.Time {
	return map[Activity]models.Time{Reading: w.SitemapsRequestedAt, Submitting: w.SubmitRequestedAt, Verifying: w.VerifyRequestedAt}[a]
}

// Activities returns all activities.
func Activities() []Activity { return []Activity{Reading, Submitting, Verifying} }
