package accounts

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"linkwatch/models"
)

// Scopes lists what a token may do: "read", "write" or "admin" in all systems, or "links:read" and "links:write" in one
// system. write includes read, and admin includes write.
type Scopes []string

// Systems lists the systems that a scope can name.
var Systems = []string{"links", "targets", "shortlinks", "crawl", "sites", "alerts"}

// AllScopes returns all valid scopes, first those for all systems.
func AllScopes() []string {
	all := []string{"read", "write", "admin"}
	for _, system := range Systems {
		all = append(all, system+":read", system+":write")
	}
	return all
}

const maxScopes = 20

// cleanScopes validates scopes and returns them sorted, without duplicates. No scope may allow more than maxRole.
func cleanScopes(scopes []string, maxRole Role) (Scopes, error) {
	switch known := AllScopes(); {
	case len(scopes) == 0:
		return nil, models.Invalid("scopes", "must name at least one scope")
	case len(scopes) > maxScopes:
		return nil, models.Invalid("scopes", "must name at most %d scopes", maxScopes)
	default:
		for i, scope := range scopes {
			if !slices.Contains(known, scope) {
				return nil, models.Invalid(fmt.Sprintf("scopes[%d]", i), "must be one of %s", strings.Join(known, ", "))
			}
			if need := roleOf(scope); slices.Index(Roles(), need) > slices.Index(Roles(), maxRole) {
				return nil, models.Invalid(fmt.Sprintf("scopes[%d]", i), "needs the role %s, but the account has the role %s", need, maxRole)
			}
		}
	}
	scopes = slices.Clone(scopes)
	slices.Sort(scopes)
	return slices.Compact(scopes), nil
}

func roleOf(scope string) Role {
	_, verb, ok := strings.Cut(scope, ":")
	if !ok {
		verb = scope
	}
	return map[string]Role{"read": Viewer, "write": Editor, "admin": Admin}[verb]
}

// Allow returns the highest role that the scopes grant in a system; "" = none. An empty system means routes that belong
// to no system, which only the scopes for all systems cover.
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

// Value implements driver.Valuer. The value is a JSON array.
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
		return fmt.Errorf("scan scopes from %T", value)
	}
	return json.Unmarshal(text, (*[]string)(s))
}
