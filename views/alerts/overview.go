package alerts

import (
	"time"

	"github.com/a-h/templ"

	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/views/ui"
)

// Overview is the alerts part of the overview page.
type Overview struct {
	alerts.Attention
	Message func(alerts.Alert) string
	Now     time.Time
}

// stepPlace is the position of the setup step among those of all systems.
const stepPlace = 60

// Part returns the sections for the overview page.
func (v Overview) Part() ui.OverviewPart {
	p := ui.OverviewPart{
		Used: v.Channels+v.Rules+len(v.Newest) > 0,
		Attention: []ui.Attention{
			{Severity: ui.Critical, Noun: "failing channel", Count: len(v.Failing), Path: ChannelsPath, Rows: v.failing()},
			{Severity: ui.Warning, Noun: "rule", After: " without an enabled channel", Count: len(v.RulesWithoutChannel), Path: RulesPath, Rows: v.mute()},
			v.unacknowledged(event.Critical, ui.Critical, "unacknowledged critical alert"),
			v.unacknowledged(event.Warning, ui.Warning, "unacknowledged alert"),
		},
	}
	if v.Channels == 0 {
		p.Steps = []ui.Step{{Place: stepPlace, Body: channelStep()}}
		p.Aside = append(p.Aside, noChannel())
	}
	if p.Used {
		p.Well = []string{"all alerts are acknowledged"}
	}
	if len(v.Windows) > 0 {
		p.Aside = append(p.Aside, underWay(v))
	}
	return p
}

func (v Overview) unacknowledged(s event.Severity, as ui.Severity, noun string) ui.Attention {
	a := ui.Attention{Severity: as, Noun: noun, Count: v.Unacknowledged[s], Path: ListPlace{State: alerts.Unacknowledged}.Path()}
	for _, one := range v.Newest {
		if one.Severity == s && len(a.Rows) < ui.AttentionRows {
			a.Rows = append(a.Rows, attentionRow(one, v.Message(one), v.Now))
		}
	}
	return a
}

func (v Overview) failing() (rows []templ.Component) {
	for _, c := range v.Failing {
		if len(rows) < ui.AttentionRows {
			rows = append(rows, failingRow(c, v.Now))
		}
	}
	return rows
}

func (v Overview) mute() (rows []templ.Component) {
	for _, r := range v.RulesWithoutChannel {
		if len(rows) < ui.AttentionRows {
			rows = append(rows, muteRow(r))
		}
	}
	return rows
}

// notDelivered describes why a channel needs attention.
func notDelivered(c alerts.FailingChannel) string {
	lost := ""
	if c.FailedMessages > 0 {
		lost = ui.Plural(c.FailedMessages, "message") + " not delivered"
	}
	if c.LastError == "" {
		return lost
	}
	if lost != "" {
		lost = " · " + lost
	}
	return ui.Sentence(c.LastError) + lost
}
