package alerts

import (
	"encoding/json"

	"linkwatch/models"
	"linkwatch/models/lease"
)

// Channel is where alerts are sent.
type Channel struct {
	Seq             int64 `gorm:"primaryKey"`
	ID              string
	Name            string
	Kind            string
	Config          []byte // a sealed Address
	Enabled         bool
	CreatedAt       models.Time
	UpdatedAt       models.Time
	DeletedAt       models.Time // zero = not deleted
	LastDeliveredAt models.Time
	LastError       string      // why the last message was not delivered; "" = it was
	Failures        int         // in a row
	NextAt          models.Time // nothing is sent before this
	ClaimedBy       lease.ID    // the instance that sends its messages; "" = none
	Owner           string
	PrivateTo       string // "" = it is shared, else Owner
}

// Address is how a channel is reached. It holds secrets.
type Address struct {
	URL    string `json:"url"`              // of the webhook, or a shoutrrr URL
	Secret string `json:"secret,omitempty"` // of a webhook; "" = its messages are not signed
}

// Limits of an address.
const (
	maxURL    = models.MaxURL
	minSecret = 8
	maxSecret = 200
)

// Check checks the address of a kind of channels, but not the rules of its service. Errors are CodeInvalid ("url", "secret").
func (a Address) Check(kind string) error {
	var wrong, secret error
	switch {
	case a.URL == "":
		wrong = models.Invalid("url", "is required")
	case len(a.URL) > maxURL:
		wrong = models.Invalid("url", "must be at most %d bytes", maxURL)
	case kind == KindWebhook:
		_, wrong = models.ParseURL("url", a.URL)
	}
	switch {
	case a.Secret == "":
	case kind != KindWebhook:
		secret = models.Invalid("secret", "is only for webhooks. Leave it out")
	case len(a.Secret) < minSecret || len(a.Secret) > maxSecret:
		secret = models.Invalid("secret", "must have %d to %d bytes", minSecret, maxSecret)
	}
	return models.Invalids(wrong, secret)
}

// seal encrypts the address of a channel.
func (s *Store) seal(a Address, id string) ([]byte, error) {
	plain, err := json.Marshal(a) //nolint:gosec // it is sealed at once
	if err != nil {
		return nil, err
	}
	return s.opts.Seal(plain, id)
}

// Address decrypts how a channel is reached. CodeConflict if it was sealed with another key.
func (s *Store) Address(c Channel) (a Address, err error) {
	plain, err := s.opts.Open(c.Config, c.ID)
	if err == nil {
		err = json.Unmarshal(plain, &a)
	}
	if err != nil {
		return Address{}, &models.Error{
			Code: models.CodeConflict, Err: err,
			Detail: "The stored URL cannot be decrypted because SECRET_KEY or the key file changed. Enter it again.",
		}
	}
	return a, nil
}

// Usable reports whether messages are sent to the channel.
func (c Channel) Usable() bool { return c.Enabled && c.DeletedAt.IsZero() }
