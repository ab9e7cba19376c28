package jobs

import (
	"log/slog"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
)

// The heartbeat begins a lease, renews it, and ends it when the program stops.
func TestHeartbeat(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		modelstest.NoLeaks(t)
		beats := func() (at []int64) {
			if err := db.Read(t.Context()).Raw("SELECT heartbeat_at FROM instances").Scan(&at).Error; err != nil {
				t.Fatal(err)
			}
			return at
		}
		instance := lease.New(db, nil)
		h := NewHeartbeat(instance, slog.New(slog.DiscardHandler))
		h.Start()
		var first []int64
		modelstest.Eventually(t, "a lease", func() bool {
			first = beats()
			return len(first) == 1
		})
		modelstest.Eventually(t, "a renewal", func() bool { return beats()[0] > first[0] })
		h.Stop(t.Context())
		if left := beats(); len(left) != 0 {
			t.Errorf("%d leases after the end", len(left))
		}
		if _, _, ok := instance.Current(); ok {
			t.Error("the lease may still be used")
		}
	})
}

// After a heartbeat that took long the next one does not follow at once: others count
// their looks, not the time between them.
func TestHeartbeatsKeepTheirDistance(t *testing.T) {
	t.Parallel()
	db := modelstest.New(t)
	modelstest.NoLeaks(t)
	instance := lease.New(db, nil)
	h := NewHeartbeat(instance, slog.New(slog.DiscardHandler))
	h.Start()
	defer h.Stop(t.Context())
	modelstest.Eventually(t, "a lease", func() bool { _, _, ok := instance.Current(); return ok })
	release := modelstest.Hold(t, db, "instances") // the next ones wait for this
	time.Sleep(2*lease.Heartbeat + lease.Heartbeat/2)
	release()
	seen := map[int64]bool{}
	for end := time.Now().Add(lease.Heartbeat / 2); time.Now().Before(end); time.Sleep(time.Millisecond) {
		var at int64
		if err := db.Read(t.Context()).Raw("SELECT heartbeat_at FROM instances").Scan(&at).Error; err != nil {
			t.Fatal(err)
		}
		seen[at] = true
	}
	if len(seen) > 2 { // the one before, and one that waited
		t.Errorf("%d heartbeats within half of the time between two", len(seen))
	}
}
