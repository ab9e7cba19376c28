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

// Title returns the message with its reason in one line: "Resolved: Shop is down". A message about several subjects names them with their
// causes, up to a length of 250 characters.
func (n Notification) Title() string {
	text := n.Message
	switch Reason(n.Reason) {
	case ReasonRepeated:
		text = "Still: " + text
	case ReasonEscalated:
		text = "Not acknowledged: " + text
	case ReasonResolved:
		text = "Resolved: " + text
	case ReasonFired, ReasonWorse:
	}
	about := n.about()
	if len(about) < 2 {
		return text
	}
	left := maxTitle - models.Runes(text) - len(" – and 10,000 more")
	var names []string
	for _, sub := range about {
		name := sub.withCause()
		if sameCause(about) && strings.Contains(n.Message, sub.Cause) {
			name = models.Truncate(sub.Name, maxNameText)
		}
		if left -= models.Runes(name) + len(", "); left < 0 {
			break
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return text
	}
	text += " – " + strings.Join(names, ", ")
	if more := n.aboutCount() - len(names); more > 0 {
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

// withCause returns the name with the cause: "Shop (unexpected status 500)".
func (s SubjectState) withCause() string {
	name := models.Truncate(s.Name, maxNameText)
	if s.Cause != "" {
		name += " (" + models.Truncate(s.Cause, maxCause) + ")"
	}
	return name
}

// stateLabels are the labels of subjects in messages whose subjects have several states.
var stateLabels = map[string]string{stateNew: "New: ", stateDown: "Still: ", stateRecovered: "Recovered: "}

// Text returns the plain text of the message: its times, subjects with their causes, and links, one per line.
func (n Notification) Text(links ...Link) string {
	var b strings.Builder
	if n.SubjectCount == 0 { // test message
		return ""
	}
	if n.ResolvedAt != nil && n.ResolvedAt.After(n.StartedAt) {
		fmt.Fprintf(&b, "From %s to %s (%s)\n", formatTime(n.StartedAt), formatTime(*n.ResolvedAt), FormatDuration(n.ResolvedAt.Sub(n.StartedAt)))
	} else {
		fmt.Fprintf(&b, "Since %s\n", formatTime(n.StartedAt))
	}
	shown, left := 0, maxText
	for _, sub := range n.Subjects {
		line := sub.withCause()
		if len(n.about()) < len(n.Subjects) {
			line = stateLabels[sub.State] + line
		}
		if sub.URL != nil && *sub.URL != sub.Name {
			line += " – " + *sub.URL
		}
		if left -= models.Runes(line); left < 0 && shown > 0 {
			break
		}
		b.WriteString(line + "\n")
		shown++
	}
	if more := n.SubjectCount - shown; more > 0 {
		fmt.Fprintf(&b, "and %s more\n", humanize.Comma(int64(more)))
	}
	if n.Flapping && n.ResolvedAt == nil {
		b.WriteString("This alert started and ended several times. It resolves after 15 stable minutes.\n")
	}
	for _, l := range links {
		b.WriteString(l.Label + ": " + l.URL + "\n")
	}
	return strings.TrimSpace(b.String())
}
