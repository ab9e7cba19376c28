package alerts

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// The verbs of the audit log.
const (
	verbAcknowledge   = "alert.acknowledge"
	verbUnacknowledge = "alert.unacknowledge"
	verbSilence       = "alert.silence"
	verbUnsilence     = "alert.unsilence"
)

// Acknowledge ends the reminders and the escalation of an alert. To acknowledge it twice changes nothing. Errors are
// CodeNotFound, and CodeConflict if it is resolved.
func (s *Store) Acknowledge(ctx context.Context, id string) (Alert, error) {
	return s.attend(ctx, id, verbAcknowledge, func(a *Alert) {
		if a.AcknowledgedAt.IsZero() {
			a.AcknowledgedAt = s.clock.Now()
		}
	})
}

// Unacknowledge undoes Acknowledge.
func (s *Store) Unacknowledge(ctx context.Context, id string) (Alert, error) {
	return s.attend(ctx, id, verbUnacknowledge, func(a *Alert) { a.AcknowledgedAt = models.Time{} })
}

// MaxSilence is for how long an alert can be silenced.
const MaxSilence = 7 * models.Day

// Silence holds back the messages of an alert for a time, at most MaxSilence, but not those that say that it is resolved. 0 ends the silence. Errors are CodeInvalid ("minutes") and those of
// Acknowledge.
func (s *Store) Silence(ctx context.Context, id string, d time.Duration) (Alert, error) {
	if err := checkSilence(d); err != nil {
		return Alert{}, err
	}
	if d == 0 {
		return s.attend(ctx, id, verbUnsilence, func(a *Alert) { a.SilencedUntil = models.Time{} })
	}
	return s.attend(ctx, id, verbSilence, func(a *Alert) { a.SilencedUntil = s.clock.Now().Add(d) })
}

// attended is how an alert is attended to, for the audit log.
func (a Alert) attended() audit.Values {
	return audit.Values{"acknowledged_at": timeOrNull(a.AcknowledgedAt), "silenced_until": timeOrNull(a.SilencedUntil)}
}

// attend changes how an open alert is attended to. Its messages are planned again.
func (s *Store) attend(ctx context.Context, id, verb string, fn func(*Alert)) (a Alert, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockAlerts); err != nil {
			return err
		}
		if a, err = alert(tx, id); err != nil {
			return err
		}
		if !a.Open() {
			return models.Conflict("The alert is resolved.")
		}
		before := a.attended()
		fn(&a)
		err := tx.Model(&a).Select("acknowledged_at", "silenced_until_at").Updates(&a).Error
		if err != nil {
			return err
		}
		if err := audit.Add(tx, s.clock.Now(), audit.Change{Action: verb, Subject: s.subjectOf(a), Before: before, After: a.attended()}); err != nil {
			return err
		}
		return tx.Exec("UPDATE alert_notices SET next_at = ? WHERE alert_seq = ? AND (notified_at IS NOT NULL OR next_at IS NOT NULL)", s.clock.Now(), a.Seq).Error
	})
	if models.CodeOf(err) != "" {
		return Alert{}, err
	}
	if err != nil {
		return Alert{}, fmt.Errorf("attending to an alert: %w", err)
	}
	return a, nil
}

func checkSilence(d time.Duration) error {
	if d < 0 || d > MaxSilence {
		return models.Invalid("minutes", "must be a whole number from 0 to %d", int(MaxSilence/time.Minute))
	}
	return nil
}

// MaxBulk is the number of alerts that one call attends to.
const MaxBulk = 500

// AcknowledgeAll acknowledges several alerts at one time, and returns that time and their number. Ids of alerts that are
// unknown, resolved or acknowledged, or that the actor may not see, are skipped. More than MaxBulk ids are CodeInvalid ("id").
func (s *Store) AcknowledgeAll(ctx context.Context, ids ...string) (at models.Time, n int, err error) {
	at = s.clock.Now()
	n, err = s.attendAll(ctx, verbAcknowledge, "acknowledged_at", at, "acknowledged_at IS NULL", ids)
	return at, n, err
}

