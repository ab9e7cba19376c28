package shortlinks

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
)

// Options are the settings of a store.
type Options struct {
	TombstoneTTL time.Duration // SHORT_TOMBSTONE_TTL
	BufferTime   time.Duration // CLEANUP_BUFFER_TIME
	KeepEnded    bool          // the reaper deletes no short links: CLEANUP_ENABLED is false
	BlockedHosts []string      // SHORT_BLOCKED_HOSTS
	Own          []string      // where /s/ is ours: hosts in lower case, with the port unless it is the scheme's own
	ShortHost    string        // SHORT_HOST
}

// Store keeps short links. It is safe for concurrent use.
type Store struct {
	db      *models.DB
	clock   models.Clock
	cache   Cache
	opts    Options
	rules   Rules
	keys    models.Keys
	counter Counter
	own     map[string]bool // see Reserve
	claims  chan struct{}   // one for each claim under way, see maxClaims
	loader  Load            // load, made once: a method value made at each visit would be allocated
	loaded  atomic.Int64    // see Loads
	latest  atomic.Int64    // the latest time that a visit was decided at, see Store.present
}

// NewStore makes the store over an open, migrated database. cache may be nil if
// nothing is changed or visited, and counter if nothing is visited.
func NewStore(db *models.DB, clock models.Clock, cache Cache, counter Counter, opts Options) *Store {
	s := &Store{
		db: db, clock: clock, cache: cache, counter: counter, opts: opts, rules: NewRules(opts),
		claims: make(chan struct{}, maxClaims), own: map[string]bool{}, keys: models.Keys{Scope: "shortlink", Clock: clock},
	}
	s.loader = s.load
	return s
}

// Options returns the settings in force.
func (s *Store) Options() Options { return s.opts }

// Now returns the time by the store's clock.
func (s *Store) Now() models.Time { return s.clock.Now() }

// Loads returns how often a destination was read from the database since the start.
func (s *Store) Loads() int64 { return s.loaded.Load() }

// Get returns a short link. The error is CodeNotFound if it does not exist or is deleted.
func (s *Store) Get(ctx context.Context, key string) (ShortLink, error) {
	if !IsKey(key) {
		return ShortLink{}, errUnknown
	}
	l, ok, err := one(there(s.db.Read(ctx)).Where("short_key = ?", key))
	if err == nil && !ok {
		err = errUnknown
	}
	return l, err
}

var errUnknown = models.NotFound("short link")

// ByURL returns the newest active short link to a canonical URL: of the shared ones, or else
// of the actor's own. ok is false if there is none.
func (s *Store) ByURL(ctx context.Context, canonicalURL string) (l ShortLink, ok bool, err error) {
	const newest = `SELECT seq FROM short_links WHERE canonical_url = ? AND private_to = ? AND deleted_at IS NULL AND ` + isActive + ` ORDER BY seq DESC LIMIT 1`
	now := s.clock.Now()
	return one(s.db.Read(ctx).Where("seq = coalesce(("+newest+"), ("+newest+"))", canonicalURL, "", now, canonicalURL, models.Owner(ctx), now))
}

// isActive is the condition for short links that are Active at a time.
const isActive = "NOT disabled AND (expires_at IS NULL OR expires_at > ?) AND exhausted_at IS NULL"

// Any reports whether there is any short link.
func (s *Store) Any(ctx context.Context) (bool, error) {
	_, ok, err := one(there(s.db.Read(ctx)))
	return ok, err
}

