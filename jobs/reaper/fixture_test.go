package reaper

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/jobs"
	"linkwatch/models"
	"linkwatch/models/cleanup"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
	"linkwatch/models/targets"
)

// The kinds of rows, in the order in which a run takes them.
const (
	shortLinks      = "short_links"
	archivedLinks   = "archived_short_links"
	visitDays       = "visit_days"
	checkResults    = "check_results"
	outages         = "outages"
	deletedTargets  = "targets"
	tags            = "tags"
	idempotencyKeys = "idempotency_keys"
)

// fixture is one instance of the program, as far as the reaper knows it.
type fixture struct {
	*testing.T
	db      *models.DB
	clock   *modelstest.Clock
	cleanup *cleanup.Store
	short   *shortlinks.Store
	targets *targets.Store
	kinds   []cleanup.Kind // of the next reaper
	opts    Options
	reg     *prometheus.Registry
}

// each runs a test on every engine. It may leave no goroutine running.
func each(t *testing.T, test func(f fixture)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		modelstest.NoLeaks(t)
		clock := modelstest.NewClock()
		test(fixture{T: t, db: db, clock: clock}.another())
	})
}

// another is another instance: the same database and clock, stores of its own.
func (f fixture) another() fixture {
	f.short = shortlinks.NewStore(f.db, f.clock.Now, nil, nil, shortlinks.Options{TombstoneTTL: time.Hour, BufferTime: time.Hour, KeepExpired: models.Day})
	f.targets = targets.NewStore(f.db, f.clock.Now, targets.Options{CheckInterval: time.Minute, Retention: 24 * time.Hour})
	saved := links.NewStore(f.db, f.clock.Now, nil, links.Options{CheckInterval: time.Hour})
	f.kinds = []cleanup.Kind{
		{Kind: shortLinks, Label: "Short links", Remove: f.short.ReapExpired},
		{Kind: archivedLinks, Label: "Archived short links", Remove: f.short.ReapArchived},
		{Kind: visitDays, Label: "Visit days", Remove: f.short.ReapDays},
		{Kind: checkResults, Label: "Check results", Remove: f.targets.ReapResults},
		{Kind: outages, Label: "Outages", Remove: f.targets.ReapOutages},
		{Kind: deletedTargets, Label: "Targets", Remove: f.targets.ReapTargets},
		{Kind: tags, Label: "Tags", Remove: saved.ReapTags},
		{Kind: idempotencyKeys, Label: "Idempotency keys", Remove: f.db.ReapKeys(f.clock.Now)},
	}
	f.cleanup = f.store()
	f.opts = Options{Interval: 15 * time.Minute, BatchSize: 10, MaxDuration: time.Hour}
	f.reg = prometheus.NewPedanticRegistry()
	return f
}

// store is the record of the fixture's kinds.
func (f fixture) store() *cleanup.Store { return cleanup.NewStore(f.db, f.clock.Now, f.kinds...) }

// only keeps the reaper to some kinds.
func (f fixture) only(names ...string) fixture {
	f.kinds = slices.DeleteFunc(slices.Clone(f.kinds), func(k cleanup.Kind) bool { return !slices.Contains(names, k.Kind) })
	return f
}

// keeping is a reaper that leaves the rows of a kind alone.
func (f fixture) keeping(name string) fixture {
	f.kinds = slices.Clone(f.kinds)
	f.kinds[f.at(name)].Kept = "it is to be kept"
	return f
}

// at is where a kind is among the fixture's.
func (f fixture) at(name string) int {
	f.Helper()
	i := slices.IndexFunc(f.kinds, func(k cleanup.Kind) bool { return k.Kind == name })
	if i < 0 {
		f.Fatalf("no kind %s", name)
	}
	return i
}

// ended stores n short links that ended two hours ago.
func (f fixture) ended(n int) { f.endedAt(n, f.cleanup.Now().Add(-2*time.Hour)) }

