package alerts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
	"linkwatch/models/lease"
)

const (
	// RetryPeriod is how long a message is retried.
	RetryPeriod = 24 * time.Hour
	// The backoff of a channel doubles with each consecutive failure, from minBackoff to maxBackoff. A longer Retry-After of the service
	// is honored up to maxRetryAfter.
	minBackoff    = 5 * time.Second
	maxBackoff    = 10 * time.Minute
	maxRetryAfter = time.Hour
	// A message is moved behind the others after this many refusals, or after this many failures of any kind (about 40 minutes).
	maxRefusals       = 3
	maxFailedAttempts = 10
)

// Backoff returns the backoff of a channel after consecutive failures.
func Backoff(failures int) time.Duration {
	return min(minBackoff<<min(max(failures-1, 0), 20), maxBackoff)
}

// ClaimChannels claims up to n unclaimed channels with messages to send. Errors include lease.ErrLost.
func (s *Store) ClaimChannels(ctx context.Context, holder lease.ID, n int) (cs []Channel, err error) {
	now := s.clock.Now()
	const due = `enabled AND deleted_at IS NULL AND claimed_by IS NULL AND (next_at IS NULL OR next_at <= ?)
		AND (EXISTS (SELECT 1 FROM deliveries AS d WHERE d.channel_seq = channels.seq AND d.status = 'pending' AND d.next_at IS NULL)
		OR EXISTS (SELECT 1 FROM deliveries AS d WHERE d.channel_seq = channels.seq AND d.status = 'pending' AND d.next_at <= ?))`
	var found bool
	if err := s.db.Read(ctx).Raw("SELECT EXISTS (SELECT 1 FROM channels WHERE "+due+")", now, now).Scan(&found).Error; err != nil || !found {
		return nil, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := lease.Hold(tx, holder); err != nil {
			return err
		}
		return tx.Raw("UPDATE channels SET claimed_by = ? WHERE seq IN (SELECT seq FROM channels WHERE "+due+" ORDER BY seq LIMIT ?"+s.db.SkipLocked()+") RETURNING *", holder, now, now, n).Scan(&cs).Error
	})
	if err != nil {
		return nil, fmt.Errorf("claim channels: %w", err)
	}
	return cs, nil
}

// ReleaseChannel releases a claimed channel.
func (s *Store) ReleaseChannel(ctx context.Context, holder lease.ID, c Channel) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE channels SET claimed_by = NULL WHERE seq = ? AND claimed_by = ?", c.Seq, holder).Error
	})
	if err != nil {
		return fmt.Errorf("release channel: %w", err)
	}
	return nil
}

// ReleaseOthers releases the channels claimed by an instance, except those in keep. Call it after an error, when it is unknown whether
// a claim or a release was committed.
func (s *Store) ReleaseOthers(ctx context.Context, holder lease.ID, keep []int64) error {
	rows := models.RowsOf("seq bigint", append([]int64{0}, keep...))
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return rows.Exec(tx, "UPDATE channels SET claimed_by = NULL WHERE claimed_by = ? AND seq NOT IN (SELECT seq FROM {rows} AS r)", holder).Error
	})
	if err != nil {
		return fmt.Errorf("release unused channel claims: %w", err)
	}
	return nil
}

// Next returns the next message of a claimed channel and the current state of the channel. ok is false if there is no message to send
// now, or if the channel is no longer claimed, enabled or existing. Messages are sent in order, except those that failed too often.
func (s *Store) Next(ctx context.Context, holder lease.ID, channel int64) (c Channel, d Delivery, ok bool, err error) {
	tx, now := s.db.Read(ctx), s.clock.Now()
	err = tx.Where("seq = ? AND claimed_by = ? AND enabled AND deleted_at IS NULL AND (next_at IS NULL OR next_at <= ?)", channel, holder, now).Limit(1).Find(&c).Error
	pending := tx.Where("channel_seq = ? AND status = 'pending'", channel).Session(&gorm.Session{}) // written as in the partial index
	if err == nil && c.Seq != 0 {
		err = pending.Where("next_at IS NULL").Order("seq").Limit(1).Find(&d).Error
	}
	if err == nil && c.Seq != 0 && d.Seq == 0 {
		err = pending.Where("next_at <= ?", now).Order("next_at, seq").Limit(1).Find(&d).Error
	}
	if err != nil {
		return c, d, false, fmt.Errorf("load next message of channel: %w", err)
	}
	return c, d, d.Seq != 0, nil
}

