package middleware

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const jwtKey = "0123456789abcdef"

var tokenNow = time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC)

func signed(t testing.TB, claims jwt.MapClaims, header ...string) string {
	t.Helper()
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, claims)
	for i := 0; i < len(header); i += 2 {
		token.Header[header[i]] = header[i+1]
	}
	s, err := token.SignedString([]byte(jwtKey))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// at returns a time in seconds relative to tokenNow.
func at(seconds int64) int64 { return tokenNow.Unix() + seconds }

func TestTokenClaims(t *testing.T) {
	tokens := newTokens(jwtKey, func() time.Time { return tokenNow })
	for name, c := range map[string]struct {
		claims jwt.MapClaims
		role   Role
		detail string
	}{
		"only exp":             {jwt.MapClaims{"exp": at(1)}, Admin, ""},
		"all":                  {jwt.MapClaims{"exp": at(60), "nbf": at(-60), "iat": at(-60), "sub": "me", "role": "editor", "aud": "x"}, Editor, ""},
		"viewer":               {jwt.MapClaims{"exp": at(1), "role": "viewer"}, Viewer, ""},
		"admin":                {jwt.MapClaims{"exp": at(1), "role": "admin"}, Admin, ""},
		"expired now":          {jwt.MapClaims{"exp": at(0)}, 0, "expired"},
		"expired long ago":     {jwt.MapClaims{"exp": at(-3600)}, 0, "expired"},
		"expired, another way": {jwt.MapClaims{"exp": at(-3600), "nbf": at(3600), "role": "root"}, 0, "expired"},
		"a huge exp":           {jwt.MapClaims{"exp": 1e300}, 0, "expired"},
		"no exp":               {jwt.MapClaims{"role": "admin"}, 0, "no claim exp"},
		"exp null":             {jwt.MapClaims{"exp": nil}, 0, "no claim exp"},
		"nbf in 30 s":          {jwt.MapClaims{"exp": at(60), "nbf": at(30)}, Admin, ""},
		"nbf in 31 s":          {jwt.MapClaims{"exp": at(60), "nbf": at(31)}, 0, "not valid yet"},
		"iat in 30 s":          {jwt.MapClaims{"exp": at(60), "iat": at(30)}, Admin, ""},
		"iat in 31 s":          {jwt.MapClaims{"exp": at(60), "iat": at(31)}, 0, "not valid yet"},
		"unknown role":         {jwt.MapClaims{"exp": at(1), "role": "root"}, 0, "claim role"},
		"public":               {jwt.MapClaims{"exp": at(1), "role": "public"}, 0, "claim role"},
		"closed":               {jwt.MapClaims{"exp": at(1), "role": "closed"}, 0, "claim role"},
		"role in capitals":     {jwt.MapClaims{"exp": at(1), "role": "Admin"}, 0, "claim role"},
		"empty role":           {jwt.MapClaims{"exp": at(1), "role": ""}, 0, "claim role"},
		"role null":            {jwt.MapClaims{"exp": at(1), "role": nil}, 0, "claim role"},
		"role is a list":       {jwt.MapClaims{"exp": at(1), "role": []string{"admin"}}, 0, "claim role"},
	} {
		_, role, refused := tokens.read(signed(t, c.claims))
		switch {
		case c.detail == "" && (refused != nil || role != c.role):
			t.Errorf("%s: got %v, %+v, want %v", name, role, refused, c.role)
		case c.detail != "" && (refused == nil || role != 0 || refused.guess || !strings.Contains(refused.detail, c.detail)):
			t.Errorf("%s: got %v, %+v, want %q and no guess", name, role, refused, c.detail)
		}
	}
}

// forged returns tokens that are not JWTs or are not signed with the key and HS256.
func forged(t testing.TB) map[string]string {
	t.Helper()
	claims := jwt.MapClaims{"exp": time.Now().Add(24 * 365 * 100 * time.Hour).Unix()}
	by := func(method jwt.SigningMethod, key any) string {
		s, err := jwt.NewWithClaims(method, claims).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	right := signed(t, claims)
	parts := strings.Split(right, ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`))
	null := base64.RawURLEncoding.EncodeToString([]byte("null"))
	return map[string]string{
		"empty":                "",
		"dots":                 "..",
		"another key":          by(jwt.SigningMethodHS256, []byte("another key, as long")),
		"an empty key":         by(jwt.SigningMethodHS256, []byte{}),
		"HS384":                by(jwt.SigningMethodHS384, []byte(jwtKey)),
		"HS512":                by(jwt.SigningMethodHS512, []byte(jwtKey)),
		"alg none":             by(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType),
		"alg none, signed":     none + "." + parts[1] + "." + parts[2],
		"no header":            null + "." + parts[1] + "." + parts[2],
		"no claims":            parts[0] + "." + null + "." + parts[2],
		"no signature":         parts[0] + "." + parts[1] + ".",
		"two parts":            parts[0] + "." + parts[1],
		"four parts":           right + ".x",
		"padded":               right + "=",
		"cut":                  right[:len(right)-1],
		"other claims":         parts[0] + "." + strings.Split(signed(t, jwt.MapClaims{"exp": 1 << 40}), ".")[1] + "." + parts[2],
		"an extension":         signed(t, claims, "crit", "exp"),
		"larger than 8 KiB":    signed(t, jwt.MapClaims{"exp": at(1 << 30), "pad": strings.Repeat("x", maxToken)}),
		"exp is text":          signed(t, jwt.MapClaims{"exp": "never"}),
		"an unknown algorithm": signed(t, jwt.MapClaims{}, "alg", "HS999"),
	}
}

func TestTokenForged(t *testing.T) {
	tokens := newTokens(jwtKey, time.Now)
	for name, token := range forged(t) {
		if _, role, refused := tokens.read(token); role != 0 || refused == nil || !refused.guess {
			t.Errorf("%s: got %v, %+v, want a guess", name, role, refused)
		}
	}
}

// FuzzToken: only a token that was signed with the key has a role.
func FuzzToken(f *testing.F) {
	for _, token := range forged(f) {
		f.Add(token)
	}
	tokens := newTokens("a key that is made up for this test", time.Now)
	f.Fuzz(func(t *testing.T, token string) {
		if _, role, refused := tokens.read(token); role != 0 || refused == nil || !refused.guess || strings.Contains(refused.detail, token) && len(token) > 10 {
			t.Errorf("%q: %v %+v", token, role, refused)
		}
	})
}
