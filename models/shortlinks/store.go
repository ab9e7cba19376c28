package shortlinks

import (
	"context"
	"fmt"
	"slices"
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
	KeepExpired  time.Duration // SHORT_KEEP_EXPIRED
	NoCleanup    bool          // CLEANUP_ENABLED is false: the reaper archives and deletes no short links
	BlockedHosts []string      // SHORT_BLOCKED_HOSTS
	Own          []string      // our own hosts in lower case, with a port that is not the default, and the path before /s/
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
	l, ok, err := first(notDeleted(s.db.Read(ctx).Table(allLinks)).Where("short_key = ?", key))
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
	_, ok, err := first(notDeleted(s.db.Read(ctx).Table(allLinks)))
	return ok, err
}

// ListOrders are the orders of List.
var ListOrders = models.Orders[ShortLink]{
	Field: "created_at", Time: "created_at", ID: "short_key", IsID: IsKey,
	At: func(l ShortLink) models.Cursor { return models.Cursor{CreatedAt: l.CreatedAt, ID: l.Key} },
}

// List returns a page of short links ordered by creation. limit comes from
// models.NewLimit. A search for a text reads models.MaxSearched short links. Errors are CodeInvalid ("query.q",
// "query.page_token").
func (s *Store) List(ctx context.Context, f Filter, after models.Cursor, limit int) (models.Slice[ShortLink], error) {
	var page models.Slice[ShortLink]
	if err := models.CheckFilter("query.q", f.Text); err != nil {
		return page, err
	}
	tx, now := s.db.Read(ctx), s.clock.Now()
	where, args := models.Visible(tx, "short_links")
	q := models.ListQuery{Table: allLinks, Where: where + " AND deleted_at IS NULL", Args: args}
	few := false // expired short links in the live table, so that all of them can be sorted and searched
	switch f.Status {
	case "":
	case Active:
		q.Table = live.links
		q.Also(activeCondition, now)
	case Disabled:
		q.And("disabled") // an index has these
	case Expired:
		var err error
		if few, err = fewExpired(tx, now); err != nil {
			return page, err
		}
		add := q.Also
		if few {
			q.Table, q.From = archive.asLinks(), allLinks // a search reads so many of the archive
			q.And("NOT disabled")
			add = q.Counted
		}
		add("NOT disabled AND (expires_at <= ? OR exhausted_at IS NOT NULL)", now)
	}
	if text := models.Fold(f.Text); text != "" {
		q.Search(`search_text LIKE ? ESCAPE '\'`, "%"+models.EscapeLike(text)+"%")
	}
	orders := ListOrders
	orders.Desc = f.Newest
	return orders.List(tx, q, after, limit, func(p models.ListPart) (found []ShortLink, err error) {
		if few {
			found, err = fromExpired(tx, now, p)
		} else {
			err = p.Raw(tx, "SELECT * FROM "+q.Table+" WHERE").Scan(&found).Error
		}
		if err != nil {
			err = fmt.Errorf("list short links: %w", err)
		}
		return found, err
	})
}

// fromExpired returns the expired short links of a part. Of the live ones, it sorts their keys, which are in the indexes, before
// it reads rows. The archive has an index in this order.
func fromExpired(tx *gorm.DB, now models.Time, p models.ListPart) (found []ShortLink, err error) {
	order := " ORDER BY " + p.Order + " LIMIT ?"
	keys := "SELECT seq, created_at, short_key FROM short_links WHERE " + p.Where + " AND "
	err = tx.Raw("SELECT * FROM (SELECT "+linkColumns+" FROM short_links WHERE seq IN (SELECT seq FROM ("+
		keys+"expires_at <= ? UNION ALL "+keys+"exhausted_at IS NOT NULL) AS expired GROUP BY seq, created_at, short_key"+order+")"+
		" UNION ALL SELECT * FROM (SELECT "+linkColumns+" FROM "+archive.asLinks()+" WHERE "+p.Where+order+") AS archived) AS short_links"+order,
		slices.Concat(p.Args, []any{now}, p.Args, []any{p.Limit}, p.Args, []any{p.Limit, p.Limit})...).Scan(&found).Error
	return found, err
}

// maxSorted is the largest number of live expired short links that a list sorts. If there are
// more, it reads all short links in order instead. Usually the reaper leaves fewer.
const maxSorted = 20_000

// fewExpired reports whether a list may sort all live expired short links.
func fewExpired(tx *gorm.DB, now models.Time) (bool, error) {
	var n int
	err := tx.Raw(`SELECT (SELECT count(*) FROM (SELECT 1 FROM short_links WHERE expires_at <= ? LIMIT ?) AS e)
		+ (SELECT count(*) FROM (SELECT 1 FROM short_links WHERE exhausted_at IS NOT NULL LIMIT ?) AS u)`, now, maxSorted, maxSorted).Scan(&n).Error
	if err != nil {
		return false, fmt.Errorf("count expired short links: %w", err)
	}
	return n < maxSorted, nil
}

// notDeleted selects the visible short links that are not deleted.
func notDeleted(tx *gorm.DB) *gorm.DB { return visible(tx).Where("deleted_at IS NULL") }

// visible selects the short links that the actor sees, including deleted ones: of the live table, unless tx names another.
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

// lock loads a short link and locks its row. It reads the archive last, because the reaper may move the short link meanwhile.
func lock(tx *gorm.DB, key string, deleted bool) (l ShortLink, err error) {
	if !IsKey(key) {
		return l, errUnknown
	}
	for _, t := range []tables{live, archive} {
		var ok bool
		l, ok, err = first(visible(tx.Table(t.asLinks())).Clauses(clause.Locking{Strength: "UPDATE"}).Where("short_key = ?", key))
		switch {
		case err != nil:
			return l, err
		case ok && l.DeletedAt.IsZero() != deleted:
			l.archived = t == archive
			return l, nil
		}
	}
	return ShortLink{}, errUnknown
}
