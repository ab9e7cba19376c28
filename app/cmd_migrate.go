package app

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"linkwatch/config"
	"linkwatch/models"
)

// migrate changes the schema of the store: up to the newest version, or n
// steps down, one unless it is said.
func migrate(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) (err error) {
	steps := 0 // up
	switch {
	case len(args) == 1 && args[0] == "up":
	case len(args) == 1 && args[0] == "down":
		steps = 1
	case len(args) == 2 && args[0] == "down":
		if steps, err = strconv.Atoi(args[1]); err != nil || steps < 1 {
			fmt.Fprintln(stdout, "migrate down takes how many steps to undo: a whole number from 1")
			return ErrUsage
		}
	default:
		usage(stdout)
		return ErrUsage
	}
	cfg, err := config.Load(getenv)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	db, err := models.Open(ctx, cfg.DatabaseDriver, string(cfg.DatabaseURL), newLogger(cfg, stdout, stdout))
	if err != nil {
		return storeError(cfg, err)
	}
	defer closeStore(db, &err)
	if steps == 0 {
		if err := db.Migrate(); err != nil {
			return err
		}
		_, err = fmt.Fprintln(stdout, "The schema is the newest.")
		return err
	}
	if err := db.MigrateDown(steps); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "Migrations taken back: %d.\n", steps)
	return err
}
