package app

import (
	"context"
	"errors"
	"fmt"
	"io"

	"linkwatch/config"
)

// check examines the database and prints what it finds, a line for each
// examination. Its error says that something is wrong. It makes no database
// where there is none.
func check(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) (err error) {
	if err := noArgs(args, stdout); err != nil {
		return err
	}
	cfg, err := config.Load(getenv)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	db, err := openExisting(ctx, cfg)
	if err != nil {
		return err
	}
	defer closeStore(db, &err)
	wrong := 0
	for _, e := range db.Examine(ctx) {
		verdict := "ok"
		if len(e.Problems) > 0 {
			verdict = "PROBLEM"
			wrong++
		}
		fmt.Fprintf(stdout, "%-12s %-8s %s\n", e.Name, verdict, e.Detail)
		for _, p := range e.Problems {
			fmt.Fprintln(stdout, "  "+p)
		}
	}
	if wrong > 0 {
		return errors.New("the database has problems")
	}
	return nil
}
