package targets_test

import (
	"fmt"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

const day = models.Day

// fixture is a store with a clock that the test advances, and an instance with a lease.
type fixture struct {
	*testing.T
	*targets.Store
	db    *models.DB
	clock *modelstest.Clock
}

const checker lease.ID = "k_test"

func newFixture(t *testing.T, db *models.DB) fixture {
	f := fixture{T: t, db: db, clock: modelstest.NewClock()}
	f.Store = targets.NewStore(db, f.clock.Now, targets.Options{CheckInterval: time.Minute, Retention: 30 * day})
	modelstest.Lease(t, db, string(checker))
	return f
}

// newBenchFixture returns a store on SQLite whose targets are checked each second.
func newBenchFixture(b *testing.B) fixture {
	f := fixture{db: modelstest.New(b), clock: modelstest.NewClock()}
	f.Store = targets.NewStore(f.db, f.clock.Now, targets.Options{CheckInterval: time.Second, Retention: 30 * day})
	modelstest.Lease(b, f.db, string(checker))
	return f
}

// each runs a test on both engines.
func each(t *testing.T, test func(f fixture)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(newFixture(t, db)) })
}

func (f fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// is fails unless err has the code, and for CodeInvalid names the member.
func (f fixture) is(err error, code models.Code, location string) {
	f.Helper()
	e, ok := err.(*models.Error) //nolint:errorlint // stores give it unwrapped
	if !ok || e.Code != code || location != "" && (len(e.Fields) == 0 || e.Fields[0].Location != location) {
		f.Errorf("got %v, want %s %s", err, code, location)
	}
}

func (f fixture) add(url string) targets.Target {
	f.Helper()
	t, created, err := f.Add(f.Context(), targets.New{URL: url})
	f.must(err)
	if !created {
		f.Fatalf("%s was there already", url)
	}
	return t
}

// addMany adds n targets on different hosts.
func (f fixture) addMany(n int) (ids []string) {
	f.Helper()
	for i := range n {
		ids = append(ids, f.add(fmt.Sprintf("https://h%d.test/", i)).ID)
	}
	return ids
}

func (f fixture) get(id string) targets.Target {
	f.Helper()
	t, err := f.Get(f.Context(), id)
	f.must(err)
	return t
}

func (f fixture) claim() []targets.Target {
	f.Helper()
	ts, _, err := f.Claim(f.Context(), checker, 1000)
	f.must(err)
	return ts
}

// end ends the lease of an instance, like another instance if it is dead.
func (f fixture) end(holder lease.ID) {
	f.Helper()
	modelstest.Exec(f, f.db, "DELETE FROM instances WHERE id = ?", holder)
}

// beat renews the lease of the instance.
func (f fixture) beat() {
	f.Helper()
	modelstest.Exec(f, f.db, "UPDATE instances SET heartbeat_at = ? WHERE id = ?", f.Now(), checker)
}

// only claims the only due target.
func (f fixture) only() targets.Target {
	f.Helper()
	ts := f.claim()
	if len(ts) != 1 {
		f.Fatalf("%d targets are due, want 1", len(ts))
	}
	return ts[0]
}

func up(latency int) targets.Result {
	return targets.Result{StatusCode: 200, LatencyMS: latency, Attempts: 1}
}

func down() targets.Result {
	return targets.Result{Outcome: targets.DownOutcome, StatusCode: 500, LatencyMS: 7, Attempts: 3, Error: "unexpected status 500"}
}

// record stores a check of a claimed target that starts now.
func (f fixture) record(t targets.Target, r targets.Result) {
	f.Helper()
	r.CheckedAt = f.Now()
	f.must(f.Record(f.Context(), targets.Checked{Target: t, Result: r}))
}

// check waits until the only target is due and records a check of it.
func (f fixture) check(r targets.Result) targets.Target {
	f.Helper()
	_, next, err := f.Claim(f.Context(), checker, 0)
	f.must(err)
	if wait := next.Sub(f.Now().Time); wait > 0 {
		f.clock.Advance(wait)
	}
	t := f.only()
	f.record(t, r)
	return f.get(t.ID)
}

func (f fixture) results(filter targets.ResultFilter) []targets.Result {
	f.Helper()
	page, err := f.Results(f.Context(), filter, models.Cursor{}, models.MaxLimit)
	f.must(err)
	return page.Items
}

func (f fixture) outages(id string) []targets.Outage {
	f.Helper()
	page, err := f.Outages(f.Context(), id, models.Cursor{}, models.MaxLimit)
	f.must(err)
	return page.Items
}
