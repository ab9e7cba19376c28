package models

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

const (
	slowQuery = 250 * time.Millisecond // logged as a warning from here on
	loggedSQL = 300                    // bytes of a statement that are logged: one of many rows has thousands
)

// queryLog logs slow statements and notes faults of the database. All other
// errors go to the caller only, who knows what they mean.
type queryLog struct {
	logger.Interface // says nothing
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

// ParamsFilter keeps values out of the log: they are what people typed.
func (queryLog) ParamsFilter(_ context.Context, sql string, _ ...any) (string, []any) {
	return sql, nil
}

var _ gorm.ParamsFilter = queryLog{}
