package sites

import (
	"strings"

	"linkwatch/models"
	"linkwatch/models/lease"
)

const maxName = 200 // runes

// Website is a site whose pages are submitted to search engines.
type Website struct {
	Seq             int64 `gorm:"primaryKey"`
	ID              string
	Owner           string // who added it
	PrivateTo       string // its owner; "" = shared with all accounts
	Name            string
	SiteURL         string // see Property
	IndexingEnabled bool   // its owner says that its pages qualify for Google's Indexing API
	AutoSubmit      bool   // new and changed pages are submitted without being asked for
	CreatedAt       models.Time
	UpdatedAt       models.Time
	DeletedAt       models.Time // zero = not deleted

	Credentials []byte // sealed; nil = none
	ClientEmail string // of the service account
	ProjectID   string // of the service account

	IndexNowKey        string      `gorm:"column:indexnow_key"`         // "" = IndexNow is not used
	IndexNowVerifiedAt models.Time `gorm:"column:indexnow_verified_at"` // when the key file was last found

	Indexing      ServiceState `gorm:"embedded;embeddedPrefix:indexing_"` // Google's Indexing API
	Console       ServiceState `gorm:"embedded;embeddedPrefix:console_"`  // Google's Search Console
	IndexNowState ServiceState `gorm:"embedded;embeddedPrefix:indexnow_"`

	RobotsReadAt     models.Time
	RobotsError      string // why robots.txt could not be read the last time; "" = it could
	SitemapsReadAt   models.Time
	SitemapsWantedAt models.Time // since when somebody waits for its sitemaps to be read
	SubmitWantedAt   models.Time
	VerifyWantedAt   models.Time
	SitemapsBy       lease.ID // the instance that reads its sitemaps; "" = none
	SubmissionBy     lease.ID
	VerificationBy   lease.ID
}

// ServiceState is how a service answers the calls of a website.
type ServiceState struct {
	Error    string      // why it refused all of them last; "" = it did not
	Failures int         // such refusals in a row
	RetryAt  models.Time // it is not called before this
}

// Service is one of the services that websites use.
type Service string

// The services. Each is also the beginning of its columns.
const (
	Indexing      Service = "indexing" // Google's Indexing API
	SearchConsole Service = "console"  // Google's Search Console
	IndexNow      Service = "indexnow"
)

// State is how a service answers the calls of the website.
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

// Paused reports whether a service is not to be called yet.
func (w *Website) Paused(s Service, now models.Time) bool { return w.State(s).RetryAt.After(now.Time) }

func (w *Website) googleWorks() { w.Indexing, w.Console = ServiceState{}, ServiceState{} }

// Refusal is a service that refuses the calls of a website.
type Refusal struct {
	Name string // of the service
	ServiceState
}

// Refusals are the services that refuse the calls of the website.
func (w *Website) Refusals() (all []Refusal) {
	for _, r := range []Refusal{{"Search Console", w.Console}, {"Indexing API", w.Indexing}, {"IndexNow", w.IndexNowState}} {
		if r.Error != "" {
			all = append(all, r)
		}
	}
	return all
}

// GoogleState is the worse one of the states of Google's two services.
func (w *Website) GoogleState() ServiceState {
	if w.Console.Error != "" {
		return w.Console
	}
	return w.Indexing
}

// Property is the website as Google knows it.
func (w Website) Property() Property {
	p, err := ParseProperty(w.SiteURL)
	if err != nil { // it was checked when it was stored
		return Property{SiteURL: w.SiteURL}
	}
	return p
}

// Private reports whether only the owner and admins see the website.
func (w Website) Private() bool { return w.PrivateTo != "" }

// Google reports whether the website has credentials.
func (w Website) Google() bool { return len(w.Credentials) > 0 }

// IndexNow reports whether the website has a key.
func (w Website) IndexNow() bool { return w.IndexNowKey != "" }

// Removes reports whether search engines can be told that a page of the website is gone.
func (w Website) Removes() bool { return w.IndexNow() || w.Google() && w.IndexingEnabled }

// KeyFile is the URL at which search engines look for the IndexNow key.
func (w Website) KeyFile() string { return w.Property().Root() + w.IndexNowKey + ".txt" }

// check checks what users enter, and tidies it.
func (w *Website) check() error {
	p, err := ParseProperty(w.SiteURL)
	if err != nil {
		return err
	}
	w.SiteURL = p.SiteURL
	if w.Name = models.CleanLine(w.Name); w.Name == "" {
		w.Name = p.Host()
	}
	if models.Runes(w.Name) > maxName {
		return models.Invalid("name", "must have at most %d characters", maxName)
	}
	return nil
}

// checkKey checks an IndexNow key: 8 to 128 of a-z, A-Z, 0-9 and -.
func checkKey(key string) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"
	if len(key) < 8 || len(key) > 128 || strings.Trim(key, letters) != "" {
		return models.Invalid("indexnow_key", "must be 8 to 128 letters, digits and hyphens")
	}
	return nil
}

// Activity is work on a website that one instance at a time does.
type Activity string

// The activities. Each is also the id of the scheduled job that does it.
const (
	Reading    Activity = "sitemaps"     // reading sitemaps
	Submitting Activity = "submission"   // submitting pages
	Verifying  Activity = "verification" // asking which pages are indexed
)

// columns are where a website notes who does an activity, and since when somebody
// waits for it.
func (a Activity) columns() (by, wanted string) {
	switch a {
	case Reading:
		return "sitemaps_by", "sitemaps_wanted_at"
	case Submitting:
		return "submission_by", "submit_wanted_at"
	case Verifying:
		return "verification_by", "verify_wanted_at"
	}
	panic("sites: an unknown activity")
}

// verb is what the audit log calls a user's wish for an activity.
func (a Activity) verb() string {
	return map[Activity]string{Reading: "read_sitemaps", Submitting: "submit", Verifying: "verify"}[a]
}

// wantedAt is since when somebody waits for an activity; zero = it is not wanted.
func (w Website) wantedAt(a Activity) models.Time {
	return map[Activity]models.Time{Reading: w.SitemapsWantedAt, Submitting: w.SubmitWantedAt, Verifying: w.VerifyWantedAt}[a]
}

// Activities are all of them.
func Activities() []Activity { return []Activity{Reading, Submitting, Verifying} }
