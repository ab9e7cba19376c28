package app

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/dustin/go-humanize/english"

	"linkwatch/config"
	"linkwatch/models"
)

// migrate updates the schema to the newest version, or reverts migrations.
func migrate(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) (err error) {
	action, args, err := subcommand("migrate", []string{"up", "down"}, args, stdout)
	if err != nil {
		return err
	}
	params := map[string]string{"down": "[N]"}[action]
	if args, err = parse("migrate "+action, nil, args, params, stdout); err != nil {
		return err
	}
	steps := 0 // up
	if action == "down" {
		steps = 1
	}
	if len(args) > 0 {
		if steps, err = strconv.Atoi(args[0]); err != nil || steps < 1 {
			return wrongUsage(stdout, "migrate down", "N must be a whole number, 1 or more")
		}
	}
	cfg, err := config.Load(getenv)
	if err != nil {
		return fmt.Errorf("invalid setting: %w", err)
	}
	db, err := models.Open(ctx, cfg.DatabaseDriver, string(cfg.DatabaseURL), newLogger(cfg, stdout, stdout))
	if err != nil {
		return storeError(cfg, err)
	}
	defer closeStore(db, &err)
	if steps == 0 {
		if err := db.Migrate(ctx); err != nil {
			return err
		}
		_, err = fmt.Fprintln(stdout, "The schema is up to date.")
		return err
	}
	if err := db.MigrateDown(ctx, steps); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "Reverted %s.\n", english.Plural(steps, "migration", ""))
	return err
}
