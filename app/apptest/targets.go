package apptest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"linkwatch/models/targets"
)

// WantToken checks what a page token holds (seed 000): the place of the last item.
func (s *Server) WantToken(token string, createdAt time.Time, id string) {
	s.Helper()
	var cursor struct {
		CreatedAt time.Time `json:"created_at"`
		ID        string
	}
	b, err := base64.URLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(b, &cursor)
	}
	if err != nil || cursor.ID != id || !cursor.CreatedAt.Equal(createdAt) {
		s.Errorf("token %q: %+v %v", token, cursor, err)
	}
}

// Watch adds a target and answers its id.
func (s *Server) Watch(url string) string {
	s.Helper()
	return fmt.Sprint(s.Do("POST", "/v1/targets", `{"url":"`+url+`"}`).Want(http.StatusCreated)["id"])
}

// Check does what the checker does, with a target that is made due for it: each
// result is a second after the one before.
func (s *Server) Check(id string, found ...targets.Result) {
	s.Helper()
	for _, r := range found {
		s.Clock.Advance(time.Second)
		s.Must(s.Targets.RequestCheck(s.Context(), id))
		s.CheckDue(id, r)
	}
}

// CheckDue checks one of the targets that are due. pause is what its host asks for.
func (s *Server) CheckDue(id string, r targets.Result, pause ...time.Duration) {
	s.Helper()
	const checker = "k_test"
	_, err := s.Targets.Hold(s.Context(), checker)
	s.Must(err)
	due, _, err := s.Targets.Claim(s.Context(), checker, 100)
	s.Must(err)
	i := slices.IndexFunc(due, func(t targets.Target) bool { return t.ID == id })
	if i < 0 {
		s.Fatalf("%s is not due", id)
	}
	r.CheckedAt = s.Targets.Now()
	found := targets.Checked{Target: due[i], Result: r}
	if len(pause) > 0 {
		found.RetryAfter = pause[0]
	}
	s.Must(s.Targets.Record(s.Context(), checker, found))
	s.Must(s.Targets.Leave(s.Context(), checker)) // gives the others back
}

// Must is a step of tests.
func (s *Server) Must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// Watched adds a target with a name, "" = none, and lets checks of it find what
// they are told, a minute apart.
func (s *Site) Watched(address, name string, found ...targets.Result) targets.Target {
	s.Helper()
	t, _, err := s.Targets.Add(s.Context(), targets.New{URL: address, Name: name})
	s.Must(err)
	for _, r := range found {
		s.Checked(t, r)
	}
	return t
}

// Checked does what the checker does with a target that is asked for.
func (s *Site) Checked(t targets.Target, r targets.Result) {
	s.Helper()
	const checker = "k_site"
	s.Clock.Advance(time.Minute)
	_, err := s.Targets.Hold(s.Context(), checker)
	s.Must(err)
	s.Must(s.Targets.RequestCheck(s.Context(), t.ID))
	due, _, err := s.Targets.Claim(s.Context(), checker, 100)
	s.Must(err)
	for _, d := range due {
		if d.ID == t.ID {
			r.CheckedAt = s.Targets.Now()
			s.Must(s.Targets.Record(s.Context(), checker, targets.Checked{Target: d, Result: r}))
			s.Must(s.Targets.Leave(s.Context(), checker))
			return
		}
	}
	s.Fatalf("%s is not due", t.ID)
}

// Published makes a status page of targets.
func (s *Site) Published(slug, title string, ts ...targets.Target) targets.StatusPage {
	s.Helper()
	e := targets.PageSettings{Slug: slug, Title: title, Description: "What we run."}
	for _, t := range ts {
		e.TargetIDs = append(e.TargetIDs, t.ID)
	}
	p, err := s.Targets.AddPage(s.Context(), e)
	s.Must(err)
	return p
}

// Must is a step of tests.
func (s *Site) Must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// Watch adds a target.
func (s *Site) Watch(u, name string) targets.Target {
	s.Helper()
	t, created, err := s.Targets.Add(s.Context(), targets.New{URL: u, Name: name})
	if err != nil || !created {
		s.Fatal(created, err)
	}
	return t
}

// Check records a check of every target that is due, as a checker would, and
// moves the clock on until all with the shortest interval are due again.
func (s *Site) Check(find func(targets.Target) targets.Checked) {
	s.Helper()
	const checker = "k_test"
	_, err := s.Targets.Hold(s.Context(), checker)
	var ts []targets.Target
	if err == nil {
		ts, _, err = s.Targets.Claim(s.Context(), checker, 500)
	}
	var done []targets.Checked
	for _, t := range ts {
		c := find(t)
		c.Target, c.Result.CheckedAt, c.Result.Attempts = t, s.Targets.Now(), 1
		done = append(done, c)
	}
	if err == nil {
		err = s.Targets.Record(s.Context(), checker, done...)
	}
	if err != nil {
		s.Fatal(err)
	}
	s.Clock.Advance(25 * time.Second)
}
