package dispatch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"linkwatch/jobs/dispatch"
	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
)

// memory is a Queue in memory, of items named "host/path".
type memory struct {
	mu      sync.Mutex
	due     []string            // free items, in the order in which they are claimed
	claimed map[string]lease.ID // by item
	done    []string
	batches []int                    // the sizes of calls of Finish
	after   map[string]time.Duration // of released items
	tries   map[string]int           // by item
	under   map[string]int           // attempts under way, by host
	fail    map[string]error         // what a method returns: "claim", "finish", "release"
	try     func(context.Context, string) dispatch.Outcome
	most    int // attempts under way at once
	now     int
	failed  int // calls of Finish
	wanted  chan struct{}
}

func newMemory(due ...string) *memory {
	return &memory{
		due: due, claimed: map[string]lease.ID{}, after: map[string]time.Duration{}, tries: map[string]int{}, under: map[string]int{},
		fail: map[string]error{}, try: func(context.Context, string) dispatch.Outcome { return dispatch.Outcome{} }, wanted: make(chan struct{}, 1),
	}
}

func host(item string) string { h, _, _ := strings.Cut(item, "/"); return h }

func (m *memory) Host(item string) string { return host(item) }
func (*memory) Due(string) time.Time      { return time.Time{} }
func (*memory) Slow(item string) bool     { return strings.HasPrefix(item, "slow") }
func (*memory) Tried(item string) time.Time {
	if strings.HasPrefix(item, "fresh") {
		return time.Now()
	}
	return time.Time{}
}

func (m *memory) Claim(_ context.Context, holder lease.ID, n int) ([]string, time.Duration, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	items := slices.Clone(m.due[:min(n, len(m.due))])
	m.due = m.due[len(items):]
	for _, i := range items {
		m.claimed[i] = holder
	}
	if err := m.fail["claim"]; err != nil { // after the claim: its commit was not confirmed
		return nil, 0, err
	}
	return items, -1, nil
}

func (m *memory) Try(ctx context.Context, item string) dispatch.Outcome {
	m.mu.Lock()
	m.tries[item]++
	m.under[host(item)]++
	m.now++
	m.most = max(m.most, m.now)
	twice := m.under[host(item)] > 1
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.under[host(item)]--
		m.now--
	}()
	if twice {
		panic("two attempts at once on " + item)
	}
	return m.try(ctx, item)
}

func (m *memory) Finish(_ context.Context, items []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.fail["finish"]; err != nil {
		m.failed++
		return err
	}
	m.batches = append(m.batches, len(items))
	for _, i := range items {
		if m.claimed[i] == "" {
			continue
		}
		delete(m.claimed, i)
		m.done = append(m.done, i)
	}
	return nil
}

func (m *memory) Release(_ context.Context, back []lease.Released[string]) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.fail["release"]; err != nil {
		return err
	}
	for _, b := range back {
		m.free(b.Item, b.After)
	}
	return nil
}

func (m *memory) free(item string, after time.Duration) {
	delete(m.claimed, item)
	m.after[item] = after
	if after == 0 {
		m.due = append(m.due, item)
	}
}

func (m *memory) ReleaseOthers(_ context.Context, holder lease.ID, keep []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, by := range m.claimed {
		if by == holder && !slices.Contains(keep, i) {
			m.free(i, 0)
		}
	}
	return nil
}

// set changes what a method returns.
func (m *memory) set(method string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail[method] = err
}

// is reports something of the queue while nothing else uses it.
func (m *memory) is(what func() bool) func() bool {
	return func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return what()
	}
}

// run is a dispatcher that runs until the end of the test.
type run struct {
	*testing.T
	db    *models.DB
	lease *lease.Lease
	log   *bytes.Buffer
	stop  func() // taking ends
	kill  func() // working ends
	ended chan error
}

func start(t *testing.T, m *memory, o dispatch.Options) *run {
	t.Helper()
	t.Parallel()
	db := modelstest.New(t)
	modelstest.NoLeaks(t)
	r := &run{T: t, db: db, log: &bytes.Buffer{}, ended: make(chan error, 1)}
	r.lease = lease.New(r.db, nil)
	r.beat()
	o.Name, o.Lease, o.Metrics, o.Wanted = "tests", r.lease, dispatch.NewMetrics(), m.wanted
	o.Log = slog.New(slog.NewTextHandler(r.log, nil))
	if o.MaxDelay == 0 {
		o.MaxDelay = time.Minute
	}
	working, kill := context.WithCancel(context.Background())
	taking, stop := context.WithCancel(working)
	r.stop, r.kill = stop, kill
	beats := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(lease.Heartbeat / 4); ; {
			select {
			case <-tick.C:
				r.beat()
			case <-beats:
				tick.Stop()
				return
			}
		}
	}()
	go func() { r.ended <- dispatch.New[string](m, o).Run(taking, working) }()
	t.Cleanup(func() {
		kill()
		_ = r.end() // its error is for the test
		close(beats)
		<-done
	})
	return r
}

