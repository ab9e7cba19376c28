package accounts_test

import (
	"net/http"
	"sync"
	"testing"

	"gorm.io/gorm"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/modelstest"
	"linkwatch/models/secret"
	"linkwatch/outbound/oidc/standin"
)

// A callback signs in once, on all instances, even if it arrives several times at once with a copy of the cookie. The
// provider is asked once.
func TestSingleSignOn_StateIsUsedOnce(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		box, err := secret.FromText("the key of all instances")
		if err != nil {
			t.Fatal(err)
		}
		sameKey := func(s *apptest.Setup) { s.Secrets = box }
		idp, one := newIssuer(t, apptest.On(db), sameKey)
		two := apptest.New(t, apptest.On(db), sameKey, apptest.Set("OIDC_ISSUER", idp.URL), apptest.Set("OIDC_CLIENT_ID", standin.ClientID), apptest.Set("OIDC_CLIENT_SECRET", standin.ClientSecret),
			apptest.Set("OIDC_DEFAULT_ROLE", "viewer"), apptest.Set("OUTBOUND_ALLOW_CIDRS", "127.0.0.0/8"), apptest.Set("PUBLIC_URL", "http://127.0.0.1:8080"))
		b := newBrowser(one, "192.0.2.1")
		back, err := idp.SignIn(t.Context(), b.send("GET", "/login/oidc", nil).location())
		if err != nil {
			t.Fatal(err)
		}
		cookie := b.cookies["linkwatch_sso"]
		var all sync.WaitGroup
		codes := make(chan int, 6)
		for i := range cap(codes) {
			all.Go(func() {
				b := newBrowser([]*apptest.App{one, two}[i%2], "192.0.2.1")
				b.cookies["linkwatch_sso"] = cookie
				codes <- b.send("GET", back.RequestURI(), nil).Code
			})
		}
		all.Wait()
		close(codes)
		count := map[int]int{}
		for code := range codes {
			count[code]++
		}
		if count[http.StatusSeeOther] != 1 || count[http.StatusForbidden] != cap(codes)-1 || idp.Count("token") != 1 {
			t.Errorf("got statuses %v and %d requests for a token, want one login and one request", count, idp.Count("token"))
		}
	})
}

// A user whose account was deleted is refused, also after the reaper has removed what identifies the user, until an admin
// restores the account.
func TestSingleSignOn_DeletedUserStaysRefused(t *testing.T) {
	idp, s := newIssuer(t)
	root := s.AddUser("root", accounts.Admin)
	if a := signIn(t, idp, newBrowser(s, "192.0.2.1"), "/"); a.Code != http.StatusSeeOther {
		t.Fatalf("got status %d, error %s", a.Code, a.problem())
	}
	ann, err := store(s).ByName(s.Context(), "ann")
	s.Must(err)
	s.Must(store(s).Delete(s.Context(), ann.ID))
	s.Clock.Advance(accounts.KeepDeleted)
	s.Must(s.DB.Write(s.Context(), func(tx *gorm.DB) error { _, err := store(s).ReapUsers(tx, 10); return err }))
	if a := signIn(t, idp, newBrowser(s, "192.0.2.1"), "/"); a.Code != http.StatusForbidden {
		t.Errorf("deleted: got status %d, location %s", a.Code, a.location())
	}
	admin := s.SignIn(root)
	deleted := admin.Do("GET", "/v1/users?deleted=true", "").Want(200)
	items, _ := deleted["items"].([]any)
	if u, ok := items[0].(map[string]any); !ok || len(items) != 1 || u["username"] != "ann" || u["deleted_at"] == nil {
		t.Errorf("got %v", deleted)
	}
	page := admin.Get("/settings/users?deleted=true")
	apptest.WantStatus(t, page, http.StatusOK)
	action := page.Find("#"+ann.ID+" form").AttrOr("action", "")
	if action != "/settings/users/"+ann.ID+"/restore" {
		t.Fatalf("the page offers %q", action)
	}
	apptest.WantStatus(t, admin.Post(action, nil), http.StatusSeeOther)
	wantAudited(s, "root session user.restore ann")
	if a := signIn(t, idp, newBrowser(s, "192.0.2.1"), "/"); a.Code != http.StatusSeeOther {
		t.Errorf("restored: got status %d, error %s", a.Code, a.problem())
	}
	if l, err := store(s).List(s.Context(), models.Cursor{}, 10); err != nil || len(l.Items) != 2 {
		t.Errorf("got %v, %v, want the same two accounts", l.Items, err)
	}
}
