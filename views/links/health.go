package links

import (
	"fmt"

	"linkwatch/models/links"
	"linkwatch/views/ui"
)

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

// meaning describes a health of links, for tooltips of filters.
func meaning(h links.Health) string {
	switch h {
	case links.OK:
		return "The page responds"
	case links.Moved:
		return "The page redirects permanently"
	case links.Blocked:
		return "The site refuses automated requests, or its address is private"
	case links.Suspect:
		return fmt.Sprintf("Unreachable for less than %d days", links.DeadAfter)
	case links.Dead:
		return fmt.Sprintf("The page is gone, or unreachable for %d days", links.DeadAfter)
	case links.Unchecked:
		return "Not checked yet"
	}
	return ""
}

// explain returns the meaning of a link's health, and what happens next.
func explain(l links.Link) string {
	cause := l.LastError // "host not found"
	if l.LastStatusCode != 0 {
		cause = fmt.Sprintf("status %d", l.LastStatusCode)
	}
	switch l.Health {
	case links.OK:
		return "The page responds."
	case links.Moved:
		return "The page redirects permanently. The link keeps its URL until you use the new one."
	case links.Blocked:
		if l.LastStatusCode == 0 {
			return "Not fetched: the address is private or reserved. The page may still open in your browser. The operator can allow the address with OUTBOUND_ALLOW_CIDRS."
		}
		return fmt.Sprintf("The site refuses automated requests (status %d). The page may still open in your browser. Blocked links never expire.", l.LastStatusCode)
	case links.Suspect:
		return fmt.Sprintf("Unreachable for %[2]s: %[1]s. Dead after %[3]d days in a row.", cause, ui.Plural(l.Failures, "day"), links.DeadAfter)
	case links.Dead:
		if links.Gone(l.LastStatusCode) {
			return fmt.Sprintf("The page is gone: %s.", cause)
		}
		return fmt.Sprintf("Unreachable for %[2]s: %[1]s.", cause, ui.Plural(l.Failures, "day"))
	case links.Unchecked:
		return "Not checked yet."
	}
	return ""
}
