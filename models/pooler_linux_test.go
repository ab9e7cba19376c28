package models_test

import (
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

// openAt opens a PostgreSQL database whose log goes to the result.
func openAt(t *testing.T, url string) (*models.DB, *modelstest.Log) {
	t.Helper()
	log := modelstest.NewLog(t)
	db, err := models.Open(t.Context(), models.Postgres, url, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, log
}

// Behind PgBouncer, new instances migrate an empty database and then read and write it without an error, in both modes
// and with the plain URL.
func TestPooler(t *testing.T) {
	for _, mode := range []string{modelstest.PoolTransactions, modelstest.PoolSessions} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			direct := modelstest.NewPostgres(t)
			url := modelstest.Pooler(t, direct, mode)
			var instances sync.WaitGroup
			for range 3 {
				db, log := openAt(t, url)
				instances.Go(func() {
					if err := db.Migrate(t.Context()); err != nil {
						t.Error(err)
						return
					}
					useAtOnce(t, db)
					if err := db.Ready(t.Context()); err != nil {
						t.Error(err)
					}
					if n := log.Count("PostgreSQL is behind a connection pooler"); n != 1 {
						t.Errorf("the pooler is logged %d times", n)
					}
				})
			}
			instances.Wait()
		})
	}
}

// useAtOnce runs transactions and queries on all pools at the same time.
func useAtOnce(t *testing.T, db *models.DB) {
	var users sync.WaitGroup
	for i := range 12 {
		pool := []*models.DB{db, db.Urgent(), db.Leases()}[i%3]
		users.Go(func() {
			for n := range 20 {
				err := pool.Write(t.Context(), func(tx *gorm.DB) error {
					return tx.Exec(`INSERT INTO idempotency_keys (scope, key, resource_id, created_at) VALUES ('test', ?, 'id', ?)
						ON CONFLICT DO NOTHING`, strconv.Itoa(n), i).Error
				})
				if err != nil {
					t.Error(err)
				}
				var version int
				if err := pool.Read(t.Context()).Raw("SELECT max(version) + ? FROM schema_migrations", i).Scan(&version).Error; err != nil {
					t.Error(err)
				}
			}
		})
	}
	users.Wait()
}

// Behind a pooler in transaction mode, nothing of a session stays on the connections that others get.
func TestPoolerKeepsNoSessionState(t *testing.T) {
	t.Parallel()
	direct := modelstest.NewPostgres(t)
	db, _ := openAt(t, modelstest.Pooler(t, direct, modelstest.PoolTransactions))
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for want, db := range map[string]*models.DB{"10s": db, "2s": db.Urgent()} {
		err := db.Write(t.Context(), func(tx *gorm.DB) error {
			if got := setting(t, tx, "idle_in_transaction_session_timeout"); got != want {
				t.Errorf("idle limit of a transaction: got %s, want %s", got, want)
			}
			if got := setting(t, tx, "client_connection_check_interval"); got != "1s" {
				t.Errorf("checks of the client in a transaction: got %s, want 1s", got)
			}
			if got := setting(t, tx, "jit"); got != "off" {
				t.Errorf("jit in a transaction: got %s, want off", got)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := setting(t, db.Read(t.Context()), "idle_in_transaction_session_timeout"); got != "0" {
		t.Errorf("idle limit after the transactions: got %s, want 0", got)
	}
	for what, query := range map[string]string{
		"prepared statements": "SELECT count(*) FROM pg_prepared_statements",
		"locks":               "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
		"temporary tables":    "SELECT count(*) FROM pg_class WHERE relpersistence = 't' AND relkind = 'r'",
	} {
		var n int
		if err := db.Read(t.Context()).Raw(query).Scan(&n).Error; err != nil || n != 0 {
			t.Errorf("%s that are left: got %d (%v), want 0", what, n, err)
		}
	}
}

func setting(t *testing.T, db *gorm.DB, name string) (value string) {
	t.Helper()
	if err := db.Raw("SELECT current_setting(?)", name).Scan(&value).Error; err != nil {
		t.Fatal(err)
	}
	return value
}

// If the operator turns on prepared statements behind a pooler in transaction mode, the server is not ready, and says
// which parameter to set. In session mode they work.
func TestPoolerAndPreparedStatements(t *testing.T) {
	for mode, want := range map[string]string{modelstest.PoolTransactions: "set default_query_exec_mode=cache_describe in DATABASE_URL", modelstest.PoolSessions: ""} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			url := modelstest.Pooler(t, modelstest.NewPostgres(t), mode) + "&default_query_exec_mode=cache_statement"
			db, log := openAt(t, url)
			migrated := db.Migrate(t.Context()) // may fail in transaction mode
			var last error
			for _, pool := range []*models.DB{db, db.Urgent()} { // two clients get the same session, one after the other
				last = pool.Read(t.Context()).Raw("SELECT ?::int", 1).Scan(new(int)).Error
			}
			err := db.Ready(t.Context())
			if want == "" {
				if migrated != nil || last != nil || err != nil {
					t.Errorf("migrate: %v; query: %v; ready: %v", migrated, last, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), want) || models.CodeOf(err) != models.CodeUnavailable {
				t.Errorf("ready: got %v, want %q", err, want)
			}
			if n := log.Count("database fault"); n != 1 {
				t.Errorf("the fault is logged %d times", n)
			}
		})
	}
}
