package alerts

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// NewChannel is the settings of a new channel.
type NewChannel struct {
	Name     string // "" for Kind
	Kind     string // KindWebhook, or the scheme of the URL
	Address  Address
	Disabled bool
	Private  bool // only private rules of its owner can use it
}

// ChannelEdit is a change of a channel. Nil fields are unchanged.
type ChannelEdit struct {
	Name    *string
	Enabled *bool
	Address *Address // replaces the whole address
	Kind    *string  // with Address or URL
	// URL and Secret change one part of the address. Another URL removes the secret unless a new one is set: only the receiver that a
	// secret was made for gets messages signed with it.
	URL, Secret *string
	Private     *bool // only its owner and admins may change this
}

// CheckName validates the name of a channel, which may be blank. The error is CodeInvalid ("name").
func CheckName(name string) error { return cleanName(&name, "Channel") }

// AddChannel adds a channel. Errors are CodeInvalid ("name", "url", "secret"), and CodeConflict if there are MaxChannels.
func (s *Store) AddChannel(ctx context.Context, n NewChannel) (Channel, error) {
	now := s.clock.Now()
	owner := models.Owner(ctx)
	c := Channel{
		ID: models.NewID(models.KindChannel), Name: n.Name, Kind: n.Kind, Enabled: !n.Disabled, CreatedAt: now, UpdatedAt: now,
		Owner: owner, PrivateTo: models.PrivateTo(owner, n.Private),
	}
	if err := models.Invalids(cleanName(&c.Name, n.Kind), n.Address.Check(c.Kind)); err != nil {
		return Channel{}, err
	}
	var err error
	if c.Config, err = s.seal(n.Address, c.ID); err != nil {
		return Channel{}, err
	}
	return c, add(ctx, s, channels, &c)
}

// EditChannel changes a channel. A new address resets its backoff. Errors are CodeNotFound, CodeForbidden, CodeConflict if an unchanged
// part of the address cannot be decrypted, and those of AddChannel.
func (s *Store) EditChannel(ctx context.Context, id string, e ChannelEdit) (Channel, error) {
	return change(ctx, s, channels, "edit", id, func(_ *gorm.DB, c *Channel) (err error) {
		if e.Private != nil {
			if c.PrivateTo, err = changePrivacy(ctx, c.Owner, c.PrivateTo, *e.Private); err != nil {
				return err
			}
		}
		models.Set(&c.Name, e.Name)
		models.Set(&c.Kind, e.Kind)
		wrong := cleanName(&c.Name, c.Kind)
		if e.Enabled != nil && *e.Enabled != c.Enabled {
			c.NextAt, c.Failures = models.Time{}, 0
			if c.Enabled { // the user who disables it already knows the error
				c.LastError = ""
			}
		}
		models.Set(&c.Enabled, e.Enabled)
		if e.Address != nil || e.URL != nil || e.Secret != nil {
			address, err := s.editedAddress(*c, e)
			if err != nil {
				return err
			}
			if err := models.Invalids(wrong, address.Check(c.Kind)); err != nil {
				return err
			}
			if c.Config, err = s.seal(address, c.ID); err != nil {
				return err
			}
			c.LastError, c.Failures, c.NextAt = "", 0, models.Time{}
		}
		return wrong
	})
}

func (s *Store) editedAddress(c Channel, e ChannelEdit) (a Address, err error) {
	if e.Address != nil {
		return *e.Address, nil
	}
	if e.URL == nil || e.Secret == nil && c.Kind == KindWebhook {
		if a, err = s.Address(c); err != nil {
			return Address{}, err
		}
	}
	if e.URL != nil && *e.URL != a.URL {
		a = Address{URL: *e.URL}
	}
	models.Set(&a.Secret, e.Secret)
	return a, nil
}

// Channel returns a channel by ID. The error is CodeNotFound if it does not exist.
func (s *Store) Channel(ctx context.Context, id string) (Channel, error) {
	return get[Channel](s.db.Read(ctx), channels, id, false)
}

// Channels returns a page of channels, oldest first. limit comes from models.NewLimit.
func (s *Store) Channels(ctx context.Context, after models.Cursor, limit int) (models.Slice[Channel], error) {
	return list(ctx, s, channels, after, limit, func(c Channel) models.Cursor { return models.Cursor{CreatedAt: c.CreatedAt, ID: c.ID} })
}

// DeleteChannel deletes a channel. It can be restored for KeepDeleted. The error is CodeNotFound if it does not exist.
func (s *Store) DeleteChannel(ctx context.Context, id string) error {
	_, err := change(ctx, s, channels, "delete", id, func(_ *gorm.DB, c *Channel) error { c.DeletedAt = s.clock.Now(); return nil })
	return err
}

// RestoreChannel restores a deleted channel. Errors are CodeNotFound if it is not deleted or was deleted more than KeepDeleted ago, and
// CodeConflict if there are MaxChannels.
func (s *Store) RestoreChannel(ctx context.Context, id string) (Channel, error) {
	return restore(ctx, s, channels, id, func(c *Channel) *models.Time { return &c.DeletedAt })
}

// RecordTest records the result of a test message, unless the address of the channel has changed since. problem is the error; "" means
// delivered. For a disabled channel only a delivery is recorded.
func (s *Store) RecordTest(ctx context.Context, c Channel, problem string) error {
	changes := map[string]any{"last_error": cleanError(problem)}
	if problem == "" {
		changes["last_delivered_at"], changes["failures"], changes["next_at"] = s.clock.Now(), 0, nil
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		err := tx.Model(&Channel{}).Where("seq = ? AND config = ? AND (enabled OR ? = '')", c.Seq, c.Config, problem).Updates(changes).Error
		if err != nil {
			return err
		}
		return channels.record(tx, s.clock.Now(), "test", c.subject(), nil, audit.Values{"delivered": problem == ""})
	})
	if err != nil {
		return fmt.Errorf("record test of channel: %w", err)
	}
	return nil
}

const maxError = 300 // characters of a delivery error

func cleanError(text string) string { return models.Truncate(models.CleanLine(text), maxError) }
