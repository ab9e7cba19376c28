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
	Place  ShortLinkPlace
	Short  shortlinks.ShortLink
	Prefix string           // of its address
	Barred string           // why visitors are not redirected although it is active; "" = they are
	Stats  shortlinks.Stats // of the last shortlinks.KeepDays days
	Kept   time.Duration    // least time that it is kept after it expired or was used up
	Keep   bool             // it is never deleted: CLEANUP_ENABLED is false
	Edit   Form
	Aside  []templ.Component // of other systems: sections below the facts
}

// ShortLinkPlace is what the page of a short link shows of its visits.
type ShortLinkPlace struct {
	Key  string
	Days int // one of Ranges
}

// Ranges are the numbers of days that the chart of visits can show. The second
// is the default.
var Ranges = []int{7, 30, 90, shortlinks.KeepDays}

// Path is the address of the place.
func (p ShortLinkPlace) Path() string {
	q := url.Values{}
	if p.Days != Ranges[1] {
		q.Set("days", strconv.Itoa(p.Days))
	}
	return ui.WithQuery(shortPath(p.Key), q)
}

func (p ShortLinkPlace) withDays(n int) ShortLinkPlace { p.Days = n; return p }

func shortPath(key string) string { return "/short/" + key }

// visitsOf is the number of visits, with the visit limit if there is one: "12",
// "12 of 20".
func visitsOf(l shortlinks.ShortLink) string {
	if l.MaxVisits == 0 {
		return ui.Count(l.Visits)
	}
	return ui.Count(l.Visits) + " of " + ui.Count(l.MaxVisits)
}

func statusOf(l shortlinks.ShortLink, now time.Time) shortlinks.Status {
	return l.Status(models.At(now))
}

// extensions are the choices to extend a short link with one click.
var extensions = []struct{ by, label string }{
	{"24h", "+1 day"}, {"168h", "+7 days"}, {"720h", "+30 days"}, {EndsNever, "Never ends"},
}

// ended reports whether the link has expired.
func (v ShortLink) ended() bool {
	return !v.Short.ExpiresAt.IsZero() && !v.Now.Before(v.Short.ExpiresAt.Time)
}

// endsOrEnded is the word between a short link and its end.
func (v ShortLink) endsOrEnded() string {
	if v.ended() {
		return "expired"
	}
	return "ends"
}

// statusText is what visitors of the short link get, and until when it is kept.
func (v ShortLink) statusText() string {
	switch l := v.Short; {
	case v.Barred != "":
		return v.Barred + " Visitors see that."
	case l.Disabled:
		return "Visitors see that it is switched off. Enable it to let it lead on again."
	case v.ended():
		return "Visitors see that it has expired. " + v.kept("extend it")
	case l.UsedUp():
		return "Its " + ui.Plural(l.MaxVisits, "visit") + " are used up, and visitors see that. " + v.kept("allow more visits")
	case l.MaxVisits > 0:
		left := l.MaxVisits - l.Visits
		return fmt.Sprintf("It leads on for %s more, of %s.", ui.Plural(left, "visit"), ui.Count(l.MaxVisits))
	case l.ExpiresAt.IsZero():
		return "It leads on until you disable or delete it."
	}
	return "It leads on until then."
}

// kept says how long an expired or used up short link is kept, and what to do to
// use it again.
func (v ShortLink) kept(todo string) string {
	switch {
	case v.Keep:
		return "It is kept because CLEANUP_ENABLED is false; " + todo + " to use it again."
	case v.Kept == 0:
		return "It may be deleted at any time; " + todo + " to keep it."
	}
	return "It may be deleted from " + ui.Lasted(v.Kept) + " after its end; " + todo + " to keep it."
}

// last are the last n days of visits.
func (v ShortLink) last(n int) []shortlinks.Day {
	days := v.Stats.Days
	return days[max(len(days)-n, 0):]
}

// sum is the visits of some days together. Its start is that of the first.
func sum(days []shortlinks.Day) shortlinks.Day {
	var all shortlinks.Day
	for i, d := range days {
		if i == 0 {
			all.Start = d.Start
		}
		all.Bots += d.Bots
		all.Desktop += d.Desktop
		all.Mobile += d.Mobile
		all.Tablet += d.Tablet
		all.Other += d.Other
	}
	return all
}

func (v ShortLink) visits(days int) int64 {
	d := sum(v.last(days))
	return d.People() + d.Bots
}

// ticks is how many parts the chart's time is shown in.
const ticks = 4

// maxDayBars is the number of days up to which each has a bar of its own.
const maxDayBars = 100

// perBar is the number of days in one bar of the chart.
func perBar(days int) int {
	if days <= maxDayBars {
		return 1
	}
	return 8 // 50 bars for 400 days
}

// buckets are the days of the chart, or groups of them.
func (v ShortLink) buckets() []shortlinks.Day {
	var all []shortlinks.Day
	for group := range slices.Chunk(v.last(v.Place.Days), perBar(v.Place.Days)) {
		all = append(all, sum(group))
	}
	return all
}

// bucketDay is when a bar's visits were: "24 Mar 2026", "3 Mar to 10 Mar 2026".
func (v ShortLink) bucketDay(d shortlinks.Day) string {
	n := perBar(v.Place.Days)
	if n == 1 {
		return d.Start.Format("2 Jan 2006")
	}
	return d.Start.Format("2 Jan") + " to " + d.Start.Add(time.Duration(n-1)*models.Day).Format("2 Jan 2006")
}

// chart is the visits as the chart draws them.
func (v ShortLink) chart() ui.BarChart {
	shown := sum(v.last(v.Place.Days))
	c := ui.BarChart{
		Label: fmt.Sprintf("Visits over the last %d days: %s by people, %s by bots", v.Place.Days, ui.Count(shown.People()), ui.Count(shown.Bots)),
		Parts: []string{"people", "bots"},
		Empty: "No visits in this time",
	}
	for _, d := range v.buckets() {
		c.Bars = append(c.Bars, ui.Bar{
			Counts: []int64{d.People(), d.Bots},
			Title:  fmt.Sprintf("%s\n%s by people, %s by bots", v.bucketDay(d), ui.Plural(d.People(), "visit"), ui.Count(d.Bots)),
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

// shownShares is the number of shares listed before the rest is folded.
const shownShares = 10

// share is one line of a list of shares.
type share struct {
	name string
	n    int64
}

// devices are the visits by people in the days shown, by device, the most frequent
// first.
func (v ShortLink) devices() []share {
	d := sum(v.last(v.Place.Days))
	all := []share{{"Desktop", d.Desktop}, {"Mobile", d.Mobile}, {"Tablet", d.Tablet}, {"Other", d.Other}}
	slices.SortStableFunc(all, func(a, b share) int { return int(b.n - a.n) })
	return slices.DeleteFunc(all, func(s share) bool { return s.n == 0 })
}

// referrers are all visits by people, by the host that referred them.
func (v ShortLink) referrers() []share {
	var all []share
	for _, r := range v.Stats.Referrers {
		switch r.Host {
		case "":
			all = append(all, share{"Typed, scanned or not told", r.Visits})
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
