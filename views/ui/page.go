// Package ui contains the components of all pages: layout, forms, lists, charts, and the formats of
// times and numbers. It uses no types of systems.
package ui

import (
	"time"

	"github.com/a-h/templ"

	"linkwatch/models"
)

// Page is the data of the layout.
type Page struct {
	Title   string // before " · Linkwatch"
	Section string // ID of the current Section: "links"
	Nav     *Nav   // nil = no navigation
	Version string
	Now     time.Time // all relative times are relative to it
	Flash   Flash
	Notices []string // query parameters that select a Flash. static/app.js removes them from the address bar
	Search  bool     // hides the button New: the page has its own
	Refresh int      // refresh interval in seconds without JavaScript; 0 = never
}

// SearchSection is the Section of the search page.
const SearchSection = "search"

// Section and path of the settings of the user's account.
const (
	SettingsSection = "settings"
	SettingsPath    = "/settings"
)

// Section and path of the guides.
const (
	HelpSection = "help"
	HelpPath    = "/help"
)

// Flash is the message about the last action. The zero Flash is none.
type Flash struct {
	Text   string
	Bad    bool   // the action failed
	Action Action // button to undo it
	Link   Link   // link to the result
}

// Action is a button that posts one value to a path.
type Action struct{ Label, Path, Name, Value, Back string }

// Errors are the error messages of a form by field.
type Errors map[string]string

// Current marks a link to the current page.
func Current(is bool) templ.Attributes { return attribute(is, "aria-current", "page") }

// Invalid marks a field with an invalid value.
func Invalid(is bool) templ.Attributes { return attribute(is, "aria-invalid", "true") }

// attribute returns an attribute if set is true. It must be absent otherwise: an empty ARIA attribute
// counts as false.
func attribute(set bool, name, value string) templ.Attributes {
	if !set {
		return nil
	}
	return templ.Attributes{name: value}
}

// External returns an external URL for use in HTML, or "" if models.ParseURL does not accept it.
func External(address string) templ.SafeURL {
	if _, err := models.ParseURL("url", address); err != nil {
		return ""
	}
	return templ.SafeURL(address)
}
