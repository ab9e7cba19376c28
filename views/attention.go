package views

import (
	"fmt"

	"linkwatch/models/links"
	"linkwatch/models/schedule"
	"linkwatch/models/targets"
	"linkwatch/views/ui"
)

// AttentionRows is the number of rows that a group on the overview shows before
// "Show all". Failed jobs are few and all shown.
const AttentionRows = 5

// severity is how much something matters, as in alerts.
type severity string

const (
	critical severity = "critical" // something does not work
	warning  severity = "warning"  // something will not work soon, or may not
	info     severity = "info"     // something can be improved
)

// group is one kind of things that need attention: how many there are, the list
// that shows exactly these, and the first of them.
type group struct {
	severity severity
	count    int
	noun     string // of one: "suspect link"
	after    string // what follows it: " down"
	path     string

	down, certificates []targets.Target
	links              []links.Link
	jobs               []schedule.Job
}

// title is the group in words: "23 suspect links".
func (g group) title() string { return ui.Plural(g.count, g.noun) + g.after }

// rows is how many are shown.
func (g group) rows() int {
	return len(g.down) + len(g.certificates) + len(g.links) + len(g.jobs)
}

// groups are all that are not empty, what matters most first.
func (v Overview) groups() []group {
	watch, failed := WatchPlace{}, v.failing()
	var all []group
	for _, g := range []group{
		{severity: critical, noun: "target", after: " down", count: v.Targets[targets.Down], down: v.Down, path: watch.withStatus(targets.Down).Path()},
		{severity: critical, noun: "expired certificate", count: v.Expired.Count, certificates: v.Expired.First, path: watch.withCertificate(targets.CertificateExpired).Path()},
		{severity: critical, noun: "dead link", count: v.Counts.Health[links.Dead], links: v.Links.Dead, path: newest().withHealth(links.Dead).Path()},
		{
			severity: critical, noun: "dead link", after: fmt.Sprintf(" expired in the last %d days", links.RecentDays), count: v.Links.GoneCount,
			links: v.Links.Gone, path: newest().withHealth(links.Dead).withShown(links.ShowRecent).Path(),
		},
		{severity: warning, noun: "failed job", count: len(failed), jobs: failed, path: "/admin/jobs"},
		{severity: warning, noun: "certificate", after: " expiring soon", count: v.Expiring.Count, certificates: v.Expiring.First, path: watch.withCertificate(targets.CertificateExpiring).Path()},
		{severity: warning, noun: "suspect link", count: v.Counts.Health[links.Suspect], links: v.Links.Suspect, path: newest().withHealth(links.Suspect).Path()},
		{severity: info, noun: "moved link", count: v.Counts.Health[links.Moved], links: v.Links.Moved, path: newest().withHealth(links.Moved).Path()},
	} {
		g.count = max(g.count, g.rows()) // they were counted a moment before
		if g.count > 0 {
			all = append(all, g)
		}
	}
	return all
}

// needing is how many things need attention in all. A target that is down with an
// expired certificate is two.
func needing(groups []group) int {
	n := 0
	for _, g := range groups {
		n += g.count
	}
	return n
}