// List returns a page of short links in the order of their creation. limit is one of
// models.NewLimit.
func (s *Store) List(ctx context.Context, f Filter, after models.Cursor, limit int) (models.Slice[ShortLink], error) {
	var page models.Slice[ShortLink]
	if err := models.CheckFilter("query.q", f.Text); err != nil {
		return page, err
	}
	q, err := s.matches(ctx, f)
	if err != nil {
		return page, err
	}
	order, beyond := "created_at, short_key", "(created_at, short_key) > (?, ?)"
	if f.Newest {
		order, beyond = "created_at DESC, short_key DESC", "(created_at, short_key) < (?, ?)"
	}
	if after != (models.Cursor{}) {
		if !IsKey(after.ID) {
			return page, models.ErrPageToken
		}
		q = q.Where(beyond, after.CreatedAt, after.ID)
	}
	if err := q.Order(order).Limit(limit + 1).Find(&page.Items).Error; err != nil {
		return page, fmt.Errorf("listing short links: %w", err)
	}
	return models.NewSlice(page.Items, limit, func(l ShortLink) models.Cursor {
		return models.Cursor{CreatedAt: l.CreatedAt, ID: l.Key}
	}), nil
}

// few is the number of expired short links below which a list of them sorts them,
// instead of reading all short links in order. As a rule the reaper leaves few.
const few = 20_000

// matches are the short links that a filter chooses.
func (s *Store) matches(ctx context.Context, f Filter) (*gorm.DB, error) {
	now := s.clock.Now()
	q := f.apply(there(s.db.Read(ctx)), now)
	if f.Status != Expired {
		return q, nil
	}
	const ended = `SELECT seq FROM short_links WHERE expires_at <= ? LIMIT ?`
	const usedUp = `SELECT seq FROM short_links WHERE exhausted_at IS NOT NULL LIMIT ?`
	var n int
	err := s.db.Read(ctx).Raw(`SELECT (SELECT count(*) FROM (`+ended+`) AS e) + (SELECT count(*) FROM (`+usedUp+`) AS u)`, now, few, few).Scan(&n).Error
	if err != nil {
		return nil, fmt.Errorf("counting expired short links: %w", err)
	}
	if n < few { // CROSS JOIN: SQLite shall begin with these
		q = q.Select("short_links.*").Table("(SELECT * FROM ("+ended+") AS e UNION SELECT * FROM ("+usedUp+") AS u) AS few CROSS JOIN short_links", now, few, few).
			Where("short_links.seq = few.seq")
	}
	return q, nil
}

// apply narrows a query for short links down.
func (f Filter) apply(q *gorm.DB, now models.Time) *gorm.DB {
	switch f.Status {
	case "":
	case Active:
		q = q.Where(isActive, now)
	case Expired:
		q = q.Where("NOT disabled AND (expires_at <= ? OR exhausted_at IS NOT NULL)", now)
	case Disabled:
		q = q.Where("disabled")
	}
	if text := models.Fold(f.Text); text != "" {
		q = q.Where(`search_text LIKE ? ESCAPE '\'`, "%"+models.EscapeLike(text)+"%")
	}
	return q
}

// there are the short links that are not deleted and that the actor sees.
func there(tx *gorm.DB) *gorm.DB { return seen(tx).Where("deleted_at IS NULL") }

// seen are the short links that the actor sees, deleted ones too.
func seen(tx *gorm.DB) *gorm.DB {
	visible, args := models.Visible(tx, "short_links")
	return tx.Model(&ShortLink{}).Where(visible, args...)
}

// one is the first short link of a query.
func one(q *gorm.DB) (l ShortLink, ok bool, err error) {
	res := q.Limit(1).Find(&l)
	if res.Error != nil {
		return l, false, fmt.Errorf("loading a short link: %w", res.Error)
	}
	return l, res.RowsAffected > 0, nil
}

// lock loads a short link for a change.
func lock(tx *gorm.DB, key string, deleted bool) (ShortLink, error) {
	if !IsKey(key) {
		return ShortLink{}, errUnknown
	}
	l, ok, err := one(seen(tx).Clauses(clause.Locking{Strength: "UPDATE"}).Where("short_key = ?", key))
	if err == nil && (!ok || l.DeletedAt.IsZero() == deleted) {
		err = errUnknown
	}
	return l, err
}
