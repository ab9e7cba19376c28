package links

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Options are the settings of a Store.
type Options struct {
	CheckInterval time.Duration // between rechecks of a link (LINK_CHECK_INTERVAL)
	// Background is the Fetcher for rechecks and queued refreshes, so that they do not delay requests of users;
	// nil = the same Fetcher.
	Background Fetcher
}

// Store stores links and tags. It is safe for concurrent use.
type Store struct {
	db         *models.DB
	clock      models.Clock
	fetch      Fetcher // for requests of users
	background Fetcher
	opts       Options
	index      index
	words      vocabulary
	refresh    chan struct{} // receives a value when a refresh is queued
}

// NewStore returns a Store for a migrated database.
func NewStore(db *models.DB, clock models.Clock, fetch Fetcher, opts Options) *Store {
	if opts.Background == nil {
		opts.Background = fetch
	}
	return &Store{
		db: db, clock: clock, fetch: fetch, background: opts.Background, opts: opts,
		index: newIndex(db.Engine), refresh: make(chan struct{}, 1),
	}
}

// Now returns the time of the clock of the store.
func (s *Store) Now() models.Time { return s.clock.Now() }

// Get returns a link with its tags. CodeNotFound if there is none.
func (s *Store) Get(ctx context.Context, id string) (Link, error) {
	return one(s.db.Read(ctx), id)
}

// ByURL returns the link with a canonical URL: the shared one, else the one of the actor. ok is false if there is
// none.
func (s *Store) ByURL(ctx context.Context, canonicalURL string) (l Link, ok bool, err error) {
	tx := s.db.Read(ctx)
	scope, args := models.OwnScope(tx, "links")
	ls, err := load(tx, tx.Model(&Link{}).Where("canonical_url = ?", canonicalURL).Where(scope, args...).Order("private_to").Limit(1))
	if err != nil || len(ls) == 0 {
		return Link{}, false, err
	}
	return ls[0], true, nil
}

// View is Get and counts a view.
func (s *Store) View(ctx context.Context, id string) (Link, error) {
	if models.CheckID(models.KindLink, id) != nil {
		return Link{}, models.NotFound("link")
	}
	var l Link
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		visible, args := models.Visible(tx, "links")
		err := tx.Exec("UPDATE links SET view_count = view_count + 1 WHERE id = ? AND "+visible, append([]any{id}, args...)...).Error
		if err != nil {
			return fmt.Errorf("count view: %w", err)
		}
		l, err = one(tx, id)
		return err
	})
	return l, err
}

// Random returns a random active link. CodeNotFound if there is none.
func (s *Store) Random(ctx context.Context) (Link, error) {
	tx := s.db.Read(ctx)
	n, err := countActive(tx)
	if err != nil || n == 0 {
		return Link{}, orNotFound(err)
	}
	page, err := load(tx, active(tx).Order("seq").Offset(rand.IntN(n)).Limit(1))
	if err != nil || len(page) == 0 {
		return Link{}, orNotFound(err)
	}
	return page[0], nil
}

func orNotFound(err error) error {
	if err != nil {
		return err
	}
	return models.NotFound("link")
}

// Popular returns a page of the active links, most viewed first.
func (s *Store) Popular(ctx context.Context, p models.Page) (models.List[Link], error) {
	out := models.List[Link]{Page: p}
	tx := s.db.Read(ctx)
	var err error
	if out.Total, err = countActive(tx); err != nil {
		return out, err
	}
	out.Items, err = load(tx, active(tx).Order("view_count DESC, seq DESC").Offset(p.Offset()).Limit(p.Size))
	return out, err
}

// RecentAndPopular returns up to n of the newest and of the most viewed active links, without totals.
func (s *Store) RecentAndPopular(ctx context.Context, n int) (newest, popular []Link, err error) {
	tx := s.db.Read(ctx)
	if newest, err = load(tx, active(tx).Order("seq DESC").Limit(n)); err != nil {
		return nil, nil, err
	}
	popular, err = load(tx, active(tx).Order("view_count DESC, seq DESC").Limit(n))
	return newest, popular, err
}

// Counts counts links and tags.
func (s *Store) Counts(ctx context.Context) (Counts, error) {
	c := Counts{Health: map[Health]int{}}
	tx := s.db.Read(ctx)
	var sizes struct{ Links, Expired, Tags int }
	tags, args := visibleTagTable(tx)
	err := tx.Raw(`SELECT
		(SELECT count(*) FROM links) AS links,
		(SELECT count(*) FROM links WHERE expired_at IS NOT NULL) AS expired,
		(SELECT count(*) FROM `+tags+`) AS tags`, args...).Scan(&sizes).Error
	if err != nil {
		return c, fmt.Errorf("count links: %w", err)
	}
	c.Active, c.Expired, c.Tags = sizes.Links-sizes.Expired, sizes.Expired, sizes.Tags
	type healthCount struct {
		Health Health
		N      int
	}
	var notOK, hidden []healthCount
	err = tx.Raw(`SELECT health, count(*) AS n FROM links
		WHERE health IN ? AND expired_at IS NULL GROUP BY health`, []Health{Dead, Suspect, Moved, Blocked, Unchecked}).Scan(&notOK).Error
	if err == nil && !seesAll(tx) {
		err = tx.Raw(`SELECT CASE WHEN expired_at IS NULL THEN health ELSE 'expired' END AS health, count(*) AS n FROM links
			WHERE private_to <> '' AND private_to <> ? GROUP BY 1`, models.Owner(ctx)).Scan(&hidden).Error
	}
	if err != nil {
		return c, fmt.Errorf("count links by health: %w", err)
	}
	c.Health[OK] = c.Active
	for _, h := range notOK {
		c.Health[h.Health] = h.N
		c.Health[OK] -= h.N
	}
	for _, h := range hidden {
		if h.Health == "expired" {
			c.Expired -= h.N
			continue
		}
		c.Active -= h.N
		if c.Health[h.Health] -= h.N; c.Health[h.Health] <= 0 && h.Health != OK {
			delete(c.Health, h.Health)
		}
	}
	return c, nil
}

