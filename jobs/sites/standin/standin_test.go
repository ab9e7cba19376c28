package standin_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"linkwatch/jobs/sites/google"
	"linkwatch/jobs/sites/standin"
)

// The token endpoint accepts only assertions signed by the service account.
func TestAssertions(t *testing.T) {
	s := standin.New(t)
	good := jwt.MapClaims{
		"iss": standin.ClientEmail, "aud": s.URL + standin.Token, "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(),
		"scope": "https://www.googleapis.com/auth/indexing https://www.googleapis.com/auth/webmasters",
	}
	for name, c := range map[string]struct {
		change func(jwt.MapClaims)
		want   int
	}{
		"good":            {func(jwt.MapClaims) {}, 200},
		"another account": {func(c jwt.MapClaims) { c["iss"] = "x@example.com" }, 400},
		"another service": {func(c jwt.MapClaims) { c["aud"] = "https://oauth2.googleapis.com/token" }, 400},
		"expired":         {func(c jwt.MapClaims) { c["exp"] = time.Now().Add(-time.Hour).Unix() }, 400},
		"no end":          {func(c jwt.MapClaims) { delete(c, "exp") }, 400},
		"one scope":       {func(c jwt.MapClaims) { c["scope"] = "https://www.googleapis.com/auth/indexing" }, 400},
	} {
		claims := jwt.MapClaims{}
		for k, v := range good {
			claims[k] = v
		}
		c.change(claims)
		assertion, err := jwt.NewWithClaims(jwt.SigningMethodRS256, claims).SignedString(standin.Key())
		if err != nil {
			t.Fatal(err)
		}
		if status, body := ask(t, http.MethodPost, s.URL+standin.Token, "", url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion}}); status != c.want {
			t.Errorf("%s: status %d, %s", name, status, body)
		}
	}
	if status, body := ask(t, http.MethodPost, s.URL+standin.Token, "", url.Values{"grant_type": {"password"}}); status != 400 {
		t.Errorf("another grant: status %d, %s", status, body)
	}
}

// The services accept only issued tokens. Unknown paths are not found.
func TestServices(t *testing.T) {
	s := standin.New(t)
	for _, path := range []string{standin.Metadata + "?url=x", "/webmasters/v3/sites/x"} {
		if status, body := ask(t, http.MethodGet, s.URL+path, "ya29.x", nil); status != 401 || !strings.Contains(body, "UNAUTHENTICATED") {
			t.Errorf("%s: status %d, %s", path, status, body)
		}
	}
	if status, _ := ask(t, http.MethodGet, s.URL+"/v3/other", "", nil); status != 404 || s.Count("") != 3 {
		t.Errorf("status %d, %d requests", status, s.Count(""))
	}
	if account, err := google.ParseCredentials(standin.Credentials()); err != nil || account.ClientEmail != standin.ClientEmail {
		t.Errorf("%v, %v", account, err)
	}
	if all := s.Settings(); len(all) != 4 || all["GOOGLE_TOKEN_ENDPOINT"] != s.URL+standin.Token {
		t.Errorf("%v", all)
	}
}

func ask(t *testing.T, method, address, token string, form url.Values) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}
