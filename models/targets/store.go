package targets

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
)

// Options are the settings of the store.
type Options struct {
	CheckInterval time.Duration // of targets without an interval of their own, and the shortest there is (CHECK_INTERVAL)
	Retention     time.Duration // how long single results are kept (RESULT_RETENTION)
}

// Store keeps targets and their history. It is safe for concurrent use.
type Store struct {
	db      *models.DB
	clock   models.Clock
	opts    Options
	keys    models.Keys
	wakeups chan struct{}

	maintenance func(context.Context, []Target) (map[string]bool, error) // see Excuse
}

// NewStore makes the store over an open, migrated database.
func NewStore(db *models.DB, clock models.Clock, opts Options) *Store {
	return &Store{
		db: db, clock: clock, opts: opts,
		keys: models.Keys{Scope: "target", Clock: clock}, wakeups: make(chan struct{}, 1),
	}
}

// UseMaintenance sets who says which of some targets are in maintenance, by their ids, before
// anything runs. Their checks do not count against their uptime.
func (s *Store) UseMaintenance(in func(context.Context, []Target) (map[string]bool, error)) {
	s.maintenance = in
}

// InMaintenance reports which of some targets are in maintenance, by their ids.
func (s *Store) InMaintenance(ctx context.Context, ts []Target) (map[string]bool, error) {
	if s.maintenance == nil || len(ts) == 0 {
		return nil, nil
	}
	return s.maintenance(ctx, ts)
}

// Options are the settings in force.
func (s *Store) Options() Options { return s.opts }

// Now is the time by the store's clock.
func (s *Store) Now() models.Time { return s.clock.Now() }

// Interval is how far apart the checks of a target are: its own interval, but
// not less than CHECK_INTERVAL, which it is without one.
func (s *Store) Interval(t Target) time.Duration {
	return max(time.Duration(t.IntervalSeconds)*time.Second, s.opts.CheckInterval)
}

// Get is a target with its Uptime; CodeNotFound if there is none.
func (s *Store) Get(ctx context.Context, id string) (Target, error) {
	if models.CheckID(models.KindTarget, id) != nil {
		return Target{}, models.NotFound("target")
	}
	tx := s.db.Read(ctx)
	t, ok, err := s.loadOne(tx, notDeleted(tx).Where("id = ?", id))
	if err == nil && !ok {
		err = models.NotFound("target")
	}
	return t, err
}

// ByURL is the target of a canonical URL, with its Uptime: the shared one, or the
// caller's own. ok is false if there is neither.
func (s *Store) ByURL(ctx context.Context, canonicalURL string) (t Target, ok bool, err error) {
	tx := s.db.Read(ctx)
	return s.loadOne(tx, byURL(tx, canonicalURL))
}

// byURL is a query for the target that ByURL returns.
func byURL(tx *gorm.DB, canonicalURL string) *gorm.DB {
	own, args := models.OwnScope(tx, "targets")
	return notDeleted(tx).Where("canonical_url = ?", canonicalURL).Where(own, args...).Order("private_to").Limit(1)
}

func (s *Store) loadOne(tx, query *gorm.DB) (t Target, ok bool, err error) {
	ts, err := s.load(tx, query)
	if err != nil || len(ts) == 0 {
		return Target{}, false, err
	}
	return ts[0], true, nil
}

// List is a page of targets with their Uptime, the oldest first.
// limit is as models.NewLimit made it. The number of queries does not depend
// on it.
func (s *Store) List(ctx context.Context, f Filter, after models.Cursor, limit int) (models.Slice[Target], error) {
	var page models.Slice[Target]
	if err := errors.Join(models.CheckFilter("query.q", f.Text), models.CheckFilter("query.host", f.Host)); err != nil {
		return page, err
	}
	if after != (models.Cursor{}) && models.CheckID(models.KindTarget, after.ID) != nil {
		return page, models.ErrPageToken
	}
	tx := s.db.Read(ctx)
	q := f.apply(notDeleted(tx), s.clock.Now())
	if after != (models.Cursor{}) {
		q = q.Where("(created_at, id) > (?, ?)", after.CreatedAt, after.ID)
	}
	var err error
	if page.Items, err = s.load(tx, q.Order("created_at, id").Limit(limit+1)); err != nil {
		return page, err
	}
	return models.NewSlice(page.Items, limit, func(t Target) models.Cursor { return models.Cursor{CreatedAt: t.CreatedAt, ID: t.ID} }), nil
}

