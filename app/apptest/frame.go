package apptest

import (
	"fmt"
	"strings"
	"time"

	"linkwatch/models/links"
	"linkwatch/models/targets"
)

// DeadLinks is a step of tests.
func (s *Site) DeadLinks(n int) { s.Turn("dead", n, links.DeadAfter, timedOut) }

// Turn makes n links of a kind: it saves them, and then their pages answer so on
// some days.
func (s *Site) Turn(kind string, n, days int, answer func(url string) any) {
	s.Helper()
	var ids []string
	for i := range n {
		u := fmt.Sprintf("https://%s.test/%d", kind, i)
		ids = append(ids, s.Save(u).ID)
		s.Web.Set(u, answer(u))
	}
	for range days {
		s.Clock.Advance(aDay)
		for _, id := range ids {
			if _, err := s.Links.Refresh(s.Context(), id); err != nil {
				s.Fatal(err)
			}
		}
	}
}

// Certified watches n targets for each name, and checks them: their certificates
// end at some time from now.
func (s *Site) Certified(n map[string]int, ends map[string]time.Duration) {
	s.Helper()
	for name := range n {
		for i := range n[name] {
			s.Watch(fmt.Sprintf("https://%s.test/%d", name, i), "")
		}
	}
	s.Check(func(t targets.Target) targets.Checked {
		name, _, _ := strings.Cut(t.Host, ".")
		r := targets.Result{CheckedAt: s.Targets.Now(), StatusCode: 200, LatencyMS: 10, Attempts: 1}
		return targets.Checked{Target: t, Result: r, TLSExpiresAt: s.Targets.Now().Add(ends[name])}
	})
}
