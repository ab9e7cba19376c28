package oidc

import (
	"crypto/rsa"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzClaims(f *testing.F) {
	for _, seed := range []string{
		`{"sub":"1","email":"a@b.c","email_verified":"true","groups":["a","b"]}`, `{"groups":"a"}`, `{"groups":[1,{"a":[]},null]}`, `{"sub":null}`, `null`, `{}`, `[]`, `{"email":"\u0000"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var c claims
		if json.Unmarshal(b, &c) != nil {
			return
		}
		id := c.identity("https://id.example", "groups")
		for _, s := range append(id.Claims, id.Username, id.Email, id.Subject) {
			if len(s) > maxText || !utf8.ValidString(s) || strings.ContainsAny(s, "\r\n\x00") {
				t.Errorf("%q has the text %q", b, s)
			}
		}
		if len(id.Claims) > maxValues || id.EmailVerified && id.Email == "" {
			t.Errorf("%q became %+v", b, id)
		}
	})
}

func FuzzKeys(f *testing.F) {
	for _, seed := range []string{
		`{"keys":[{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","kid":"1"}]}`,
		`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`,
		`{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}`, `{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}`, `{"keys":{}}`, `[]`, `{"keys":[null,1,{}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := readKeys(b)
		if (err == nil) != (len(all) > 0) || len(all) > maxKeys {
			t.Errorf("%d keys, %v", len(all), err)
		}
		for _, k := range all {
			if r, ok := k.Key.(*rsa.PublicKey); ok && r.N.BitLen() < minRSABits || !k.IsPublic() {
				t.Errorf("%q has the key %+v", b, k)
			}
		}
	})
}

func FuzzMetadata(f *testing.F) {
	for _, seed := range []string{"https://id.example/auth", "http://127.0.0.1/token", "//id.example", "javascript:alert(1)", "https:///x", "https://u:p@id.example", "HTTPS://id.example?x#y"} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, endpoint string, plain bool) {
		issuer := map[bool]string{true: "http://127.0.0.1:1", false: "https://id.example"}[plain]
		good := issuer + "/x"
		if (metadata{Authorization: endpoint, Token: good, Keys: good}).check(issuer) != nil {
			return
		}
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || u.Scheme != "https" && (!plain || u.Scheme != "http" || !isLoopback(u.Hostname())) {
			t.Errorf("%q is taken", endpoint)
		}
	})
}

// Whatever a callback has, its code counts only with the state and the issuer, and only short lines are logged.
func FuzzCallback(f *testing.F) {
	f.Add("state=s&code=c&iss=https%3A%2F%2Fid.example")
	f.Add("state=s&error=a%0Ab&error_description=%ff&iss=https%3A%2F%2Fid.example")
	f.Add("state=s&state=s")
	f.Add("code=c;state=s")
	f.Fuzz(func(t *testing.T, query string) {
		q, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		p := New(Options{Issuer: "https://id.example"})
		defer p.Close()
		p.discovery.at, p.discovery.value.SendsIssuer = p.o.Clock(), true
		code, err := p.Callback(t.Context(), Login{State: "s"}, q)
		good := q.Get("state") == "s" && q.Get("iss") == p.o.Issuer && q.Get("code") == code && code != "" && len(code) <= maxCode && q.Get("error") == ""
		if (err == nil) != (code != "") || err == nil && !good {
			t.Errorf("%q: %q, %v", query, code, err)
		}
		if line := brief(query); len(line) > maxLogged*4 || strings.ContainsAny(line, "\r\n") || !utf8.ValidString(line) {
			t.Errorf("%q is logged as %q", query, line)
		}
	})
}
