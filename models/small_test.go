package models_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

// smallWrites is a database with a table of names, and calls of WriteSmall.
type smallWrites struct {
	*testing.T
	*models.DB
	group sync.WaitGroup

	mu           sync.Mutex
	transactions map[gorm.ConnPool]bool // of all calls
}

func eachSmall(t *testing.T, test func(w *smallWrites)) {
	t.Helper()
	modelstest.EachEmpty(t, func(t *testing.T, db *models.DB) {
		modelstest.NoLeaks(t)
		modelstest.Exec(t, db, "CREATE TABLE names (name text PRIMARY KEY)")
		test(&smallWrites{T: t, DB: db, transactions: map[gorm.ConnPool]bool{}})
	})
}

// store stores a name and then runs more.
func (w *smallWrites) store(ctx context.Context, name string, more func() error) error {
	return w.WriteSmall(ctx, func(tx *gorm.DB) error {
		w.mu.Lock()
		w.transactions[tx.Statement.ConnPool] = true
		w.mu.Unlock()
		if err := tx.Exec("INSERT INTO names VALUES (?)", name).Error; err != nil {
			return err
		}
		return more()
	})
}

func (w *smallWrites) names() string {
	w.Helper()
	var names []string
	if err := w.Read(w.Context()).Raw("SELECT name FROM names ORDER BY name").Scan(&names).Error; err != nil {
		w.Fatal(err)
	}
	return strings.Join(names, " ")
}

// busy keeps the writer of SQLite busy until release is called.
func (w *smallWrites) busy() (release func()) {
	started, end := make(chan struct{}), make(chan struct{})
	w.group.Go(func() {
		err := w.Write(context.WithoutCancel(w.Context()), func(*gorm.DB) error {
			close(started)
			<-end
			return nil
		})
		if err != nil {
			w.Error(err)
		}
	})
	<-started
	return func() { close(end) }
}

// await waits until n calls wait for the writer of SQLite.
func (w *smallWrites) await(n int) {
	w.Helper()
	modelstest.Eventually(w, "all wait", func() bool { return w.Engine != models.SQLite || w.SmallWritesWaiting() == n })
}

func nothing() error { return nil }

// Each small transaction succeeds or fails alone. On SQLite, those that wait share a commit.
func TestSmallWritesShareACommit(t *testing.T) {
	eachSmall(t, func(w *smallWrites) {
		const all = 100
		wrong := errors.New("wrong")
		want := make([]string, 0, all)
		release := w.busy()
		for i := range all {
			name := fmt.Sprintf("%02d", i)
			w.group.Go(func() {
				switch i % 10 {
				case 3:
					if err := w.store(w.Context(), name, func() error { return wrong }); !errors.Is(err, wrong) {
						w.Errorf("%s: %v", name, err)
					}
				case 5:
					defer func() {
						if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "broken "+name) {
							w.Errorf("%s: panicked with %v", name, r)
						}
					}()
					_ = w.store(w.Context(), name, func() error { panic("broken " + name) }) // see above
				default:
					if err := w.store(w.Context(), name, nothing); err != nil {
						w.Errorf("%s: %v", name, err)
					}
				}
			})
			if i%10 != 3 && i%10 != 5 {
				want = append(want, name)
			}
		}
		w.await(all)
		release()
		w.group.Wait()
		if got := w.names(); got != strings.Join(want, " ") {
			w.Errorf("stored %s", got)
		}
		if n := len(w.transactions); w.Engine == models.SQLite && n != 2 {
			w.Errorf("%d transactions for %d calls", n, all)
		}
	})
}

// A small transaction whose context ends is not run if it still waits, and ends as usual if it does not.
func TestSmallWriteIsCanceled(t *testing.T) {
	eachSmall(t, func(w *smallWrites) {
		if w.Engine != models.SQLite {
			return // PostgreSQL uses Write, which has its own tests
		}
		release := w.busy()
		ctx, cancel := context.WithCancel(w.Context())
		w.group.Go(func() {
			if err := w.store(w.Context(), "patient", nothing); err != nil {
				w.Error(err)
			}
		})
		waiting := make(chan error)
		go func() { waiting <- w.store(ctx, "waiting", nothing) }()
		w.await(2)
		cancel()
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			w.Errorf("got %v", err)
		}
		release()
		w.group.Wait()

		ctx, cancel = context.WithCancel(w.Context())
		err := w.WriteSmall(ctx, func(tx *gorm.DB) error {
			cancel()
			return tx.Exec("INSERT INTO names VALUES ('running')").Error
		})
		if got := w.names(); err != nil || got != "patient running" {
			w.Errorf("%v, stored %s", err, got)
		}
	})
}

// If the commit fails, all small transactions of it fail, and none of their changes is stored.
func TestSmallWritesFailTogether(t *testing.T) {
	eachSmall(t, func(w *smallWrites) {
		if w.Engine != models.SQLite {
			return
		}
		modelstest.Exec(w.T, w.DB, "CREATE TABLE children (parent text REFERENCES names DEFERRABLE INITIALLY DEFERRED)")
		release := w.busy()
		errs := make([]error, 3)
		for i := range errs {
			w.group.Go(func() { errs[i] = w.store(w.Context(), fmt.Sprint(i), nothing) })
		}
		orphan := errors.New("")
		w.group.Go(func() {
			orphan = w.WriteSmall(w.Context(), func(tx *gorm.DB) error { return tx.Exec("INSERT INTO children VALUES ('none')").Error })
		})
		w.await(4)
		release()
		w.group.Wait()
		if got := w.names(); got != "" || orphan == nil || slices.Contains(errs, nil) {
			w.Errorf("stored %q, %v, %v", got, errs, orphan)
		}
		if err := w.store(w.Context(), "later", nothing); err != nil {
			w.Error(err)
		}
	})
}
