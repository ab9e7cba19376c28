package models

import (
	"context"
	"time"
)

// RequestQueries is the longest time a request waits for PostgreSQL: for one transaction, or for all queries of
// one Read handle. Without it a hanging server, which keeps its connections open, would block requests forever.
// SQLite needs no limit: only locks can delay it, for at most 30 s.
const RequestQueries = 5 * time.Second

type requestKey struct{}

// ForRequest marks ctx as the context of a request, to which RequestQueries applies. Background work has no such
// limit.
func ForRequest(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey{}, true)
}

func (db *DB) limited(ctx context.Context) bool {
	return db.Engine == Postgres && ctx.Value(requestKey{}) != nil
}

// limitRead returns ctx with the limit of a Read handle, if it applies. The end of the request releases the timer.
func (db *DB) limitRead(ctx context.Context) context.Context {
	if !db.limited(ctx) {
		return ctx
	}
	ctx, cancel := context.WithTimeout(ctx, RequestQueries)
	context.AfterFunc(ctx, cancel)
	return ctx
}
