package alerts

import (
	"context"
	"net/http"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/alerts"
)

func (a API) registerChannels(r *api.API) {
	api.Register(r, api.Sorts(api.Operation(groupChannels, middleware.Viewer, "GET", "/v1/channels", "list-channels", "List channels", "Oldest first."), "created_at"), a.listChannels)
	add := api.Operation(groupChannels, middleware.Editor, "POST", "/v1/channels", "add-channel", "Add a channel",
		"url and secret are stored encrypted and never returned. 409 if there are 200 channels.", models.CodeConflict)
	add.DefaultStatus = http.StatusCreated
	api.Register(r, add, a.addChannel)
	api.Register(r, api.Item(api.Operation(groupChannels, middleware.Viewer, "GET", "/v1/channels/{id}", "get-channel", "Get a channel", "The response does not include url and secret.", models.CodeNotFound),
		"id", "name", "kind", "enabled", "private"), a.getChannel)
	api.Register(r, api.Operation(groupChannels, middleware.Editor, "PATCH", "/v1/channels/{id}", "edit-channel", "Edit a channel",
		"Omitted members stay as they are, but another url without a secret removes the secret: only the receiver that it was made for gets messages signed with it. "+
			"Alert rules that can no longer use the channel stop sending to it. After a change of url, queued messages are retried immediately. "+
			"409 if only one of url and secret is sent and the other one cannot be decrypted: send both.", models.CodeNotFound, models.CodeConflict), a.editChannel)
	api.Register(r, api.Operation(groupChannels, middleware.Editor, "DELETE", "/v1/channels/{id}", "delete-channel", "Delete a channel",
		"Alerts are no longer sent to it. POST /v1/channels/{id}/restore restores it within a day.", models.CodeNotFound), a.deleteChannel)
	api.Register(r, api.Operation(groupChannels, middleware.Editor, "POST", "/v1/channels/{id}/restore", "restore-channel", "Restore a deleted channel",
		"404 if it is not deleted or was deleted more than a day ago. 409 if there are already 200.", models.CodeNotFound, models.CodeConflict), a.restoreChannel)
	api.Register(r, api.Operation(groupChannels, middleware.Editor, "POST", "/v1/channels/{id}/test", "test-channel", "Send a test message",
		"Also works for a disabled channel. 422 if the service does not accept the message: detail, and last_error of the channel, contain its response. "+
			"409 if the stored url cannot be decrypted.", models.CodeNotFound, models.CodeConflict, models.CodeUndelivered, models.CodeBlocked), a.testChannel)
}

// ChannelPath is the path parameter of a channel.
type ChannelPath struct {
	ID string `path:"id" example:"a_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the channel"`
}

// Channel is a channel in the API, without its URL and secret.
type Channel struct {
	ID              string     `json:"id" example:"a_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the channel. Ids sort by creation time"`
	Name            string     `json:"name" example:"Operations" doc:"Name. Default: the kind"`
	Kind            string     `json:"kind" example:"slack" doc:"webhook, or the scheme of the shoutrrr URL"`
	Enabled         bool       `json:"enabled" example:"true" doc:"Whether alerts are sent to it"`
	Owner           string     `json:"owner" example:"alice" doc:"Account that added the channel"`
	Private         bool       `json:"private" example:"false" doc:"Whether only the owner and admins see the channel. Only private rules of the owner can use a private channel"`
	CreatedAt       time.Time  `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the channel was added"`
	LastDeliveredAt *time.Time `json:"last_delivered_at" example:"2025-03-24T12:05:00Z" doc:"When a message was last delivered. null if never"`
	LastError       *string    `json:"last_error" example:"Slack returned 404: no_service" doc:"Error of the last message. null if it was delivered or none was sent"`

	address []byte // encrypted
}

// Edited implements api.Edited. Each change of url or secret encrypts them with another nonce.
func (c Channel) Edited() []any { return []any{c.address} }

func toChannel(c alerts.Channel) Channel {
	return Channel{
		ID: c.ID, Name: c.Name, Kind: c.Kind, Enabled: c.Enabled, Owner: c.Owner, Private: c.PrivateTo != "", CreatedAt: c.CreatedAt.Time,
		LastDeliveredAt: api.Time(c.LastDeliveredAt), LastError: api.OrNull(c.LastError), address: c.Config,
	}
}

