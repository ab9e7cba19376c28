package alerts

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"linkwatch/models"
)

// Maximum lengths of texts of messages, in characters.
const (
	maxTitle    = 250
	maxText     = 3000 // of the lines of subjects
	maxNameText = 60
	maxCause    = 100
)

// Summary returns the message with its reason: "Resolved: Shop is down".
func (n Notification) Summary() string {
	switch Reason(n.Reason) {
	case ReasonRepeated:
		return "Still: " + n.Message
	case ReasonEscalated:
		return "Not acknowledged: " + n.Message
	case ReasonResolved:
		return "Resolved: " + n.Message
	case ReasonFired, ReasonWorse:
	}
	return n.Message
}

// Title returns the summary in one line. A message about several subjects names them with their causes, up to a
// length of 250 characters.
func (n Notification) Title() string {
	text, about := n.Summary(), n.about()
	if len(about) < 2 {
		return text
	}
	left := maxTitle - models.Runes(text) - len(" – and 10,000 more")
	var names []string
	for _, sub := range about {
		line := sub.line()
		if sameCause(about) && strings.Contains(n.Message, sub.Cause) {
			line.Cause = ""
		}
		name := line.String()
		if left -= models.Runes(name) + len(", "); left < 0 {
			break
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return text
	}
	text += " – " + strings.Join(names, ", ")
	more := n.aboutCount() - len(names)
	switch hidden := len(about) == len(n.Subjects) && n.SubjectCount > len(n.Subjects); {
	case hidden && (n.Reason == string(ReasonWorse) || n.PartOf != nil):
		text += " and more" // some of the subjects that are left out have another state
	case more > 0:
		text += " and " + humanize.Comma(int64(more)) + " more"
	}
	return text
}

// about returns the subjects that the message is about: the first ones with the same state.
func (n Notification) about() []SubjectState {
	for i, sub := range n.Subjects {
		if sub.State != n.Subjects[0].State {
			return n.Subjects[:i]
		}
	}
	return n.Subjects
}

// aboutCount returns the number of subjects that the message is about. Subjects that the message leaves out count if all others do.
func (n Notification) aboutCount() int {
	if about := n.about(); len(about) < len(n.Subjects) {
		return len(about)
	}
	return n.SubjectCount
}

func sameCause(subjects []SubjectState) bool {
	for _, sub := range subjects {
		if sub.Cause != subjects[0].Cause {
			return false
		}
	}
	return true
}

// line returns the name and the cause.
func (s SubjectState) line() Line {
	return Line{Name: models.Truncate(s.Name, maxNameText), Cause: models.Truncate(s.Cause, maxCause)}
}

// stateLabels are the labels of subjects in messages whose subjects have several states.
var stateLabels = map[string]string{stateNew: "New", stateDown: "Still", stateRecovered: "Recovered"}

// FlappingNote explains an open alert that is flapping.
const FlappingNote = "This alert started and ended several times. It resolves after 15 stable minutes."

// Line is a subject in a message.
type Line struct {
	State string // label of its state; "" if all subjects have the same
	Name  string
	Cause string // "" for none
	URL   string // "" for none, or if the name is the URL
}

// String returns the line as plain text: "New: Shop (unexpected status 500) – https://shop.example/".
func (l Line) String() string {
	text := l.Name
	if l.State != "" {
		text = l.State + ": " + text
	}
	if l.Cause != "" {
		text += " (" + l.Cause + ")"
	}
	if l.URL != "" {
		text += " – " + l.URL
	}
	return text
}

// Lines returns the subjects that a message has room for, in their order, and the number of all others.
func (n Notification) Lines() (lines []Line, more int) {
	left, mixed := maxText, len(n.about()) < len(n.Subjects)
	for _, sub := range n.Subjects {
		line := sub.line()
		if mixed {
			line.State = stateLabels[sub.State]
		}
		if sub.URL != nil && *sub.URL != sub.Name {
			line.URL = *sub.URL
		}
		if left -= models.Runes(line.String()); left < 0 && len(lines) > 0 {
			break
		}
		lines = append(lines, line)
	}
	return lines, max(n.SubjectCount-len(lines), 0)
}

// Times returns when the condition started and ended: "Since 2026-05-04 03:02 UTC". A test message has none.
func (n Notification) Times() string {
	switch {
	case n.SubjectCount == 0:
		return ""
	case n.ResolvedAt != nil && n.ResolvedAt.After(n.StartedAt):
		took := FormatDuration(n.ResolvedAt.Sub(n.StartedAt))
		return fmt.Sprintf("From %s to %s (%s)", formatTime(n.StartedAt), formatTime(*n.ResolvedAt), took)
	}
	return "Since " + formatTime(n.StartedAt)
}

// Text returns the plain text of the message: its times, subjects with their causes, and links, one per line.
func (n Notification) Text(links ...Link) string {
	if n.SubjectCount == 0 { // test message
		return ""
	}
	var b strings.Builder
	b.WriteString(n.Times() + "\n")
	lines, more := n.Lines()
	for _, line := range lines {
		b.WriteString(line.String() + "\n")
	}
	if more > 0 {
		fmt.Fprintf(&b, "and %s more\n", humanize.Comma(int64(more)))
	}
	if n.Flapping && n.ResolvedAt == nil {
		b.WriteString(FlappingNote + "\n")
	}
	for _, l := range links {
		b.WriteString(l.Label + ": " + l.URL + "\n")
	}
	return strings.TrimSpace(b.String())
}
