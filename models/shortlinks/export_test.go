package shortlinks

import (
	"context"
	"time"
)

// On a busy machine the database can be slow. The timeout of visits is tested over HTTP.
func init() { LoadTimeout = time.Minute }

// LoadKeys loads keys that are missing in the cache.
func LoadKeys(ctx context.Context, s *Store, keys ...string) ([]Loaded, error) {
	return s.load(ctx, keys)
}
