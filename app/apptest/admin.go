package apptest

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/schedule"
)

// DeclareReaper schedules the reaper, as the program does.
func (s *Server) DeclareReaper() {
	s.Helper()
	s.Must(s.Jobs.Declare(s.Context(), schedule.Job{ID: cleanup.Job, Schedule: "@every 15m0s", NextRunAt: models.At(time.Now().Add(time.Hour))}))
}

// Ended stores n short links that ended two hours ago.
func (s *Server) Ended(n int) {
	s.Helper()
	modelstest.Exec(s.TB, s.DB, `WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ?)
		INSERT INTO short_links (short_key, long_url, canonical_url, title, folded, max_visits, disabled, created_at, updated_at, expires_at, visits, bots)
		SELECT 'ended' || id, 'https://a.test', 'https://a.test', '', '', 0, FALSE, 1, 1, CAST(? AS BIGINT), 0, 0 FROM n`,
		n, s.ShortLinks.Now().Add(-2*time.Hour))
}

// Has checks members of an answer.
func (s *Server) Has(got map[string]any, want map[string]any) {
	s.Helper()
	for _, member := range slices.Sorted(maps.Keys(want)) {
		if g, ok := got[member]; !ok || fmt.Sprint(g) != fmt.Sprint(want[member]) {
			s.Errorf("%s = %v, want %v", member, g, want[member])
		}
	}
}

// DeclareReaper schedules the reaper, as the program does.
func (s *Site) DeclareReaper() {
	s.Helper()
	s.Must(s.Jobs.Declare(s.Context(), schedule.Job{ID: cleanup.Job, Schedule: "@every 15m0s", NextRunAt: models.At(s.Clock.Now().Add(15 * time.Minute))}))
}

// Reaped records a run over two kinds.
func (s *Site) Reaped(shortLinks, keys int64, failure string) {
	s.Helper()
	at := s.Cleanup.Now()
	s.Must(s.Cleanup.Finish(s.Context(), cleanup.Run{StartedAt: at, Kind: cleanup.ShortLinks, Cleaned: shortLinks, Duration: 20 * time.Millisecond, Error: failure}))
	s.Must(s.Cleanup.Finish(s.Context(), cleanup.Run{StartedAt: at, Kind: cleanup.IdempotencyKeys, Cleaned: keys, Duration: 5 * time.Millisecond}))
	s.Clock.Advance(15 * time.Minute)
}
