package middleware

import (
	"bytes"
	"encoding/json"
	"slices"

	"linkwatch/models"
)

// jwtMembers are the members of the header and the claims of a JWT that have a meaning here.
var jwtMembers = []string{"alg", "typ", "cty", "crit", "iss", "sub", "aud", "exp", "nbf", "iat", "jti", "role"}

// exactMembers reports whether a JSON object has each member once, and writes jwtMembers exactly. Programs disagree
// about other objects: encoding/json ignores case and takes the last of two members. Names must be unique (RFC 7515,
// section 4, and RFC 7519, section 4).
func exactMembers(object []byte) bool {
	d := json.NewDecoder(bytes.NewReader(object))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return false
	}
	seen := map[string]bool{}
	for d.More() {
		var value json.RawMessage
		token, err := d.Token()
		name, ok := token.(string)
		if err != nil || !ok || seen[name] || d.Decode(&value) != nil {
			return false
		}
		if folded := models.FoldName(name); folded != name && slices.Contains(jwtMembers, folded) {
			return false
		}
		seen[name] = true
	}
	return true
}
