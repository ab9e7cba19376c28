package alerts

import (
	"encoding/json"

	"linkwatch/models"
	"linkwatch/models/lease"
)

// Channel is a destination of alerts.
type Channel struct {
	Seq             int64 `gorm:"primaryKey"`
	ID              string
	Name            string
	Kind            string
	Config          []byte // encrypted Address
	Enabled         bool
	CreatedAt       models.Time
	UpdatedAt       models.Time
	DeletedAt       models.Time // zero if not deleted
	LastDeliveredAt models.Time
	LastError       string      // why the last message failed; "" if it was delivered
	Failures        int         // consecutive failures
	NextAt          models.Time // backoff: nothing is sent before this time
	ClaimedBy       lease.ID    // instance that sends its messages; "" if none
	Owner           string
	PrivateTo       string // "" if shared, otherwise Owner
}

// Address is the URL and the secret of a channel. Both are confidential.
type Address struct {
	URL    string `json:"url"`              // of a webhook, or a shoutrrr URL
	Secret string `json:"secret,omitempty"` // signing key of a webhook; "" for unsigned messages
}

// Limits of an address, in bytes.
const (
	maxURL    = models.MaxURL
	minSecret = 8
	maxSecret = 200
)

// Check validates the address of a channel of the given kind, but not the syntax of its service. Errors are CodeInvalid ("url", "secret").
func (a Address) Check(kind string) error {
	var wrong, secret error
	switch {
	case a.URL == "":
		wrong = models.Invalid("url", "is required")
	case len(a.URL) > maxURL:
		wrong = models.TooLong("url", maxURL, "bytes")
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

func (s *Store) seal(a Address, id string) ([]byte, error) {
	plain, err := json.Marshal(a) //nolint:gosec // encrypted below
	if err != nil {
		return nil, err
	}
	return s.opts.Seal(plain, id)
}

// Address decrypts the address of a channel. The error is CodeConflict if it was encrypted with another key.
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
