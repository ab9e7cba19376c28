package crawl

import (
	"time"

	"github.com/maypok86/otter/v2"

	"linkwatch/models"
	"linkwatch/models/crawl/fulltext"
)

// Options are the settings of the store.
type Options struct {
	StaleAfter   time.Duration // without progress, after which a running job is given up (CRAWLER_STALE_LOCK_AFTER)
	FeedInterval time.Duration // between two polls of a feed that succeed (CRAWLER_FEED_POLL_INTERVAL)
	Archives     bool          // pages are archived (CRAWLER_ARCHIVE_URL)
	Engine       bool          // a search engine wants the pages, too (CRAWLER_ELASTICSEARCH_URL)

	ArchiveRetention time.Duration // of archived copies, since they were last fetched so (CRAWLER_ARCHIVE_RETENTION)
}

// Store keeps sources, jobs and what they crawl. It is safe for concurrent use.
type Store struct {
	db       *models.DB
	clock    models.Clock
	opts     Options
	wanted   chan struct{} // rings when a job may be due
	urls     chan struct{} // rings when the frontier has URLs to fetch
	seen     *otter.Cache[entryKey, struct{}]
	patterns *otter.Cache[patternKey, int]
	figures  *otter.Cache[string, Metrics] // by the name of an account
	text     fulltext.Index
	pages    chan struct{} // rings when pages wait for the search index
}

// The limits of what the store remembers of the frontier, in entries. Each takes
// some hundred bytes.
const (
	maxSeen     = 128 << 10
	maxPatterns = 16 << 10
)

// keepArchived is the retention of archived copies if Options do not say.
const keepArchived = 90 * models.Day

// NewStore makes the store over an open, migrated database.
func NewStore(db *models.DB, clock models.Clock, opts Options) *Store {
	if opts.ArchiveRetention <= 0 {
		opts.ArchiveRetention = keepArchived
	}
	return &Store{
		db: db, clock: clock, opts: opts, wanted: make(chan struct{}, 1), urls: make(chan struct{}, 1), pages: make(chan struct{}, 1), text: fulltext.New(db.Engine),
		seen:     otter.Must(&otter.Options[entryKey, struct{}]{MaximumSize: maxSeen}),
		patterns: otter.Must(&otter.Options[patternKey, int]{MaximumSize: maxPatterns}),
		figures:  otter.Must(&otter.Options[string, Metrics]{MaximumSize: maxFigures}),
	}
}

// Now is the time by the store's clock.
func (s *Store) Now() models.Time { return s.clock.Now() }

// JobsWanted gets a value when something changed in this process that may make a
// job due, or end one. Of changes by other instances the next poll learns.
func (s *Store) JobsWanted() <-chan struct{} { return s.wanted }

// URLsWanted gets a value when this process added URLs to fetch. Of those of other
// instances the next look learns.
func (s *Store) URLsWanted() <-chan struct{} { return s.urls }

// PagesWanted gets a value when this process stored pages that wait for the search
// index. Of those of other instances the next look learns.
func (s *Store) PagesWanted() <-chan struct{} { return s.pages }

func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default: // it rings already
	}
}

// isID says whether a filter names something of a kind; otherwise nothing matches it.
func isID(kind models.Kind, id string) bool { return models.CheckID(kind, id) == nil }
