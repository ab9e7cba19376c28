package app

import (
	"context"
	"fmt"
	"io"

	"linkwatch/config"
)

// check examines the database and prints a line for each examination. It returns an error if there are problems or no database.
func check(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) (err error) {
	if err := noArgs("check", args, stdout); err != nil {
		return err
	}
	cfg, err := config.Load(getenv)
	if err != nil {
		return fmt.Errorf("invalid setting: %w", err)
	}
	db, err := openExisting(ctx, cfg)
	if err != nil {
		return err
	}
	defer closeStore(db, &err)
	failed := 0
	for _, e := range db.Examine(ctx) {
		verdict := "ok"
		if len(e.Problems) > 0 {
			verdict = "PROBLEM"
			failed++
		}
		fmt.Fprintf(stdout, "%-12s %-8s %s\n", e.Name, verdict, e.Detail)
		for _, p := range e.Problems {
			fmt.Fprintln(stdout, "  "+p)
		}
	}
	if failed > 0 {
		return fmt.Errorf("the database has problems: %d of the checks failed", failed)
	}
	return nil
}
