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

// Options is the settings of a Store.
type Options struct {
	CheckInterval time.Duration // default and minimum interval (CHECK_INTERVAL)
	Retention     time.Duration // of check results (RESULT_RETENTION)
}

// Store keeps targets and their history. It is safe for concurrent use.
type Store struct {
	db      *models.DB
	clock   models.Clock
	opts    Options
	keys    models.Keys
	wakeups chan struct{}

	maintenance func(context.Context, []Target) (map[string]bool, error) // see UseMaintenance
}

// NewStore returns a Store for an open, migrated database.
func NewStore(db *models.DB, clock models.Clock, opts Options) *Store {
	return &Store{
		db: db, clock: clock, opts: opts,
		keys: models.Keys{Scope: "target", Clock: clock}, wakeups: make(chan struct{}, 1),
	}
}

// UseMaintenance sets the function that reports which targets are in maintenance, by id.
// Their checks do not count towards uptime. Call it before the store is used.
func (s *Store) UseMaintenance(in func(context.Context, []Target) (map[string]bool, error)) {
	s.maintenance = in
}

// InMaintenance reports which targets are in maintenance, by id.
func (s *Store) InMaintenance(ctx context.Context, ts []Target) (map[string]bool, error) {
	if s.maintenance == nil || len(ts) == 0 {
		return nil, nil
	}
	return s.maintenance(ctx, ts)
}

// Options returns the settings of the store.
func (s *Store) Options() Options { return s.opts }

// Now returns the time of the store's clock.
func (s *Store) Now() models.Time { return s.clock.Now() }

// Interval returns the time between checks of a target: its own interval, but at least
// CHECK_INTERVAL.
func (s *Store) Interval(t Target) time.Duration {
	return max(time.Duration(t.IntervalSeconds)*time.Second, s.opts.CheckInterval)
}

// Get returns a target with its Uptime; CodeNotFound if there is none.
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

// ByURL returns the target with a canonical URL and its Uptime: the shared one, or else
// the actor's own. ok is false if there is neither.
func (s *Store) ByURL(ctx context.Context, canonicalURL string) (t Target, ok bool, err error) {
	tx := s.db.Read(ctx)
	return s.loadOne(tx, byURL(tx, canonicalURL))
}

func byURL(tx *gorm.DB, canonicalURL string) *gorm.DB {
	own, args := models.OwnScope(tx, "targets")
	return notDeleted(tx).Where("canonical_url = ?", canonicalURL).Where(own, args...).Order("private_to").Limit(1)
}

func (s *Store) loadOne(tx, query *gorm.DB) (t Target, ok bool, err error) {
	ts, err := s.load(tx, query)
	if err != nil || len(ts) == 0 {
		return Target{}, false, err
	}
	err = s.loadLate(tx, ts)
	return ts[0], err == nil, err
}

// ListOrders are the orders of List.
var ListOrders = models.Orders[Target]{
	Field: "created_at", Time: "created_at", ID: "id", Kind: models.KindTarget,
	At: func(t Target) models.Cursor { return models.Cursor{CreatedAt: t.CreatedAt, ID: t.ID} },
	More: []models.Order[Target]{
		{Field: "host", Columns: []string{"host", "created_at", "id"}, Values: func(t Target) []any { return []any{t.Host, t.CreatedAt.UnixMicro(), t.ID} }},
		{Field: "canonical_url", Columns: []string{"canonical_url", "private_to"}, Values: func(t Target) []any { return []any{t.CanonicalURL, t.PrivateTo} }},
	},
}

// List returns a page of targets with their Uptime, in one of ListOrders. limit comes from
// models.NewLimit. The number of queries does not depend on it. A search for a text reads models.MaxSearched targets.
func (s *Store) List(ctx context.Context, f Filter, after models.Cursor, limit int) (models.Slice[Target], error) {
	var page models.Slice[Target]
	if err := errors.Join(models.CheckFilter("query.q", f.Text), models.CheckFilter("query.host", f.Host)); err != nil {
		return page, err
	}
	tx, now := s.db.Read(ctx), s.clock.Now()
	where, args := models.Visible(tx, "targets")
	q := models.ListQuery{Table: "targets", Where: where, Args: args, Filter: f.indexed()}
	q.And("deleted_at IS NULL")
	f.conditions(now, q.And)
	if text := models.Fold(f.Text); text != "" {
		q.Search(`search_text LIKE ? ESCAPE '\'`, "%"+models.EscapeLike(text)+"%")
	}
	return ListOrders.List(tx, q, after, limit, func(p models.ListPart) ([]Target, error) {
		selected := p.Of(tx.Model(&Target{}))
		if f.Certificate != "" {
			q, err := byCertificate(tx, f.Certificate, now, p)
			if err != nil {
				return nil, err
			}
			selected = q.Order(p.Order).Limit(p.Limit)
		}
		ts, err := s.load(tx, selected)
		if err != nil {
			return nil, err
		}
		return ts, s.loadLate(tx, ts)
	})
}

// maxParts is the number of parts of a list that Matching searches.
const maxParts = 40

// Matching returns up to n targets with a part of a text, oldest first, for a choice of targets. It searches the oldest
// 200,000 targets. more reports whether there may be others. CodeInvalid ("query.q").
func (s *Store) Matching(ctx context.Context, text string, n int) (found []Target, more bool, err error) {
	var after models.Cursor
	for range maxParts {
		part, err := s.List(ctx, Filter{Text: text}, after, n-len(found))
		if err != nil {
			return nil, false, err
		}
		found, after, more = append(found, part.Items...), part.Next, part.More()
		if !part.Stopped || len(found) == n {
			break
		}
	}
	return found, more, nil
}

