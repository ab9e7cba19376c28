package apptest

import (
	"fmt"
	"net/http"
	"time"

	"linkwatch/models/targets"
)

// Watch adds a target and returns its id.
func (s *Server) Watch(url string) string {
	s.Helper()
	return fmt.Sprint(s.Do("POST", "/v1/targets", `{"url":"`+url+`"}`).Want(http.StatusCreated)["id"])
}

// Watch adds a target and records results of it, a minute apart. name may be empty.
func (s *Site) Watch(address, name string, found ...targets.Result) targets.Target {
	s.Helper()
	t, created, err := s.Targets.Add(s.Context(), targets.New{URL: address, Name: name})
	if err != nil || !created {
		s.Fatal(created, err)
	}
	for _, r := range found {
		s.Record(t, r)
	}
	return t
}

// Record records a result of a target, a minute after what was before.
func (s *Site) Record(t targets.Target, r targets.Result) {
	s.Helper()
	s.Clock.Advance(time.Minute)
	holder := s.Holder()
	s.Must(s.Targets.RequestCheck(s.Context(), t.ID))
	due, _, err := s.Targets.Claim(s.Context(), holder, 100)
	s.Must(err)
	for _, d := range due {
		if d.ID == t.ID {
			r.CheckedAt = s.Targets.Now()
			s.Must(s.Targets.Record(s.Context(), targets.Checked{Target: d, Result: r}))
			s.Must(s.Targets.ReleaseOthers(s.Context(), holder))
			return
		}
	}
	s.Fatalf("%s is not due", t.ID)
}

// CheckDue records what find returns for each target that is due, and moves the clock
// on until all with the shortest interval are due again.
func (s *Site) CheckDue(find func(targets.Target) targets.Checked) {
	s.Helper()
	ts, _, err := s.Targets.Claim(s.Context(), s.Holder(), 500)
	var done []targets.Checked
	for _, t := range ts {
		c := find(t)
		c.Target, c.Result.CheckedAt, c.Result.Attempts = t, s.Targets.Now(), 1
		done = append(done, c)
	}
	if err == nil {
		err = s.Targets.Record(s.Context(), done...)
	}
	if err != nil {
		s.Fatal(err)
	}
	s.Clock.Advance(25 * time.Second)
}
