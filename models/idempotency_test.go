package models_test

import (
	"fmt"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

// reapKeys is one batch of the reaper.
func reapKeys(t *testing.T, db *models.DB, clock models.Clock, limit int) (n int64) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *gorm.DB) (err error) {
		n, err = db.ReapKeys(clock)(tx, limit)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Keys of every scope go once they are a day old, the oldest first, and never before.
func TestReapKeys(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		clock := modelstest.NewClock()
		claim := func(scope, key string) (known string) {
			keys := models.Keys{Scope: scope, Clock: clock.Now}
			err := db.Write(t.Context(), func(tx *gorm.DB) (err error) {
				if known, err = keys.Claim(tx, key); err != nil {
					return err
				}
				return keys.Save(tx, key, scope+" of "+key)
			})
			if err != nil {
				t.Fatal(err)
			}
			return known
		}
		for i := range 3 {
			claim("target", fmt.Sprint("k", i))
			claim("short link", fmt.Sprint("k", i))
			clock.Advance(time.Minute)
		}
		clock.Advance(models.KeyRetention - 3*time.Minute - time.Second)
		if n := reapKeys(t, db, clock.Now, 10); n != 0 {
			t.Errorf("%d keys went a second early", n)
		}
		if known := claim("target", "k0"); known != "target of k0" {
			t.Errorf("a key of almost a day made %q", known)
		}
		clock.Advance(time.Second)
		if n := reapKeys(t, db, clock.Now, 10); n != 2 {
			t.Errorf("%d keys went, 2 are a day old", n)
		}
		clock.Advance(time.Hour)
		for i, want := range []int64{3, 1, 0} {
			if n := reapKeys(t, db, clock.Now, 3); n != want {
				t.Errorf("batch %d took %d, want %d", i, n, want)
			}
		}
	})
}

func TestReapKeysReadsNoMoreThanItDeletes(t *testing.T) {
	db := modelstest.New(t)
	for _, s := range modelstest.Sent(t, db, func() error { reapKeys(t, db, nil, 10); return nil }) {
		for _, step := range modelstest.Plan(t, db, s) {
			if modelstest.ReadsAll(step) && step != "SCAN due" || modelstest.Sorts(step) { // due: the rows it has just found
				t.Errorf("%s\n  %s", s.SQL, step)
			}
		}
	}
}
