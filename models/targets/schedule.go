package targets

import (
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Each check changes the schedule of its target twice: when it is claimed and when it is
// recorded. So schedules are rows of a narrow table (ADR 29). A transaction that locks
// both rows of a target locks its schedule first.

// due returns the target due now, or when its Retry-After ends. It has no
// claim, so that the result of a running check with old settings is dropped.
func (t Target) due(now models.Time) Target {
	t = t.unclaimed()
	t.DueAt, t.NextCheckAt = now, now
	if t.Throttled(now) {
		t.NextCheckAt = t.PostponedUntil
	}
	return t
}

func (t Target) unscheduled() Target {
	t = t.unclaimed()
	t.DueAt, t.NextCheckAt, t.RequestedAt = models.Time{}, models.Time{}, models.Time{}
	return t
}

func (t Target) unclaimed() Target {
	t.ClaimedBy, t.StartedAt = "", models.Time{}
	return t
}

// reschedule stores the Schedule of a target.
func reschedule(tx *gorm.DB, t Target) error {
	err := tx.Exec(`UPDATE target_schedule SET due_at = ?, next_check_at = ?, postponed_until = ?, claimed_by = ?, started_at = ?, requested_at = ?
		WHERE target_seq = ?`, t.DueAt, t.NextCheckAt, t.PostponedUntil, t.ClaimedBy, t.StartedAt, t.RequestedAt, t.Seq).Error
	if err != nil {
		return fmt.Errorf("schedule target: %w", err)
	}
	return nil
}

// scheduleNew makes new targets due. One that is added alone is checked first, like a requested check: a user waits.
func scheduleNew(tx *gorm.DB, added []Target) error {
	rows := models.NewRows("seq bigint, due bigint, requested bigint")
	for _, t := range added {
		var requested models.Time
		if len(added) == 1 {
			requested = t.CreatedAt
		}
		rows.Add(t.Seq, t.CreatedAt, requested)
	}
	err := rows.Exec(tx, "INSERT INTO target_schedule (target_seq, due_at, next_check_at, requested_at) SELECT seq, due, due, requested FROM {rows} AS r").Error
	if err != nil {
		return fmt.Errorf("schedule targets: %w", err)
	}
	return nil
}

// lockSchedule loads and locks the schedule of a target; the zero value if there is none.
func lockSchedule(tx *gorm.DB, id string) (s Schedule, err error) {
	query := "SELECT " + scheduleColumns + " FROM target_schedule WHERE target_seq = (SELECT seq FROM targets WHERE id = ?)"
	if tx.Name() == models.Postgres {
		query += " FOR UPDATE"
	}
	if err := models.Each(tx.Raw(query, id), func(r *models.Row) { _, s = readSchedule(r) }); err != nil {
		return s, fmt.Errorf("lock schedule: %w", err)
	}
	return s, nil
}

// loadSchedule sets the Schedule of targets with one query.
func loadSchedule(tx *gorm.DB, ts []Target) error {
	if len(ts) == 0 {
		return nil
	}
	rows := models.NewRows("seq bigint")
	at := make(map[int64]int, len(ts))
	for i, t := range ts {
		rows.Add(t.Seq)
		at[t.Seq] = i
	}
	query := rows.Raw(tx, "SELECT "+scheduleColumns+" FROM {rows} AS r CROSS JOIN target_schedule WHERE target_seq = r.seq")
	err := models.Each(query, func(r *models.Row) {
		seq, s := readSchedule(r)
		ts[at[seq]].Schedule = s
	})
	if err != nil {
		return fmt.Errorf("load schedules: %w", err)
	}
	return nil
}

// sameClaim is the condition that a row of {rows} has the claim of its target. PostgreSQL
// must not join by the index of claims: all rows have the same one, so that would take
// quadratic time. It does so when its statistics are older than the claims.
const sameClaim = "target_schedule.claimed_by || '' = r.claimed_by"

// scheduleColumns are the columns that readSchedule reads.
const scheduleColumns = "target_seq, due_at, next_check_at, postponed_until, claimed_by, started_at, requested_at"

func readSchedule(r *models.Row) (seq int64, s Schedule) {
	seq = r.Int64()
	r.Scan(&s.DueAt)
	r.Scan(&s.NextCheckAt)
	r.Scan(&s.PostponedUntil)
	r.Scan(&s.ClaimedBy)
	r.Scan(&s.StartedAt)
	r.Scan(&s.RequestedAt)
	return seq, s
}
