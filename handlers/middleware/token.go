package middleware

import (
	"cmp"
	"encoding/json"
	"errors"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"linkwatch/models"
)

const (
	maxToken    = 8 << 10 // bytes
	clockLeeway = 30 * time.Second
	maxSubject  = 100 // characters
)

// tokens verifies JWTs signed with HS256.
type tokens struct {
	key    []byte
	now    func() time.Time
	parser *jwt.Parser
}

// claims are the supported claims. Others are ignored.
type claims struct {
	jwt.RegisteredClaims
	Role json.RawMessage `json:"role"` // parsed after the signature is verified
}

// newTokens returns tokens for a key. nbf and iat may be clockLeeway in the future; exp has no leeway.
func newTokens(key string, now func() time.Time) *tokens {
	t := &tokens{key: []byte(key), now: now}
	t.parser = jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithStrictDecoding(),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(clockLeeway), jwt.WithTimeFunc(func() time.Time { return t.now() }))
	return t
}

// read returns the name (claim sub) and role (claim role, default Admin) of a token. A token with
// a valid signature never counts as a guess.
func (t *tokens) read(given string) (name string, role Role, refused *refusal) {
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
		role, refused = roleNamed(c.Role)
		return cmp.Or(models.Truncate(models.CleanLine(c.Subject), maxSubject), models.SystemOwner), role, refused
	case err == nil, errors.Is(err, jwt.ErrTokenExpired):
		return "", 0, &refusal{detail: "The token has expired. Get a new one."}
	case errors.Is(err, jwt.ErrTokenRequiredClaimMissing):
		return "", 0, &refusal{detail: "The token has no claim exp. Get a token that expires."}
	case errors.Is(err, jwt.ErrTokenInvalidClaims):
		return "", 0, &refusal{detail: "The token is not valid yet. Compare the clocks of its issuer and this server."}
	}
	return "", 0, &refusal{"Wrong token.", true}
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
