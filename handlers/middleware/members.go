package middleware

import (
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"linkwatch/models"
)

// jwtMembers are the members of the header and the claims of a JWT that have a meaning here.
var jwtMembers = []string{"alg", "typ", "cty", "crit", "iss", "sub", "aud", "exp", "nbf", "iat", "jti", "role"}

// exactMembers reports whether a JSON object has each member once, and writes jwtMembers exactly. Programs disagree
// about other objects: encoding/json ignores case and takes the last of two members. Names must be unique (RFC 7515,
// section 4, and RFC 7519, section 4).
func exactMembers(object []byte) bool {
	var members map[string]json.RawMessage
	if !jsontext.Value(object).IsValid() || json.Unmarshal(object, &members) != nil { // a repeated member is not valid
		return false
	}
	for name := range members {
		if folded := models.FoldName(name); folded != name && slices.Contains(jwtMembers, folded) {
			return false
		}
	}
	return members != nil
}
