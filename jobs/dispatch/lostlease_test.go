package dispatch_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"linkwatch/jobs/dispatch"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
)

// When the lease is lost, what waits is forgotten: others may have it.
func TestLostLease(t *testing.T) {
	m := newMemory("a/1", "a/2")
	release := make(chan struct{})
	m.try = func(context.Context, string) dispatch.Outcome { <-release; return dispatch.Outcome{} }
	r := start(t, m, dispatch.Options{Workers: 2})
	modelstest.Eventually(r, "one is under way", m.is(func() bool { return m.now == 1 }))
	first, _, _ := r.lease.Current()
	modelstest.Exec(t, r.db, "DELETE FROM instances")
	m.is(func() bool { m.claimed = map[string]lease.ID{}; return true })() // and with it the claims
	modelstest.Eventually(r, "a new lease begins", func() bool { now, _, ok := r.lease.Current(); return ok && now != first })
	m.is(func() bool { m.due = append(m.due, "b/1"); return true })()
	m.wanted <- struct{}{}
	modelstest.Eventually(r, "work goes on under it", m.is(func() bool { return m.tries["b/1"] == 1 }))
	close(release)
	modelstest.Eventually(r, "b/1 is finished", m.is(func() bool { return slices.Contains(m.done, "b/1") }))
	r.stop()
	_ = r.end()
	if m.tries["a/2"] != 0 || slices.Contains(m.done, "a/1") {
		t.Errorf("worked on under a lost lease: %v, finished %v", m.tries, m.done)
	}
}

// loseLease ends the lease and waits for a new one. What was claimed is free.
func (r *run) loseLease(m *memory) {
	r.Helper()
	first, _, _ := r.lease.Current()
	modelstest.Exec(r, r.db, "DELETE FROM instances")
	m.is(func() bool { m.claimed = map[string]lease.ID{}; return true })()
	modelstest.Eventually(r, "a new lease begins", func() bool { now, _, ok := r.lease.Current(); return ok && now != first })
}

// An item that waits for another attempt gets none once its lease is lost.
func TestNoRetryUnderALostLease(t *testing.T) {
	m := newMemory("a/1", "b/1")
	release := make(chan struct{})
	m.try = func(_ context.Context, item string) dispatch.Outcome {
		if item == "a/1" {
			return dispatch.Outcome{Step: dispatch.Retry, After: time.Millisecond}
		}
		<-release
		return dispatch.Outcome{}
	}
	r := start(t, m, dispatch.Options{Workers: 1})
	modelstest.Eventually(r, "b/1 has the only worker", m.is(func() bool { return m.tries["b/1"] == 1 }))
	time.Sleep(50 * time.Millisecond) // the pause of a/1 ends
	r.loseLease(m)
	m.is(func() bool { m.due = append(m.due, "c/1"); return true })()
	m.wanted <- struct{}{}
	modelstest.Eventually(r, "c/1 is claimed under the new lease", m.is(func() bool { return m.claimed["c/1"] != "" }))
	close(release)
	modelstest.Eventually(r, "c/1 is tried", m.is(func() bool { return m.tries["c/1"] == 1 }))
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tries["a/1"] != 1 {
		t.Errorf("a/1 was tried %d times", m.tries["a/1"])
	}
}

// An item of a lost lease may still run when its claim under the new lease is committed.
// The dispatcher must not confuse the two.
func TestClaimOfUnknownOutcomeAfterALostLease(t *testing.T) {
	m := newMemory("a/1")
	release := make(chan struct{})
	m.try = func(context.Context, string) dispatch.Outcome { <-release; return dispatch.Outcome{} }
	r := start(t, m, dispatch.Options{Workers: 2})
	modelstest.Eventually(r, "a/1 is under way", m.is(func() bool { return m.now == 1 }))
	m.set("claim", errors.New("connection lost"))
	m.is(func() bool { m.due = append(m.due, "a/1"); return true })()
	first, _, _ := r.lease.Current()
	m.is(func() bool { m.claimed = map[string]lease.ID{}; return true })()
	modelstest.Exec(r, r.db, "DELETE FROM instances")
	modelstest.Eventually(r, "it is claimed under the new lease, without a confirmation",
		m.is(func() bool { by := m.claimed["a/1"]; return by != "" && by != first }))
	m.is(func() bool { m.fail["claim"] = nil; m.due = append(m.due, "b/1"); return true })()
	modelstest.Eventually(r, "the store works again", m.is(func() bool { return m.tries["b/1"] == 1 }))
	close(release)
	modelstest.Eventually(r, "both are finished", m.is(func() bool { return m.tries["a/1"] == 2 && len(m.done) == 2 }))
}
