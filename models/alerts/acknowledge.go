package alerts

import (
	"context"
	"fmt"
	"slices"
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

// MaxAcknowledged is the maximum number of subjects that Acknowledge takes.
const MaxAcknowledged = 500

// Acknowledge stops the reminders and the escalation of an alert, until a subject joins it. With the IDs of subjects, it acknowledges only
// these; the alert is acknowledged when no other subject is open. It is idempotent. Errors are CodeNotFound, CodeConflict if the alert is
// resolved, and CodeInvalid ("subjects") for more than MaxAcknowledged subjects or subjects that are not in the alert.
func (s *Store) Acknowledge(ctx context.Context, id string, subjects ...string) (Alert, error) {
	if len(subjects) > MaxAcknowledged {
		return Alert{}, models.TooLong("subjects", MaxAcknowledged, "ids")
	}
	return s.updateAlert(ctx, id, verbAcknowledge, func(tx *gorm.DB, a *Alert) error {
		now := s.clock.Now()
		if len(subjects) > 0 {
			open, err := acknowledgeSome(tx, a.Seq, now, subjects)
			if err != nil || open {
				return err
			}
		}
		if a.AcknowledgedAt.IsZero() {
			a.AcknowledgedAt = now
		}
		return acknowledgeSubjects(tx, models.RowsOf("seq bigint", []int64{a.Seq}), now)
	}, subjects...)
}

// acknowledgeSome acknowledges some subjects of an alert. open reports whether another open subject is not acknowledged.
func acknowledgeSome(tx *gorm.DB, seq int64, now models.Time, subjects []string) (open bool, err error) {
	rows := models.NewRows("alert_seq bigint, subject_id text")
	for _, id := range subjects {
		rows.Add(seq, id)
	}
	var n int
	const in = "(alert_seq, subject_id) IN (SELECT r.alert_seq, r.subject_id FROM {rows} AS r)"
	if err := rows.Raw(tx, "SELECT count(*) FROM alert_subjects WHERE "+in).Scan(&n).Error; err != nil {
		return false, err
	}
	if n < len(slices.Compact(slices.Sorted(slices.Values(subjects)))) {
		return false, models.Invalid("subjects", "must be ids of subjects of the alert")
	}
	if err := rows.Exec(tx, "UPDATE alert_subjects SET acknowledged_at = ? WHERE acknowledged_at IS NULL AND "+in, now).Error; err != nil {
		return false, err
	}
	err = tx.Raw("SELECT EXISTS (SELECT 1 FROM alert_subjects WHERE alert_seq = ? AND ended_at IS NULL AND acknowledged_at IS NULL)", seq).Scan(&open).Error
	return open, err
}

// acknowledgeSubjects acknowledges all subjects of alerts.
func acknowledgeSubjects(tx *gorm.DB, seqs *models.Rows, at models.Time) error {
	return seqs.Exec(tx, "UPDATE alert_subjects SET acknowledged_at = ? WHERE acknowledged_at IS NULL AND alert_seq IN (SELECT r.seq FROM {rows} AS r)", at).Error
}

// Unacknowledge undoes Acknowledge, also for some subjects.
func (s *Store) Unacknowledge(ctx context.Context, id string) (Alert, error) {
	return s.updateAlert(ctx, id, verbUnacknowledge, func(tx *gorm.DB, a *Alert) error {
		a.AcknowledgedAt = models.Time{}
		return tx.Exec("UPDATE alert_subjects SET acknowledged_at = NULL WHERE alert_seq = ?", a.Seq).Error
	})
}

// MaxSilence is the longest time for which an alert can be silenced.
const MaxSilence = 7 * models.Day

// Silence holds the messages of an alert, except the recovery, for at most MaxSilence. A duration of 0 ends the silence. Errors are
// CodeInvalid ("minutes") and those of Acknowledge.
func (s *Store) Silence(ctx context.Context, id string, d time.Duration) (Alert, error) {
	if err := checkSilence(d); err != nil {
		return Alert{}, err
	}
	verb, until := verbUnsilence, models.Time{}
	if d > 0 {
		verb, until = verbSilence, s.clock.Now().Add(d)
	}
	return s.updateAlert(ctx, id, verb, func(_ *gorm.DB, a *Alert) error { a.SilencedUntil = until; return nil })
}

// auditValues returns the audit values of acknowledgement and silence.
func (a Alert) auditValues() audit.Values {
	return audit.Values{"acknowledged_at": timeOrNull(a.AcknowledgedAt), "silenced_until": timeOrNull(a.SilencedUntil)}
}

// updateAlert applies fn to an open alert, stores its acknowledgement and silence, and reschedules its messages. subjects are the IDs of the
// subjects that fn changes, for the audit log; none means all.
func (s *Store) updateAlert(ctx context.Context, id, verb string, fn func(tx *gorm.DB, a *Alert) error, subjects ...string) (a Alert, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockAlerts); err != nil {
			return err
		}
		if a, err = alert(tx, id); err != nil {
			return err
		}
		if !a.Open() {
			return models.Conflict("The alert is already resolved.")
		}
		before := a.auditValues()
		if err := fn(tx, &a); err != nil {
			return err
		}
		err := tx.Model(&a).Select("acknowledged_at", "silenced_until_at").Updates(&a).Error
		if err != nil {
			return err
		}
		after := a.auditValues()
		if len(subjects) > 0 {
			after["subjects"] = subjects
		}
		if err := audit.Add(tx, s.clock.Now(), audit.Change{Action: verb, Subject: s.subjectOf(a), Before: before, After: after}); err != nil {
			return err
		}
		return tx.Exec("UPDATE alert_notices SET next_at = ? WHERE alert_seq = ? AND (notified_at IS NOT NULL OR next_at IS NOT NULL)", s.clock.Now(), a.Seq).Error
	})
	if models.CodeOf(err) != "" {
		return Alert{}, err
	}
	if err != nil {
		return Alert{}, fmt.Errorf("acknowledge or silence alert: %w", err)
	}
	return a, nil
}

