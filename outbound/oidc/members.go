package oidc

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// tokenMembers are the members of ID tokens that are verified. encoding/json ignores their case.
var tokenMembers = []string{"alg", "iss", "sub", "aud", "exp", "iat", "nbf", "nonce", "at_hash", "azp"}

// exactMembers reports whether the header and the claims of an ID token have each member once (RFC 7519, section 4), and
// write tokenMembers exactly. Otherwise, a claim that users may choose could replace a verified one.
func exactMembers(token string) bool {
	for _, part := range strings.SplitN(token, ".", 3)[:2] {
		object, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil || !exactObject(object) {
			return false
		}
	}
	return true
}

func exactObject(object []byte) bool {
	var members map[string]json.RawMessage
	if !jsontext.Value(object).IsValid() || json.Unmarshal(object, &members) != nil { // a repeated member is not valid
		return false
	}
	for name := range members {
		inexact := func(member string) bool { return name != member && strings.EqualFold(name, member) }
		if slices.ContainsFunc(tokenMembers, inexact) {
			return false
		}
	}
	return members != nil
}
