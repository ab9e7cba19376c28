package targets

import (
	"time"

	"github.com/a-h/templ"

	"linkwatch/models/targets"
	"linkwatch/views/ui"
)

// Overview is what the overview shows of targets.
type Overview struct {
	Counts            targets.Counts
	Down              []targets.Target // newest first
	InMaintenance     map[string]bool  // by the id of a target that is down
	Overdue           int              // targets whose checks are late
	OverdueFirst      []targets.Target
	Expired, Expiring Certificates
	Now               time.Time
}

// Certificates are targets whose certificates need attention.
type Certificates struct {
	Count int
	First []targets.Target // ordered by the end of the certificate
}

// Part is the targets' part of the overview.
func (v Overview) Part() ui.OverviewPart {
	all, down := Place{}, Place{}.withStatus(targets.Down)
	return ui.OverviewPart{
		Used: v.Counts.All() > 0,
		Tiles: []ui.Tile{
			{Path: all.Path(), Count: v.Counts.All(), Word: "targets"},
			{Path: down.Path(), Count: v.Counts[targets.Down], Word: "down", Class: "down", Icon: statusIcon("down")},
		},
		Attention: []ui.Attention{
			{
				Severity: ui.Critical, Noun: "target", After: " down", Count: v.Counts[targets.Down],
				Path: down.Path(), Rows: v.rows(v.Down, v.downRow),
			},
			{
				Severity: ui.Critical, Noun: "expired certificate", Count: v.Expired.Count,
				Path: all.withCertificate(targets.CertificateExpired).Path(), Rows: v.rows(v.Expired.First, certificateRow),
			},
			{
				Severity: ui.Warning, Noun: "target", After: " with late checks", Count: v.Overdue,
				Note: "Checks that are due do not run, so an outage may not be noticed.", Path: all.Path(), Rows: v.rows(v.OverdueFirst, overdueRow),
			},
			{
				Severity: ui.Warning, Noun: "certificate", After: " expiring soon", Count: v.Expiring.Count,
				Path: all.withCertificate(targets.CertificateExpiring).Path(), Rows: v.rows(v.Expiring.First, certificateRow),
			},
		},
		Well:  []string{"no target is down" + ui.NotChecked(v.Counts[targets.Pending]), "no check is late", "no certificate expires soon"},
		Steps: []ui.Step{{Place: 2, Body: watchStep()}},
	}
}

func (v Overview) downRow(t targets.Target, now time.Time) templ.Component {
	return downRow(t, v.InMaintenance[t.ID], now)
}

func (v Overview) rows(ts []targets.Target, row func(targets.Target, time.Time) templ.Component) []templ.Component {
	rows := make([]templ.Component, len(ts))
	for i, t := range ts {
		rows[i] = row(t, v.Now)
	}
	return rows
}
