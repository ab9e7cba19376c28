package shortlinks

import (
	"context"
	"slices"
	"strings"
	"time"
)

// On a busy machine the database can be slow. The timeout of visits is tested over HTTP.
func init() { LoadTimeout = time.Minute }

// LoadKeys loads keys that are missing in the cache.
func LoadKeys(ctx context.Context, s *Store, keys ...string) ([]Loaded, error) {
	return s.load(ctx, keys)
}

// Columns returns the columns of a table that a move copies, in alphabetic order.
func Columns(table string) string {
	columns := map[string]string{live.links: linkColumns, live.days: dayColumns, live.referrers: referrerColumns}[table]
	return strings.Join(slices.Sorted(strings.SplitSeq(columns, ", ")), " ")
}
