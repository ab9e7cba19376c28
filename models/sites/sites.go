// Package sites stores websites with their sitemaps and pages, the submission queue, submissions to search engines, quotas
// and the index status of pages.
package sites

import (
	"time"

	"linkwatch/models"
)

// Options are the settings of the store.
type Options struct {
	Limits Limits
	// Seal encrypts credentials and Open decrypts them. owner is the ID of the website. Open fails for data sealed with another key
	// or for another website.
	Seal func(plain []byte, owner string) ([]byte, error)
	Open func(sealed []byte, owner string) ([]byte, error)
}

// Store is the store of websites. It is safe for concurrent use.
type Store struct {
	db        *models.DB
	clock     models.Clock
	opts      Options
	requested map[Activity]chan struct{} // receives a value on a request
}

// NewStore returns a store on an open, migrated database.
func NewStore(db *models.DB, clock models.Clock, opts Options) *Store {
	s := &Store{db: db, clock: clock, opts: opts, requested: map[Activity]chan struct{}{}}
	for _, a := range Activities() {
		s.requested[a] = make(chan struct{}, 1)
	}
	return s
}

// Now returns the time of the store's clock.
func (s *Store) Now() models.Time { return s.clock.Now() }

// Requested receives a value when this process requests an activity. Requests of other instances are found by polling
// RequestedWebsites.
func (s *Store) Requested(a Activity) <-chan struct{} { return s.requested[a] }

func (s *Store) notify(a Activity) {
	select {
	case s.requested[a] <- struct{}{}:
	default: // a value is pending
	}
}

// Retention periods.
const (
	KeepDeleted     = models.Day       // a deleted website can be restored
	KeepSubmissions = 90 * models.Day  // submissions
	KeepCoverage    = 400 * models.Day // coverage by day
	KeepGone        = 30 * models.Day  // a page in no sitemap
)

// wholeDays returns the number of whole days between two times, rounded down.
func wholeDays(from, to time.Time) int {
	d := to.Sub(from)
	n := int(d / models.Day)
	if d < 0 && d%models.Day != 0 {
		n--
	}
	return n
}
