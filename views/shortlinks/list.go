// Package shortlinks holds the pages of short links, for their owner and for
// visitors: for each a struct with what it shows, and the component that shows
// it.
package shortlinks

import (
	"net/url"
	"strconv"
	"strings"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
	"linkwatch/views/ui"
)

// List is the page of all short links: the form to add one, the search, the rows.
type List struct {
	ui.Page
	Place  Place
	Query  string // what is wrong with the search, else ""
	Add    Form
	Made   shortlinks.ShortLink // the one just created; its Key is "" if none was
	Links  models.Slice[shortlinks.ShortLink]
	Any    bool   // any short link exists, shown here or not
	Prefix string // of the address of each: "https://links.example/s/"
}

// Place is a page of the list of short links. Its path can be bookmarked.
type Place struct {
	Status shortlinks.Status
	Text   string
	Token  string // of the page; "" = the newest
}

// Path is the address of the list.
func (p Place) Path() string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"q": p.Text, "status": string(p.Status), "page_token": p.Token})
	return ui.WithQuery("/short", q)
}

// Filter is what the list shows: the newest first.
func (p Place) Filter() shortlinks.Filter {
	return shortlinks.Filter{Status: p.Status, Text: p.Text, Newest: true}
}

// A place with another filter starts at its first page.

func (p Place) withStatus(s shortlinks.Status) Place { p.Status, p.Token = s, ""; return p }
func (p Place) after(c models.Cursor) Place          { p.Token = c.Token(); return p }

func (p Place) filtered() bool { return p.Status != "" || p.Text != "" }

// Form is what was typed for a short link, with its errors.
type Form struct {
	LongURL, Key, Title, MaxVisits string

	Ends   string      // one of the values of ends, or EndsKept
	EndsAt string      // the exact time, in UTC, if Ends is EndsAt
	Kept   models.Time // the expiry that the link has
	Open   bool        // show what is folded

	Private bool
	Errors  ui.Errors
}

// The values of Ends besides durations.
const (
	EndsNever = ""
	EndsAt    = "at"
	EndsKept  = "kept"
)

// ends are the choices of an expiry. A duration counts from when the form is sent.
var ends = []struct{ value, label string }{
	{EndsNever, "Never"}, {"1h", "In 1 hour"}, {"24h", "In 1 day"}, {"168h", "In 7 days"}, {"720h", "In 30 days"}, {EndsAt, "At a date and time"},
}

// endsFormat is the format of a time in a form.
const endsFormat = "2006-01-02T15:04"

// FormOf is the form filled in with a short link.
func FormOf(l shortlinks.ShortLink) Form {
	f := Form{LongURL: l.LongURL, Title: l.Title, Kept: l.ExpiresAt, Private: l.Private()}
	if l.MaxVisits > 0 {
		f.MaxVisits = strconv.FormatInt(l.MaxVisits, 10)
	}
	if !l.ExpiresAt.IsZero() {
		f.Ends, f.EndsAt = EndsKept, l.ExpiresAt.Format(endsFormat)
	}
	return f
}

// found is the number of short links in the list, as far as it is known without
// counting them.
func (v List) found() string {
	n := len(v.Links.Items)
	switch {
	case v.Place.Token != "":
		return "Older short links"
	case v.Links.More():
		return "The newest " + strconv.Itoa(n)
	}
	return ui.Plural(n, "short link")
}

// bare is an address without its scheme, as rows show it.
func bare(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		return rest
	}
	return address
}

var statuses = []shortlinks.Status{shortlinks.Active, shortlinks.Expired, shortlinks.Disabled}
