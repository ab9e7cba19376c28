package models

import (
	"context"
	"time"
)

// RequestQueries is how long a request waits for PostgreSQL: for one
// transaction, or for the queries of one Read handle. A server that hangs keeps
// its connections open, so nothing else would end the wait. SQLite needs no
// limit: only locks can delay it, for 30 s at most.
const RequestQueries = 5 * time.Second

type requestKey struct{}

// ForRequest marks ctx as that of a request, whose client waits. Background
// work has no such limit: its statements may take long.
func ForRequest(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey{}, true)
}

func (db *DB) limited(ctx context.Context) bool {
	return db.Engine == Postgres && ctx.Value(requestKey{}) != nil
}

// limitRead is ctx with the limit of a Read handle, where it applies. The end
// of the request releases the timer.
func (db *DB) limitRead(ctx context.Context) context.Context {
	if !db.limited(ctx) {
		return ctx
	}
	ctx, cancel := context.WithTimeout(ctx, RequestQueries)
	context.AfterFunc(ctx, cancel)
	return ctx
}
