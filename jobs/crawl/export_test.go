package crawl

import (
	"context"
	"time"
)

// LongRequest reports whether a request of a running execution is cancelled although it has been sent for longer than an idle
// execution is watched.
func LongRequest(ctx context.Context) (cancelled bool) {
	w := newWatch(func(_ context.Context, runs map[int64]bool) (map[int64]bool, error) { return runs, nil })
	request, r := w.startRequest(ctx, 1)
	defer r.done()
	w.runs[1].used = time.Now().Add(-2 * watchTTL)
	_ = w.check(ctx)
	return request.Err() != nil
}
