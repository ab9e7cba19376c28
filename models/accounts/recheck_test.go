package accounts_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/audit"
	"linkwatch/models/modelstest"
)

const issuer = "https://id.example" // of the accounts of store.add

// eachWithProvider calls test with a store whose accounts are from the identity provider.
func eachWithProvider(t *testing.T, test func(t *testing.T, s *store)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		test(t, newStore(t, db, func(o *accounts.Options) { o.Provider, o.ProviderRoles, o.Recheck = issuer, true, time.Hour }))
	})
}

func (s *store) startProviderSession(u accounts.User, refreshToken string) string {
	s.Helper()
	secret, err := s.StartProviderSession(s.ctx(u), u, accounts.Grant{IDToken: "id token of ann", RefreshToken: refreshToken}, accounts.Client{}, "")
	s.must(err)
	return secret
}

func (s *store) principal(secret string) accounts.Principal {
	s.Helper()
	o, ok, err := s.BySession(s.Context(), secret)
	s.must(err)
	if !ok {
		s.Fatal("the session has ended")
	}
	return o
}

func (s *store) session(secret string) accounts.Session {
	s.Helper()
	return s.principal(secret).Session
}

func (s *store) wantCheck(secret string, want accounts.Check) {
	s.Helper()
	if got := s.Check(s.session(secret)); got != want {
		s.Errorf("got check %d, want %d", got, want)
	}
}

// A session is due after OIDC_RECHECK. One of several instances claims its check, and the tokens are encrypted.
func TestRecheck(t *testing.T) {
	eachWithProvider(t, func(t *testing.T, s *store) {
		ann := s.add("ann", accounts.Editor)
		secret := s.startProviderSession(ann, "refresh token of ann")
		password := s.startSession(ann, "")
		s.clock.Advance(time.Hour - time.Second)
		s.wantCheck(secret, accounts.CheckNone)
		s.clock.Advance(time.Second)
		s.wantCheck(secret, accounts.CheckRefresh)
		s.wantCheck(password, accounts.CheckNone)

		claim := s.principal(secret)
		due := claim.Session
		var all sync.WaitGroup
		claims := make(chan string, 8)
		for range cap(claims) {
			all.Go(func() {
				if token, ok, err := s.ClaimRecheck(t.Context(), claim); err != nil {
					t.Error(err)
				} else if ok {
					claims <- token
				}
			})
		}
		all.Wait()
		if len(claims) != 1 || <-claims != "refresh token of ann" {
			t.Fatalf("got %d more claims", len(claims))
		}
		s.wantCheck(secret, accounts.CheckNone)
		if ok, err := s.Confirm(t.Context(), due.ID, accounts.Grant{IDToken: "next id token of ann", RefreshToken: "next"}); err != nil || !ok {
			t.Fatalf("got %v, %v", ok, err)
		}
		if _, ok, err := s.ClaimRecheck(t.Context(), claim); err != nil || ok {
			t.Errorf("a request that read the session before: got %v, %v", ok, err)
		}
		s.clock.Advance(time.Hour)
		s.wantCheck(secret, accounts.CheckRefresh)
		s.must(s.ForgetRefreshToken(t.Context(), due))
		s.wantCheck(secret, accounts.CheckBrowser)

		var stored []struct{ RefreshToken, IDToken []byte }
		s.must(s.db.Read(t.Context()).Raw("SELECT refresh_token, id_token FROM sessions WHERE id_token IS NOT NULL").Scan(&stored).Error)
		if len(stored) != 1 || len(stored[0].RefreshToken) > 0 || strings.Contains(string(stored[0].IDToken), "ann") {
			t.Errorf("got %q", stored)
		}
		by, idToken, err := s.SignOut(models.WithActor(t.Context(), models.Actor{ID: ann.ID, Name: "ann", CredentialID: due.ID}))
		if err != nil || !by || idToken != "next id token of ann" || s.isOpen(secret) {
			t.Errorf("signing out: got %v, %q, %v", by, idToken, err)
		}
		if ok, err := s.Confirm(t.Context(), due.ID, accounts.Grant{}); err != nil || ok {
			t.Errorf("a session that has ended: got %v, %v", ok, err)
		}
	})
}

// The tokens of a session are for its provider only.
func TestRecheck_AnotherProvider(t *testing.T) {
	eachWithProvider(t, func(t *testing.T, s *store) {
		eve, err := s.Add(s.ctx(s.add("root", accounts.Admin)), accounts.NewUser{
			Username: "eve", Role: accounts.Viewer, Issuer: "https://other.example", Subject: "1",
		})
		s.must(err)
		secret := s.startProviderSession(eve, "refresh token of eve")
		s.clock.Advance(time.Hour)
		idToken, err := s.IDToken(t.Context(), s.principal(secret))
		s.must(err)
		token, ok, err := s.ClaimRecheck(t.Context(), s.principal(secret))
		if err != nil || !ok || token != "" || idToken != "" {
			t.Errorf("got tokens %q and %q, %v, %v", token, idToken, ok, err)
		}
		ann := s.startProviderSession(s.add("ann", accounts.Viewer), "")
		if idToken, err = s.IDToken(t.Context(), s.principal(ann)); err != nil || idToken != "id token of ann" {
			t.Errorf("got token %q, %v", idToken, err)
		}
	})
}

