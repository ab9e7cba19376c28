package accounts

import (
	"cmp"
	"strings"

	"linkwatch/views/ui"
)

// field is a form input with its label, hint and error.
type field struct {
	Name, Label, Value string
	Type, Fill         string // attributes type and autocomplete; "" = text, off
	Hint               string // below the input; "" = none
	List               string // id of a datalist; "" = none
	Error              string
	Max                string // maxlength
	Optional           bool
	Exact              bool // no spelling correction: a username or a code
}

// id returns the name with dashes.
func (f field) id() string { return strings.ReplaceAll(f.Name, "_", "-") }

func (f field) errorID() string { return f.id() + "-error" }
func (f field) hintID() string  { return f.id() + "-hint" }

// described returns the ids for aria-describedby.
func (f field) described() string {
	if f.Hint == "" {
		return f.errorID()
	}
	return f.hintID() + " " + f.errorID()
}

func (f field) fill() string { return cmp.Or(f.Fill, "off") }

func (f field) kind() string { return cmp.Or(f.Type, "text") }

// currentPassword is the field for the current password, which changes of the login require.
func currentPassword(errs ui.Errors) field {
	return field{Name: "current_password", Label: Labels["current_password"], Type: "password", Fill: "current-password", Max: "256", Error: errs["current_password"]}
}

func newPassword(label string, errs ui.Errors) field {
	return field{Name: "password", Label: label, Type: "password", Fill: "new-password", Max: "256", Hint: "At least 8 characters.", Error: errs["password"]}
}
