package targets

import (
	"context"
	"time"

	"github.com/linkwatch/linkwatch/models"
)

// Store keeps targets and their history. It is safe for concurrent use.
type Store struct {
	db     *models.DB
	clock  models.Clock
	opts   Options
	wanted chan struct{}
}

// NewStore makes the store over an open, migrated database.
func NewStore(db *models.DB, clock models.Clock, opts Options) *Store {
	return &Store{db: db, clock: clock, opts: opts, wanted: make(chan struct{}, 1)}
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

// --- owner's side ---

// Add watches a URL. It is created (201) unless the key was used before, or a
// target of the same canonical URL is there (both levels of seed 000): then
// that one is answered as it is. Errors are CodeInvalid ("url", "name",
// "interval_seconds", "expect.status", "expect.keyword", "expect.keyword_absent",
// "expect.max_latency_ms", "header.Idempotency-Key").
func (s *Store) Add(ctx context.Context, n New) (t Target, created bool, err error) { panic("stub") }

// Get is a target with its Uptime; CodeNotFound if there is none.
func (s *Store) Get(ctx context.Context, id string) (Target, error) { panic("stub") }

// ByURL is the target of a canonical URL, with its Uptime; ok is false if nobody watches it.
func (s *Store) ByURL(ctx context.Context, canonicalURL string) (t Target, ok bool, err error) {
	panic("stub")
}

// List is a page of targets with their Uptime, the oldest first (seed 000). limit is as
// models.NewLimit made it. It takes a number of queries that does not depend on the limit.
func (s *Store) List(ctx context.Context, f Filter, after models.Cursor, limit int) (models.Slice[Target], error) {
	panic("stub")
}

// Counts are how many targets there are by status.
func (s *Store) Counts(ctx context.Context) (Counts, error) { panic("stub") }

// NeedAttention are the targets that are down, the newest case first.
func (s *Store) NeedAttention(ctx context.Context, limit int) ([]Target, error) { panic("stub") }

// ExpiringTLS are the targets whose certificate ends within d (or has ended), the soonest first.
func (s *Store) ExpiringTLS(ctx context.Context, d time.Duration, limit int) ([]Target, error) {
	panic("stub")
}

// Edit changes what the owner set. Pausing ends an outage and forgets the
// state; resuming, like every other change, has the target checked soon.
// Errors are those of Add, and CodeNotFound.
func (s *Store) Edit(ctx context.Context, id string, e Edit) (Target, error) { panic("stub") }

// Delete stops watching a target. It can be restored for a day. CodeNotFound if there is none.
func (s *Store) Delete(ctx context.Context, id string) error { panic("stub") }

// Restore brings a deleted target back with its history: CodeNotFound if it
// was not deleted, or too long ago; CodeConflict if its URL is watched anew.
func (s *Store) Restore(ctx context.Context, id string) (Target, error) { panic("stub") }

// CheckNow asks for a check as soon as possible and waits until it is done,
// ctx ends or wait is over: then done is false, and the check comes later. A
// paused target is CodeConflict, an unknown one CodeNotFound.
func (s *Store) CheckNow(ctx context.Context, id string, wait time.Duration) (r Result, done bool, err error) {
	panic("stub")
}

// RequestCheck is CheckNow without waiting.
func (s *Store) RequestCheck(ctx context.Context, id string) error { panic("stub") }

// Results is a page of check results, newest first (the cursor's CreatedAt is
// the result's CheckedAt, its ID the result's ID). With a TargetID an unknown
// one is CodeNotFound; without, TargetID and TargetName of each are filled.
func (s *Store) Results(ctx context.Context, f ResultFilter, after models.Cursor, limit int) (models.Slice[Result], error) {
	panic("stub")
}

// Outages is a page of outages, newest first: of one target, or of all if targetID is "".
func (s *Store) Outages(ctx context.Context, targetID string, after models.Cursor, limit int) (models.Slice[Outage], error) {
	panic("stub")
}

// History is what happened to a target over a range, in 24 to 120 buckets. It
// costs the same however long the target has been watched.
func (s *Store) History(ctx context.Context, t Target, r Range) (History, error) { panic("stub") }

// Purge deletes what is no longer kept, in small batches: results older than
// the retention, hours older than 35 days, days older than 400, targets deleted
// more than a day ago with all their history, and idempotency keys older than a
// day. It begins no further batch once taking ends. summary says what it did.
func (s *Store) Purge(taking, working context.Context) (summary string, err error) { panic("stub") }

// --- status pages ---

// AddPage makes a status page. Errors are CodeInvalid ("slug", "title", "description", "targets[2]") and CodeConflict (the slug is taken).
func (s *Store) AddPage(ctx context.Context, e PageEdit) (StatusPage, error) { panic("stub") }

// EditPage replaces what the owner of a page set.
func (s *Store) EditPage(ctx context.Context, id string, e PageEdit) (StatusPage, error) {
	panic("stub")
}

// DeletePage removes a status page; its targets stay.
func (s *Store) DeletePage(ctx context.Context, id string) error { panic("stub") }

// Page is a status page with its targets and their Uptime, by id.
func (s *Store) Page(ctx context.Context, id string) (StatusPage, error) { panic("stub") }

// PageBySlug is Page by slug.
func (s *Store) PageBySlug(ctx context.Context, slug string) (StatusPage, error) { panic("stub") }

// Pages are all status pages by title, without their targets but with Size.
func (s *Store) Pages(ctx context.Context) ([]StatusPage, error) { panic("stub") }

// PageDays are the last 90 days of each of a page's targets, by Target.Seq, the
// oldest first, without gaps.
func (s *Store) PageDays(ctx context.Context, p StatusPage) (map[int64][]DayShare, error) {
	panic("stub")
}

// PageOutages are the newest outages of a page's targets that began or ended within the last 90 days.
func (s *Store) PageOutages(ctx context.Context, p StatusPage, limit int) ([]Outage, error) {
	panic("stub")
}

// Public is a target that stands on at least one status page; CodeNotFound for any other.
func (s *Store) Public(ctx context.Context, id string) (Target, error) { panic("stub") }

// --- checker's side ---

// CheckerLease is how long a checker's claims hold without a Hold.
const CheckerLease = 10 * time.Second

// Checked is one finished check of a claimed target.
type Checked struct {
	Target       Target // as Claim gave it
	Result       Result
	TLSExpiresAt models.Time   // zero: unknown
	RetryAfter   time.Duration // the host asked for a pause this long; 0 = it did not
}

// Hold renews the lease of a checker, and frees the targets of those whose
// lease has ended. lost is true if that was so of its own: others may have its
// targets now.
func (s *Store) Hold(ctx context.Context, checker string) (lost bool, err error) { panic("stub") }

// Spread puts off the targets that are overdue by more than their interval, as
// after a time in which nobody checked, so that their checks are spread over
// one interval from now.
func (s *Store) Spread(ctx context.Context) (n int64, err error) { panic("stub") }

// Claim takes up to n targets that are due, the longest first, for a checker.
// next is when the first of the others comes due; zero: none does.
func (s *Store) Claim(ctx context.Context, checker string, n int) (ts []Target, next models.Time, err error) {
	panic("stub")
}

// PutOff gives claimed targets back to be looked at again after d. They stay due since when they were.
func (s *Store) PutOff(ctx context.Context, checker string, d time.Duration, ts ...Target) error {
	panic("stub")
}

// Record stores finished checks, in one transaction: result, state, roll-ups
// and outages, and gives the targets back. Of targets that were deleted or lost
// meanwhile nothing is stored.
func (s *Store) Record(ctx context.Context, checker string, done ...Checked) error { panic("stub") }

// Leave gives all targets of a checker back and ends its lease.
func (s *Store) Leave(ctx context.Context, checker string) error { panic("stub") }

// Wanted gets a value when something changed in this process that may make a target due sooner.
func (s *Store) Wanted() <-chan struct{} { return s.wanted }

// Probes calls fn for the first limit targets that were checked, in the order
// of their creation: for the metrics.
func (s *Store) Probes(ctx context.Context, limit int, fn func(Target)) error { panic("stub") }
