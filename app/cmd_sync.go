package app

import (
	"context"
	"fmt"
	"io"

	"linkwatch/config"
)

// syncSources syncs enabled sources to jobs, as POST /v1/admin/sync-enabled-sources
// does. A running server sees the new jobs when it polls next.
func syncSources(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) (err error) {
	if err := noArgs(args, stdout); err != nil {
		return err
	}
	cfg, err := config.Load(getenv)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	log := newLogger(cfg, stdout, stdout)
	db, err := openStore(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer closeStore(db, &err)
	c, err := newCore(Options{Config: cfg, DB: db, Log: log})
	if err != nil {
		return err
	}
	defer c.close()
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
}
