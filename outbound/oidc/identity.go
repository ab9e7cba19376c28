package oidc

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

const (
	maxText      = 512  // bytes of a claim; a longer one counts as missing
	maxValues    = 1000 // of the role claim; others are ignored
	maxUsername  = 64   // bytes of what Username returns
	fallbackName = "user"
)

// Identity is who has signed in, as the provider says. Issuer and Subject together name a user for ever; nothing else does:
// the provider may give a user name or an address to somebody else.
type Identity struct {
	Issuer        string
	Subject       string
	Username      string // what the user wants to be called, as the provider sent it; "" = unknown. See Username
	Email         string // "" = unknown
	EmailVerified bool   // the provider says that the address is the user's
	Claims        []string
}

// claims are those of an ID token or the userinfo endpoint.
type claims map[string]json.RawMessage

// text is a claim that is a text, else "".
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

// flag is a claim that is true. Some providers write it as a text.
func (c claims) flag(name string) bool { return string(c[name]) == "true" || c.text(name) == "true" }

// values are those of a claim that is a text or a list of texts. Others are left out.
func (c claims) values(name string) []string {
	if s := c.text(name); s != "" {
		return []string{s}
	}
	var list []json.RawMessage
	if json.Unmarshal(c[name], &list) != nil {
		return nil
	}
	var out []string
	for _, raw := range list[:min(len(list), maxValues)] {
		if s := (claims{"": raw}).text(""); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// take adds a claim of other that c lacks.
func (c claims) take(other claims, name string) {
	if _, ok := c[name]; !ok && other[name] != nil {
		c[name] = other[name]
	}
}

func (c claims) identity(issuer, roleClaim string) Identity {
	id := Identity{Issuer: issuer, Subject: c.text("sub"), Username: c.text("preferred_username"), Email: c.text("email")}
	id.EmailVerified = id.Email != "" && c.flag("email_verified")
	if roleClaim != "" {
		id.Claims = c.values(roleClaim)
	}
	return id
}

// rank orders the roles that a mapping can give.
var rank = map[string]int{"viewer": 1, "editor": 2, "admin": 3}

// Role is the highest role to which mapping maps one of values, else defaultRole. ok is false if that is no role of an account:
// the user is refused.
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

// AllowedDomain reports whether an address is of one of the domains, whatever its case. A subdomain is another domain, and an
// address that is not verified is of none. Without domains all users are allowed, with and without an address.
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

// equalASCII compares without regard to the case of ASCII letters. strings.EqualFold takes K (U+212A) for k.
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

// Username is a name for the account of a user: what the user wants to be called, else the local part of the address, else the
// subject. It has 1 to 64 characters of a-z, 0-9, ".", "_" and "-", and begins and ends with a letter or a digit. It is a
// suggestion: another user, of any provider or none, can have the same one, so an account must not be found by it.
func Username(id Identity) string {
	local, _, _ := strings.Cut(id.Email, "@")
	for _, s := range []string{id.Username, local, id.Subject} {
		if name := cleanName(s); name != "" {
			return name
		}
	}
	return fallbackName
}

// cleanName makes "-" of each run of characters that a name cannot have.
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
