package crawl_test

import (
	"fmt"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

// TestFindJobs checks that the newest jobs are found by any part of their URL or source name, and all jobs by the beginning
// of their host.
func TestFindJobs(t *testing.T) {
	each(t, func(w *world) {
		w.job("https://www.shop.test/Deep/Page", 0)
		w.clock.Advance(time.Minute)
		w.job("https://other.test/shop", time.Hour)
		found := func(text string) string {
			t.Helper()
			js, err := w.Find(t.Context(), text, 5)
			w.ok(err)
			names := []string{}
			for _, j := range js {
				names = append(names, j.SourceName)
			}
			return fmt.Sprint(names)
		}
		for text, want := range map[string]string{"deep": "[www.shop.test]", "SHOP": "[other.test www.shop.test]", "100%": "[]", "none": "[]"} {
			if got := found(text); got != want {
				t.Errorf("%q: got %s, want %s", text, got, want)
			}
		}
		many := models.NewRows("seq bigint, source text, id text, host text, at bigint")
		for i := range 4 * models.NewestSearched {
			many.Add(1000+i, models.NewID(models.KindSource), models.NewID(models.KindJob), fmt.Sprintf("many-%d.test", i), w.Now().Add(time.Second))
		}
		w.ok(w.db.Write(t.Context(), func(tx *gorm.DB) error {
			err := many.Exec(tx, `INSERT INTO sources (seq, id, external_id, name, url, host, search_text, enabled, max_depth, allowed_domains, rate_limit_ms,
					interval_count, interval_type, created_at, updated_at)
				SELECT seq, source, '', host, host, host, host, true, 0, '', 1000, 0, 'days', at, at FROM {rows} AS r`).Error
			if err != nil {
				return err
			}
			return many.Exec(tx, `INSERT INTO jobs (id, source_seq, url, status, interval_count, interval_type, interval_seconds, adaptive_scheduling, source_disabled, max_retries,
					retry_backoff_seconds, current_retry_count, metadata, executions, content_hash, unchanged_count, last_error, created_at, updated_at)
				SELECT id, seq, 'https://' || host, 'completed', 0, 'days', 0, false, false, 3, 60, 0, '{}', 1, '', 0, '', at, at FROM {rows} AS r`).Error
		}))
		for text, want := range map[string]string{"deep": "[]", "shop": "[www.shop.test]", "https://www.SHOP.test/x": "[www.shop.test]"} {
			if got := found(text); got != want {
				t.Errorf("among many, %q: got %s, want %s", text, got, want)
			}
		}
		for _, table := range []string{"jobs", "sources"} {
			modelstest.WholeTable(t, w.db, table, func() error { _, err := w.Find(t.Context(), "shop", 5); return err })
		}
		_, err := w.Find(t.Context(), string(make([]byte, models.MaxFilter+1)), 5)
		if models.CodeOf(err) != models.CodeInvalid {
			t.Errorf("long query: %v", err)
		}
	})
}