func (r *run) beat() {
	if err := r.lease.Beat(context.Background()); err != nil {
		r.Error(err)
	}
}

// end waits until the dispatcher has ended by itself.
func (r *run) end() error {
	r.Helper()
	select {
	case err := <-r.ended:
		r.ended <- err // for the end of the test
		return err
	case <-time.After(30 * time.Second):
		r.Error("the dispatcher does not end")
		return nil
	}
}

func items(hosts, each int) (all []string) {
	for i := range each {
		for h := range hosts {
			all = append(all, fmt.Sprintf("h%d/%d", h, i))
		}
	}
	return all
}

// Every item is tried once and finished, in batches, one of a host at a time.
func TestEveryItemIsFinished(t *testing.T) {
	m := newMemory(items(50, 30)...)
	r := start(t, m, dispatch.Options{Workers: 8, Drain: true})
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	if len(m.done) != 1500 || len(m.claimed) != 0 || m.most > 8 {
		t.Errorf("%d finished, %d still claimed, %d attempts at once", len(m.done), len(m.claimed), m.most)
	}
	for i, n := range m.tries {
		if n != 1 {
			t.Errorf("%s was tried %d times", i, n)
		}
	}
	if len(m.batches) > 60 {
		t.Errorf("%d batches for 1500 items", len(m.batches))
	}
}

// Slow hosts have at most half of the workers, and the others the rest.
func TestSlowHostsShareHalfOfTheWorkers(t *testing.T) {
	var due []string
	for i := range 20 {
		due = append(due, fmt.Sprintf("slow%d/x", i), fmt.Sprintf("h%d/x", i))
	}
	m := newMemory(due...)
	m.try = func(ctx context.Context, item string) dispatch.Outcome {
		if strings.HasPrefix(item, "slow") {
			<-ctx.Done()
			return dispatch.Outcome{Step: dispatch.Release}
		}
		return dispatch.Outcome{}
	}
	r := start(t, m, dispatch.Options{Workers: 6})
	modelstest.Eventually(r, "all others are finished", m.is(func() bool { return len(m.done) == 20 }))
	modelstest.Eventually(r, "half of the workers wait for slow hosts", m.is(func() bool { return m.now == 3 }))
	r.kill()
	modelstest.Eventually(r, "all is released", m.is(func() bool { return len(m.claimed) == 0 }))
}

// A retry comes after its pause and before other items of the host.
func TestRetries(t *testing.T) {
	m := newMemory("h/a", "h/b")
	var order []string
	m.try = func(_ context.Context, item string) dispatch.Outcome {
		m.mu.Lock()
		defer m.mu.Unlock()
		order = append(order, item)
		if item == "h/a" && m.tries[item] < 3 {
			return dispatch.Outcome{Step: dispatch.Retry, After: 20 * time.Millisecond}
		}
		return dispatch.Outcome{}
	}
	r := start(t, m, dispatch.Options{Workers: 4, Drain: true})
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(order); got != "[h/a h/a h/a h/b]" {
		t.Error(got)
	}
}

// An item that was not tried is released for the time that it asks for, and so are the
// items of a host that has too many.
func TestReleases(t *testing.T) {
	m := newMemory(items(1, 100)...)
	release := make(chan struct{})
	m.try = func(context.Context, string) dispatch.Outcome {
		<-release
		return dispatch.Outcome{Step: dispatch.Release, After: time.Hour}
	}
	r := start(t, m, dispatch.Options{Workers: 4})
	modelstest.Eventually(r, "those without a place in the line are released", m.is(func() bool { return len(m.after) >= 67 }))
	close(release)
	modelstest.Eventually(r, "all are released", m.is(func() bool { return len(m.claimed) == 0 }))
	m.mu.Lock()
	defer m.mu.Unlock()
	hour := 0
	for i, after := range m.after {
		switch {
		case after == time.Hour:
			hour++
		case after <= 0 || after > time.Minute:
			t.Errorf("%s is released for %v", i, after)
		}
	}
	if hour == 0 {
		t.Error("no item was released for the time that its attempt asked for")
	}
}

// At a stop, waiting items are released, and running ones finish with their retries.
func TestStop(t *testing.T) {
	m := newMemory("a/1", "a/2", "b/1", "c/1")
	release := make(chan struct{})
	m.try = func(context.Context, string) dispatch.Outcome {
		<-release
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.tries["a/1"] == 1 {
			return dispatch.Outcome{Step: dispatch.Retry, After: time.Millisecond}
		}
		return dispatch.Outcome{}
	}
	r := start(t, m, dispatch.Options{Workers: 2})
	modelstest.Eventually(r, "two are under way", m.is(func() bool { return m.now == 2 }))
	r.stop()
	modelstest.Eventually(r, "the others are released", m.is(func() bool { return len(m.claimed) == 2 }))
	close(release)
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(m.done)
	slices.Sort(m.due)
	if got := fmt.Sprint(m.done, m.due, m.claimed); got != "[a/1 b/1] [a/2 c/1] map[]" {
		t.Error(got)
	}
}

