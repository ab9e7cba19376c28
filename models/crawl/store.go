package crawl

import (
	"time"

	"github.com/maypok86/otter/v2"

	"linkwatch/models"
	"linkwatch/models/crawl/fulltext"
)

// Options are the settings of the store.
type Options struct {
	StaleAfter    time.Duration // time without progress after which a running job is stopped (CRAWLER_STALE_LOCK_AFTER)
	FeedInterval  time.Duration // between two successful polls of a feed (CRAWLER_FEED_POLL_INTERVAL)
	Archive       bool          // pages are archived (CRAWLER_ARCHIVE_URL)
	Elasticsearch bool          // pages are sent to a search engine (CRAWLER_ELASTICSEARCH_URL)

	ArchiveRetention time.Duration // of archived copies, after the last fetch (CRAWLER_ARCHIVE_RETENTION)
}

// Store stores sources, jobs and the results of crawls. It is safe for concurrent use.
type Store struct {
	db          *models.DB
	clock       models.Clock
	opts        Options
	jobsChanged chan struct{} // signaled when a job may be due
	urls        chan struct{} // signaled when the frontier has URLs to fetch
	seen        models.Cache[entryKey, struct{}]
	patterns    models.Cache[patternKey, int]
	figures     models.Cache[string, *Metrics] // by account name
	text        fulltext.Index
	pages       chan struct{} // signaled when pages need to be indexed
}

// Limits of the in-memory caches of the frontier, in entries of some hundred bytes.
const (
	maxSeen     = 128 << 10
	maxPatterns = 16 << 10
)

// keepArchived is the default retention of archived copies.
const keepArchived = 90 * models.Day

// NewStore returns a store on an open, migrated database.
func NewStore(db *models.DB, clock models.Clock, opts Options) *Store {
	if opts.ArchiveRetention <= 0 {
		opts.ArchiveRetention = keepArchived
	}
	return &Store{
		db: db, clock: clock, opts: opts, jobsChanged: make(chan struct{}, 1), urls: make(chan struct{}, 1), pages: make(chan struct{}, 1), text: fulltext.New(db.Engine),
		seen:     otter.Must(&otter.Options[entryKey, struct{}]{MaximumSize: maxSeen}),
		patterns: otter.Must(&otter.Options[patternKey, int]{MaximumSize: maxPatterns}),
		figures:  otter.Must(&otter.Options[string, *Metrics]{MaximumSize: maxFigures}),
	}
}

// Now returns the time of the store's clock.
func (s *Store) Now() models.Time { return s.clock.Now() }

// JobsChanged receives a value when a change in this process may make a job due or end one. Changes by other instances are
// found by polling.
func (s *Store) JobsChanged() <-chan struct{} { return s.jobsChanged }

// URLsAdded receives a value when this process added URLs to fetch. URLs from other instances are found by polling.
func (s *Store) URLsAdded() <-chan struct{} { return s.urls }

// PagesStored receives a value when this process stored pages to index. Pages from other instances are found by polling.
func (s *Store) PagesStored() <-chan struct{} { return s.pages }

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // already signaled
	}
}

// isID reports whether a filter value is an id of a kind. If not, nothing matches.
func isID(kind models.Kind, id string) bool { return models.CheckID(kind, id) == nil }
