package targets

import (
	"net/url"
	"time"

	"linkwatch/models"
	"linkwatch/models/targets"
	"linkwatch/views/ui"
)

// Checks is the page of the check history of all targets, newest first.
type Checks struct {
	ui.Page
	Place   ChecksPlace
	Target  string // name of the only target shown; "" = all
	Results models.Slice[targets.Result]
}

// ChecksPlace is a page of the check history. Its path can be bookmarked.
type ChecksPlace struct {
	Failed   bool
	Since    string // a key of ChecksSince; "" = any time
	TargetID string // "" = all
	Token    string // of the page; "" = the newest
}

// ChecksSince are the values of the parameter "since", which limits how far back the
// history goes.
var ChecksSince = map[string]time.Duration{"1h": time.Hour, "24h": models.Day, "7d": 7 * models.Day}

var sinceChoices = []struct{ word, label string }{{"", "Any time"}, {"1h", "1 hour"}, {"24h", "24 hours"}, {"7d", "7 days"}}

// Path is the address of the page.
func (p ChecksPlace) Path() string {
	q := url.Values{}
	if p.Failed {
		q.Set("failed", "true")
	}
	for name, value := range map[string]string{"since": p.Since, "target": p.TargetID, "page_token": p.Token} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return ui.WithQuery("/admin/checks", q)
}

func (p ChecksPlace) filtered() bool { return p.Failed || p.Since != "" || p.TargetID != "" }

// A place with another filter starts at the newest check.

func (p ChecksPlace) withFailed(failed bool) ChecksPlace { p.Failed, p.Token = failed, ""; return p }
func (p ChecksPlace) withSince(since string) ChecksPlace { p.Since, p.Token = since, ""; return p }
func (p ChecksPlace) withTarget(id string) ChecksPlace   { p.TargetID, p.Token = id, ""; return p }
func (p ChecksPlace) after(c models.Cursor) ChecksPlace  { p.Token = c.Token(); return p }
