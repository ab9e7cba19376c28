package links

import (
	"fmt"

	"linkwatch/models/links"
	"linkwatch/views/ui"
)

// healthIcon is the icon of a health.
func healthIcon(h links.Health) string {
	switch h {
	case links.OK:
		return "check"
	case links.Suspect:
		return "alert"
	case links.Moved, links.Blocked, links.Dead, links.Unchecked:
		return string(h)
	}
	return "unchecked"
}

// explain is what the health of a link means and what happens next.
func explain(l links.Link) string {
	cause := l.LastError // "host not found"
	if l.LastStatusCode != 0 {
		cause = fmt.Sprintf("the site answered %d", l.LastStatusCode)
	}
	switch l.Health {
	case links.OK:
		return "The page answers."
	case links.Moved:
		return "The page has moved for good. Nothing is changed until you say so."
	case links.Blocked:
		if l.LastStatusCode == 0 {
			return "Not fetched: its address is private or reserved. It may open in your browser. The operator can allow it with OUTBOUND_ALLOW_CIDRS."
		}
		return fmt.Sprintf("The site keeps programs out (it answered %d). It may open in your browser; it is never expired for this.", l.LastStatusCode)
	case links.Suspect:
		return fmt.Sprintf("Could not be reached: %s, %s in a row. After %d it counts as dead.", cause, ui.Plural(l.Failures, "day"), links.DeadAfter)
	case links.Dead:
		if links.Gone(l.LastStatusCode) {
			return fmt.Sprintf("The page is gone: %s.", cause)
		}
		return fmt.Sprintf("Could not be reached: %s, %s in a row.", cause, ui.Plural(l.Failures, "day"))
	case links.Unchecked:
		return "Not looked at yet. The next check will fetch it."
	}
	return ""
}
