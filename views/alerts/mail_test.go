package alerts

import (
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"linkwatch/models/alerts"
)

// A mail shows the state, the times, the targets in their order and the buttons. Texts of others are escaped, and
// nothing is loaded.
func TestMailHTML(t *testing.T) {
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	subject := func(name, state, cause, url string) alerts.SubjectState {
		return alerts.SubjectState{Subject: alerts.Subject{Kind: "target", ID: "t_1", Name: name, URL: &url}, State: state, Cause: cause}
	}
	n := alerts.Notification{
		ID: "v_1", Event: "target.down", Severity: "critical", Message: "2 targets on shop.test are down", Reason: string(alerts.ReasonWorse), SubjectCount: 25,
		StartedAt: at, URL: new("https://lw.test/alerts/v_1"), Subjects: []alerts.SubjectState{
			subject("Cart <b>\"x\"", "new", "<img src=//evil.test/x>", "https://shop.test/?a=1&b=2"),
			subject("Search", "new", "timed out", "javascript:alert(1)"),
			subject("Blog", "down", "timed out", "https://shop.test/blog"),
		},
	}
	links := []alerts.Link{{Label: "Acknowledge or silence", URL: "https://lw.test/alerts/v_1/manage?key=a&b"}}
	html, err := MailHTML(t.Context(), n, links)
	if err != nil {
		t.Fatal(err)
	}
	page, err := goquery.NewDocumentFromReader(strings.NewReader(html))
	if err != nil {
		t.Fatal(err)
	}
	if got := page.Find("span").Text() + "|" + page.Find("h1").Text() + "|" + page.Find("h1 + p").Text(); got != "Critical|2 targets on shop.test are down|Since 2026-05-04 03:02 UTC" {
		t.Errorf("got %s", got)
	}
	items := page.Find("li").Map(func(_ int, s *goquery.Selection) string { return strings.Join(strings.Fields(s.Text()), " ") })
	want := []string{
		`New: Cart <b>"x" <img src=//evil.test/x> https://shop.test/?a=1&b=2`, "New: Search timed out javascript:alert(1)",
		"Still: Blog timed out https://shop.test/blog", "and 22 more",
	}
	if strings.Join(items, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q", items)
	}
	to := page.Find("a").Map(func(_ int, s *goquery.Selection) string { return s.AttrOr("href", "") })
	if strings.Join(to, " ") != "https://shop.test/?a=1&b=2 https://shop.test/blog "+
		"https://lw.test/alerts/v_1/manage?key=a&b https://lw.test/alerts/v_1" {
		t.Errorf("got %q", to)
	}
	if page.Find("img, script, link, iframe, [src], [background]").Length() != 0 {
		t.Errorf("the mail loads something: %s", html)
	}
}

// A mail about a recovery, and a test mail, say so.
func TestMailHTMLStates(t *testing.T) {
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	const since = "Since 2026-05-04 03:02 UTC"
	for want, n := range map[string]alerts.Notification{
		"Resolved|Resolved: Shop is slow|From 2026-05-04 03:02 UTC to 2026-05-04 03:07 UTC (5 min)": {
			Severity: "warning", Message: "Shop is slow", Reason: string(alerts.ReasonResolved), StartedAt: at, ResolvedAt: new(at.Add(5 * time.Minute)), SubjectCount: 1,
		},
		"Resolved|Shop is up again|" + since:  {Severity: "info", Message: "Shop is up again", Ends: new("v_1"), StartedAt: at, SubjectCount: 1},
		"Recovered|Shop is up again|" + since: {Severity: "info", Message: "Shop is up again", PartOf: new("v_1"), StartedAt: at, SubjectCount: 1},
		"Warning|Still: Shop is slow|" + since: {
			Severity: "warning", Message: "Shop is slow", Reason: string(alerts.ReasonRepeated), StartedAt: at, SubjectCount: 1,
		},
		"Info|A page changed|" + since: {Severity: "info", Message: "A page changed", StartedAt: at, SubjectCount: 1},
		"Test|It works|":               {Event: "test", Message: "It works", StartedAt: at, ResolvedAt: &at},
	} {
		html, err := MailHTML(t.Context(), n, nil)
		if err != nil {
			t.Fatal(err)
		}
		page, err := goquery.NewDocumentFromReader(strings.NewReader(html))
		if err != nil {
			t.Fatal(err)
		}
		if got := page.Find("span").Text() + "|" + page.Find("h1").Text() + "|" + page.Find("h1 + p").Text(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