func (a API) listChannels(ctx context.Context, in *api.SliceParams) (*api.Output[api.Slice[Channel]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Alerts.Channels(ctx, after, limit)
	return api.AnswerSlice(l, toChannel, err)
}

// ChannelSettings are the settings of a channel except its URL.
type ChannelSettings struct {
	Name    api.Member[string] `json:"name,omitempty" example:"Operations" doc:"Name, at most 200 characters. null uses the kind"`
	Kind    api.Member[string] `json:"kind,omitempty" nullable:"false" example:"webhook" doc:"webhook for http and https URLs, otherwise the scheme of the URL. Default: read from the URL. It must match the URL"`
	Secret  api.Member[string] `json:"secret,omitempty" example:"4f9d7a0c5b1e" doc:"Secret that signs messages, only for webhooks. 8 to 200 bytes. null: messages are not signed"`
	Enabled api.Member[bool]   `json:"enabled,omitempty" nullable:"false" example:"true" doc:"Whether alerts are sent to it. Default of a new channel: true"`
	Private api.Member[bool]   `json:"private,omitempty" nullable:"false" example:"false" doc:"Whether only the owner and admins see it. Default of a new channel: false. Only the owner and admins can change it"`
}

// check refuses null for members that cannot be null, and an empty secret.
func (s ChannelSettings) check() error {
	var errs []error
	if s.Kind.Null {
		errs = append(errs, models.Invalid("kind", "must be text. Leave it out to read it from the URL"))
	}
	if s.Enabled.Null {
		errs = append(errs, models.Invalid("enabled", "must be true or false"))
	}
	if s.Private.Null {
		errs = append(errs, models.Invalid("private", "must be true or false"))
	}
	if s.Secret.Given && !s.Secret.Null && s.Secret.Value == "" {
		errs = append(errs, models.Invalid("secret", "must not be empty. Send null to remove it"))
	}
	return models.Invalids(errs...)
}

// agrees checks that a kind, if sent, matches the kind of the URL.
func (s ChannelSettings) agrees(kind string) error {
	if s.Kind.Given && s.Kind.Value != kind {
		return models.Invalid("kind", "must match the URL. Leave it out to read it from the URL")
	}
	return nil
}

type addChannelInput struct {
	Body struct {
		URL string `json:"url" example:"https://hooks.example.com/alerts" doc:"URL of a webhook (http or https), or a shoutrrr URL such as ntfy://ntfy.sh/topic. At most 2048 bytes"`
		ChannelSettings
	}
}

type addChannelOutput struct {
	Location string `header:"Location" doc:"Path of the channel in this API"`
	Body     Channel
}

func (a API) addChannel(ctx context.Context, in *addChannelInput) (*addChannelOutput, error) {
	b := in.Body
	address := alerts.Address{URL: b.URL, Secret: b.Secret.Value}
	kind, err := a.Sender.Check(b.URL)
	if err == nil {
		err = models.Invalids(b.agrees(kind), address.Check(kind))
	}
	if err := models.Invalids(b.check(), err, alerts.CheckName(b.Name.Value)); err != nil {
		return nil, err
	}
	c, err := a.Alerts.AddChannel(ctx, alerts.NewChannel{Name: b.Name.Value, Kind: kind, Address: address, Disabled: b.Enabled.Given && !b.Enabled.Value, Private: b.Private.Value})
	if err != nil {
		return nil, err
	}
	return &addChannelOutput{"/v1/channels/" + c.ID, toChannel(c)}, nil
}

func (a API) getChannel(ctx context.Context, in *ChannelPath) (*api.Output[Channel], error) {
	c, err := a.Alerts.Channel(ctx, in.ID)
	return api.Answer(toChannel(c), err)
}

type editChannelInput struct {
	ChannelPath
	Body struct {
		URL api.Member[string] `json:"url,omitempty" nullable:"false" example:"https://hooks.example.com/alerts" doc:"URL of a webhook (http or https), or a shoutrrr URL such as ntfy://ntfy.sh/topic. At most 2048 bytes"`
		ChannelSettings
	}
}

func (a API) editChannel(ctx context.Context, in *editChannelInput) (*api.Output[Channel], error) {
	b := in.Body
	if err := b.check(); err != nil {
		return nil, err
	}
	before, err := a.Alerts.Channel(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	kind := before.Kind
	if b.URL.Given {
		kind, err = a.Sender.Check(b.URL.Value)
	}
	if err == nil {
		err = b.agrees(kind)
	}
	if err := models.Invalids(err, alerts.CheckName(b.Name.Value)); err != nil {
		return nil, err
	}
	e := alerts.ChannelEdit{Name: b.Name.Pointer(), Enabled: b.Enabled.Pointer(), URL: b.URL.Pointer(), Secret: b.Secret.Pointer(), Private: b.Private.Pointer()}
	if b.URL.Given {
		e.Kind = &kind
	}
	c, err := a.Alerts.EditChannel(ctx, in.ID, e)
	return api.Answer(toChannel(c), err)
}

func (a API) deleteChannel(ctx context.Context, in *ChannelPath) (*struct{}, error) {
	return nil, a.Alerts.DeleteChannel(ctx, in.ID)
}

func (a API) restoreChannel(ctx context.Context, in *ChannelPath) (*api.Output[Channel], error) {
	c, err := a.Alerts.RestoreChannel(ctx, in.ID)
	return api.Answer(toChannel(c), err)
}

// ChannelTest is the result of a test message in the API.
type ChannelTest struct {
	Delivered bool   `json:"delivered" example:"true" doc:"Always true. The status is 422 if the message was not delivered"`
	Answer    string `json:"answer" example:"ok" doc:"Response of the service, without secrets. Empty if there was none"`
}

func (a API) testChannel(ctx context.Context, in *ChannelPath) (*api.Output[ChannelTest], error) {
	c, err := a.Alerts.Channel(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	t, err := a.test(ctx, c)
	if err == nil && !t.Delivered {
		err = &models.Error{Code: models.CodeUndelivered, Detail: "The message was not delivered. Check the channel, then test it again. Cause: " + t.Answer}
	}
	return api.Answer(ChannelTest{true, t.Answer}, err)
}
