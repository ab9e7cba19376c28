package shortlinks

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
	"linkwatch/views/ui"
)

// ShortLink is the page of one short link.
type ShortLink struct {
	ui.Page
	Place     ShortLinkPlace
	Short     shortlinks.ShortLink
	Prefix    string           // of its URL
	Blocked   string           // why an active short link does not redirect; "" if it does
	Stats     shortlinks.Stats // of the last shortlinks.KeepDays days
	Keep      time.Duration    // time between expiry and deletion
	NoCleanup bool             // CLEANUP_ENABLED is false: it is never deleted
	Edit      Form
	Aside     []templ.Component // sections of other systems
}

// ShortLinkPlace is the selected range of visits.
type ShortLinkPlace struct {
	Key  string
	Days int // one of Ranges
}

// Ranges are the ranges of the chart, in days. The second one is the default.
var Ranges = []int{7, 30, 90, shortlinks.KeepDays}

// Path returns the URL path of the page.
func (p ShortLinkPlace) Path() string {
	q := url.Values{}
	if p.Days != Ranges[1] {
		q.Set("days", strconv.Itoa(p.Days))
	}
	return ui.WithQuery(shortPath(p.Key), q)
}

func (p ShortLinkPlace) withDays(n int) ShortLinkPlace { p.Days = n; return p }

func shortPath(key string) string { return "/short/" + key }

// visitsOf returns the visits and the visit limit: "12", "12 of 20".
func visitsOf(l shortlinks.ShortLink) string {
	if l.MaxVisits == 0 {
		return ui.Count(l.Visits)
	}
	return ui.Count(l.Visits) + " of " + ui.Count(l.MaxVisits)
}

func statusOf(l shortlinks.ShortLink, now time.Time) shortlinks.Status {
	return l.Status(models.At(now))
}

// extensions are the buttons that extend a short link.
var extensions = []struct{ by, label string }{
	{"24h", "+1 day"}, {"168h", "+7 days"}, {"720h", "+30 days"}, {ExpiryNever, "Never expires"},
}

// expired reports whether the expiry time has passed.
func (v ShortLink) expired() bool {
	return !v.Short.ExpiresAt.IsZero() && !v.Now.Before(v.Short.ExpiresAt.Time)
}

func (v ShortLink) expiryWord() string {
	if v.expired() {
		return "expired"
	}
	return "expires"
}

// statusText says what visitors get, and how long an expired short link is kept.
func (v ShortLink) statusText() string {
	switch l := v.Short; {
	case v.Blocked != "":
		return v.Blocked + " Visitors get an error page."
	case l.Disabled:
		return "Visitors get an error page. Enable the short link to redirect again."
	case v.expired():
		return "Visitors get an error page. " + v.keptText("Extend it")
	case l.LimitReached():
		return "The limit of " + ui.Plural(l.MaxVisits, "visit") + " is reached. Visitors get an error page. " + v.keptText("Raise the limit")
	case l.MaxVisits > 0:
		left := l.MaxVisits - l.Visits
		return fmt.Sprintf("%s left of %s.", ui.Plural(left, "visit"), ui.Count(l.MaxVisits))
	case l.ExpiresAt.IsZero():
		return "Never expires."
	}
	return "Visitors are redirected until then."
}

// keptText says how long an expired short link is kept, and what to do to use it again.
func (v ShortLink) keptText(action string) string {
	switch {
	case v.NoCleanup:
		return "It is kept because CLEANUP_ENABLED is false. " + action + " to use it again."
	case v.Keep == 0:
		return "It can be deleted at any time. " + action + " to keep it."
	}
	return "It is kept with its statistics until " + ui.Clock(v.Short.EndedAt().Add(v.Keep).Time) + ". " + action + " to use it again."
}

// last returns the last n days of visits.
func (v ShortLink) last(n int) []shortlinks.Day {
	days := v.Stats.Days
	return days[max(len(days)-n, 0):]
}

