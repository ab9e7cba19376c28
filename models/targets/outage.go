package targets

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Outage is a period in which a target was down. It lasts from the first failed check to
// the next successful one. Pausing or deleting the target ends it too.
type Outage struct {
	ID        string
	TargetSeq int64
	StartedAt models.Time
	EndedAt   models.Time // zero: ongoing
	Cause     string      // the error of the first check

	TargetID   string `gorm:"->"`
	TargetName string `gorm:"->"` // "" = none
	TargetURL  string `gorm:"->"` // its canonical URL
}

// Duration returns how long the outage lasted, until now if it is ongoing.
func (o Outage) Duration(now time.Time) time.Duration {
	if o.EndedAt.IsZero() {
		return now.Sub(o.StartedAt.Time)
	}
	return o.EndedAt.Sub(o.StartedAt.Time)
}

func beginOutages(tx *gorm.DB, rs []Result) error {
	rows := models.NewRows("id text, target_seq bigint, started_at bigint, cause text")
	for _, r := range rs {
		rows.Add(models.TimedID(models.KindOutage, r.CheckedAt, r.TargetSeq), r.TargetSeq, r.CheckedAt, r.Error)
	}
	return rows.Exec(tx, `INSERT INTO outages (id, target_seq, started_at, cause)
		SELECT id, target_seq, started_at, cause FROM {rows} AS r WHERE true ON CONFLICT DO NOTHING`).Error
}

// endOutages ends the outages of the targets of the results, at the time of the result.
func endOutages(tx *gorm.DB, rs []Result) error {
	rows := models.NewRows("target_seq bigint, at bigint")
	for _, r := range rs {
		rows.Add(r.TargetSeq, r.CheckedAt)
	}
	// An outage must not end before it starts, even if the clock was set back.
	return rows.Exec(tx, `UPDATE outages SET ended_at = CASE WHEN started_at > r.at THEN started_at ELSE r.at END
		FROM {rows} AS r WHERE outages.target_seq = r.target_seq AND ended_at IS NULL`).Error
}

// TargetTitle returns the DisplayTitle of the target of a row in a list.
func (o Outage) TargetTitle() string { return titleOf(o.TargetName, o.TargetURL) }

// withTarget selects rows of a table, with the alias x, and the id, name and URL of their
// target. It omits rows of targets that are deleted or not visible to the actor.
func withTarget(tx *gorm.DB, table string, args ...any) *gorm.DB {
	visible, who := models.Visible(tx, "t")
	return tx.Table(table, args...).Joins("JOIN targets AS t ON t.seq = x.target_seq AND t.deleted_at IS NULL AND "+visible, who...).
		Select("x.*, t.id AS target_id, t.name AS target_name, t.canonical_url AS target_url")
}

// listWithTarget is withTarget for a list.
func listWithTarget(tx *gorm.DB, table string) models.ListQuery {
	visible, who := models.Visible(tx, "t")
	return models.ListQuery{
		Table: table, From: table + " JOIN targets AS t ON t.seq = x.target_seq AND t.deleted_at IS NULL AND " + visible, FromArgs: who,
	}
}

// OutageOrders are the orders of Outages.
var OutageOrders = models.Orders[Outage]{
	Field: "started_at", Desc: true, Time: "x.started_at", ID: "x.id", Kind: models.KindOutage,
	At: func(o Outage) models.Cursor { return models.Cursor{CreatedAt: o.StartedAt, ID: o.ID} },
}

// Outages returns a page of outages, newest first by default, of one target or of all if targetID
// is "". CodeNotFound if the target does not exist.
func (s *Store) Outages(ctx context.Context, targetID string, after models.Cursor, limit int) (models.Slice[Outage], error) {
	var page models.Slice[Outage]
	tx := s.db.Read(ctx)
	q := listWithTarget(tx, "outages AS x")
	if targetID != "" {
		seq, err := s.seq(ctx, targetID)
		if err != nil {
			return page, err
		}
		q.And("x.target_seq = ?", seq)
	}
	return OutageOrders.List(tx, q, after, limit, func(p models.ListPart) (found []Outage, err error) {
		if err = p.Of(withTarget(tx, "outages AS x")).Find(&found).Error; err != nil {
			err = fmt.Errorf("list outages: %w", err)
		}
		return found, err
	})
}

// seq returns the key of a target; CodeNotFound if there is none.
func (s *Store) seq(ctx context.Context, id string) (seq int64, err error) {
	if models.CheckID(models.KindTarget, id) != nil {
		return 0, models.NotFound("target")
	}
	if err := notDeleted(s.db.Read(ctx)).Where("id = ?", id).Pluck("seq", &seq).Error; err != nil {
		return 0, fmt.Errorf("find target: %w", err)
	}
	if seq == 0 {
		return 0, models.NotFound("target")
	}
	return seq, nil
}
