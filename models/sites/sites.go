// Package sites is the store of websites: their sitemaps and pages, the queue in which
// pages are submitted to search engines, what was submitted, and what Google says of
// each page.
package sites

import (
	"time"

	"linkwatch/models"
)

// Options are the settings of the store.
type Options struct {
	Limits Limits
	// Seal encrypts credentials, and Open decrypts them. of is the id of the website that
	// they belong to. Open fails for what was sealed with another key, or is another's.
	Seal func(plain []byte, of string) ([]byte, error)
	Open func(sealed []byte, of string) ([]byte, error)
}

// Store keeps websites. It is safe for concurrent use.
type Store struct {
	db     *models.DB
	clock  models.Clock
	opts   Options
	wanted map[Activity]chan struct{} // rings when somebody waits for it
}

// NewStore makes the store over an open, migrated database.
func NewStore(db *models.DB, clock models.Clock, opts Options) *Store {
	s := &Store{db: db, clock: clock, opts: opts, wanted: map[Activity]chan struct{}{}}
	for _, a := range Activities() {
		s.wanted[a] = make(chan struct{}, 1)
	}
	return s
}

// Now is the time by the store's clock.
func (s *Store) Now() models.Time { return s.clock.Now() }

// Wanted gets a value when somebody in this process waits for an activity on a website.
// Of what others wait for the next look learns.
func (s *Store) Wanted(a Activity) <-chan struct{} { return s.wanted[a] }

func (s *Store) ring(a Activity) {
	select {
	case s.wanted[a] <- struct{}{}:
	default: // it rings already
	}
}

// How long things are kept.
const (
	KeepDeleted     = models.Day       // a deleted website can be restored
	KeepSubmissions = 90 * models.Day  // with their answers
	KeepCoverage    = 400 * models.Day // the coverage of a day
	KeepGone        = 30 * models.Day  // a page that no sitemap has
)

// days is how many whole days lie between two times, downwards.
func days(from, to time.Time) int {
	d := to.Sub(from)
	n := int(d / models.Day)
	if d < 0 && d%models.Day != 0 {
		n--
	}
	return n
}
