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
	for _, input := range []string{
		`{"sub":"1","email":"a@b.c","email_verified":"true","groups":["a","b"]}`, `{"groups":"a"}`, `{"groups":[1,{"a":[]},null]}`, `{"sub":null}`, `null`, `{}`, `[]`, `{"email":"\u0000"}`,
	} {
		f.Add([]byte(input))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var c claims
		if json.Unmarshal(b, &c) != nil {
			return
		}
		id := c.identity("https://id.example", "groups")
		for _, s := range append(id.RoleValues, id.Username, id.Email, id.Subject) {
			if len(s) > maxText || !utf8.ValidString(s) || strings.ContainsAny(s, "\r\n\x00") {
				t.Errorf("%q: got invalid text %q", b, s)
			}
		}
		if len(id.RoleValues) > maxValues || id.EmailVerified && id.Email == "" {
			t.Errorf("%q: got %+v", b, id)
		}
	})
}

func FuzzKeys(f *testing.F) {
	for _, input := range []string{
		`{"keys":[{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","kid":"1"}]}`,
		`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`,
		`{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}`, `{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}`, `{"keys":{}}`, `[]`, `{"keys":[null,1,{}]}`,
	} {
		f.Add([]byte(input))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		valid, err := parseKeys(b)
		if (err == nil) != (len(valid) > 0) || len(valid) > maxKeys {
			t.Errorf("got %d keys, %v", len(valid), err)
		}
		for _, k := range valid {
			if r, ok := k.Key.(*rsa.PublicKey); ok && r.N.BitLen() < minRSABits || !k.IsPublic() {
				t.Errorf("%q: got unusable key %+v", b, k)
			}
		}
	})
}

func FuzzMetadata(f *testing.F) {
	for _, input := range []string{"https://id.example/auth", "http://127.0.0.1/token", "//id.example", "javascript:alert(1)", "https:///x", "https://u:p@id.example", "HTTPS://id.example?x#y"} {
		f.Add(input, true)
		f.Add(input, false)
	}
	f.Fuzz(func(t *testing.T, endpoint string, plain bool) {
		issuer := map[bool]string{true: "http://127.0.0.1:1", false: "https://id.example"}[plain]
		good := issuer + "/x"
		if m := (metadata{Authorization: endpoint, Token: good, Keys: good}); m.check(issuer) != nil {
			return
		}
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || u.Scheme != "https" && (!plain || u.Scheme != "http" || !isLoopback(u.Hostname())) {
			t.Errorf("endpoint %q was accepted", endpoint)
		}
	})
}

// A code is returned only with the right state and issuer. Logged texts are short, single lines.
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
		p.discovery.at, p.discovery.value.SendsIssuer = p.opts.Clock(), true
		code, err := p.Callback(t.Context(), Login{State: "s"}, q)
		good := q.Get("state") == "s" && q.Get("iss") == p.opts.Issuer && q.Get("code") == code && code != "" && len(code) <= maxCode && q.Get("error") == ""
		if (err == nil) != (code != "") || err == nil && !good {
			t.Errorf("%q: got %q, %v", query, code, err)
		}
		if line := brief(query); len(line) > maxLogged*4 || strings.ContainsAny(line, "\r\n") || !utf8.ValidString(line) {
			t.Errorf("%q: logged as %q", query, line)
		}
	})
}
