package oidc

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

const (
	maxText      = 512  // bytes of a claim; longer claims are ignored
	maxValues    = 1000 // values of the role claim; more are ignored
	maxUsername  = 64   // bytes of a result of Username
	fallbackName = "user"
)

// Identity is a user who signed in at the provider. Only Issuer and Subject together identify a user. The provider may
// reassign usernames and email addresses.
type Identity struct {
	Issuer        string
	Subject       string
	Username      string   // preferred_username as sent; "" = unknown. See Username
	Email         string   // "" = unknown
	EmailVerified bool     // the provider has verified Email
	RoleValues    []string // values of Options.RoleClaim
}

// claims holds the claims of an ID token or a userinfo response.
type claims map[string]json.RawMessage

// text returns a claim that is a valid text, else "".
func (c claims) text(name string) string {
	var s string
	if json.Unmarshal(c[name], &s) != nil || !validText(s) {
		return ""
	}
	return s
}

func validText(s string) bool {
	return len(s) <= maxText && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// flag reports whether a claim is true. Some providers send it as a string.
func (c claims) flag(name string) bool { return string(c[name]) == "true" || c.text(name) == "true" }

// values returns the texts of a claim that is a text or a list. It skips other values.
func (c claims) values(name string) []string {
	if s := c.text(name); s != "" {
		return []string{s}
	}
	var list []json.RawMessage
	if json.Unmarshal(c[name], &list) != nil {
		return nil
	}
	var texts []string
	for _, raw := range list[:min(len(list), maxValues)] {
		if s := (claims{"": raw}).text(""); s != "" {
			texts = append(texts, s)
		}
	}
	return texts
}

// addMissing copies a claim of other that c lacks.
func (c claims) addMissing(other claims, name string) {
	if _, ok := c[name]; !ok && other[name] != nil {
		c[name] = other[name]
	}
}

func (c claims) identity(issuer, roleClaim string) Identity {
	id := Identity{Issuer: issuer, Subject: c.text("sub"), Username: c.text("preferred_username"), Email: c.text("email")}
	id.EmailVerified = id.Email != "" && c.flag("email_verified")
	if roleClaim != "" {
		id.RoleValues = c.values(roleClaim)
	}
	return id
}

// rank orders the roles.
var rank = map[string]int{"viewer": 1, "editor": 2, "admin": 3}

// Role returns the highest role that mapping has for one of values, or defaultRole if there is none. ok is false if the result
// is not a role, such as "none". The user must then be refused.
func Role(values []string, mapping map[string]string, defaultRole string) (role string, ok bool) {
	for _, v := range values {
		if mapped := mapping[v]; rank[mapped] > rank[role] {
			role = mapped
		}
	}
	if role == "" {
		role = defaultRole
	}
	if rank[role] == 0 {
		return "", false
	}
	return role, true
}

// AllowedDomain reports whether a verified email address is in one of the domains, ignoring case. Subdomains do not match.
// Without domains, all users are allowed, even without an address.
func AllowedDomain(email string, verified bool, domains []string) bool {
	if len(domains) == 0 {
		return true
	}
	local, domain, ok := strings.Cut(email, "@")
	if !verified || !ok || local == "" || domain == "" {
		return false
	}
	for _, d := range domains {
		if equalASCII(domain, d) {
			return true
		}
	}
	return false
}

// equalASCII ignores the case of ASCII letters only. strings.EqualFold would also equate K (U+212A) and k.
func equalASCII(a, b string) bool {
	lower := func(s string) string { return strings.Map(lowerASCII, s) }
	return lower(a) == lower(b)
}

func lowerASCII(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

// Username suggests a username for the account of a user: the preferred username, else the local part of the email address,
// else the subject. It has 1 to 64 characters of a-z, 0-9, ".", "_" and "-", and starts and ends with a letter or digit.
// It is not unique, so callers must not find an account by it.
func Username(id Identity) string {
	local, _, _ := strings.Cut(id.Email, "@")
	for _, s := range []string{id.Username, local, id.Subject} {
		if name := cleanName(s); name != "" {
			return name
		}
	}
	return fallbackName
}

// cleanName replaces each run of characters that a username cannot have by "-".
func cleanName(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range s {
		r = lowerASCII(r)
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-' {
			gap = true
			continue
		}
		if gap {
			b.WriteByte('-')
			gap = false
		}
		b.WriteRune(r)
	}
	name := strings.Trim(b.String(), "._-")
	return strings.TrimRight(name[:min(len(name), maxUsername)], "._-")
}
