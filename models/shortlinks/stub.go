package shortlinks

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/linkwatch/linkwatch/models"
)

// Store keeps short links. It is safe for concurrent use.
type Store struct {
	db    *models.DB
	clock models.Clock
	cache Cache
	opts  Options
}

// NewStore makes the store over an open, migrated database.
func NewStore(db *models.DB, clock models.Clock, cache Cache, opts Options) *Store {
	return &Store{db: db, clock: clock, cache: cache, opts: opts}
}

// Now is the time by the store's clock.
func (s *Store) Now() models.Time { return s.clock.Now() }

// Create makes a short link, unless the IdempotencyKey was used before: then
// what it made is answered, and created is false. CodeInvalid ("long_url",
// "short_key", "expires_at", "ttl_seconds", "max_visits", "title",
// "header.Idempotency-Key"), CodeConflict if the key is taken.
func (s *Store) Create(ctx context.Context, n New) (l ShortLink, created bool, err error) {
	panic("stub")
}

// Get is a short link; CodeNotFound if there is none, or it is deleted.
func (s *Store) Get(ctx context.Context, key string) (ShortLink, error) { panic("stub") }

// Of is the newest active short link that leads to a canonical URL.
func (s *Store) Of(ctx context.Context, canonicalURL string) (l ShortLink, ok bool, err error) {
	panic("stub")
}

// List is a page of short links. limit is as models.NewLimit made it.
func (s *Store) List(ctx context.Context, f Filter, after models.Cursor, limit int) (models.Slice[ShortLink], error) {
	panic("stub")
}

// Any says whether there is any short link, for the page of an empty store.
func (s *Store) Any(ctx context.Context) (bool, error) { panic("stub") }

// Edit changes what its owner set; the errors are those of Create, and CodeNotFound.
func (s *Store) Edit(ctx context.Context, key string, e Edit) (ShortLink, error) { panic("stub") }

// Delete ends a short link. It can be restored for KeepDeleted. CodeNotFound.
func (s *Store) Delete(ctx context.Context, key string) error { panic("stub") }

// Restore brings a deleted short link back; CodeNotFound if it was not deleted or too long ago.
func (s *Store) Restore(ctx context.Context, key string) (ShortLink, error) { panic("stub") }

// Stats are the visits of a short link over the last days (1 to KeepDays).
func (s *Store) Stats(ctx context.Context, key string, days int) (Stats, error) { panic("stub") }

// Visit is where a key leads now, for somebody who goes there: the visit is
// counted, or claimed if their number is limited. CodeNotFound, CodeGone;
// CodeUnavailable if the database would have to be asked and does not answer in time.
func (s *Store) Visit(ctx context.Context, key string, v Visitor) (longURL string, err error) {
	panic("stub")
}

// Preview is where a key leads now, for somebody who only looks. The LongURL of a limited
// one is cut down to its scheme and host. Errors as of Visit.
func (s *Store) Preview(ctx context.Context, key string) (Entry, error) { panic("stub") }

// Visits is what is waiting to be written down; see Count.
func (s *Store) Visits() *Visits { panic("stub") }

// Visits gathers visits off the path of the redirects.
type Visits struct{}

// Take waits until a visit is there or ctx ends, and gathers what is there. (Owner: jobs/shortlinks.)
func (v *Visits) Take(ctx context.Context) bool { panic("stub") }

// Dropped is how many visits were not counted since the start.
func (v *Visits) Dropped() int64 { panic("stub") }

// Write writes down what was gathered, in one transaction per 500 links.
func (s *Store) WriteVisits(ctx context.Context) error { panic("stub") }

// Reap deletes up to limit short links that ended longer than the buffer time
// ago, or were deleted longer than KeepDeleted ago, with all their visits.
func (s *Store) Reap(tx *gorm.DB, limit int) (int64, error) { panic("stub") }

// ReapDays deletes the visits of up to limit days that are no longer kept.
func (s *Store) ReapDays(tx *gorm.DB, limit int) (int64, error) { panic("stub") }

// Waiting is how many short links Reap would delete now, counted up to most.
func (s *Store) Waiting(ctx context.Context, most int) (int, error) { panic("stub") }

// Changed calls fn for each short link, deleted ones too, that its owner changed since a time, in the order of their changes,
// with its key and the entry that caches should hold, and for how long. (For Sync.)
func (s *Store) Changed(ctx context.Context, since models.Time, fn func(key string, e Entry, ttl time.Duration)) error {
	panic("stub")
}