// List returns a page of the links that match a filter: newest first or, with a query, best match first. It counts
// matches of a query up to MaxCounted. Later pages have results too.
func (s *Store) List(ctx context.Context, f Filter, p models.Page) (Found, error) {
	out := Found{List: models.List[Link]{Page: p}}
	q, err := ParseQuery(f.Query)
	if err == nil {
		err = models.CheckFilter("query.tag", f.Tag)
	}
	if err != nil {
		return out, err
	}
	if q.Empty() && strings.TrimSpace(f.Query) != "" {
		return out, models.Invalid("query.q", "must contain at least one word")
	}
	tx := s.db.Read(ctx)
	if q.Empty() && f.Tag == "" && f.Health == "" {
		return out, s.listByExpiry(tx, f.Shown, &out.List)
	}
	exact, err := exactTags(tx, q)
	if err != nil {
		return out, err
	}
	seqs, total, err := s.index.find(tx, s.selectionOf(tx, f, q, exact), p)
	if err != nil {
		return out, fmt.Errorf("search links: %w", err)
	}
	if total == 0 && !q.Empty() {
		if seqs, total, out.Near, err = s.findNear(tx, f, q, p); err != nil {
			return out, fmt.Errorf("search near misses: %w", err)
		}
	}
	out.Total, out.TotalIsLowerBound = total, !q.Empty() && total > MaxCounted
	if out.TotalIsLowerBound {
		out.Total = MaxCounted
	}
	out.Items, err = loadInOrder(tx, seqs)
	return out, err
}

func (s *Store) findNear(tx *gorm.DB, f Filter, q Query, p models.Page) ([]int64, int, map[string][]string, error) {
	near, misses, ok, err := s.nearQuery(tx, f, q)
	if err != nil || !ok {
		return nil, 0, nil, err
	}
	seqs, total, err := s.index.find(tx, s.selectionOf(tx, f, near, nil), p)
	if total == 0 {
		misses = nil
	}
	return seqs, total, misses, err
}

func (s *Store) listByExpiry(tx *gorm.DB, shown Shown, out *models.List[Link]) error {
	where, args := "TRUE", []any{}
	switch shown {
	case ShowActive:
		where = "expired_at IS NULL"
	case ShowExpired:
		where = "expired_at IS NOT NULL"
	case ShowRecent:
		where, args = "expired_at > ?", []any{s.recently()}
	case ShowAll:
	}
	var err error
	if shown == ShowActive {
		out.Total, err = countActive(tx)
	} else {
		out.Total, err = count(tx, where, args...)
	}
	if err != nil {
		return err
	}
	// Read the keys first, with an index-only scan, so that a late page does not read the rows of earlier pages.
	var seqs []int64
	if err := visible(tx).Where(where, args...).Order("seq DESC").Offset(out.Offset()).Limit(out.Size).Pluck("seq", &seqs).Error; err != nil {
		return fmt.Errorf("list links: %w", err)
	}
	out.Items, err = loadInOrder(tx, seqs)
	return err
}

// count counts the visible links that match a condition on expired_at.
func count(tx *gorm.DB, where string, args ...any) (int, error) {
	var n int64
	if err := tx.Model(&Link{}).Where(where, args...).Count(&n).Error; err != nil {
		return 0, fmt.Errorf("count links: %w", err)
	}
	hidden, err := countHidden(tx, where, args...)
	return max(0, int(n)-hidden), err // a link may become private between the two queries
}

// active returns a query for the active links that the actor sees.
func active(tx *gorm.DB) *gorm.DB { return visible(tx).Where("expired_at IS NULL") }

// countActive counts the active links that the actor sees. It subtracts, because SQLite counts a whole table much
// faster than rows that match a condition.
func countActive(tx *gorm.DB) (n int, err error) {
	err = tx.Raw(`SELECT (SELECT count(*) FROM links) - (SELECT count(*) FROM links WHERE expired_at IS NOT NULL)`).Scan(&n).Error
	if err != nil {
		return 0, fmt.Errorf("count links: %w", err)
	}
	hidden, err := countHidden(tx, "expired_at IS NULL")
	return max(0, n-hidden), err
}

// one loads a link with its tags. CodeNotFound if there is none.
func one(tx *gorm.DB, id string) (Link, error) {
	if models.CheckID(models.KindLink, id) != nil {
		return Link{}, models.NotFound("link")
	}
	ls, err := load(tx, visible(tx).Where("id = ?", id))
	if err != nil || len(ls) == 0 {
		return Link{}, orNotFound(err)
	}
	return ls[0], nil
}

// load runs a query for links and loads their tags.
func load(tx, query *gorm.DB) ([]Link, error) {
	var ls []Link
	if err := query.Find(&ls).Error; err != nil {
		return nil, fmt.Errorf("load links: %w", err)
	}
	return ls, loadTags(tx, ls)
}

// Found is a page of links. Near has the words that replaced words of the query without a match: {"exmaple":
// ["example"]}.
type Found struct {
	models.List[Link]
	Near map[string][]string
}
