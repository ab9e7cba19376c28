package accounts_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/audit"
	"linkwatch/models/modelstest"
	"linkwatch/models/secret"
)

const goodPassword = "correct horse battery"

type store struct {
	*accounts.Store
	testing.TB
	db    *models.DB
	clock *modelstest.Clock
}

func newStore(t testing.TB, db *models.DB, options ...func(*accounts.Options)) *store {
	t.Helper()
	box, err := secret.FromText("test key")
	if err != nil {
		t.Fatal(err)
	}
	o := accounts.Options{
		Seal: box.Seal, Open: box.Open, Sign: box.Sign,
		IdleTimeout: 24 * time.Hour, MaxAge: 72 * time.Hour, Retention: 30 * models.Day,
	}
	for _, option := range options {
		option(&o)
	}
	clock := modelstest.NewClock()
	return &store{accounts.NewStore(db, clock.Now, o), t, db, clock}
}

func (s *store) ctx(u accounts.User) context.Context {
	return models.WithActor(s.Context(), models.Actor{
		ID: u.ID, Name: u.Username, Role: string(u.Role), Via: "session", SeesAll: u.SeesAll(), Address: "203.0.113.7", Request: "request-1",
	})
}

// add adds an account without a password, to save hashing.
func (s *store) add(name string, role accounts.Role) accounts.User {
	s.Helper()
	u, err := s.Add(s.ctx(accounts.User{Username: "root"}), accounts.NewUser{Username: name, Role: role, Issuer: "https://id.example", Subject: name})
	s.must(err)
	return u
}

func (s *store) addWithPassword(name string, role accounts.Role) accounts.User {
	s.Helper()
	u, err := s.Add(s.ctx(accounts.User{Username: "root"}), accounts.NewUser{Username: name, Role: role, Password: goodPassword})
	s.must(err)
	return u
}

func (s *store) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// startSession signs an account in and returns the secret of the session.
func (s *store) startSession(u accounts.User, old string) string {
	s.Helper()
	secret, err := s.StartSession(s.ctx(u), u, accounts.Client{Address: "203.0.113.7", Device: "Firefox on Linux"}, old)
	s.must(err)
	return secret
}

// isOpen reports whether a secret belongs to an active session.
func (s *store) isOpen(secret string) bool {
	s.Helper()
	_, ok, err := s.BySession(s.Context(), secret)
	s.must(err)
	return ok
}

func (s *store) entries() []audit.Entry {
	s.Helper()
	l, err := s.Audit(s.Context(), accounts.AuditFilter{}, models.Cursor{}, models.MaxLimit)
	s.must(err)
	return l.Items
}

// actions returns the actions of the audit log with their numbers of attempts, oldest first.
func (s *store) actions() (all []string) {
	s.Helper()
	for _, e := range slices.Backward(s.entries()) {
		text := e.Action
		if e.Attempts > 1 {
			text = fmt.Sprintf("%s x%d", text, e.Attempts)
		}
		all = append(all, text)
	}
	return all
}

func wantCode(t testing.TB, err error, want models.Code) {
	t.Helper()
	if models.CodeOf(err) != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func each(t *testing.T, test func(t *testing.T, s *store)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(t, newStore(t, db)) })
}

// reap calls a function of the reaper once.
func reap(s *store, remove func(tx *gorm.DB, limit int) (int64, error)) (n int64, err error) {
	err = s.db.Write(s.Context(), func(tx *gorm.DB) error {
		n, err = remove(tx, 100)
		return err
	})
	return n, err
}
