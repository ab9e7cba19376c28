package models

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

const (
	slowQuery = 250 * time.Millisecond // slower queries are logged as a warning
	loggedSQL = 300                    // bytes of a statement that are logged; statements with many rows have thousands
)

// queryLog logs slow statements and records database faults. Other errors are left to the caller, who knows what
// they mean.
type queryLog struct {
	logger.Interface // discards everything
	faults           *faults
}

// Trace is called by GORM after each statement.
func (q queryLog) Trace(ctx context.Context, begin time.Time, statement func() (sql string, rows int64), err error) {
	_ = q.faults.note(err) // the caller gets the same error
	if took := time.Since(begin); took > slowQuery {
		sql, rows := statement()
		q.faults.log.WarnContext(ctx, "slow query", "took_us", took.Microseconds(), "rows", rows, "sql", sql[:min(len(sql), loggedSQL)])
	}
}

// ParamsFilter removes values from logged statements, as they may be user input.
func (queryLog) ParamsFilter(_ context.Context, sql string, _ ...any) (string, []any) {
	return sql, nil
}

var _ gorm.ParamsFilter = queryLog{}
