package links

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
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
	// Seal and Open encrypt the result of a preview for Add; nil = Add fetches the page again.
	Seal, Open func(value []byte, owner string) ([]byte, error)
}

// Store stores links and tags. It is safe for concurrent use.
type Store struct {
	db         *models.DB
	clock      models.Clock
	fetch      Fetcher // for requests of users
	background Fetcher
	opts       Options
	words      vocabulary
	flights    flights
	refresh    chan struct{} // receives a value when a refresh is queued
}

// NewStore returns a Store for a migrated database.
func NewStore(db *models.DB, clock models.Clock, fetch Fetcher, opts Options) *Store {
	if opts.Background == nil {
		opts.Background = fetch
	}
	return &Store{
		db: db, clock: clock, fetch: fetch, background: opts.Background, opts: opts,
		refresh: make(chan struct{}, 1),
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
	n, err := countLinks(tx)
	if err != nil || n.active("") == 0 {
		return Link{}, orNotFound(err)
	}
	number := models.Page{Number: 1 + rand.IntN(n.active("")), Size: 1}
	one := models.List[Link]{Page: number}
	if err := listByState(tx, ShowActive, "", &one); err != nil || len(one.Items) == 0 {
		return Link{}, orNotFound(err)
	}
	return one.Items[0], nil
}

func orNotFound(err error) error {
	if err != nil {
		return err
	}
	return models.NotFound("link")
}

// Popular returns a page of the active links, most viewed first, or last if the page is in ascending order. A page in
// the second half of the list is read from its end, so that it skips fewer links.
func (s *Store) Popular(ctx context.Context, p models.Page) (models.List[Link], error) {
	out := models.List[Link]{Page: p}
	tx := s.db.Read(ctx)
	n, err := countLinks(tx)
	if err != nil {
		return out, err
	}
	out.Total = n.active("")
	order, offset, size := "view_count DESC, seq DESC", p.Offset(), max(0, min(p.Size, out.Total-p.Offset()))
	fromEnd := offset > out.Total/2
	if fromEnd {
		offset = max(0, out.Total-offset-size)
	}
	if fromEnd != (p.Sort.Direction == models.Ascending) {
		order = "view_count, seq"
	}
	var seqs []int64 // the keys first, so that the rows of skipped links are not read
	if err := active(tx).Order(order).Offset(offset).Limit(size).Pluck("seq", &seqs).Error; err != nil {
		return out, fmt.Errorf("list popular links: %w", err)
	}
	if fromEnd {
		slices.Reverse(seqs)
	}
	out.Items, err = loadInOrder(tx, seqs)
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
	tx := s.db.Read(ctx)
	n, err := countLinks(tx)
	if err != nil {
		return Counts{}, err
	}
	c := Counts{Active: n.active(""), Expired: n.of(states(ShowExpired, "")), Health: map[Health]int{OK: n.active(OK)}}
	for _, h := range Healths {
		if in := n.active(h); in > 0 {
			c.Health[h] = in
		}
	}
	c.Tags, err = countVisibleTags(tx)
	return c, err
}

// List returns a page of the links that match a filter: newest first or, with a query, best match first. It counts
// matches of a query, or of several filters, up to MaxCounted. Later pages have results too.
func (s *Store) List(ctx context.Context, f Filter, p models.Page) (Found, error) {
	return s.list(ctx, f, p, nil)
}

// ListWithHealth is List, and counts the matches of a filter without a health by their health.
func (s *Store) ListWithHealth(ctx context.Context, f Filter, p models.Page) (Found, error) {
	if f.Health != "" {
		return s.list(ctx, f, p, nil)
	}
	return s.list(ctx, f, p, slices.DeleteFunc(slices.Clone(Healths), func(h Health) bool { return h == OK })) // OK has no mark
}

// list lists links and counts the matches with each of some healths.
func (s *Store) list(ctx context.Context, f Filter, p models.Page, healths []Health) (Found, error) {
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
	if err := checkSort(f, q, p.Sort); err != nil {
		return out, err
	}
	if p.Sort.Field == byViews {
		out.List, err = s.Popular(ctx, p)
		return out, err
	}
	tx := s.db.Read(ctx)
	if q.Empty() && f.Tag == "" {
		switch {
		case f.Shown != ShowRecent:
			if len(healths) > 0 {
				if out.Health, err = countHealths(tx, f.Shown, healths); err != nil {
					return out, err
				}
			}
			return out, listByState(tx, f.Shown, f.Health, &out.List)
		case f.Health == "" && len(healths) == 0:
			return out, s.listRecentlyExpired(tx, &out.List)
		}
	}
	exact, err := exactTags(tx, q)
	if err != nil {
		return out, err
	}
	sel := s.selectionOf(tx, f, q, exact)
	sel.healths = healths
	byTag := q.Empty() && f.Health == "" && f.Shown != ShowRecent
	if byTag && len(healths) == 0 {
		sel.limit = 0 // the tag has the total
	}
	found, err := find(tx, sel, p)
	if err != nil {
		return out, fmt.Errorf("search links: %w", err)
	}
	if byTag {
		out.Health, out.HealthIsLowerBound = found.health, found.total > MaxCounted
		out.Total, err = countTagged(tx, f.Tag, f.Shown)
		if err != nil {
			return out, err
		}
		out.Items, err = loadInOrder(tx, found.seqs)
		return out, err
	}
	if found.total == 0 && !q.Empty() {
		if found, out.Near, err = s.findNear(tx, f, q, exact, p, healths); err != nil {
			return out, fmt.Errorf("search near misses: %w", err)
		}
	}
	out.Health, out.HealthIsLowerBound = found.health, found.total > MaxCounted
	out.Total, out.TotalIsLowerBound = found.total, out.HealthIsLowerBound
	if out.TotalIsLowerBound {
		out.Total = MaxCounted
	}
	out.Items, err = loadInOrder(tx, found.seqs)
	return out, err
}

func (s *Store) findNear(tx *gorm.DB, f Filter, q Query, exact map[string]bool, p models.Page, healths []Health) (matches, map[string][]string, error) {
	near, misses, ok, err := s.nearQuery(tx, f, q, exact)
	if err != nil || !ok {
		return matches{}, nil, err
	}
	sel := s.selectionOf(tx, f, near, exact)
	sel.healths = healths
	found, err := find(tx, sel, p)
	if found.total == 0 {
		misses = nil
	}
	return found, misses, err
}

// listRecentlyExpired returns a page of the links that expired within the last RecentDays, newest first. It reads the
// keys of all of them.
func (s *Store) listRecentlyExpired(tx *gorm.DB, out *models.List[Link]) error {
	var seqs []int64
	if err := visible(tx).Where("expired_at > ?", s.recently()).Order("seq DESC").Pluck("seq", &seqs).Error; err != nil {
		return fmt.Errorf("list recently expired links: %w", err)
	}
	out.Total = len(seqs)
	if out.Sort.Direction == models.Ascending {
		slices.Reverse(seqs)
	}
	var err error
	out.Items, err = loadInOrder(tx, seqs[min(out.Offset(), out.Total):min(out.Offset()+out.Size, out.Total)])
	return err
}

// active returns a query for the active links that the actor sees.
func active(tx *gorm.DB) *gorm.DB { return visible(tx).Where("expired_at IS NULL") }

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

	// Health has the numbers of matches by health, without OK. It is set by ListWithHealth. HealthIsLowerBound reports that
	// there are more matches than are counted.
	Health             map[Health]int
	HealthIsLowerBound bool
}
