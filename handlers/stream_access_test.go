package handlers_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"linkwatch/handlers/middleware"
	"linkwatch/models/accounts"
)

// TestStreamsOfEveryRole opens every stream without credentials, with every role by session and by token, and with tokens
// for one system.
func TestStreamsOfEveryRole(t *testing.T) {
	s := newTeam(t)
	for _, rt := range s.Router.Routes() {
		if !rt.Stream {
			continue
		}
		path := strings.ReplaceAll(rt.Path, ":id", "j_0353VcDegkIr4HsS1JTp1z")
		check := func(as string, refused bool, headers ...string) {
			t.Helper()
			want := http.StatusOK
			if path != rt.Path {
				want = http.StatusNotFound // there is no such job
			}
			if refused {
				want = http.StatusForbidden
			}
			if w := s.ask("HEAD", path, headers...); w.Code != want {
				t.Errorf("%s as %s: got %d, want %d", rt.Path, as, w.Code, want)
			}
		}
		want := http.StatusUnauthorized
		if !isCall(rt) {
			want = http.StatusSeeOther // to the login
		}
		if w := s.ask("HEAD", path); w.Code != want {
			t.Errorf("%s without credentials: got %d", rt.Path, w.Code)
		}
		for role, u := range s.users {
			check(role.String()+" by session", role < rt.Needs, "Cookie", s.session(u))
			for _, scope := range []string{"read", "write", "admin"} {
				if scope == scopeOf[role] || scope == "read" {
					check(role.String()+" by a token for "+scope, role < rt.Needs, "Authorization", s.token(u, scope))
				}
			}
			for _, system := range accounts.Systems {
				check(role.String()+" by a token for "+system, system != rt.System || role < rt.Needs, "Authorization", s.token(u, system+":read"))
			}
		}
	}
}

// TestStreamsEndWithTheirCredentials: open streams end with their session, token, role or account.
func TestStreamsEndWithTheirCredentials(t *testing.T) {
	t.Parallel() // it waits for the next look at the credentials of a stream
	s := newTeam(t)
	admin, editor, viewer := s.users[middleware.Admin], s.users[middleware.Editor], s.users[middleware.Viewer]
	demoted := s.user("demoted1", accounts.Admin)
	ends := map[string]*http.Response{}
	open := func(name, header, value string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/sse/crawler/events", nil)
		s.Must(err)
		r.Header.Set(header, value)
		res, err := http.DefaultClient.Do(r)
		s.Must(err)
		t.Cleanup(func() { res.Body.Close() })
		if res.StatusCode != http.StatusOK {
			t.Fatalf("%s: got %d", name, res.StatusCode)
		}
		ends[name] = res
	}
	open("session that ended", "Cookie", s.session(editor))
	open("token that was revoked", "Authorization", s.token(editor, "read"))
	open("disabled account", "Cookie", s.session(viewer))
	open("other role", "Cookie", s.session(demoted))
	open("valid session", "Cookie", s.session(admin))
	s.revokeAll(editor)
	s.Must(s.store.EndSessions(s.Context(), editor))
	_, err := s.store.Edit(s.Context(), viewer.ID, accounts.Edit{Disabled: new(true)})
	s.Must(err)
	role := accounts.Editor
	_, err = s.store.Edit(s.Context(), demoted.ID, accounts.Edit{Role: &role})
	s.Must(err)

	valid := make(chan struct{})
	go func() {
		defer close(valid)
		_, _ = io.Copy(io.Discard, bufio.NewReader(ends["valid session"].Body))
	}()
	for name, res := range ends {
		if name == "valid session" {
			continue
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = io.Copy(io.Discard, res.Body)
		}()
		select {
		case <-ended:
		case <-time.After(8 * time.Second):
			t.Errorf("%s: the stream continues", name)
		}
	}
	select {
	case <-valid:
		t.Error("the stream of a valid session ended")
	default:
	}
}
