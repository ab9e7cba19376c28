package targets

import (
	"context"
	"fmt"
	"time"

	"linkwatch/models"
)

// Outcome is the outcome of a check.
type Outcome int

// The outcomes of a check, as they are stored.
const (
	UpOutcome        Outcome = 0
	DownOutcome      Outcome = 1
	ThrottledOutcome Outcome = 2 // rate limited (429): neither up nor down
)

// String returns the outcome as pages and the API show it.
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

// Response is the response to one request of a check, or its error.
type Response struct {
	StatusCode int
	Latency    time.Duration // until the first byte of the response
	Body       []byte        // text as UTF-8, possibly only a part
	Truncated  bool          // the body exceeds the limit and has no Content-Length
	Error      string        // why there is no response: "connection refused"; "" = there is one
}

// Result is one check of a target.
type Result struct {
	TargetSeq  int64
	CheckedAt  models.Time // start; unique for a target
	Outcome    Outcome
	StatusCode int    // 0: no response
	LatencyMS  int    // of the last attempt
	Attempts   int    // requests made, from 1
	Error      string // short and stable; "" when up
	IntervalMS int64  `gorm:"column:interval_ms"` // time between checks at that time, or the duration of the check if longer; set by Record

	TargetID   string `gorm:"->"` // in lists only
	TargetName string `gorm:"->"` // "" = none
	TargetURL  string `gorm:"->"` // its canonical URL
}

// TargetTitle returns the DisplayTitle of the target of a row in a list.
func (r Result) TargetTitle() string { return titleOf(r.TargetName, r.TargetURL) }

// TableName implements GORM's Tabler.
func (Result) TableName() string { return "check_results" }

// ID returns the id of the result. It is computed from the key and not stored.
func (r Result) ID() string { return models.TimedID(models.KindCheck, r.CheckedAt, r.TargetSeq) }

// ResultFilter selects results for a list.
type ResultFilter struct {
	TargetID string      // "" = all targets
	Since    models.Time // started then or later; zero = any time
	Failed   bool        // only those that were not up
}

// ResultOrders are the orders of Results.
var ResultOrders = models.Orders[Result]{
	Field: "checked_at", Desc: true, Time: "x.checked_at", ID: "x.target_seq", Key: models.TimeAndNumber, Kind: models.KindCheck,
	At: func(r Result) models.Cursor { return models.Cursor{CreatedAt: r.CheckedAt, ID: r.ID()} },
}

// Results returns a page of check results, newest first by default. The cursor's CreatedAt is a
// result's CheckedAt. CodeNotFound if the target does not exist.
func (s *Store) Results(ctx context.Context, f ResultFilter, after models.Cursor, limit int) (models.Slice[Result], error) {
	var page models.Slice[Result]
	table := "check_results AS x"
	if f.Failed && f.TargetID != "" && s.db.Engine == models.SQLite { // otherwise SQLite scans all results of the target
		table += " INDEXED BY check_results_target_failed"
	}
	tx := s.db.Read(ctx)
	q := listWithTarget(tx, table)
	if f.TargetID != "" {
		seq, err := s.seq(ctx, f.TargetID)
		if err != nil {
			return page, err
		}
		q.And("x.target_seq = ?", seq)
	}
	if !f.Since.IsZero() {
		q.And("x.checked_at >= ?", f.Since)
	}
	if f.Failed {
		q.And("x.outcome <> 0")
	}
	return ResultOrders.List(tx, q, after, limit, func(p models.ListPart) (found []Result, err error) {
		if err = p.Of(withTarget(tx, table)).Find(&found).Error; err != nil {
			err = fmt.Errorf("list check results: %w", err)
		}
		return found, err
	})
}
