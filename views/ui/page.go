// Package ui holds what all pages share: the frame, forms, lists and the small
// words for times and numbers. It knows no system's types.
package ui

import (
	"time"

	"github.com/a-h/templ"

	"linkwatch/models"
)

// Page is what the frame of every page shows.
type Page struct {
	Title   string // before " · Linkwatch"
	Section string // the ID of the current entry of the navigation: "links"
	Nav     *Nav   // what the systems put into the frame; nil = nothing
	Version string
	Now     time.Time // the instant that all times of the page are told from
	Flash   Flash
	Search  bool // the page has its own way to add: the frame leaves it out
	Refresh int  // seconds after which a browser without JavaScript asks again; 0 = never
}

// SearchSection is the Section of the page of the search over everything.
const SearchSection = "search"

// The settings of the reader's account: their Section, and the path of their first page.
const (
	SettingsSection = "settings"
	SettingsPath    = "/settings"
)

// Flash is the one line that says what the last action did. The zero Flash
// shows nothing.
type Flash struct {
	Text   string
	Bad    bool   // it did not work
	Action Action // what takes it back
	Link   Link   // where to look
}

// Action is a button that posts one value to a path.
type Action struct{ Label, Path, Name, Value, Back string }

// Errors are the messages of a form, by the name of the field.
type Errors map[string]string

// Current marks the one of several links that leads to where the reader is.
func Current(is bool) templ.Attributes { return said(is, "aria-current", "page") }

// Invalid marks a field whose value is not as it must be.
func Invalid(is bool) templ.Attributes { return said(is, "aria-invalid", "true") }

// said is an attribute with a word, or none: ARIA takes an empty one for false.
func said(is bool, name, word string) templ.Attributes {
	if !is {
		return nil
	}
	return templ.Attributes{name: word}
}

// External is the URL of a stranger's page or picture as it may appear in markup:
// one that models.ParseURL accepts, anything else is "".
func External(address string) templ.SafeURL {
	if _, err := models.ParseURL("url", address); err != nil {
		return ""
	}
	return templ.SafeURL(address)
}
