package alerts

import (
	"linkwatch/models/alerts"
	"linkwatch/views/ui"
)

// Channels is the list of channels.
type Channels struct {
	ui.Page
	Channels []alerts.Channel
	Waiting  map[int64]int // messages, by Channel.Seq
	Setup    Setup
	Tested   Tested
}

// Tested is the result of a test message. The zero Tested shows nothing.
type Tested struct {
	ID        string // of the channel
	Delivered bool
	Answer    string // of the service, or why the message was not delivered
}

// ChannelForm is the page with the form of a channel.
type ChannelForm struct {
	ui.Page
	Saved    alerts.Channel // zero = a new one
	Service  alerts.Service // its form; the zero Service = it is still to be chosen
	Name     string
	Enabled  bool
	Open     bool              // the fields of a stored channel are shown
	Values   map[string]string // that were typed, by the names of fields
	Errors   ui.Errors
	Private  bool
	MayShare bool // the reader may change Private
}

// webhook and anyURL are the forms of channels without a service in alerts.Services.
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

// Forms are the forms that are offered for a new channel.
func Forms() []alerts.Service {
	return append(append([]alerts.Service{}, alerts.Services...), webhook, anyURL)
}

// FormOf is the form of a kind of channels.
func FormOf(kind string) alerts.Service {
	for _, s := range Forms() {
		if s.Kind == kind {
			return s
		}
	}
	return anyURL
}

// ServiceLabel is the name of the service of a channel.
func ServiceLabel(kind string) string {
	if s := FormOf(kind); s.Kind == kind {
		return s.Label
	}
	return ui.Sentence(kind)
}

// isNew reports whether the channel is not stored yet.
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

// value is the typed value that a field shows; "" for a secret.
func (v ChannelForm) value(f alerts.Field) string {
	if f.Secret {
		return ""
	}
	return v.Values[f.Name]
}

// required reports whether the browser requires a field. A stored channel keeps its credentials if all fields are blank.
func (v ChannelForm) required(f alerts.Field) bool { return f.Required && v.isNew() }

// inputType is the type of the input of a field.
func inputType(f alerts.Field) string {
	if f.Secret || f.Type == alerts.Password {
		return "password"
	}
	return "text"
}

// channelState is the status of a channel, in one word.
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
