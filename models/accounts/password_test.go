package accounts

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/time/rate"

	"linkwatch/models/modelstest"
)

// A wrong login always computes one password hash, even for an unknown username, so that the response time does not reveal
// which accounts exist.
func TestWrongLoginComputesOneHash(t *testing.T) {
	s := NewStore(modelstest.New(t), modelstest.NewClock().Now, Options{})
	add := func(n NewUser) User {
		u, err := s.Add(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	add(NewUser{Username: "alice", Role: Admin, Password: "correct horse battery"})
	add(NewUser{Username: "sso", Role: Viewer, Issuer: "https://id.example", Subject: "1"})
	disabled := add(NewUser{Username: "disabled", Role: Viewer, Password: "correct horse battery"})
	if _, err := s.Edit(t.Context(), disabled.ID, Edit{Disabled: new(true)}); err != nil {
		t.Fatal(err)
	}
	deleted := add(NewUser{Username: "deleted", Role: Viewer, Password: "correct horse battery"})
	if err := s.Delete(t.Context(), deleted.ID); err != nil {
		t.Fatal(err)
	}
	const budget = 100
	s.hasher.budget = rate.NewLimiter(0, budget) // no refill
	for i, l := range []Login{
		{Username: "alice", Password: "wrong password"}, {Username: "alice"}, {Username: "sso", Password: "wrong password"},
		{Username: "disabled", Password: "correct horse battery"}, {Username: "deleted", Password: "correct horse battery"},
		{Username: "unknown", Password: "correct horse battery"}, {Username: "no username\x00", Password: "x"}, {}, {Username: AdminName, Password: strings.Repeat("x", MaxPassword)},
	} {
		if _, err := s.Verify(t.Context(), l); !errors.Is(err, ErrWrongLogin) {
			t.Errorf("%q: got %v, want ErrWrongLogin", l.Username, err)
		}
		if got := budget - int(s.hasher.budget.Tokens()); got != i+1 {
			t.Fatalf("%q: got %d hashes so far, want %d", l.Username, got, i+1)
		}
	}
}
