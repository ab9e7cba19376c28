package middleware

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"linkwatch/models"
)

const (
	maxToken    = 8 << 10 // bytes
	clockLeeway = 30 * time.Second
	maxSubject  = 100 // characters
)

// JWTRules are optional conditions of JWTs.
type JWTRules struct {
	Issuer   string        // AUTH_JWT_ISSUER: claim iss; "" = any
	Audience string        // AUTH_JWT_AUDIENCE: a value of the claim aud; "" = any
	MaxAge   time.Duration // AUTH_JWT_MAX_AGE: since the claim iat; 0 = no limit
}

// tokens verifies JWTs signed with HS256.
type tokens struct {
	key    []byte
	rules  JWTRules
	now    func() time.Time
	parser *jwt.Parser
}

// claims are the supported claims. Others are ignored.
type claims struct {
	jwt.RegisteredClaims
	Role json.RawMessage `json:"role"` // parsed after the signature is verified
}

// newTokens returns tokens for a key. nbf and iat may be clockLeeway in the future; exp has no leeway.
func newTokens(key string, rules JWTRules, now func() time.Time) *tokens {
	t := &tokens{key: []byte(key), rules: rules, now: now}
	t.parser = jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithStrictDecoding(),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(clockLeeway), jwt.WithTimeFunc(func() time.Time { return t.now() }))
	return t
}

// read returns the claim sub ("" = none) and role (claim role, default Admin) of a token. A token with
// a valid signature never counts as a guess.
func (t *tokens) read(given string) (subject string, role Role, refused *refusal) {
	if len(given) > maxToken {
		return "", 0, &refusal{"The token is larger than 8 KiB.", true}
	}
	var c claims
	_, err := t.parser.ParseWithClaims(given, &c, func(token *jwt.Token) (any, error) {
		if _, critical := token.Header["crit"]; critical { // no critical extensions are supported (RFC 7515, section 4.1.11)
			return nil, jwt.ErrTokenUnverifiable
		}
		return t.key, nil
	})
	switch {
	case err == nil && t.now().Before(c.ExpiresAt.Time):
		if refused = t.check(given, c); refused == nil {
			role, refused = roleNamed(c.Role)
		}
		return c.Subject, role, refused
	case err == nil, errors.Is(err, jwt.ErrTokenExpired):
		return "", 0, &refusal{detail: "The token has expired. Get a new one."}
	case errors.Is(err, jwt.ErrTokenRequiredClaimMissing):
		return "", 0, &refusal{detail: "The token has no claim exp. Get a token that expires."}
	case errors.Is(err, jwt.ErrTokenInvalidClaims):
		return "", 0, &refusal{detail: "The token is not valid yet. Compare the clocks of its issuer and this server."}
	}
	return "", 0, &refusal{"Wrong token.", true}
}

// check returns why a signed token that has not expired is refused, or nil.
func (t *tokens) check(given string, c claims) *refusal {
	for _, part := range strings.SplitN(given, ".", 3)[:2] {
		object, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil || !exactMembers(object) {
			return &refusal{detail: "The token has a member twice or in the wrong case. Get a new token."}
		}
	}
	switch {
	case c.Subject != models.CleanLine(c.Subject): // it could look like a username
		return &refusal{detail: "The claim sub of the token has invisible characters or extra spaces. Get a token without them."}
	case t.rules.Issuer != "" && c.Issuer != t.rules.Issuer:
		return &refusal{detail: "The claim iss of the token must be the issuer that this server is set up for. Get a token from this issuer."}
	case t.rules.Audience != "" && !slices.Contains(c.Audience, t.rules.Audience):
		return &refusal{detail: "The claim aud of the token must include the audience of this server. Get a token for this server."}
	case t.rules.MaxAge > 0 && c.IssuedAt == nil:
		return &refusal{detail: "The token has no claim iat. Get a token that says when it was issued."}
	case t.rules.MaxAge > 0 && t.now().Sub(c.IssuedAt.Time) > t.rules.MaxAge:
		return &refusal{detail: "The token was issued too long ago. Get a new one."}
	}
	return nil
}

// roleNamed parses the claim role. JSON null is not a role.
func roleNamed(claim json.RawMessage) (Role, *refusal) {
	if claim == nil {
		return Admin, nil
	}
	var name string
	if err := json.Unmarshal(claim, &name); err == nil {
		if role := RoleNamed(name); role != 0 {
			return role, nil
		}
	}
	return 0, &refusal{detail: "The claim role of the token must be admin, editor or viewer. Get a new token."}
}