func checkSilence(d time.Duration) error {
	if d < 0 || d > MaxSilence {
		return models.OutOfRange("minutes", "", 0, int64(MaxSilence/time.Minute))
	}
	return nil
}

// MaxBulk is the maximum number of alerts in one bulk action.
const MaxBulk = 500

// AcknowledgeAll acknowledges alerts and returns the time of the acknowledgement and the number of alerts. It skips alerts that are
// unknown, resolved, acknowledged or not visible to the actor. The error is CodeInvalid ("id") for more than MaxBulk IDs.
func (s *Store) AcknowledgeAll(ctx context.Context, ids ...string) (at models.Time, n int, err error) {
	at = s.clock.Now()
	n, err = s.updateSelected(ctx, verbAcknowledge, "acknowledged_at", at, "acknowledged_at IS NULL", ids, func(tx *gorm.DB, seqs *models.Rows) error {
		return acknowledgeSubjects(tx, seqs, at)
	})
	return at, n, err
}

// UnacknowledgeAll undoes AcknowledgeAll by the time that it returned, and returns the number of alerts. It skips alerts that are not
// visible to the actor.
func (s *Store) UnacknowledgeAll(ctx context.Context, at models.Time) (n int, err error) {
	return s.clearTime(ctx, verbUnacknowledge, "acknowledged_at", at, func(tx *gorm.DB, seqs *models.Rows) error {
		return seqs.Exec(tx, "UPDATE alert_subjects SET acknowledged_at = NULL WHERE acknowledged_at = ? AND alert_seq IN (SELECT r.seq FROM {rows} AS r)", at).Error
	})
}

// SilenceAll silences alerts for at most MaxSilence, and returns the end of the silence and the number of alerts. It skips alerts that
// are unknown, resolved or not visible to the actor. Errors are CodeInvalid ("minutes", and "id" for more than MaxBulk).
func (s *Store) SilenceAll(ctx context.Context, d time.Duration, ids ...string) (until models.Time, n int, err error) {
	if err := checkSilence(d); err != nil {
		return until, 0, err
	}
	verb := verbSilence
	if d == 0 {
		verb = verbUnsilence
	}
	until = s.clock.Now().Add(d)
	n, err = s.updateSelected(ctx, verb, "silenced_until_at", until, "true", ids, nil)
	return until, n, err
}

// UnsilenceAll undoes SilenceAll by the end time that it returned, and returns the number of alerts. It skips alerts that are not visible
// to the actor.
func (s *Store) UnsilenceAll(ctx context.Context, until models.Time) (n int, err error) {
	return s.clearTime(ctx, verbUnsilence, "silenced_until_at", until, nil)
}

// updateSelected sets a column of the open alerts with the given IDs that match a condition. See updateAlerts for then.
func (s *Store) updateSelected(ctx context.Context, verb, column string, value models.Time, where string, ids []string, then func(*gorm.DB, *models.Rows) error) (n int, err error) {
	if len(ids) > MaxBulk {
		return 0, models.TooLong("id", MaxBulk, "ids")
	}
	rows := models.RowsOf("id text", ids)
	return s.updateAlerts(ctx, verb, func(tx *gorm.DB) *gorm.DB {
		visible, args := models.Visible(tx, "alerts")
		return rows.Raw(tx, "UPDATE alerts SET "+column+" = ? WHERE id IN (SELECT r.id FROM {rows} AS r) AND "+Firing.condition()+" AND "+where+" AND "+visible+" RETURNING seq, id", append([]any{value}, args...)...)
	}, then)
}

// clearTime clears a column of the open alerts where it has the given value. See updateAlerts for then.
func (s *Store) clearTime(ctx context.Context, verb, column string, value models.Time, then func(*gorm.DB, *models.Rows) error) (n int, err error) {
	return s.updateAlerts(ctx, verb, func(tx *gorm.DB) *gorm.DB {
		visible, args := models.Visible(tx, "alerts")
		return tx.Raw("UPDATE alerts SET "+column+" = NULL WHERE "+Firing.condition()+" AND "+column+" = ? AND "+visible+" RETURNING seq, id", append([]any{value}, args...)...)
	}, then)
}

// updateAlerts runs an update of open alerts that returns their seq and id, and reschedules their messages. then changes their subjects; nil
// means not at all.
func (s *Store) updateAlerts(ctx context.Context, verb string, update func(tx *gorm.DB) *gorm.DB, then func(*gorm.DB, *models.Rows) error) (n int, err error) {
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
		if then != nil {
			if err := then(tx, seqs); err != nil {
				return err
			}
		}
		subject, which := audit.Several("alert", ids)
		if err := audit.Add(tx, s.clock.Now(), audit.Change{Action: verb, Subject: subject, After: which}); err != nil {
			return err
		}
		return seqs.Exec(tx,
			"UPDATE alert_notices SET next_at = ? WHERE alert_seq IN (SELECT r.seq FROM {rows} AS r) AND (notified_at IS NOT NULL OR next_at IS NOT NULL)", s.clock.Now()).Error
	})
	if err != nil {
		return 0, fmt.Errorf("acknowledge or silence alerts: %w", err)
	}
	return n, nil
}