// Finished items are kept while the store fails, and stored once it works again.
func TestFinishedItemsOutliveABadStore(t *testing.T) {
	m := newMemory(items(5, 2)...)
	m.set("finish", errors.New("no disk"))
	r := start(t, m, dispatch.Options{Workers: 4})
	modelstest.Eventually(r, "the store keeps failing", m.is(func() bool { return m.failed == 2 && len(m.tries) == 10 }))
	m.set("finish", nil)
	modelstest.Eventually(r, "all are finished", m.is(func() bool { return len(m.done) == 10 && len(m.claimed) == 0 }))
	r.stop()
	_ = r.end()
	if n := strings.Count(r.log.String(), "store failed"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, r.log)
	}
}

// After a claim of unknown outcome, claimed items that are not in memory are released.
func TestClaimOfUnknownOutcome(t *testing.T) {
	m := newMemory("a/1")
	release := make(chan struct{})
	m.try = func(context.Context, string) dispatch.Outcome { <-release; return dispatch.Outcome{} }
	r := start(t, m, dispatch.Options{Workers: 4})
	modelstest.Eventually(r, "one is under way", m.is(func() bool { return m.now == 1 }))
	m.set("claim", errors.New("connection lost"))
	m.is(func() bool { m.due = append(m.due, "b/1"); return true })()
	m.wanted <- struct{}{}
	modelstest.Eventually(r, "another one is claimed, without a confirmation", m.is(func() bool { return m.claimed["b/1"] != "" }))
	m.set("claim", nil)
	modelstest.Eventually(r, "it is tried anyway", m.is(func() bool { return m.tries["b/1"] == 1 }))
	close(release)
	modelstest.Eventually(r, "both are finished", m.is(func() bool { return len(m.done) == 2 }))
	if m.tries["a/1"] != 1 {
		t.Errorf("the item in memory was freed as well: %v", m.tries)
	}
}

// With Drain an error of the store ends the run.
func TestDrainEndsWithAnError(t *testing.T) {
	m := newMemory("a/1")
	m.set("claim", errors.New("no disk"))
	if err := start(t, m, dispatch.Options{Workers: 2, Drain: true}).end(); err == nil || !strings.Contains(err.Error(), "no disk") {
		t.Error(err)
	}
}

// When hosts begin to hang together, they leave a worker to those that have responded
// since, until each has timed out.
func TestHostsThatBeginToHangTogether(t *testing.T) {
	m := newMemory("first/x")
	m.try = func(ctx context.Context, item string) dispatch.Outcome {
		switch host(item) {
		case "first":
			return dispatch.Outcome{TimedOut: true}
		case "fresh":
			return dispatch.Outcome{}
		}
		<-ctx.Done()
		return dispatch.Outcome{Step: dispatch.Release}
	}
	r := start(t, m, dispatch.Options{Workers: 8})
	modelstest.Eventually(r, "the first one has timed out", m.is(func() bool { return len(m.done) == 1 }))
	m.is(func() bool { m.due = append(items(20, 1), "slow/x"); return true })()
	m.wanted <- struct{}{}
	modelstest.Eventually(r, "they have their share of the workers", m.is(func() bool { return m.now == 7 && m.tries["slow/x"] == 1 }))
	m.is(func() bool { m.due = append(m.due, "fresh/1", "fresh/2"); return true })()
	m.wanted <- struct{}{}
	modelstest.Eventually(r, "those that responded since are tried", m.is(func() bool { return len(m.done) == 3 }))
}

// Slow hosts have their turn while hosts that began to hang wait, however many quick ones there are.
func TestSlowHostsHaveTheirTurn(t *testing.T) {
	m := newMemory("first/x")
	m.try = func(_ context.Context, item string) dispatch.Outcome {
		switch host(item) {
		case "first":
			return dispatch.Outcome{TimedOut: true}
		case "fresh":
			m.mu.Lock()
			defer m.mu.Unlock()
			m.due = append(m.due, item)
			return dispatch.Outcome{}
		}
		time.Sleep(5 * time.Millisecond)
		return dispatch.Outcome{TimedOut: true}
	}
	r := start(t, m, dispatch.Options{Workers: 2})
	modelstest.Eventually(r, "the first one has timed out", m.is(func() bool { return len(m.done) == 1 }))
	m.is(func() bool {
		m.due = items(300, 1)
		for i := range 20 {
			m.due = append(m.due, fmt.Sprintf("slow%d/x", i))
		}
		for i := range 20 {
			m.due = append(m.due, fmt.Sprintf("fresh/%d", i))
		}
		return true
	})()
	m.wanted <- struct{}{}
	var slow, others int
	modelstest.Eventually(r, "half of the slow ones are tried", m.is(func() bool {
		slow, others = 0, 0
		for item := range m.tries {
			switch {
			case strings.HasPrefix(item, "slow"):
				slow++
			case strings.HasPrefix(item, "h"):
				others++
			}
		}
		return slow >= 10
	}))
	if others > 60 {
		t.Errorf("%d hosts that began to hang were tried before 10 slow ones", others)
	}
}