// indexed returns the name of a filter whose index has the default order; "" = none.
func (f Filter) indexed() string {
	switch {
	case f.Host != "":
		return "host"
	case f.Status != "":
		return "status"
	case f.Certificate != "":
		return "certificate"
	}
	return ""
}

// conditions adds the conditions of the filter, except for its Text.
func (f Filter) conditions(now models.Time, add func(condition string, args ...any)) {
	if f.Host != "" {
		u, err := models.ParseURL("query.host", "http://"+f.Host) // parses the host like that of a target
		authority := strings.TrimPrefix(u.Canonical, "http://")
		switch {
		case err != nil || strings.ContainsAny(f.Host, `/\?#`):
			add("1 = 0") // no target has such a host
		case authority == u.Host || strings.HasSuffix(authority, "]"):
			add("host = ?", u.Host)
		default: // with a port, which is in canonical URLs unless it is the default of the scheme
			http, https := models.EscapeLike("http://"+authority), models.EscapeLike("https://"+strings.TrimSuffix(authority, ":443"))
			add(`host = ? AND (canonical_url || '/' LIKE ? ESCAPE '\' OR canonical_url LIKE ? ESCAPE '\'
				OR canonical_url || '/' LIKE ? ESCAPE '\' OR canonical_url LIKE ? ESCAPE '\')`,
				u.Host, http+"/%", http+"?%", https+"/%", https+"?%")
		}
	}
	switch f.Status {
	case "":
	case Paused:
		add("paused = ?", true)
	case Pending, Up, Down:
		add("paused = ? AND state = ?", false, f.Status)
	}
	switch f.Certificate {
	case "":
	case CertificateExpired:
		add("NOT paused AND tls_expires_at <= ?", now)
	case CertificateExpiring:
		add("NOT paused AND tls_expires_at > ? AND tls_expires_at <= ?", now, now.Add(TLSSoon))
	}
}

// Counts returns the number of targets by status. The states of row_counts are these, and deleted.
func (s *Store) Counts(ctx context.Context) (Counts, error) {
	n, err := models.RowCounts(s.db.Read(ctx), "targets")
	if err != nil {
		return nil, err
	}
	c := Counts{}
	for _, status := range []Status{Pending, Up, Down, Paused} {
		if n[string(status)] > 0 {
			c[status] = n[string(status)]
		}
	}
	return c, nil
}

// Probe is the last result of a target.
type Probe struct {
	ID             string
	State          Status
	LastStatusCode int
	LastLatencyMS  int
}

// Probes returns the last results of up to limit targets, oldest first, for the metrics. All accounts can read the
// metrics, so private targets are omitted. Paused and unchecked ones are too.
func (s *Store) Probes(ctx context.Context, limit int) (probes []Probe, err error) {
	query := notDeleted(s.db.Read(ctx)).Where("NOT paused AND last_checked_at IS NOT NULL AND private_to = ''").
		Select("id, state, last_status_code, last_latency_ms").Order("created_at, id").Limit(limit)
	err = models.Each(query, func(r *models.Row) {
		probes = append(probes, Probe{ID: r.Text(), State: Status(r.Text()), LastStatusCode: r.Int(), LastLatencyMS: r.Int()})
	})
	if err != nil {
		return nil, fmt.Errorf("load targets: %w", err)
	}
	return probes, nil
}

// notDeleted returns a query for the targets that are not deleted and visible to the actor.
func notDeleted(tx *gorm.DB) *gorm.DB { return visible(tx).Where("deleted_at IS NULL") }

// visible returns a query for the targets visible to the actor, including deleted ones.
func visible(tx *gorm.DB) *gorm.DB {
	visible, args := models.Visible(tx, "targets")
	return tx.Model(&Target{}).Where(visible, args...)
}

// find runs a query for targets. Their Uptime is not set.
func find(query *gorm.DB) ([]Target, error) {
	var ts []Target
	if err := query.Find(&ts).Error; err != nil {
		return nil, fmt.Errorf("load targets: %w", err)
	}
	return ts, nil
}

// load is like find but also sets the Schedule and the Uptime, with one more query for each, and Stale.
func (s *Store) load(tx, query *gorm.DB) ([]Target, error) {
	ts, err := find(query)
	if err != nil {
		return nil, err
	}
	err = errors.Join(loadSchedule(tx, ts), s.loadUptime(tx, ts))
	for i := range ts {
		ts[i].Stale = s.stale(ts[i])
	}
	return ts, err
}

// lock loads a target with its Schedule and locks both rows. deleted selects deleted
// targets.
func lock(tx *gorm.DB, id string, deleted bool) (t Target, err error) {
	if models.CheckID(models.KindTarget, id) != nil {
		return t, models.NotFound("target")
	}
	if t.Schedule, err = lockSchedule(tx, id); err != nil {
		return t, err
	}
	ts, err := find(visible(tx).Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", id))
	if err != nil {
		return t, err
	}
	if len(ts) == 0 || ts[0].DeletedAt.IsZero() == deleted {
		return t, models.NotFound("target")
	}
	ts[0].Schedule = t.Schedule
	return ts[0], nil
}

// wake signals the checker of this process that a target may be due.
func (s *Store) wake() {
	select {
	case s.wakeups <- struct{}{}:
	default: // a signal is pending
	}
}

// Wanted receives a value when a change in this process may have made a target due
// sooner. Changes by other instances are noticed at the next poll.
func (s *Store) Wanted() <-chan struct{} { return s.wakeups }
