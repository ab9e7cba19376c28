package alerts

import (
	"slices"
	"strconv"
	"strings"

	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/views/ui"
)

// Rules is the data of RulesPage.
type Rules struct {
	ui.Page
	Rules    []alerts.Rule
	Channels []alerts.Channel
	Names
}

// Names are the names of items that rules and windows refer to, by ID. Deleted items are missing.
type Names struct {
	Events      func(event.Kind) event.Type
	Targets     map[string]string
	StatusPages map[string]string
	Channels    map[string]string
	Items       map[alerts.Ref]alerts.Item
}

// KindLabels are the labels of the kinds of items that a scope can name.
var KindLabels = map[string]string{
	"target": "Target", "link": "Link", "source": "Source", "job": "Crawl", "page": "Page", "website": "Website", "shortlink": "Short link", "tag": "Tag",
}

// MaxReach is the number of targets that a form counts.
const MaxReach = 10_000

// reach says what the rule applies to: "matches 12 of 24 targets; sends to 2 channels".
func (v RuleForm) reach() string {
	of := ui.Plural(v.Reach.Of, "target")
	if v.Reach.Of == MaxReach {
		of = "the newest " + of
	}
	return "Matches " + ui.Count(v.Reach.Targets) + " of " + of + "; sends to " + ui.Plural(v.Reach.Channels, "channel") + "."
}

// RuleForm is the data of RuleFormPage.
type RuleForm struct {
	ui.Page
	Saved      alerts.Rule // zero for a new rule
	Name       string
	Enabled    bool
	Types      []event.Type
	Events     []string
	Scope      Scope
	Channels   []Choice
	To         []string // channel IDs
	Failures   string
	Minutes    string
	Repeat     string
	GroupWait  string // seconds
	Quiet      alerts.Quiet
	Escalate   string // minutes
	EscalateTo []string
	Private    bool
	MayShare   bool // the user may change Private
	Reach      alerts.Reach
	Errors     ui.Errors
}

// noChannelText is shown next to a rule that has no enabled channel.
const noChannelText = "No channel is enabled, so no alerts are sent."

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

// group is the event types of one subject kind.
type group struct {
	label string
	types []event.Type
}

// groupLabels are the headings of groups by subject kind.
var groupLabels = map[string]string{
	"target": "Targets", "link": "Saved links", "job": "Crawls", "page": "Pages", "website": "Websites", "system": "Linkwatch itself",
}

// groups groups the event types by subject kind, in order of first appearance.
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

// Named is the maximum number of names in the description of a rule.
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
	if r.GroupWaitSeconds > 0 {
		all = append(all, "waits "+ui.Plural(r.GroupWaitSeconds, "second")+" for more")
	}
	if r.RepeatMinutes > 0 {
		all = append(all, "reminder every "+span(r.RepeatMinutes))
	}
	if r.Quiet.From != "" {
		all = append(all, "quiet "+r.Quiet.From+"–"+r.Quiet.To+" "+r.Quiet.TimeZone)
	}
	if r.EscalateAfterMinutes > 0 {
		all = append(all, "escalated to “"+joined(n.channels(r.EscalateChannels), Named)+"” if not acknowledged within "+span(r.EscalateAfterMinutes))
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
	for _, r := range s.Subjects {
		name := "(deleted)"
		if item, ok := n.Items[r]; ok {
			name = item.Name
		}
		parts = append(parts, strings.ToLower(KindLabels[r.Kind])+" "+name)
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

// line joins phrases to one sentence.
func line(all []string) string { return ui.Sentence(strings.Join(all, "; ")) }

// EditedRule are the stored values of the form of a rule.
func EditedRule(r alerts.Rule) ui.Edited {
	return ui.Edited{}.Text("name", RuleLabels["name"], r.Name).Tick("enabled", "Enabled", r.Enabled).
		Multiple("events", RuleLabels["events"], r.Events).Shown(func(kind string) string { return kind }).
		Multiple("targets", scopeLabels["targets"], r.Scope.Targets).
		Multiple("subjects", scopeLabels["subjects"], itemIDs(r.Scope.Subjects)).Multiple("status_pages", "Status pages", r.Scope.StatusPages).Text("tags", scopeLabels["tags"], strings.Join(r.Scope.Tags, ", ")).
		Multiple("channels", RuleLabels["channels"], r.Channels).
		Text("after_failures", RuleLabels["after_failures"], strconv.Itoa(r.AfterFailures)).
		Text("after_minutes", RuleLabels["after_minutes"], strconv.Itoa(r.AfterMinutes)).
		Text("group_wait_seconds", RuleLabels["group_wait_seconds"], strconv.Itoa(r.GroupWaitSeconds)).
		Text("repeat_minutes", RuleLabels["repeat_minutes"], strconv.Itoa(r.RepeatMinutes)).
		Text("quiet.from", "Quiet from", r.Quiet.From).Text("quiet.to", "Quiet to", r.Quiet.To).Text("quiet.time_zone", "Time zone", r.Quiet.TimeZone).
		Text("escalate.after_minutes", RuleLabels["escalate.after_minutes"], strconv.Itoa(r.EscalateAfterMinutes)).
		Multiple("escalate.channels", RuleLabels["escalate.channels"], r.EscalateChannels).Tick("private", "Private", r.PrivateTo != "")
}
