package alerts

import (
	"slices"
	"strings"

	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/views/ui"
)

// Rules is the list of rules.
type Rules struct {
	ui.Page
	Rules    []alerts.Rule
	Channels []alerts.Channel
	Names
}

// Names are the names of what rules and windows name, by ids. What was deleted is missing.
type Names struct {
	Events      func(event.Kind) event.Type
	Targets     map[string]string
	StatusPages map[string]string
	Channels    map[string]string
}

// RuleForm is the page with the form of a rule.
type RuleForm struct {
	ui.Page
	Saved      alerts.Rule // zero = a new one
	Name       string
	Enabled    bool
	Types      []event.Type
	Events     []string
	Scope      Scope
	Channels   []Choice
	To         []string // ids of channels
	Failures   string
	Minutes    string
	Repeat     string
	Quiet      alerts.Quiet
	Escalate   string // minutes
	EscalateTo []string
	Private    bool
	MayShare   bool // the reader may change Private
	Errors     ui.Errors
}

// noChannelText is said beside a rule of which Mute is true.
const noChannelText = "No enabled channel: nothing is sent."

func (v RuleForm) title() string {
	if v.Saved.ID == "" {
		return "Add rule"
	}
	return v.Saved.Name
}

func (v RuleForm) action() string {
	if v.Saved.ID == "" {
		return RulesPath
	}
	return RulePath(v.Saved.ID)
}

// group is the kinds of events of one kind of subjects.
type group struct {
	label string
	types []event.Type
}

// groupLabels are the headings of groups, by the kind of subjects.
var groupLabels = map[string]string{
	"target": "Targets", "link": "Saved links", "job": "Crawls", "page": "Pages", "website": "Websites", "system": "Linkwatch itself",
}

// groups are the kinds of events by the kind of their subjects, in the order of the first of each.
func (v RuleForm) groups() (all []group) {
	for _, t := range v.Types {
		label := groupLabels[t.Subject]
		if label == "" {
			label = ui.Sentence(t.Subject)
		}
		i := slices.IndexFunc(all, func(g group) bool { return g.label == label })
		if i < 0 {
			i, all = len(all), append(all, group{label: label})
		}
		all[i].types = append(all[i].types, t)
	}
	return all
}

// Named is how many targets, channels and tags of a rule a list names.
const Named = 4

// Words describes a rule: "Target down, Target up → Slack ops".
func (n Names) Words(r alerts.Rule) string {
	var events []string
	for _, k := range r.Events {
		events = append(events, n.Events(event.Kind(k)).Label)
	}
	return joined(events, 6) + " → " + joined(n.channels(r.Channels), Named)
}

// Conditions are the other settings of a rule, one phrase each: "after 3 failed checks".
func (n Names) Conditions(r alerts.Rule) (all []string) {
	all = append(all, n.ScopeWords(r.Scope))
	if r.AfterFailures > 1 {
		all = append(all, "after "+ui.Plural(r.AfterFailures, "failed check"))
	}
	if r.AfterMinutes > 0 {
		all = append(all, "after "+span(r.AfterMinutes))
	}
	if r.RepeatMinutes > 0 {
		all = append(all, "reminder every "+span(r.RepeatMinutes))
	}
	if r.Quiet.From != "" {
		all = append(all, "quiet "+r.Quiet.From+"–"+r.Quiet.To+" "+r.Quiet.TimeZone)
	}
	if r.EscalateAfterMinutes > 0 {
		all = append(all, "to "+joined(n.channels(r.EscalateChannels), Named)+" if not acknowledged after "+span(r.EscalateAfterMinutes))
	}
	return all
}

// ScopeWords describes a scope.
func (n Names) ScopeWords(s alerts.Scope) string {
	if s.All() {
		return "for everything"
	}
	var parts []string
	for _, id := range s.Targets {
		parts = append(parts, nameOf(n.Targets, id, "deleted target"))
	}
	for _, id := range s.StatusPages {
		parts = append(parts, "status page "+nameOf(n.StatusPages, id, "(deleted)"))
	}
	for _, tag := range s.Tags {
		parts = append(parts, "tag "+tag)
	}
	return "for " + joined(parts, Named)
}

func (n Names) channels(ids alerts.List) (names []string) {
	for _, id := range ids {
		names = append(names, ChannelName(n.Channels, id))
	}
	return names
}

func nameOf(names map[string]string, id, deleted string) string {
	if name, ok := names[id]; ok {
		return name
	}
	return deleted
}

// line are the phrases of a list in one line.
func line(all []string) string { return ui.Sentence(strings.Join(all, "; ")) }
