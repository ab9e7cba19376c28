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

// Options are the settings of the store.
type Options struct {
	CheckInterval time.Duration // how often a link is rechecked (LINK_CHECK_INTERVAL)
	// Background is the Fetcher of rechecks and queued refreshes, which must not
	// take the turns of requests; nil = the one for requests.
	Background Fetcher
}

// Store keeps links and tags. It is safe for concurrent use.
type Store struct {
	db         *models.DB
	clock      models.Clock
	fetch      Fetcher // for requests: somebody waits
	background Fetcher
	opts       Options
	index      index
	words      vocabulary
	refresh    chan struct{} // has a value when a refresh was queued
}

// NewStore makes the store over an open, migrated database.
func NewStore(db *models.DB, clock models.Clock, fetch Fetcher, opts Options) *Store {
	if opts.Background == nil {
		opts.Background = fetch
	}
	return &Store{
		db: db, clock: clock, fetch: fetch, background: opts.Background, opts: opts,
		index: newIndex(db.Engine), refresh: make(chan struct{}, 1),
	}
}

// Now is the time by the store's clock.
func (s *Store) Now() models.Time { return s.clock.Now() }

// Get is one link with its tags; CodeNotFound if there is none.
func (s *Store) Get(ctx context.Context, id string) (Link, error) {
	return one(s.db.Read(ctx), id)
}

// ByURL is the link of a canonical URL that is shared, else the actor's own; ok is false if there is none.
func (s *Store) ByURL(ctx context.Context, canonicalURL string) (l Link, ok bool, err error) {
	tx := s.db.Read(ctx)
	scope, args := models.OwnScope(tx, "links")
	ls, err := load(tx, tx.Model(&Link{}).Where("canonical_url = ?", canonicalURL).Where(scope, args...).Order("private_to").Limit(1))
	if err != nil || len(ls) == 0 {
		return Link{}, false, err
	}
	return ls[0], true, nil
}

// View is Get that counts a view, every time.
func (s *Store) View(ctx context.Context, id string) (Link, error) {
	if models.CheckID(models.KindLink, id) != nil {
		return Link{}, models.NotFound("link")
	}
	var l Link
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		seen, args := models.Visible(tx, "links")
		err := tx.Exec("UPDATE links SET view_count = view_count + 1 WHERE id = ? AND "+seen, append([]any{id}, args...)...).Error
		if err != nil {
			return fmt.Errorf("counting a view: %w", err)
		}
		l, err = one(tx, id)
		return err
	})
	return l, err
}

// Random is a random active link; CodeNotFound if there is none.
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

// Popular are the active links, most viewed first.
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

// Glance returns up to n of the newest and of the most viewed active links. It counts
// nothing.
func (s *Store) Glance(ctx context.Context, n int) (newest, popular []Link, err error) {
	tx := s.db.Read(ctx)
	if newest, err = load(tx, active(tx).Order("seq DESC").Limit(n)); err != nil {
		return nil, nil, err
	}
	popular, err = load(tx, active(tx).Order("view_count DESC, seq DESC").Limit(n))
	return newest, popular, err
}

// Counts are the sizes of the collection.
func (s *Store) Counts(ctx context.Context) (Counts, error) {
	c := Counts{Health: map[Health]int{}}
	tx := s.db.Read(ctx)
	var sizes struct{ Links, Expired, Tags int }
	tags, args := seenTags(tx)
	err := tx.Raw(`SELECT
		(SELECT count(*) FROM links) AS links,
		(SELECT count(*) FROM links WHERE expired_at IS NOT NULL) AS expired,
		(SELECT count(*) FROM `+tags+`) AS tags`, args...).Scan(&sizes).Error
	if err != nil {
		return c, fmt.Errorf("counting links: %w", err)
	}
	c.Active, c.Expired, c.Tags = sizes.Links-sizes.Expired, sizes.Expired, sizes.Tags
	type some struct {
		Health Health
		N      int
	}
	var unwell, unseen []some
	err = tx.Raw(`SELECT health, count(*) AS n FROM links
		WHERE health IN ? AND expired_at IS NULL GROUP BY health`, []Health{Dead, Suspect, Moved, Blocked, Unchecked}).Scan(&unwell).Error
	if err == nil && !seesAll(tx) {
		err = tx.Raw(`SELECT CASE WHEN expired_at IS NULL THEN health ELSE 'expired' END AS health, count(*) AS n FROM links
			WHERE private_to <> '' AND private_to <> ? GROUP BY 1`, models.Owner(ctx)).Scan(&unseen).Error
	}
	if err != nil {
		return c, fmt.Errorf("counting links by health: %w", err)
	}
	c.Health[OK] = c.Active
	for _, u := range unwell {
		c.Health[u.Health] = u.N
		c.Health[OK] -= u.N
	}
	for _, u := range unseen {
		if u.Health == "expired" {
			c.Expired -= u.N
			continue
		}
		c.Active -= u.N
		if c.Health[u.Health] -= u.N; c.Health[u.Health] <= 0 && u.Health != OK {
			delete(c.Health, u.Health)
		}
	}
	return c, nil
}

