package accounts_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/modelstest"
)

// heldBody is a request body that is sent when all bodies of a test are awaited: then all requests have passed the guard.
type heldBody struct {
	io.Reader
	wait func()
	once sync.Once
}

func (b *heldBody) Read(p []byte) (int, error) {
	b.once.Do(b.wait)
	return b.Reader.Read(p)
}

// barrier returns a function that blocks until n goroutines have called it.
func barrier(n int) func() {
	var all sync.WaitGroup
	all.Add(n)
	return func() { all.Done(); all.Wait() }
}

// sendHeld sends a request from this machine.
func sendHeld(s *apptest.App, wait func(), method, path, contentType, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(s.Context(), method, path, &heldBody{Reader: strings.NewReader(body), wait: wait})
	r.Host, r.RemoteAddr, r.ContentLength = "127.0.0.1:8080", "127.0.0.1:1", int64(len(body))
	r.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	s.Router.ServeHTTP(w, r)
	return w
}

const (
	formType = "application/x-www-form-urlencoded"
	jsonType = "application/json"
)

// Of all requests that are sent before anyone has signed in, to two instances, exactly one adds an account. The guard has let
// in all of them.
func TestFirstAccountAtOnce(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		const each = 6
		instances := []*apptest.App{apptest.New(t, apptest.On(db)), apptest.New(t, apptest.On(db))}
		var all sync.WaitGroup
		wait := barrier(2 * each * len(instances))
		codes := make(chan int, 2*each*len(instances))
		for n, s := range instances {
			for i := range each {
				name := fmt.Sprintf("user%d-%d", n, i)
				all.Go(func() {
					form := url.Values{"username": {name}, "password": {goodPassword}}.Encode()
					w := sendHeld(s, wait, "POST", "/login/first", formType, form)
					if codes <- w.Code; w.Code == http.StatusSeeOther && w.Header().Get("Set-Cookie") == "" {
						t.Error("the first account is not signed in")
					}
				})
				all.Go(func() {
					codes <- sendHeld(s, wait, "POST", "/v1/users", jsonType, fmt.Sprintf(`{"username": "api-%s", "role": "admin", "password": %q}`, name, goodPassword)).Code
				})
			}
		}
		all.Wait()
		close(codes)
		count := map[int]int{}
		for code := range codes {
			count[code]++
		}
		if added := count[http.StatusCreated] + count[http.StatusSeeOther]; added != 1 || added+count[http.StatusConflict]+count[http.StatusUnauthorized] != cap(codes) {
			t.Errorf("got statuses %v, want one success, and 401 or 409 otherwise", count)
		}
		var users int
		if err := db.Read(t.Context()).Raw("SELECT count(*) FROM users").Scan(&users).Error; err != nil || users != 1 {
			t.Errorf("got %d accounts, %v, want 1", users, err)
		}
	})
}

// A request that was let in while there was no account changes nothing after the first one was added.
func TestOpenRequestsAfterTheFirstAccount(t *testing.T) {
	s := apptest.New(t)
	var all sync.WaitGroup
	added := make(chan accounts.User)
	for _, c := range []struct{ method, path, contentType, body string }{
		{"POST", "/v1/users", jsonType, `{"username": "eve", "role": "admin", "password": "` + goodPassword + `"}`},
		{"POST", "/settings/users", formType, "username=eve&role=admin&password=" + url.QueryEscape(goodPassword)},
		{"POST", "/login/first", formType, "username=eve&password=" + url.QueryEscape(goodPassword)},
	} {
		all.Go(func() {
			w := sendHeld(s, func() { <-added }, c.method, c.path, c.contentType, c.body)
			if w.Code < 300 || w.Code == http.StatusSeeOther && w.Header().Get("Location") != "/settings" {
				t.Errorf("%s: got status %d, location %q", c.path, w.Code, w.Header().Get("Location"))
			}
		})
	}
	alice := addWithPassword(s, "alice", accounts.Admin)
	close(added)
	all.Wait()
	ctx := models.WithActor(s.Context(), models.Actor{Name: models.SystemOwner, SeesAll: true}) // as such a request has it
	for what, err := range map[string]error{
		"edit":       func() error { _, err := store(s).Edit(ctx, alice.ID, accounts.Edit{Disabled: new(true)}); return err }(),
		"delete":     store(s).Delete(ctx, alice.ID),
		"two-factor": store(s).ClearTOTP(ctx, alice.ID),
	} {
		if models.CodeOf(err) != models.CodeConflict {
			t.Errorf("%s: got %v, want conflict", what, err)
		}
	}
	if l, err := store(s).List(s.Context(), models.Cursor{}, 10); err != nil || len(l.Items) != 1 {
		t.Errorf("got %v, %v, want one account", l.Items, err)
	}
}

// Logins with ADMIN_PASSWORD at once, on two instances, add one account, and all succeed.
func TestAdminPasswordAtOnce(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		var all sync.WaitGroup
		wait := barrier(8)
		for range 2 {
			s := apptest.New(t, apptest.On(db), apptest.Set("ADMIN_PASSWORD", "settings password"))
			for range 4 {
				all.Go(func() {
					form := url.Values{"username": {"admin"}, "password": {"settings password"}}.Encode()
					if w := sendHeld(s, wait, "POST", "/login", formType, form); w.Code != http.StatusSeeOther {
						t.Errorf("got status %d", w.Code)
					}
				})
			}
		}
		all.Wait()
		var users int
		if err := db.Read(t.Context()).Raw("SELECT count(*) FROM users").Scan(&users).Error; err != nil || users != 1 {
			t.Errorf("got %d accounts, %v, want 1", users, err)
		}
	})
}
