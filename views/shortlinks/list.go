// Package shortlinks has the pages of short links, for users and for visitors. Each
// page is a struct and a component that renders it.
package shortlinks

import (
	"net/url"
	"strconv"
	"strings"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
	"linkwatch/views/ui"
)

// List is the page of all short links.
type List struct {
	ui.Page
	Place   Place
	Query   string // error of the search; "" if it is valid
	Add     Form
	Created shortlinks.ShortLink // just created; its Key is "" if there is none
	Links   models.Slice[shortlinks.ShortLink]
	Any     bool   // whether any short link exists
	Prefix  string // of short URLs: "https://links.example/s/"
}

// Place is a filtered page of the list.
type Place struct {
	Status shortlinks.Status
	Text   string
	Token  string // page token; "" = first page
}

// Path returns the URL path of the page.
func (p Place) Path() string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"q": p.Text, "status": string(p.Status), "page_token": p.Token})
	return ui.WithQuery("/short", q)
}

// Filter returns the filter of the list, newest first.
func (p Place) Filter() shortlinks.Filter {
	return shortlinks.Filter{Status: p.Status, Text: p.Text, Newest: true}
}

// withStatus starts at the first page.
func (p Place) withStatus(s shortlinks.Status) Place { p.Status, p.Token = s, ""; return p }
func (p Place) after(c models.Cursor) Place          { p.Token = c.Token(); return p }

func (p Place) filtered() bool { return p.Status != "" || p.Text != "" }

// Form is the input of a short link form, with its errors.
type Form struct {
	LongURL, Key, Title, MaxVisits string

	Expiry    string      // a value of expiries, or ExpiryUnchanged
	ExpiresAt string      // the time in UTC, if Expiry is ExpiryAt
	Current   models.Time // the expiry of the stored short link
	Open      bool        // whether the edit form is unfolded

	Private bool
	Errors  ui.Errors
}

// Values of Form.Expiry that are not durations.
const (
	ExpiryNever     = ""
	ExpiryAt        = "at"
	ExpiryUnchanged = "kept"
)

// expiries are the choices of an expiry. A duration starts when the form is submitted.
var expiries = []struct{ value, label string }{
	{ExpiryNever, "Never"}, {"1h", "In 1 hour"}, {"24h", "In 1 day"}, {"168h", "In 7 days"}, {"720h", "In 30 days"}, {ExpiryAt, "At a date and time"},
}

// timeFormat is the format of a datetime-local input.
const timeFormat = "2006-01-02T15:04"

// FormOf returns the form of a stored short link.
func FormOf(l shortlinks.ShortLink) Form {
	f := Form{LongURL: l.LongURL, Title: l.Title, Current: l.ExpiresAt, Private: l.Private()}
	if l.MaxVisits > 0 {
		f.MaxVisits = strconv.FormatInt(l.MaxVisits, 10)
	}
	if !l.ExpiresAt.IsZero() {
		f.Expiry, f.ExpiresAt = ExpiryUnchanged, l.ExpiresAt.Format(timeFormat)
	}
	return f
}

// countText describes the number of short links without counting those on other pages.
func (v List) countText() string {
	n := len(v.Links.Items)
	if text, ok := ui.CountSoFar(n, v.Links.Stopped, v.Place.Token != "", "short link"); ok {
		return text
	}
	switch {
	case v.Place.Token != "":
		return "Older short links"
	case v.Links.More():
		return "The newest " + strconv.Itoa(n)
	}
	return ui.Plural(n, "short link")
}

// withoutScheme returns a URL without "https://".
func withoutScheme(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		return rest
	}
	return address
}

var statuses = []shortlinks.Status{shortlinks.Active, shortlinks.Expired, shortlinks.Disabled}

// Labels are the labels of the form, for error messages.
var Labels = map[string]string{
	"long_url": "Long URL", "short_key": "Key", "title": "Title", "expires_at": "Date and time", "max_visits": "Visit limit",
}

// Edited are the stored values of the form of a short link.
func Edited(l shortlinks.ShortLink) ui.Edited {
	f := FormOf(l)
	return ui.Edited{}.Text("long_url", Labels["long_url"], f.LongURL).Text("title", Labels["title"], f.Title).
		Text("max_visits", Labels["max_visits"], f.MaxVisits).Text("expires_at", Labels["expires_at"], f.ExpiresAt).Tick("private", "Private", f.Private)
}
