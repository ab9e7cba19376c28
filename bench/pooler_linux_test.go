//go:build e2e

package bench

import (
	"strconv"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/e2e"
	"linkwatch/models"
	"linkwatch/models/modelstest"
)

// TestPoolerFigures measures a query and a small transaction, one at a time, on PostgreSQL and through PgBouncer.
func TestPoolerFigures(t *testing.T) {
	if !*figures {
		t.Skip("skipped without -figures (task bench)")
	}
	direct := modelstest.NewPostgres(t)
	session := modelstest.Pooler(t, direct, modelstest.PoolSessions)
	ways := []struct {
		name, url string
		db        *models.DB
	}{
		{name: "direct, prepared statements", url: direct},
		{name: "transaction mode", url: modelstest.Pooler(t, direct, modelstest.PoolTransactions)},
		{name: "session mode", url: session},
		{name: "session mode, prepared statements", url: session + "&default_query_exec_mode=cache_statement"},
	}
	for i, way := range ways {
		db, closeDB := e2e.OpenDatabase(t, way.url)
		defer closeDB()
		ways[i].db = db
	}
	table("A query and a small transaction")
	for range 3 { // interleaved
		for _, way := range ways {
			query := each(t, 3000, func(i int) error {
				var found []string
				return way.db.Read(t.Context()).Raw(`SELECT long_url FROM short_links WHERE short_key = ? AND NOT disabled`,
					strconv.Itoa(i)).Scan(&found).Error
			})
			write := each(t, 1000, func(i int) error {
				return way.db.Write(t.Context(), func(tx *gorm.DB) error {
					return tx.Exec(`INSERT INTO idempotency_keys (scope, key, resource_id, created_at) VALUES ('bench', ?, '', ?)
						ON CONFLICT DO NOTHING`, strconv.Itoa(i), i).Error
				})
			})
			row(way.name, "", "%.2f and %.2f ms", query, write)
		}
	}
}

// each returns the mean time of n calls in milliseconds.
func each(t *testing.T, n int, do func(i int) error) float64 {
	t.Helper()
	started := time.Now()
	for i := range n {
		if err := do(i); err != nil {
			t.Fatal(err)
		}
	}
	return time.Since(started).Seconds() * 1000 / float64(n)
}