// List is a page of links: of all that the filter lets through, the newest
// first, or of those a query finds, the best first. The matches of a query are
// counted up to MaxCounted; pages beyond have results as well.
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
		return out, models.Invalid("query.q", "holds nothing that can be looked for")
	}
	tx := s.db.Read(ctx)
	if q.Empty() && f.Tag == "" && f.Health == "" {
		return out, s.listByExpiry(tx, f.Shown, &out.List)
	}
	whole, err := wholeTags(tx, q)
	if err != nil {
		return out, err
	}
	seqs, total, err := s.index.find(tx, s.selectionOf(tx, f, q, whole), p)
	if err != nil {
		return out, fmt.Errorf("searching links: %w", err)
	}
	if total == 0 && !q.Empty() {
		if seqs, total, out.Near, err = s.findNear(tx, f, q, p); err != nil {
			return out, fmt.Errorf("searching for near misses: %w", err)
		}
	}
	out.Total, out.TotalIsLowerBound = total, !q.Empty() && total > MaxCounted
	if out.TotalIsLowerBound {
		out.Total = MaxCounted
	}
	out.Items, err = inOrder(tx, seqs)
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
	// The keys come first, from an index alone, so that a page far down the
	// list does not read the rows before it.
	var seqs []int64
	if err := visible(tx).Where(where, args...).Order("seq DESC").Offset(out.Offset()).Limit(out.Size).Pluck("seq", &seqs).Error; err != nil {
		return fmt.Errorf("listing links: %w", err)
	}
	out.Items, err = inOrder(tx, seqs)
	return err
}

// count is the number of links that the actor sees and that fulfill a condition.
func count(tx *gorm.DB, where string, args ...any) (int, error) {
	var n int64
	if err := tx.Model(&Link{}).Where(where, args...).Count(&n).Error; err != nil {
		return 0, fmt.Errorf("counting links: %w", err)
	}
	unseen, err := hidden(tx, where, args...)
	return max(0, int(n)-unseen), err // a link may be hidden between the two
}

// active are the active links that the actor sees.
func active(tx *gorm.DB) *gorm.DB { return visible(tx).Where("expired_at IS NULL") }

// countActive subtracts, since SQLite counts a whole table by the page, which is much
// faster than to count the rows that fulfill a condition.
func countActive(tx *gorm.DB) (n int, err error) {
	err = tx.Raw(`SELECT (SELECT count(*) FROM links) - (SELECT count(*) FROM links WHERE expired_at IS NOT NULL)`).Scan(&n).Error
	if err != nil {
		return 0, fmt.Errorf("counting links: %w", err)
	}
	unseen, err := hidden(tx, "expired_at IS NULL")
	return max(0, n-unseen), err
}

// one is a link by id with its tags.
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

// load runs a query for links and gives them their tags: two queries, however
// many links.
func load(tx, query *gorm.DB) ([]Link, error) {
	var ls []Link
	if err := query.Find(&ls).Error; err != nil {
		return nil, fmt.Errorf("loading links: %w", err)
	}
	return ls, loadTags(tx, ls)
}

// Found is a page of links. Near holds, for each word of the query that
// nothing matched, the words that stood in for it: {"exmaple": ["example"]}.
type Found struct {
	models.List[Link]
	Near map[string][]string
}
