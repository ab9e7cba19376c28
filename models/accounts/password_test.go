package accounts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"linkwatch/models"
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
	s.hasher.strangers.all = rate.NewLimiter(0, budget) // no refill
	s.hasher.sleep = func(context.Context, time.Duration) error { return nil }
	for i, l := range []Login{
		{Username: "alice", Password: "wrong password"}, {Username: "alice"}, {Username: "sso", Password: "wrong password"},
		{Username: "disabled", Password: "correct horse battery"}, {Username: "deleted", Password: "correct horse battery"},
		{Username: "unknown", Password: "correct horse battery"}, {Username: "no username\x00", Password: "x"}, {}, {Username: AdminName, Password: strings.Repeat("x", MaxPassword)},
	} {
		l.By = fmt.Sprint("192.0.2.", i)
		if _, err := s.Verify(t.Context(), l); !errors.Is(err, ErrWrongLogin) {
			t.Errorf("%q: got %v, want ErrWrongLogin", l.Username, err)
		}
		if got := budget - int(s.hasher.strangers.all.Tokens()); got != i+1 {
			t.Fatalf("%q: got %d hashes so far, want %d", l.Username, got, i+1)
		}
	}
}

// flooded is a hasher with a test clock, which computes no hashes.
type flooded struct {
	*hasher
	*testing.T
	at time.Time
}

func newFlooded(t *testing.T) *flooded {
	f := &flooded{newHasher(), t, time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC)}
	f.now = func() time.Time { return f.at }
	f.sleep = func(context.Context, time.Duration) error { return nil }
	return f
}

// try reports whether a payer gets a hash.
func (f *flooded) try(by payer) bool {
	f.Helper()
	ran := false
	err := f.run(f.Context(), by, func() error { ran = true; return nil })
	if ran != (err == nil) || err != nil && models.CodeOf(err) != models.CodeUnavailable {
		f.Fatalf("got error %v, hashed %v", err, ran)
	}
	return ran
}

// A flood of logins from thousands of networks does not use up the budget of known clients and signed-in users.
func TestFloodOfStrangersLeavesKnownClientsTheirHashes(t *testing.T) {
	f := newFlooded(t)
	admitted := 0
	for second := range 60 {
		for i := range 3000 {
			if f.try(payer{id: fmt.Sprint("network ", second*3000+i)}) {
				admitted++
			}
		}
		for _, name := range []string{"alice", "bob"} {
			if !f.try(payer{known: true, id: name}) {
				t.Errorf("second %d: %s is refused", second, name)
			}
		}
		if got := len(f.strangers.shares); got > 50 {
			t.Fatalf("got %d shares of strangers", got)
		}
		f.at = f.at.Add(time.Second)
	}
	if most := hashBurst + 62*hashesPerSecond; admitted > most {
		t.Errorf("got %d hashes of strangers, want at most %d", admitted, most)
	}
}

// One network or account uses only its share. The others use the rest.
func TestOnePayerHasOnlyAShare(t *testing.T) {
	for _, known := range []bool{false, true} {
		f := newFlooded(t)
		admitted := 0
		for second := range 60 {
			for range 100 {
				if f.try(payer{known, "greedy"}) {
					admitted++
				}
			}
			for _, id := range []string{"a", "b"} {
				if !f.try(payer{known, fmt.Sprint(id, second)}) {
					t.Errorf("known %v, second %d: another payer is refused", known, second)
				}
			}
			f.at = f.at.Add(time.Second)
		}
		if most := shareBurst + 62*sharePerSecond; admitted > most || admitted < 60*sharePerSecond {
			t.Errorf("known %v: got %d hashes of one payer, want %d at most", known, admitted, most)
		}
	}
}

// An attacker with a large network, and so with many small ones, leaves the others a share.
func TestLargeNetworkHasOnlyAShare(t *testing.T) {
	for _, network := range []string{"2001:db8:%x:%x::/64", "198.51.%d.%d"} {
		f := newFlooded(t)
		for second := range 60 {
			for i := range 100 {
				f.try(payer{id: fmt.Sprintf(network, second, i)})
			}
			for i, id := range []string{"2001:dead:%x::/64", "203.%d.113.7"} {
				if !f.try(payer{id: fmt.Sprintf(id, second+1)}) {
					t.Errorf("%s, second %d: network %d is refused", network, second, i)
				}
			}
			f.at = f.at.Add(time.Second)
		}
	}
}

// A refused hash costs nothing: a payer who is refused many times gets the next one as soon as others do.
func TestRefusedHashesCostNothing(t *testing.T) {
	f := newFlooded(t)
	for f.try(payer{id: "a"}) {
		continue
	}
	for range 1000 {
		if f.try(payer{id: "a"}) {
			t.Fatal("a refused payer is admitted")
		}
	}
	f.at = f.at.Add(time.Second / sharePerSecond)
	if !f.try(payer{id: "a"}) {
		t.Error("no hash after half a second")
	}
}

// Hashes of signed-in users, and those of commands, which have no actor, are not counted as hashes of strangers.
func TestHashesOfUsersAreKnown(t *testing.T) {
	user := models.WithActor(t.Context(), models.Actor{ID: "u_1", Name: "alice"})
	jwt := models.WithActor(t.Context(), models.Actor{Name: "bot", Via: "jwt"})
	for ctx, want := range map[context.Context]payer{user: {true, "u_1"}, jwt: {true, "bot"}, t.Context(): {true, models.SystemOwner}} {
		if got := payerOf(ctx); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}
