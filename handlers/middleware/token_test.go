package middleware

import (
	"encoding/base64"
	"strconv"
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
	tokens := newTokens(jwtKey, JWTRules{}, func() time.Time { return tokenNow })
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

// A token has each member once, in the right case, because encoding/json would take the last one and ignore case.
func TestTokenMembers(t *testing.T) {
	tokens := newTokens(jwtKey, JWTRules{}, func() time.Time { return tokenNow })
	exp := strconv.FormatInt(at(60), 10)
	const header = `{"alg":"HS256","typ":"JWT"}`
	for name, c := range map[string]struct {
		header, claims string
		accepted       bool
	}{
		"each once":                      {header, `{"exp":` + exp + `,"role":"viewer","Groups":[],"groups":{}}`, true},
		"an escaped name":                {header, `{"\u0065xp":` + exp + `}`, true},
		"exp twice":                      {header, `{"exp":1,"exp":` + exp + `}`, false},
		"an escaped exp twice":           {header, `{"\u0065xp":1,"exp":` + exp + `}`, false},
		"role twice":                     {header, `{"exp":` + exp + `,"role":"viewer","role":"admin"}`, false},
		"an unknown claim twice":         {header, `{"exp":` + exp + `,"x":{"y":1},"x":2}`, false},
		"Exp":                            {header, `{"Exp":` + exp + `}`, false},
		"Exp after exp":                  {header, `{"exp":1,"Exp":` + exp + `}`, false},
		"SUB":                            {header, `{"exp":` + exp + `,"SUB":"alice"}`, false},
		"Role":                           {header, `{"exp":` + exp + `,"Role":"admin"}`, false},
		"sub with a long s":              {header, `{"exp":` + exp + `,"\u017fub":"alice"}`, false},
		"Nbf":                            {header, `{"exp":` + exp + `,"Nbf":1}`, false},
		"alg twice":                      {`{"alg":"none","alg":"HS256"}`, `{"exp":` + exp + `}`, false},
		"Alg":                            {`{"alg":"HS256","Alg":"none"}`, `{"exp":` + exp + `}`, false},
		"typ twice":                      {`{"alg":"HS256","typ":"JWT","typ":"JWT"}`, `{"exp":` + exp + `}`, false},
		"an extension in capitals":       {`{"alg":"HS256","CRIT":["x"]}`, `{"exp":` + exp + `}`, false},
		"an unknown header member twice": {`{"alg":"HS256","kid":"1","kid":"2"}`, `{"exp":` + exp + `}`, false},
	} {
		_, role, refused := tokens.read(raw(t, c.header, c.claims))
		switch {
		case c.accepted && (refused != nil || role == 0):
			t.Errorf("%s: got %v, %+v", name, role, refused)
		case !c.accepted && (refused == nil || role != 0 || refused.guess):
			t.Errorf("%s: got %v, %+v, want a refusal that is no guess", name, role, refused)
		}
	}
}

// raw returns a token with a header and claims exactly as given.
func raw(t testing.TB, header, claims string) string {
	t.Helper()
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	signature, err := jwt.SigningMethodHS256.Sign(text, []byte(jwtKey))
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func TestTokenRules(t *testing.T) {
	all := JWTRules{Issuer: "https://id.example", Audience: "linkwatch", MaxAge: time.Hour}
	for name, c := range map[string]struct {
		rules  JWTRules
		claims jwt.MapClaims
		detail string // "" = accepted
	}{
		"without rules":    {JWTRules{}, jwt.MapClaims{"iss": "x", "aud": "y", "iat": at(-1e6)}, ""},
		"all":              {all, jwt.MapClaims{"iss": all.Issuer, "aud": []string{"other", "linkwatch"}, "iat": at(-3600)}, ""},
		"one audience":     {JWTRules{Audience: "linkwatch"}, jwt.MapClaims{"aud": "linkwatch"}, ""},
		"no issuer":        {JWTRules{Issuer: all.Issuer}, jwt.MapClaims{}, "claim iss"},
		"another issuer":   {JWTRules{Issuer: all.Issuer}, jwt.MapClaims{"iss": all.Issuer + "/"}, "claim iss"},
		"no audience":      {JWTRules{Audience: "linkwatch"}, jwt.MapClaims{}, "claim aud"},
		"another audience": {JWTRules{Audience: "linkwatch"}, jwt.MapClaims{"aud": []string{"Linkwatch", ""}}, "claim aud"},
		"no iat":           {JWTRules{MaxAge: time.Hour}, jwt.MapClaims{}, "no claim iat"},
		"iat null":         {JWTRules{MaxAge: time.Hour}, jwt.MapClaims{"iat": nil}, "no claim iat"},
		"too old":          {JWTRules{MaxAge: time.Hour}, jwt.MapClaims{"iat": at(-3601)}, "too long ago"},
		"issued in 30 s":   {JWTRules{MaxAge: time.Hour}, jwt.MapClaims{"iat": at(30)}, ""},
		"issued in 31 s":   {JWTRules{MaxAge: time.Hour}, jwt.MapClaims{"iat": at(31)}, "not valid yet"},
	} {
		c.claims["exp"] = at(60)
		_, role, refused := newTokens(jwtKey, c.rules, func() time.Time { return tokenNow }).read(signed(t, c.claims))
		switch {
		case c.detail == "" && (refused != nil || role != Admin):
			t.Errorf("%s: got %v, %+v", name, role, refused)
		case c.detail != "" && (refused == nil || refused.guess || !strings.Contains(refused.detail, c.detail)):
			t.Errorf("%s: got %+v, want %q and no guess", name, refused, c.detail)
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
	tokens := newTokens(jwtKey, JWTRules{}, time.Now)
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
	tokens := newTokens("a key that is made up for this test", JWTRules{}, time.Now)
	f.Fuzz(func(t *testing.T, token string) {
		if _, role, refused := tokens.read(token); role != 0 || refused == nil || !refused.guess || strings.Contains(refused.detail, token) && len(token) > 10 {
			t.Errorf("%q: %v %+v", token, role, refused)
		}
	})
}
