package lease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
)

// instance is a lease with a stopped clock.
type instance struct {
	*testing.T
	*lease.Lease
	db *models.DB
}

func newInstance(t *testing.T, db *models.DB) instance {
	t.Helper()
	return instance{t, lease.New(db, modelstest.NewClock().Now), db}
}

// beat calls Beat n times and returns the lease.
func (i instance) beat(n int) lease.ID {
	i.Helper()
	for range n {
		if err := i.Beat(i.Context()); err != nil {
			i.Fatal(err)
		}
	}
	id, leased, ok := i.Current()
	if !ok || leased.Err() != nil {
		i.Fatalf("no lease after a beat: %q %v", id, leased.Err())
	}
	return id
}

// claim claims a scheduled job, as an example of a row with claimed_by.
func (i instance) claim(id lease.ID) error {
	i.Helper()
	return i.db.Write(i.Context(), func(tx *gorm.DB) error {
		if err := lease.Hold(tx, id); err != nil {
			return err
		}
		return tx.Exec("UPDATE scheduled_jobs SET claimed_by = ?, run_id = 'x' WHERE id = 'job'", id).Error
	})
}

// holder returns the lease that has claimed the job.
func (i instance) holder() (id lease.ID) {
	i.Helper()
	if err := i.db.Read(i.Context()).Raw("SELECT claimed_by FROM scheduled_jobs WHERE id = 'job'").Scan(&id).Error; err != nil {
		i.Fatal(err)
	}
	return id
}

// each runs a test with two instances on each engine.
func each(t *testing.T, test func(one, two instance)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		modelstest.Exec(t, db, "INSERT INTO scheduled_jobs (id, schedule) VALUES ('job', '@hourly')")
		test(newInstance(t, db), newInstance(t, db))
	})
}

// The claims of a killed instance are released after a few heartbeats of another one.
func TestClaimsOfDeadInstanceAreReleased(t *testing.T) {
	each(t, func(one, two instance) {
		id := one.beat(1)
		_, leased, _ := one.Current()
		if err := one.claim(id); err != nil {
			one.Fatal(err)
		}
		two.beat(4)
		if got := one.holder(); got != id {
			one.Fatalf("claimed by %q while the instance is alive, want %q", got, id)
		}
		two.beat(1)
		if got := one.holder(); got != "" {
			one.Fatalf("claimed by %q, want no claim", got)
		}
		// The first instance was only stopped. It cannot claim, and gets a new lease.
		if err := one.claim(id); !errors.Is(err, lease.ErrLost) {
			one.Errorf("claim under a lost lease: got %v, want ErrLost", err)
		}
		if leased.Err() != nil {
			one.Error("held ended before the heartbeat")
		}
		if again := one.beat(1); again == id || leased.Err() == nil {
			one.Errorf("the lost lease is still used: %q", again)
		}
	})
}

// An instance that renews its lease keeps its claims, even if it renews rarely and its clock
// is stopped.
func TestClaimsOfLiveInstanceStay(t *testing.T) {
	each(t, func(one, two instance) {
		id := one.beat(1)
		if err := one.claim(id); err != nil {
			one.Fatal(err)
		}
		for range 4 {
			two.beat(4)
			if again := one.beat(1); again != id {
				one.Fatalf("got new lease %q, want %q", again, id)
			}
		}
		if got := one.holder(); got != id {
			one.Errorf("claimed by %q, want %q", got, id)
		}
	})
}

// A failed poll resets the counts, because it says nothing about other instances.
func TestPollsRestartAfterError(t *testing.T) {
	each(t, func(one, two instance) {
		id := one.beat(1)
		two.beat(4)
		canceled, cancel := context.WithCancel(two.Context())
		cancel()
		if err := two.Beat(canceled); err == nil {
			two.Fatal("no error without a database")
		}
		two.beat(4)
		if err := one.claim(id); err != nil {
			one.Errorf("released although no instance could check: %v", err)
		}
	})
}

// Ending a lease releases its claims immediately.
func TestEnd(t *testing.T) {
	each(t, func(one, _ instance) {
		if err := one.claim(one.beat(1)); err != nil {
			one.Fatal(err)
		}
		_, leased, _ := one.Current()
		if err := one.End(one.Context()); err != nil {
			one.Fatal(err)
		}
		if id, _, ok := one.Current(); ok || id != "" || leased.Err() == nil {
			one.Errorf("the lease %q has not ended", id)
		}
		if got := one.holder(); got != "" {
			one.Errorf("claimed by %q, want no claim", got)
		}
		if err := one.End(one.Context()); err != nil { // a second End does nothing
			one.Error(err)
		}
	})
}

// No new work starts under a lease that was not renewed in time, but it is not lost.
func TestLeaseNotRenewedInTime(t *testing.T) {
	db := modelstest.New(t)
	one := newInstance(t, db)
	one.beat(1)
	lease.Expire(one.Lease)
	id, leased, ok := one.Current()
	if ok || id == "" || leased.Err() != nil {
		t.Errorf("%q %v %v", id, leased.Err(), ok)
	}
	if again := one.beat(1); again != id {
		t.Errorf("got new lease %q, want %q", again, id)
	}
}

func TestOthers(t *testing.T) {
	each(t, func(one, two instance) {
		id := one.beat(1)
		two.beat(1)
		now := modelstest.NewClock().Now()
		for ago, want := range map[time.Duration]bool{time.Second: true, -time.Second: false} {
			var found bool
			err := one.db.Write(one.Context(), func(tx *gorm.DB) (err error) {
				found, err = lease.Others(tx, id, models.At(now.Add(-ago)))
				return err
			})
			if err != nil || found != want {
				one.Errorf("%v ago: %v, %v", ago, found, err)
			}
		}
	})
}

// A lease is renewed while the rest of the program uses all connections.
func TestLeaseHasSeparateConnections(t *testing.T) {
	each(t, func(one, _ instance) {
		id := one.beat(1)
		release := modelstest.UseUp(one, one.db)
		short, cancel := context.WithTimeout(one.Context(), 5*time.Second)
		defer cancel()
		err := one.Beat(short)
		release()
		if again, _, ok := one.Current(); err != nil || !ok || again != id {
			one.Errorf("lease %q, ok %v, want %q: %v", again, ok, id, err)
		}
	})
}

// A lock of a dead instance's transaction does not delay the heartbeat of a live one. Its claims
// are released after that transaction has ended.
func TestDeadInstanceWithLock(t *testing.T) {
	each(t, func(one, two instance) {
		if one.db.Engine != models.Postgres {
			return // on SQLite the lock of a process ends with the process
		}
		dead := one.beat(1)
		locked, release, ended := make(chan struct{}), make(chan struct{}), make(chan error)
		go func() {
			ended <- one.db.Write(one.Context(), func(tx *gorm.DB) error {
				err := lease.Hold(tx, dead)
				close(locked)
				<-release
				return err
			})
		}()
		<-locked
		start := time.Now()
		id := two.beat(7)
		if took := time.Since(start); took > lease.Heartbeat || two.beat(1) != id {
			two.Errorf("seven heartbeats took %v", took)
		}
		close(release)
		if err := <-ended; err != nil {
			one.Error(err)
		}
		two.beat(1)
		if again := one.beat(1); again == dead {
			one.Error("the lease of the dead instance has not ended")
		}
	})
}