// UnacknowledgeAll undoes AcknowledgeAll by the time that it returned, and returns the number of alerts. Like UnsilenceAll, it leaves alone those that the actor may not see.
func (s *Store) UnacknowledgeAll(ctx context.Context, at models.Time) (n int, err error) {
	return s.attendSame(ctx, verbUnacknowledge, "acknowledged_at", at)
}

// SilenceAll silences several alerts for a time, at most MaxSilence, and returns its end and their number. Ids of alerts that are
// unknown or resolved, or that the actor may not see, are skipped. Errors are CodeInvalid ("minutes", and "id" for more than MaxBulk).
func (s *Store) SilenceAll(ctx context.Context, d time.Duration, ids ...string) (until models.Time, n int, err error) {
	if err := checkSilence(d); err != nil {
		return until, 0, err
	}
	verb := verbSilence
	if d == 0 {
		verb = verbUnsilence
	}
	until = s.clock.Now().Add(d)
	n, err = s.attendAll(ctx, verb, "silenced_until_at", until, "true", ids)
	return until, n, err
}

// UnsilenceAll ends the silence of all alerts that are silenced until a time, and returns their number.
func (s *Store) UnsilenceAll(ctx context.Context, until models.Time) (n int, err error) {
	return s.attendSame(ctx, verbUnsilence, "silenced_until_at", until)
}

// attendAll sets a column of those open alerts of some ids that meet a condition.
func (s *Store) attendAll(ctx context.Context, verb, column string, value models.Time, where string, ids []string) (n int, err error) {
	if len(ids) > MaxBulk {
		return 0, models.Invalid("id", "must be at most %d ids", MaxBulk)
	}
	rows := models.RowsOf("id text", ids)
	return s.attendMany(ctx, verb, func(tx *gorm.DB) *gorm.DB {
		seen, args := models.Visible(tx, "alerts")
		return rows.Raw(tx, "UPDATE alerts SET "+column+" = ? WHERE id IN (SELECT r.id FROM {rows} AS r) AND "+Firing.where()+" AND "+where+" AND "+seen+" RETURNING seq, id", append([]any{value}, args...)...)
	})
}

// attendSame clears a column of those open alerts in which it is a value.
func (s *Store) attendSame(ctx context.Context, verb, column string, value models.Time) (n int, err error) {
	return s.attendMany(ctx, verb, func(tx *gorm.DB) *gorm.DB {
		seen, args := models.Visible(tx, "alerts")
		return tx.Raw("UPDATE alerts SET "+column+" = NULL WHERE "+Firing.where()+" AND "+column+" = ? AND "+seen+" RETURNING seq, id", append([]any{value}, args...)...)
	})
}

// attendMany changes how open alerts are attended to, and plans their messages again. update returns their Seqs and ids.
func (s *Store) attendMany(ctx context.Context, verb string, update func(tx *gorm.DB) *gorm.DB) (n int, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockAlerts); err != nil {
			return err
		}
		var changed []struct {
			Seq int64
			ID  string
		}
		err := update(tx).Scan(&changed).Error
		if n = len(changed); err != nil || n == 0 {
			return err
		}
		seqs, ids := models.NewRows("seq bigint"), make([]string, n)
		for i, a := range changed {
			seqs.Add(a.Seq)
			ids[i] = a.ID
		}
		of, which := audit.Several("alert", ids)
		if err := audit.Add(tx, s.clock.Now(), audit.Change{Action: verb, Subject: of, After: which}); err != nil {
			return err
		}
		return seqs.Exec(tx,
			"UPDATE alert_notices SET next_at = ? WHERE alert_seq IN (SELECT r.seq FROM {rows} AS r) AND (notified_at IS NOT NULL OR next_at IS NOT NULL)", s.clock.Now()).Error
	})
	if err != nil {
		return 0, fmt.Errorf("attending to alerts: %w", err)
	}
	return n, nil
}
