package targets

import (
	"context"
	"fmt"
	"time"

	"linkwatch/models"
)

// Outcome is what one check found.
type Outcome int

// The outcomes of a check, as they are stored.
const (
	UpOutcome        Outcome = 0
	DownOutcome      Outcome = 1
	ThrottledOutcome Outcome = 2 // the host asked for a pause (429): says nothing about its health
)

// String is the outcome as it is shown and filtered by.
func (o Outcome) String() string {
	switch o {
	case UpOutcome:
		return "up"
	case DownOutcome:
		return "down"
	case ThrottledOutcome:
		return "throttled"
	}
	return "unknown"
}

// Response is what one request of a check brought.
type Response struct {
	StatusCode int
	Latency    time.Duration // until the answer began
	Body       []byte        // text as UTF-8, as far as it was read
	Truncated  bool          // the body went on past what is read of one, without having said how long it is
	Error      string        // why there was no answer: "connection refused"; "" = there was one
}

// Result is one check of a target.
type Result struct {
	TargetSeq  int64
	CheckedAt  models.Time // when it began; no two checks of a target begin at the same time
	Outcome    Outcome
	StatusCode int    // 0: no answer
	LatencyMS  int    // of the last attempt
	Attempts   int    // requests made, from 1
	Error      string // short and stable; "" when up
	IntervalMS int64  `gorm:"column:interval_ms"` // time between checks when it was made, at least that of the check itself; set by Record

	TargetID   string `gorm:"->"` // where a list was asked for
	TargetName string `gorm:"->"` // what the target is called
}

// TableName implements GORM's Tabler.
func (Result) TableName() string { return "check_results" }

// ID is the id of the result. It is made of its key, so that it takes no room
// in the store.
func (r Result) ID() string { return models.TimedID(models.KindCheck, r.CheckedAt, r.TargetSeq) }

// ResultFilter selects results for a list.
type ResultFilter struct {
	TargetID string      // "" = all targets
	Since    models.Time // checked then or later; zero = any time
	Failed   bool        // only those that were not up
}

// Results is a page of check results, newest first: the cursor's CreatedAt is a
// result's CheckedAt. An unknown target is CodeNotFound.
func (s *Store) Results(ctx context.Context, f ResultFilter, after models.Cursor, limit int) (models.Slice[Result], error) {
	var page models.Slice[Result]
	table := "check_results AS x"
	if f.Failed && f.TargetID != "" && s.db.Engine == models.SQLite { // which would rather look through all of the target's
		table += " INDEXED BY check_results_target_failed"
	}
	q := withTarget(s.db.Read(ctx), table)
	if f.TargetID != "" {
		seq, err := s.seq(ctx, f.TargetID)
		if err != nil {
			return page, err
		}
		q = q.Where("x.target_seq = ?", seq)
	}
	if !f.Since.IsZero() {
		q = q.Where("x.checked_at >= ?", f.Since)
	}
	if f.Failed {
		q = q.Where("x.outcome <> 0")
	}
	if after != (models.Cursor{}) {
		at, seq, err := models.ParseTimedID(models.KindCheck, after.ID)
		if err != nil {
			return page, models.ErrPageToken
		}
		q = q.Where("(x.checked_at, x.target_seq) < (?, ?)", at, seq)
	}
	if err := q.Order("x.checked_at DESC, x.target_seq DESC").Limit(limit + 1).Find(&page.Items).Error; err != nil {
		return page, fmt.Errorf("listing check results: %w", err)
	}
	return models.NewSlice(page.Items, limit, func(r Result) models.Cursor { return models.Cursor{CreatedAt: r.CheckedAt, ID: r.ID()} }), nil
}