// While the provider is unavailable, a session lasts OIDC_RECHECK longer. Its check is tried once a minute.
func TestRecheck_ProviderUnavailable(t *testing.T) {
	eachWithProvider(t, func(t *testing.T, s *store) {
		ann := s.add("ann", accounts.Editor)
		refreshed, other := s.startProviderSession(ann, "token"), s.startProviderSession(ann, "")
		s.clock.Advance(time.Hour)
		for range 60 {
			s.wantCheck(refreshed, accounts.CheckRefresh)
			s.wantCheck(other, accounts.CheckBrowser)
			_, claimed, err := s.ClaimRecheck(t.Context(), s.principal(refreshed))
			s.must(err)
			_, err = s.Postpone(t.Context(), s.session(refreshed))
			s.must(err)
			postponed, err := s.Postpone(t.Context(), s.session(other))
			s.must(err)
			if !claimed || !postponed {
				t.Fatalf("got %v, %v", claimed, postponed)
			}
			s.wantCheck(refreshed, accounts.CheckNone)
			s.wantCheck(other, accounts.CheckNone)
			s.clock.Advance(time.Minute)
		}
		if ok, err := s.Postpone(t.Context(), s.session(other)); err != nil || ok {
			t.Errorf("after an hour: got %v, %v", ok, err)
		}
		if _, ok, err := s.ClaimRecheck(t.Context(), s.principal(refreshed)); err != nil || !ok {
			t.Errorf("after an hour: got %v, %v", ok, err)
		}
		s.wantCheck(refreshed, accounts.CheckRunning)
		if ok, err := s.Postpone(t.Context(), s.session(refreshed)); err != nil || ok {
			t.Errorf("after an hour: got %v, %v", ok, err)
		}
		s.wantCheck(refreshed, accounts.CheckFailed)
		s.clock.Advance(time.Minute)
		s.must(s.KeepRefreshToken(t.Context(), s.session(refreshed), "next"))
		if token, ok, err := s.ClaimRecheck(t.Context(), s.principal(refreshed)); err != nil || !ok || token != "next" {
			t.Errorf("with the next token: got %q, %v, %v", token, ok, err)
		}
		s.clock.Advance(20 * time.Second) // the instance was killed
		s.wantCheck(refreshed, accounts.CheckFailed)
		s.wantCheck(other, accounts.CheckBrowser)
	})
}

// A user whom the provider refused can do nothing until the provider accepts the user again, or an admin enables the
// account.
func TestRefuse(t *testing.T) {
	eachWithProvider(t, func(t *testing.T, s *store) {
		root, ann := s.add("root", accounts.Admin), s.add("ann", accounts.Admin)
		secret := s.startProviderSession(ann, "token")
		_, token, err := s.AddToken(s.ctx(ann), ann, accounts.NewToken{Name: "t", Scopes: []string{"read"}})
		s.must(err)
		valid := func() bool {
			_, ok, _, err := s.ByToken(t.Context(), token, "")
			s.must(err)
			return ok
		}
		for range 2 {
			s.must(s.Refuse(s.ctx(root), ann, audit.Values{"reason": "no_role"}))
		}
		if s.isOpen(secret) || valid() {
			t.Error("the session or the token of a refused user is valid")
		}
		if _, err := s.StartSession(s.ctx(ann), ann, accounts.Client{}, ""); err == nil {
			t.Error("a refused user signed in with a password")
		}
		if got := strings.Join(s.actions(), " "); strings.Count(got, "user.refuse") != 1 {
			t.Errorf("got %s", got)
		}
		_, err = s.Edit(s.ctx(root), root.ID, accounts.Edit{Disabled: new(true)})
		wantCode(t, err, models.CodeConflict) // ann is no active admin
		_, err = s.Edit(s.ctx(root), ann.ID, accounts.Edit{Disabled: new(false)})
		s.must(err)
		if !valid() {
			t.Error("the token is refused after an admin enabled the account")
		}
		s.must(s.Refuse(s.ctx(root), ann, audit.Values{"reason": "no_role"}))
		if s.startProviderSession(ann, ""); !valid() {
			t.Error("the token is refused after the provider accepted the user")
		}
	})
}

// The provider decides the role of its users, but not of others.
func TestProviderRole(t *testing.T) {
	eachWithProvider(t, func(t *testing.T, s *store) {
		root, ann := s.add("root", accounts.Admin), s.add("ann", accounts.Viewer)
		edit := func(e accounts.Edit) error {
			_, err := s.Edit(s.ctx(root), ann.ID, e)
			return err
		}
		wantCode(t, edit(accounts.Edit{Role: new(accounts.Admin)}), models.CodeConflict)
		s.must(edit(accounts.Edit{Role: new(accounts.Viewer), Disabled: new(true)})) // the same role
		s.must(edit(accounts.Edit{Role: new(accounts.Editor), ByProvider: true}))
		wantCode(t, s.ChangePassword(s.ctx(ann), ann, "", goodPassword), models.CodeConflict)
		for origin, n := range map[accounts.Origin]accounts.NewUser{
			accounts.OriginLocal:    {Username: "bob", Role: accounts.Viewer, Password: goodPassword},
			accounts.OriginProvider: {Username: "eve", Role: accounts.Viewer, Issuer: "https://other.example", Subject: "1"},
			accounts.OriginProxy:    {Username: "joe", Role: accounts.Viewer, Issuer: accounts.IssuerProxy, Subject: "joe"},
		} {
			u, err := s.Add(s.ctx(root), n)
			s.must(err)
			if u.Origin() != origin {
				t.Errorf("%s: got origin %s", u.Username, u.Origin())
			}
			_, err = s.Edit(s.ctx(root), u.ID, accounts.Edit{Role: new(accounts.Editor)})
			s.must(err)
		}
	})
}
