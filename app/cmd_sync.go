package app

import (
	"context"
	"fmt"
	"io"
)

// syncSources creates or updates the crawl jobs of enabled sources, like POST /v1/admin/sync-enabled-sources.
func syncSources(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	if err := noArgs("sync", args, stdout); err != nil {
		return err
	}
	return withCore(ctx, getenv, func(c *core) error {
		s, err := newCrawl(c)
		if err != nil {
			return err
		}
		r, err := s.deps.Sync(ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(stdout, "Created %d, updated %d, skipped %d.\n", r.Created, r.Updated, r.Skipped)
		return err
	})
}
