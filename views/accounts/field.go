package accounts

import (
	"cmp"
	"strings"

	"linkwatch/views/ui"
)

// field is an input of a form with its label, hint and error.
type field struct {
	Name, Label, Value string
	Type, Fill         string // type and autocomplete; "" = text, off
	Hint               string // under the field; "" = none
	List               string // id of its suggestions; "" = none
	Error              string
	Max                string // characters
	Optional           bool
	Exact              bool // it is not corrected: a username or a code
}

// id is the name as ids are written.
func (f field) id() string { return strings.ReplaceAll(f.Name, "_", "-") }

func (f field) errorID() string { return f.id() + "-error" }
func (f field) hintID() string  { return f.id() + "-hint" }

// described are the ids of what describes the field.
func (f field) described() string {
	if f.Hint == "" {
		return f.errorID()
	}
	return f.hintID() + " " + f.errorID()
}

func (f field) fill() string { return cmp.Or(f.Fill, "off") }

func (f field) kind() string { return cmp.Or(f.Type, "text") }

// current is the field of the present password, which changes of how somebody signs in need.
func current(errs ui.Errors) field {
	return field{Name: "current_password", Label: Labels["current_password"], Type: "password", Fill: "current-password", Max: "256", Error: errs["current_password"]}
}

// fresh is the field of a new password.
func fresh(label string, errs ui.Errors) field {
	return field{Name: "password", Label: label, Type: "password", Fill: "new-password", Max: "256", Hint: "At least 8 characters.", Error: errs["password"]}
}