// apply narrows a query for targets down.
func (f Filter) apply(q *gorm.DB, now models.Time) *gorm.DB {
	if f.Host != "" {
		u, err := models.ParseURL("query.host", "http://"+f.Host) // reads the host as a target's is read
		authority := strings.TrimPrefix(u.Canonical, "http://")
		switch {
		case err != nil || strings.ContainsAny(f.Host, `/\?#`):
			q = q.Where("1 = 0") // no target has such a host
		case authority == u.Host || strings.HasSuffix(authority, "]"):
			q = q.Where("host = ?", u.Host)
		default: // with a port, which canonical URLs have unless it is their scheme's
			http, https := models.EscapeLike("http://"+authority), models.EscapeLike("https://"+strings.TrimSuffix(authority, ":443"))
			q = q.Where("host = ?", u.Host).Where(`canonical_url || '/' LIKE ? ESCAPE '\' OR canonical_url LIKE ? ESCAPE '\'
				OR canonical_url || '/' LIKE ? ESCAPE '\' OR canonical_url LIKE ? ESCAPE '\'`,
				http+"/%", http+"?%", https+"/%", https+"?%")
		}
	}
	switch f.Status {
	case "":
	case Paused:
		q = q.Where("paused = ?", true)
	case Pending, Up, Down:
		q = q.Where("paused = ? AND state = ?", false, f.Status)
	}
	switch f.Certificate {
	case "":
	case CertificateExpired:
		q = q.Where("NOT paused AND tls_expires_at <= ?", now)
	case CertificateExpiring:
		q = q.Where("NOT paused AND tls_expires_at > ? AND tls_expires_at <= ?", now, now.Add(TLSSoon))
	}
	if text := models.Fold(f.Text); text != "" {
		q = q.Where(`search_text LIKE ? ESCAPE '\'`, "%"+models.EscapeLike(text)+"%")
	}
	return q
}

// Counts are how many targets there are by status.
func (s *Store) Counts(ctx context.Context) (Counts, error) {
	var rows []struct {
		Paused bool
		State  Status
		N      int
	}
	err := notDeleted(s.db.Read(ctx)).Select("paused, state, count(*) AS n").Group("paused, state").Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("counting targets: %w", err)
	}
	c := Counts{}
	for _, r := range rows {
		c[Target{Paused: r.Paused, State: r.State}.Status()] += r.N
	}
	return c, nil
}

// Probes calls fn for the first targets that were checked, are not paused and are
// shared, in the order of their creation: for the metrics, which all accounts can read.
func (s *Store) Probes(ctx context.Context, limit int, fn func(Target)) error {
	ts, err := find(notDeleted(s.db.Read(ctx)).Where("NOT paused AND last_checked_at IS NOT NULL AND private_to = ''").
		Select("seq, id, state, last_status_code, last_latency_ms").Order("created_at, id").Limit(limit))
	for _, t := range ts {
		fn(t)
	}
	return err
}

// notDeleted are the targets that are not deleted and that the actor sees.
func notDeleted(tx *gorm.DB) *gorm.DB { return visible(tx).Where("deleted_at IS NULL") }

// visible are the targets that the actor sees, deleted ones too.
func visible(tx *gorm.DB) *gorm.DB {
	visible, args := models.Visible(tx, "targets")
	return tx.Model(&Target{}).Where(visible, args...)
}

// find runs a query for targets.
func find(query *gorm.DB) ([]Target, error) {
	var ts []Target
	if err := query.Find(&ts).Error; err != nil {
		return nil, fmt.Errorf("loading targets: %w", err)
	}
	return ts, nil
}

// load is bare with the targets' Uptime: two queries, however many targets.
func (s *Store) load(tx, query *gorm.DB) ([]Target, error) {
	ts, err := find(query)
	if err != nil {
		return nil, err
	}
	return ts, s.loadUptime(tx, ts)
}

// lock loads a target for a change.
func lock(tx *gorm.DB, id string, deleted bool) (Target, error) {
	if models.CheckID(models.KindTarget, id) != nil {
		return Target{}, models.NotFound("target")
	}
	ts, err := find(visible(tx).Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", id))
	if err != nil {
		return Target{}, err
	}
	if len(ts) == 0 || ts[0].DeletedAt.IsZero() == deleted {
		return Target{}, models.NotFound("target")
	}
	return ts[0], nil
}

// wake tells the checker of this process that a target may be due.
func (s *Store) wake() {
	select {
	case s.wakeups <- struct{}{}:
	default: // it rings already
	}
}

// Wanted gets a value when something changed in this process that may make a
// target due sooner. Of changes by other instances the next tick learns.
func (s *Store) Wanted() <-chan struct{} { return s.wakeups }