// First returns the first message about an alert that was queued for a channel. ok is false if there is none.
func (s *Store) First(
	ctx context.Context, channel int64, alertID string,
) (n Notification, deliveryID string, ok bool, err error) {
	var d Delivery
	err = s.db.Read(ctx).Raw(`SELECT d.id, d.body FROM alerts AS a JOIN deliveries AS d ON d.alert_seq = a.seq
		WHERE a.id = ? AND d.channel_seq = ? ORDER BY d.seq LIMIT 1`, alertID, channel).Scan(&d).Error
	if err == nil && d.ID != "" {
		err = json.Unmarshal([]byte(d.Body), &n)
	}
	if err != nil {
		return n, "", false, fmt.Errorf("load first message of alert: %w", err)
	}
	return n, d.ID, d.ID != "", nil
}

// Attempt is the result of sending a message.
type Attempt struct {
	Error      string        // "" if delivered
	Refused    bool          // the service refused this message, but may accept others
	Gone       bool          // the service reports that the recipient no longer exists
	RetryAfter time.Duration // 0 if the service did not send one
}

// ErrUnclaimed is returned by Record if the channel is no longer claimed.
var ErrUnclaimed = errors.New("the channel is no longer claimed")

// Record stores the result of an attempt and the backoff of the channel. c is the channel as Next returned it. failed reports whether the
// message has failed permanently. If the channel was disabled or its address changed since Next, the result does not affect the channel,
// and a failed message stays pending. On ErrUnclaimed nothing is stored: another instance sends the message again with the same ID.
func (s *Store) Record(ctx context.Context, holder lease.ID, c Channel, d Delivery, a Attempt) (failed bool, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		var current Channel
		// NO KEY UPDATE lets other transactions add messages of the channel.
		err := tx.Clauses(clause.Locking{Strength: "NO KEY UPDATE"}).Where("seq = ? AND claimed_by = ?", c.Seq, holder).Limit(1).Find(&current).Error
		if err != nil {
			return err
		}
		if current.Seq == 0 {
			return ErrUnclaimed
		}
		same, now := current.Enabled && bytes.Equal(current.Config, c.Config), s.clock.Now()
		channel := map[string]any{"last_delivered_at": now, "last_error": "", "failures": 0, "next_at": nil}
		message := map[string]any{"status": DeliveryDelivered, "delivered_at": now, "attempts": d.Attempts + 1, "last_error": "", "next_at": nil}
		failed = false
		if a.Error != "" {
			a.Error = cleanError(a.Error)
			channel, message = failureChanges(c, d, a, now)
			if failed = same && (a.Gone || !now.Before(d.CreatedAt.Add(RetryPeriod).Time)); failed {
				message["status"] = DeliveryFailed
			}
			if !same {
				delete(message, "next_at")
			}
		}
		if same {
			if err := tx.Model(&Channel{}).Where("seq = ?", c.Seq).Updates(channel).Error; err != nil {
				return err
			}
		}
		if err := tx.Model(&Delivery{}).Where("seq = ? AND status = ?", d.Seq, DeliveryPending).Updates(message).Error; err != nil || !same || !a.Gone {
			return err
		}
		return tx.Exec("UPDATE deliveries SET status = ?, last_error = ? WHERE channel_seq = ? AND status = ?", DeliveryFailed, a.Error, c.Seq, DeliveryPending).Error
	})
	if err != nil {
		return false, fmt.Errorf("record delivery attempt: %w", err)
	}
	return failed, nil
}

