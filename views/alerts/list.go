package alerts

import (
	"net/url"
	"slices"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/views/ui"
)

// List is the data of ListPage.
type List struct {
	ui.Page
	Place  ListPlace
	Open   []Row // firing alerts, only on the first page without a filter
	Others []Row
	Next   models.Cursor // next page of Others
	Counts map[alerts.State]int
	Setup  Setup
}

// Row is an alert in a list.
type Row struct {
	alerts.Alert
	Message  string
	Once     bool // its event has no duration
	Channels []ChannelStatus
}

// ChannelStatus is the status of the last message to a channel.
type ChannelStatus struct {
	Channel string
	Status  alerts.DeliveryStatus
}

// ListPlace identifies a page of the list: filter and page token.
type ListPlace struct {
	State alerts.State // AnyState: firing alerts, then resolved ones
	Token string       // page token; "" for the first page
}

// Path returns the path and query of the page.
func (p ListPlace) Path() string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"state": string(p.State), "page_token": p.Token})
	return ui.WithQuery(AlertsPath, q)
}

func (p ListPlace) with(st alerts.State) ListPlace  { p.State, p.Token = st, ""; return p }
func (p ListPlace) after(c models.Cursor) ListPlace { p.Token = c.Token(); return p }

// NewRow returns the row of an alert. ds are its messages and names the channel names by ID.
func NewRow(a alerts.Alert, kind event.Type, message string, ds []alerts.Delivery, names map[string]string) Row {
	r := Row{Alert: a, Message: message, Once: kind.Once}
	last := map[string]int{}
	for _, d := range ds {
		i, known := last[d.ChannelID]
		if !known {
			i = len(r.Channels)
			last[d.ChannelID] = i
			r.Channels = append(r.Channels, ChannelStatus{Channel: ChannelName(names, d.ChannelID)})
		}
		r.Channels[i].Status = d.Status
	}
	return r
}

// ChannelName returns the name of a channel, or a placeholder if it is not in names.
func ChannelName(names map[string]string, id string) string {
	if name, ok := names[id]; ok {
		return name
	}
	return "deleted channel"
}

// isNew reports whether there are no alerts at all.
func (v List) isNew() bool { return v.empty() && v.Place == ListPlace{} }

func (v List) empty() bool { return len(v.Open)+len(v.Others) == 0 }

// unacknowledgedFirst moves acknowledged alerts to the end.
func unacknowledgedFirst(rows []Row) []Row {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b Row) int {
		return rank(a.Alert) - rank(b.Alert)
	})
	return rows
}

func rank(a alerts.Alert) int {
	if a.AcknowledgedAt.IsZero() {
		return 0
	}
	return 1
}

// hasOpen reports whether any shown alert can be acknowledged or silenced.
func (v List) hasOpen() bool {
	return len(v.Open) > 0 || slices.ContainsFunc(v.Others, func(r Row) bool { return r.Open() })
}
