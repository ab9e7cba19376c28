// Package targets renders the pages of targets, checks, status pages and badges. Each
// page has a struct with its data and a component.
package targets

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	"linkwatch/models"
	"linkwatch/models/targets"
	"linkwatch/views/ui"
)

// List is the page of all targets: the form to add, the search, the rows.
type List struct {
	ui.Page
	Place         Place
	Add           Form
	Query         string // error of the search; "" = none
	Targets       models.Slice[targets.Target]
	Counts        targets.Counts
	InMaintenance map[string]bool // by the id of a target
	Interval      time.Duration   // CHECK_INTERVAL
	Intervals     []int           // seconds to choose from, see Intervals
}

// Place is a page of the list of targets. Its path can be bookmarked.
type Place struct {
	targets.Filter
	Token string // of the page; "" = the first
}

// Path is the address of the list.
func (p Place) Path() string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{
		"q": p.Text, "host": p.Host, "status": string(p.Status), "page_token": p.Token, "certificate": string(p.Certificate),
	})
	return ui.WithQuery("/watch", q)
}

// A place with another filter starts at its first page.

func (p Place) withStatus(s targets.Status) Place { p.Status, p.Token = s, ""; return p }
func (p Place) withHost(h string) Place           { p.Host, p.Token = h, ""; return p }
func (p Place) withCertificate(c targets.Certificate) Place {
	p.Certificate, p.Token = c, ""
	return p
}
func (p Place) after(c models.Cursor) Place { p.Token = c.Token(); return p }

func (p Place) filtered() bool { return p.Filter != targets.Filter{} }

// Form is the form of a target as submitted, with its errors.
type Form struct {
	URL, Name, Interval              string
	Status, Keyword, Absent, Latency string // see targets.Expect
	Private                          bool
	Open                             bool // show the fields
	Errors                           ui.Errors
}

// FormOf returns the form filled in with a target.
func FormOf(t targets.Target) Form {
	f := Form{
		URL: t.URL, Name: t.Name, Interval: strconv.Itoa(t.IntervalSeconds),
		Status: t.Expect.Status, Keyword: t.Expect.Keyword, Absent: t.Expect.KeywordAbsent, Private: t.Private(),
	}
	if t.Expect.MaxLatencyMS > 0 {
		f.Latency = strconv.Itoa(t.Expect.MaxLatencyMS)
	}
	return f
}

// details reports whether the form holds more than a URL.
func (f Form) details() bool {
	return f.Open || f.Private || f.Name+f.Status+f.Keyword+f.Absent+f.Latency != "" || (f.Interval != "" && f.Interval != "0") ||
		len(f.Errors) > 1 || (len(f.Errors) == 1 && f.Errors["url"] == "")
}

// intervalChoices are the intervals that the form offers, in seconds.
var intervalChoices = []int{30, 60, 5 * 60, 15 * 60, 3600, 6 * 3600, 24 * 3600, 7 * 24 * 3600}

// Intervals returns the choices for the interval of a target in seconds: those longer
// than CHECK_INTERVAL, and its own.
func Intervals(check time.Duration, own int) []int {
	all := []int{}
	for _, c := range intervalChoices {
		if own > 0 && own < c && (len(all) == 0 || all[len(all)-1] < own) {
			all = append(all, own)
		}
		if time.Duration(c)*time.Second > check || c == own {
			all = append(all, c)
		}
	}
	if own > intervalChoices[len(intervalChoices)-1] {
		all = append(all, own)
	}
	return all
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// waits reports whether a target of the list waits for its first check.
func (v List) waits() bool { return slices.ContainsFunc(v.Targets.Items, firstIsDue) }

// firstIsDue reports whether the next check of a target gives it its first result, and is due.
func firstIsDue(t targets.Target) bool {
	return t.Status() == targets.Pending && !t.NextCheckAt.IsZero() && !t.NextCheckAt.After(t.AsOf.Time)
}

// pollEvery is the trigger of the part of a page that updates itself: soon while a first result is awaited.
func pollEvery(waits bool) string {
	if waits {
		return "every 1s"
	}
	return "every 5s"
}

// count is the number of targets in the list, as far as it is known.
func (v List) count() string {
	n, whole := len(v.Targets.Items), v.Place.Token == "" && !v.Targets.More()
	if text, ok := ui.CountSoFar(n, v.Targets.Stopped, v.Place.Token != "", "target"); ok {
		return text
	}
	switch {
	case v.Place.Filter == targets.Filter{}:
		n = v.Counts.All()
	case v.Place.Filter == targets.Filter{Status: v.Place.Status}:
		n = v.Counts[v.Place.Status]
	case !whole:
		return "Many targets"
	}
	return ui.Plural(n, "target")
}

// Labels are the labels of the form, for error messages.
var Labels = map[string]string{
	"url": "URL", "name": "Name", "interval_seconds": "Interval", "expect.status": "Accepted statuses", "expect.keyword": "Must contain",
	"expect.keyword_absent": "Must not contain", "expect.max_latency_ms": "Max response time",
}

// Edited are the stored values of the form of a target.
func Edited(t targets.Target) ui.Edited {
	f := FormOf(t)
	interval := func(value string) string {
		if n, err := strconv.Atoi(value); err == nil && n > 0 {
			return ui.Every(seconds(n))
		}
		return "Default"
	}
	return ui.Edited{}.Text("name", Labels["name"], f.Name).
		Text("interval_seconds", Labels["interval_seconds"], f.Interval).Shown(interval).
		Text("status", Labels["expect.status"], f.Status).Text("keyword", Labels["expect.keyword"], f.Keyword).
		Text("keyword_absent", Labels["expect.keyword_absent"], f.Absent).Text("max_latency_ms", Labels["expect.max_latency_ms"], f.Latency).
		Tick("private", "Private", f.Private)
}
