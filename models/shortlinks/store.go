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
	NoCleanup    bool          // CLEANUP_ENABLED is false: the reaper deletes no short links
	BlockedHosts []string      // SHORT_BLOCKED_HOSTS
	Own          []string      // our own hosts in lower case, with the port unless it is the default
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
	claims  chan struct{}   // a token per running claim, see maxClaims
	loader  Load            // s.load; stored once, because a method value per visit would be allocated
	loaded  atomic.Int64    // see Loads
	latest  atomic.Int64    // latest time returned by Store.now
}

// NewStore returns the store of a migrated database. cache can be nil if nothing is
// changed or visited, counter if nothing is visited.
func NewStore(db *models.DB, clock models.Clock, cache Cache, counter Counter, opts Options) *Store {
	s := &Store{
		db: db, clock: clock, cache: cache, counter: counter, opts: opts, rules: NewRules(opts),
		claims: make(chan struct{}, maxClaims), own: map[string]bool{}, keys: models.Keys{Scope: "shortlink", Clock: clock},
	}
	s.loader = s.load
	return s
}

// Options returns the options of the store.
func (s *Store) Options() Options { return s.opts }

// Now returns the time of the store's clock.
func (s *Store) Now() models.Time { return s.clock.Now() }

// Loads returns the number of destinations read from the database since the start.
func (s *Store) Loads() int64 { return s.loaded.Load() }

// Get returns a short link. The error is CodeNotFound if it does not exist or is deleted.
func (s *Store) Get(ctx context.Context, key string) (ShortLink, error) {
	if !IsKey(key) {
		return ShortLink{}, errUnknown
	}
	l, ok, err := first(notDeleted(s.db.Read(ctx)).Where("short_key = ?", key))
	if err == nil && !ok {
		err = errUnknown
	}
	return l, err
}

var errUnknown = models.NotFound("short link")

// ByURL returns the newest active short link to a canonical URL, a shared one if there is
// one, else one of the actor. ok is false if there is none.
func (s *Store) ByURL(ctx context.Context, canonicalURL string) (l ShortLink, ok bool, err error) {
	const newest = `SELECT seq FROM short_links WHERE canonical_url = ? AND private_to = ? AND deleted_at IS NULL AND ` + activeCondition + ` ORDER BY seq DESC LIMIT 1`
	now := s.clock.Now()
	return first(s.db.Read(ctx).Where("seq = coalesce(("+newest+"), ("+newest+"))", canonicalURL, "", now, canonicalURL, models.Owner(ctx), now))
}

// activeCondition is the SQL condition for Active, with the time as its argument.
const activeCondition = "NOT disabled AND (expires_at IS NULL OR expires_at > ?) AND exhausted_at IS NULL"

// Any reports whether the actor sees any short link.
func (s *Store) Any(ctx context.Context) (bool, error) {
	_, ok, err := first(notDeleted(s.db.Read(ctx)))
	return ok, err
}

// List returns a page of short links ordered by creation. limit comes from
// models.NewLimit. Errors are CodeInvalid ("query.q", "query.page_token").
func (s *Store) List(ctx context.Context, f Filter, after models.Cursor, limit int) (models.Slice[ShortLink], error) {
	var page models.Slice[ShortLink]
	if err := models.CheckFilter("query.q", f.Text); err != nil {
		return page, err
	}
	q, err := s.filtered(ctx, f)
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
		return page, fmt.Errorf("list short links: %w", err)
	}
	return models.NewSlice(page.Items, limit, func(l ShortLink) models.Cursor {
		return models.Cursor{CreatedAt: l.CreatedAt, ID: l.Key}
	}), nil
}

// maxSorted is the largest number of expired short links that a list sorts. If there are
// more, it reads all short links in order instead. Usually the reaper leaves fewer.
const maxSorted = 20_000

// filtered returns a query for the short links that match a filter.
func (s *Store) filtered(ctx context.Context, f Filter) (*gorm.DB, error) {
	now := s.clock.Now()
	q := f.apply(notDeleted(s.db.Read(ctx)), now)
	if f.Status != Expired {
		return q, nil
	}
	const expiredSQL = `SELECT seq FROM short_links WHERE expires_at <= ? LIMIT ?`
	const limitSQL = `SELECT seq FROM short_links WHERE exhausted_at IS NOT NULL LIMIT ?`
	var n int
	err := s.db.Read(ctx).Raw(`SELECT (SELECT count(*) FROM (`+expiredSQL+`) AS e) + (SELECT count(*) FROM (`+limitSQL+`) AS u)`, now, maxSorted, maxSorted).Scan(&n).Error
	if err != nil {
		return nil, fmt.Errorf("count expired short links: %w", err)
	}
	if n < maxSorted { // CROSS JOIN makes SQLite start with these
		q = q.Select("short_links.*").Table("(SELECT * FROM ("+expiredSQL+") AS e UNION SELECT * FROM ("+limitSQL+") AS u) AS expired CROSS JOIN short_links", now, maxSorted, maxSorted).
			Where("short_links.seq = expired.seq")
	}
	return q, nil
}

// apply adds the conditions of the filter to a query.
func (f Filter) apply(q *gorm.DB, now models.Time) *gorm.DB {
	switch f.Status {
	case "":
	case Active:
		q = q.Where(activeCondition, now)
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

// notDeleted selects the visible short links that are not deleted.
func notDeleted(tx *gorm.DB) *gorm.DB { return visible(tx).Where("deleted_at IS NULL") }

// visible selects the short links that the actor sees, including deleted ones.
func visible(tx *gorm.DB) *gorm.DB {
	condition, args := models.Visible(tx, "short_links")
	return tx.Model(&ShortLink{}).Where(condition, args...)
}

func first(q *gorm.DB) (l ShortLink, ok bool, err error) {
	res := q.Limit(1).Find(&l)
	if res.Error != nil {
		return l, false, fmt.Errorf("load short link: %w", res.Error)
	}
	return l, res.RowsAffected > 0, nil
}

// lock loads a short link and locks its row.
func lock(tx *gorm.DB, key string, deleted bool) (ShortLink, error) {
	if !IsKey(key) {
		return ShortLink{}, errUnknown
	}
	l, ok, err := first(visible(tx).Clauses(clause.Locking{Strength: "UPDATE"}).Where("short_key = ?", key))
	if err == nil && (!ok || l.DeletedAt.IsZero() == deleted) {
		err = errUnknown
	}
	return l, err
}