func (f fixture) endedAt(n int, at models.Time) {
	f.Helper()
	modelstest.Exec(f, f.db, `WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ?)
		INSERT INTO short_links (short_key, long_url, canonical_url, title, search_text, max_visits, disabled, created_at, updated_at, expires_at, visits, bots)
		SELECT 'ended' || id, 'https://a.test', 'https://a.test', '', '', 0, FALSE, 1, 1, CAST(? AS BIGINT), 0, 0 FROM n`, n, at)
}

// deleted stores a target with n results that was deleted two days ago.
func (f fixture) deleted(n int) {
	f.Helper()
	made, _, err := f.targets.Add(f.Context(), targets.New{URL: "https://a.test"})
	if err == nil {
		err = f.targets.Delete(f.Context(), made.ID)
	}
	if err != nil {
		f.Fatal(err)
	}
	modelstest.Exec(f, f.db, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO check_results (target_seq, checked_at, outcome, status_code, latency_ms, attempts, error, interval_ms)
		SELECT CAST(? AS BIGINT), CAST(? AS BIGINT) + i, 0, 200, 1, 1, '', 1 FROM n`, n, made.Seq, f.cleanup.Now())
	modelstest.Exec(f, f.db, "UPDATE targets SET deleted_at = ?", f.cleanup.Now().Add(-48*time.Hour))
}

// keys stores n Idempotency-Keys of two days ago.
func (f fixture) keys(n int) {
	f.Helper()
	modelstest.Exec(f, f.db, `WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ?)
		INSERT INTO idempotency_keys (scope, key, resource_id, created_at) SELECT 'target', 'k' || id, '', CAST(? AS BIGINT) FROM n`,
		n, f.cleanup.Now().Add(-48*time.Hour))
}

func (f fixture) rows(table string) (n int64) {
	f.Helper()
	if err := f.db.Read(f.Context()).Raw("SELECT count(*) FROM " + table).Scan(&n).Error; err != nil {
		f.Fatal(err)
	}
	return n
}

func (f fixture) job() jobs.Job {
	f.Helper()
	job, err := Reaper(f.store(), f.opts, f.reg)
	if err != nil {
		f.Fatal(err)
	}
	return job
}

// run runs the job once, which must succeed and say that it did so.
func (f fixture) run(want string) {
	f.Helper()
	if summary, err := f.job().Run(f.Context(), f.Context()); err != nil || summary != want {
		f.Errorf("%q, %v, want %q", summary, err, want)
	}
}

// of are the totals of a kind, as another instance reads them.
func (f fixture) of(kind string) cleanup.Totals {
	f.Helper()
	all, err := f.another().cleanup.Totals(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	for _, t := range all {
		if t.Kind == kind {
			return t
		}
	}
	f.Fatalf("no totals of %s", kind)
	return cleanup.Totals{}
}

type batches struct {
	mu     sync.Mutex
	kind   []string
	rows   []int64
	limits []int
	tx     []any // kept, so that no two transactions are at one address
}

func (b *batches) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.kind, " ")
}

func (b *batches) len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.kind)
}

// noted notes each batch of a Remove and then calls after within its
// transaction; an error of it makes the batch fail.
func noted[T any](b *batches, kind string, remove func(T, int) (int64, error), after func() error) func(T, int) (int64, error) {
	return func(tx T, limit int) (int64, error) {
		n, err := remove(tx, limit)
		b.mu.Lock()
		b.kind, b.rows, b.limits, b.tx = append(b.kind, kind), append(b.rows, n), append(b.limits, limit), append(b.tx, tx)
		b.mu.Unlock()
		if err == nil && after != nil {
			err = after()
		}
		return n, err
	}
}

func (f fixture) watch(b *batches, kind string, after func() error) {
	of := &f.kinds[f.at(kind)]
	of.Remove = noted(b, kind, of.Remove, after)
}
