package accounts

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"linkwatch/models"
)

// Scopes are what a token may do: "read", "write" or "admin" everywhere, or "links:read" and
// "links:write" in one system. write includes read, and admin includes write.
type Scopes []string

// Systems are the systems that a scope can name.
var Systems = []string{"links", "targets", "shortlinks", "crawl", "sites", "alerts"}

// AllScopes are all scopes, the widest of each kind last.
func AllScopes() []string {
	all := []string{"read", "write", "admin"}
	for _, of := range Systems {
		all = append(all, of+":read", of+":write")
	}
	return all
}

const maxScopes = 20

// cleanScopes checks scopes, none of which may allow more than a role, and puts them in order, each once.
func cleanScopes(given []string, by Role) (Scopes, error) {
	switch known := AllScopes(); {
	case len(given) == 0:
		return nil, models.Invalid("scopes", "must name at least one scope")
	case len(given) > maxScopes:
		return nil, models.Invalid("scopes", "must name at most %d scopes", maxScopes)
	default:
		for i, scope := range given {
			if !slices.Contains(known, scope) {
				return nil, models.Invalid(fmt.Sprintf("scopes[%d]", i), "must be one of %s", strings.Join(known, ", "))
			}
			if need := roleOf(scope); slices.Index(Roles(), need) > slices.Index(Roles(), by) {
				return nil, models.Invalid(fmt.Sprintf("scopes[%d]", i), "needs the role %s. Yours is %s", need, by)
			}
		}
	}
	scopes := slices.Clone(given)
	slices.Sort(scopes)
	return slices.Compact(scopes), nil
}

// roleOf is the role that a scope gives where it applies.
func roleOf(scope string) Role {
	_, verb, ok := strings.Cut(scope, ":")
	if !ok {
		verb = scope
	}
	return map[string]Role{"read": Viewer, "write": Editor, "admin": Admin}[verb]
}

// Allow returns the highest role that the scopes give in a system; "" = none. system is "" for what
// belongs to none.
func (s Scopes) Allow(system string) Role {
	switch {
	case slices.Contains(s, "admin"):
		return Admin
	case slices.Contains(s, "write"), system != "" && slices.Contains(s, system+":write"):
		return Editor
	case slices.Contains(s, "read"), system != "" && slices.Contains(s, system+":read"):
		return Viewer
	}
	return ""
}

// Value implements driver.Valuer: a JSON array.
func (s Scopes) Value() (driver.Value, error) {
	b, err := json.Marshal([]string(s))
	return string(b), err
}

// Scan implements sql.Scanner.
func (s *Scopes) Scan(value any) error {
	var text []byte
	switch v := value.(type) {
	case string:
		text = []byte(v)
	case []byte:
		text = v
	default:
		return fmt.Errorf("scopes of a %T", value)
	}
	return json.Unmarshal(text, (*[]string)(s))
}
