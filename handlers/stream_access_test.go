package handlers_test

import (
	"bufio"
	"io"
	"net/http"
	"testing"
	"time"

	"linkwatch/handlers/middleware"
	"linkwatch/models/accounts"
)

// TestStreamsEndWithTheirCredentials: open streams end with their session, token, role or account.
func TestStreamsEndWithTheirCredentials(t *testing.T) {
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
