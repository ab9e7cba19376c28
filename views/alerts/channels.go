package alerts

import (
	"linkwatch/models/alerts"
	"linkwatch/views/ui"
)

// Channels is the data of ChannelsPage.
type Channels struct {
	ui.Page
	Channels []alerts.Channel
	Waiting  map[int64]int // number of queued messages by Channel.Seq
	Setup    Setup
	Tested   Tested
}

// Tested is the result of a test message. The zero value shows nothing.
type Tested struct {
	ID        string // channel ID
	Delivered bool
	Answer    string // response of the service, or why the message was not delivered
}

// ChannelForm is the data of ChannelFormPage.
type ChannelForm struct {
	ui.Page
	Saved    alerts.Channel // zero for a new channel
	Service  alerts.Service // zero if not chosen yet
	Name     string
	Enabled  bool
	Signed   bool              // the stored channel has a secret
	Open     bool              // expands the credentials of a stored channel
	Values   map[string]string // typed values by field name
	Errors   ui.Errors
	Private  bool
	MayShare bool // the user may change Private
}

// webhook and anyURL are the forms that are not in alerts.Services.
var (
	webhook = alerts.Service{
		Kind: alerts.KindWebhook, Label: "Webhook", Help: "Linkwatch sends each alert as a POST request with a JSON body. Set a secret to sign the requests.",
		Fields: []alerts.Field{
			{Name: "url", Label: "URL", Placeholder: "https://example.com/hooks/linkwatch", Type: alerts.URL, Required: true, Secret: true},
			{Name: "secret", Label: "Secret", Hint: "8 to 200 bytes. Leave blank to send unsigned requests.", Type: alerts.Password, Secret: true},
		},
	}
	anyURL = alerts.Service{
		Kind: alerts.KindURL, Label: "Other service (shoutrrr URL)", Help: "Enter the URL of a service that shoutrrr supports.",
		Fields: []alerts.Field{{Name: "url", Label: "Service URL", Placeholder: "zulip://…", Type: alerts.Password, Required: true, Secret: true}},
	}
)

// Forms returns the forms for a new channel in display order.
func Forms() []alerts.Service {
	return append(append([]alerts.Service{}, alerts.Services...), webhook, anyURL)
}

// FormOf returns the form of a channel kind.
func FormOf(kind string) alerts.Service {
	for _, s := range Forms() {
		if s.Kind == kind {
			return s
		}
	}
	return anyURL
}

// ServiceLabel returns the display name of a channel kind.
func ServiceLabel(kind string) string {
	if s := FormOf(kind); s.Kind == kind {
		return s.Label
	}
	return ui.Sentence(kind)
}

func (v ChannelForm) isNew() bool { return v.Saved.ID == "" }

func (v ChannelForm) action() string {
	if v.isNew() {
		return ChannelsPath
	}
	return ChannelPath(v.Saved.ID)
}

func (v ChannelForm) title() string {
	if v.isNew() {
		return "Add channel: " + v.Service.Label
	}
	return v.Saved.Name
}

// value returns the value that a field shows, or "" for secrets.
func (v ChannelForm) value(f alerts.Field) string {
	if f.Secret {
		return ""
	}
	return v.Values[f.Name]
}

// required reports whether the browser requires a field. For a stored channel all fields may be blank, which keeps the credentials.
func (v ChannelForm) required(f alerts.Field) bool { return f.Required && v.isNew() }

func inputType(f alerts.Field) string {
	if f.Secret || f.Type == alerts.Password {
		return "password"
	}
	return "text"
}

func channelState(c alerts.Channel) string {
	switch {
	case !c.Enabled:
		return "disabled"
	case c.LastError != "":
		return "failing"
	case c.LastDeliveredAt.IsZero():
		return "untested"
	}
	return "working"
}

var channelIcons = map[string]string{"disabled": "pause", "failing": "alert", "untested": "unchecked", "working": "check"}

// EditedChannel are the stored values of the form of a channel, without its address.
func EditedChannel(c alerts.Channel) ui.Edited {
	return ui.Edited{}.Text("name", "Name", c.Name).Tick("enabled", "Enabled", c.Enabled).Tick("private", "Private", c.PrivateTo != "")
}