// failureChanges returns the column changes of a channel and a message after a failure.
func failureChanges(c Channel, d Delivery, a Attempt, now models.Time) (channel, message map[string]any) {
	attempts := d.Attempts + 1
	channel = map[string]any{"last_error": a.Error, "failures": c.Failures + 1, "next_at": now.Add(max(Backoff(c.Failures+1), min(a.RetryAfter, maxRetryAfter)))}
	message = map[string]any{"attempts": attempts, "last_error": a.Error}
	if a.Refused && attempts >= maxRefusals {
		channel["failures"], channel["next_at"] = 0, nil
	}
	if a.Refused && attempts >= maxRefusals || attempts >= maxFailedAttempts {
		message["next_at"] = now.Add(Backoff(attempts))
	}
	if a.Gone {
		channel["enabled"] = false
	}
	return channel, message
}

// ExpireMessages marks messages as failed that were queued RetryPeriod ago, also those of failing or disabled channels. It returns their number.
func (s *Store) ExpireMessages(ctx context.Context) (n int64, err error) {
	old := s.clock.Now().Add(-RetryPeriod)
	var found bool
	if err := s.db.Read(ctx).Raw("SELECT EXISTS (SELECT 1 FROM deliveries WHERE status = 'pending' AND created_at <= ?)", old).Scan(&found).Error; err != nil || !found {
		return 0, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		res := tx.Exec(`UPDATE deliveries SET status = 'failed', last_error = CASE WHEN last_error <> '' THEN last_error ELSE (SELECT 'not sent within 24 hours' || CASE
			WHEN c.deleted_at IS NOT NULL THEN ': the channel was deleted' WHEN c.last_error <> '' THEN ', because the channel failed: ' || c.last_error
			WHEN c.enabled THEN '' ELSE ': the channel was disabled' END FROM channels AS c WHERE c.seq = deliveries.channel_seq) END
			WHERE status = 'pending' AND created_at <= ? AND channel_seq IN (SELECT seq FROM channels WHERE claimed_by IS NULL)`, old)
		n = res.RowsAffected
		return res.Error
	})
	if err != nil {
		return 0, fmt.Errorf("expire messages: %w", err)
	}
	return n, nil
}

// Backlog is the number of pending events and messages.
type Backlog struct {
	Events  int         // events that were not processed yet
	Pending int         // queued messages
	Oldest  models.Time // when the oldest message was queued; zero if there is none
}

// Backlog returns the number of pending events and messages, up to 100,000 of each.
func (s *Store) Backlog(ctx context.Context) (b Backlog, err error) {
	err = s.db.Read(ctx).Raw(`SELECT (SELECT count(*) FROM (SELECT 1 FROM events LIMIT 100000) AS e) AS events,
		(SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE status = 'pending' LIMIT 100000) AS d) AS pending,
		(SELECT min(created_at) FROM deliveries WHERE status = 'pending') AS oldest`).Scan(&b).Error
	if err != nil {
		return b, fmt.Errorf("count backlog: %w", err)
	}
	return b, nil
}

// DeliveriesOf returns up to n messages of each alert by Alert.Seq, oldest first. Body is empty, so that a page with many messages stays
// small. Messages to private channels of others are left out.
func (s *Store) DeliveriesOf(ctx context.Context, as []Alert, n int) (map[int64][]Delivery, error) {
	rows := models.NewRows("alert_seq bigint")
	for _, a := range as {
		rows.Add(a.Seq)
	}
	var found []Delivery
	tx := s.db.Read(ctx)
	visible, args := models.Visible(tx, "c")
	err := rows.Raw(tx, `SELECT * FROM (SELECT d.seq, d.id, d.alert_seq, d.channel_seq, d.reason, d.status, d.created_at, d.delivered_at, d.next_at, d.attempts, d.last_error,
		c.id AS channel_id, row_number() OVER (PARTITION BY d.alert_seq ORDER BY d.seq) AS place
		FROM {rows} AS r JOIN deliveries AS d ON d.alert_seq = r.alert_seq JOIN channels AS c ON c.seq = d.channel_seq WHERE `+visible+") AS numbered WHERE place <= ? ORDER BY alert_seq, seq", append(args, n)...).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("load messages of alerts: %w", err)
	}
	byAlert := map[int64][]Delivery{}
	for _, d := range found {
		byAlert[d.AlertSeq] = append(byAlert[d.AlertSeq], d)
	}
	return byAlert, nil
}