// sum adds up days. The result starts with the first one.
func sum(days []shortlinks.Day) shortlinks.Day {
	var all shortlinks.Day
	for i, d := range days {
		if i == 0 {
			all.Start = d.Start
		}
		all.Add(d)
	}
	return all
}

func (v ShortLink) visits(days int) int64 { return sum(v.last(days)).Visits() }

// counts returns the requests of days in words: "6 visits · 4 bots · 1 preview".
func counts(d shortlinks.Day) string {
	return ui.Plural(d.Visits(), "visit") + " · " + ui.Plural(d.Bots, "bot") + " · " + ui.Plural(d.Previews, "preview")
}

// ticks is the number of labels on the time axis.
const ticks = 4

// maxDayBars is the largest number of days with one bar per day.
const maxDayBars = 100

func perBar(days int) int {
	if days <= maxDayBars {
		return 1
	}
	return 8 // 50 bars for 400 days
}

func (v ShortLink) buckets() []shortlinks.Day {
	var all []shortlinks.Day
	for group := range slices.Chunk(v.last(v.Place.Days), perBar(v.Place.Days)) {
		all = append(all, sum(group))
	}
	return all
}

// bucketDay returns the date of a bar: "24 Mar 2026", "3 Mar to 10 Mar 2026".
func (v ShortLink) bucketDay(d shortlinks.Day) string {
	n := perBar(v.Place.Days)
	if n == 1 {
		return d.Start.Format("2 Jan 2006")
	}
	return d.Start.Format("2 Jan") + " to " + d.Start.Add(time.Duration(n-1)*models.Day).Format("2 Jan 2006")
}

func (v ShortLink) chart() ui.BarChart {
	c := ui.BarChart{
		Label:   fmt.Sprintf("Requests over the last %d days: %s", v.Place.Days, counts(sum(v.last(v.Place.Days)))),
		Parts:   []string{"visits", "bots", "previews"},
		Hatched: []bool{false, false, true},
		Empty:   "No visits in this period",
	}
	for _, d := range v.buckets() {
		c.Bars = append(c.Bars, ui.Bar{
			Counts: []int64{d.Visits(), d.Bots, d.Previews},
			Title:  v.bucketDay(d) + "\n" + counts(d),
		})
	}
	for i := range ticks {
		if n := len(c.Bars); n > 0 {
			c.Ticks = append(c.Ticks, v.tick(v.buckets()[n*i/ticks]))
		}
	}
	return c
}

func (v ShortLink) tick(d shortlinks.Day) string {
	if v.Place.Days > maxDayBars {
		return d.Start.Format("Jan 2006")
	}
	return d.Start.Format("2 Jan")
}

// shownShares is the number of shares that are not folded.
const shownShares = 10

// share is one row of a list.
type share struct {
	name string
	n    int64
}

// devices returns the visits per device in the selected range, most frequent first.
func (v ShortLink) devices() []share {
	d := sum(v.last(v.Place.Days))
	all := []share{{"Desktop", d.Desktop}, {"Mobile", d.Mobile}, {"Tablet", d.Tablet}, {"Other", d.Other}}
	slices.SortStableFunc(all, func(a, b share) int { return int(b.n - a.n) })
	return slices.DeleteFunc(all, func(s share) bool { return s.n == 0 })
}

// referrers returns all visits per referring host.
func (v ShortLink) referrers() []share {
	var all []share
	for _, r := range v.Stats.Referrers {
		switch r.Host {
		case "":
			all = append(all, share{"Direct or unknown", r.Visits})
		case shortlinks.OtherHosts:
			all = append(all, share{"Other hosts", r.Visits})
		default:
			all = append(all, share{r.Host, r.Visits})
		}
	}
	return all
}

func total(shares []share) int64 {
	var n int64
	for _, s := range shares {
		n += s.n
	}
	return n
}
