package alerts

import (
	"context"
	"strings"

	"linkwatch/models/alerts"
	"linkwatch/models/event"
)

// MailHTML renders a message as the HTML part of an email. links are the links besides the one to the page of the
// alert.
func MailHTML(ctx context.Context, n alerts.Notification, links []alerts.Link) (string, error) {
	var b strings.Builder
	if n.URL != nil {
		links = append(links[:len(links):len(links)], alerts.Link{Label: "Open alert", URL: *n.URL})
	}
	err := mail(n, links).Render(ctx, &b) //nolint:contextcheck // Render passes ctx to it
	return b.String(), err
}

// isWeb reports whether browsers can open a URL. Mails show others as text.
func isWeb(url string) bool {
	return strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://")
}

// The styles of elements of an email, which has no style sheet. Badges and buttons have their own colors. All other
// text has those of the mail program, light or dark.
const (
	mailBadge = "display:inline-block;padding:2px 10px;border-radius:10px;font-size:13px;font-weight:bold;" +
		"color:#ffffff;background-color:"
	mailButton = "display:inline-block;margin:0 8px 8px 0;padding:10px 16px;border-radius:6px;font-weight:bold;" +
		"text-decoration:none;color:#ffffff;background-color:#175cd3"
)

// mailState returns the label and the style of the badge of a message.
func mailState(n alerts.Notification) (label, style string) {
	switch {
	case n.Event == "test":
		return "Test", mailBadge + "#175cd3"
	case n.PartOf != nil: // other subjects have not recovered
		return "Recovered", mailBadge + "#067647"
	case n.Over():
		return "Resolved", mailBadge + "#067647"
	case n.Severity == event.Critical.String():
		return "Critical", mailBadge + "#b42318"
	case n.Severity == event.Warning.String():
		return "Warning", mailBadge + "#8a5a00"
	}
	return "Info", mailBadge + "#175cd3"
}
