package oidc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
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
	d := json.NewDecoder(bytes.NewReader(object))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return false
	}
	seen := map[string]bool{}
	for d.More() {
		var value json.RawMessage
		token, err := d.Token()
		name, ok := token.(string)
		inexact := func(member string) bool { return name != member && strings.EqualFold(name, member) }
		if err != nil || !ok || seen[name] || slices.ContainsFunc(tokenMembers, inexact) || d.Decode(&value) != nil {
			return false
		}
		seen[name] = true
	}
	return true
}
