package app

import (
	"context"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize/english"

	"linkwatch/demo"
	"linkwatch/models"
)

const demoLinks = 1000

// fillDemo fills the database with made-up data of every system.
func fillDemo(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	n := flags.Int("links", demoLinks, fmt.Sprintf("how many links, up to %d", demo.MaxLinks))
	force := flags.Bool("force", false, "add them to a store that has links already")
	if err := parseFlags(flags, args, stdout); err != nil {
		return err
	}
	if *n < 1 || *n > demo.MaxLinks {
		fmt.Fprintf(stdout, "-links must be from 1 to %d\n", demo.MaxLinks)
		return ErrUsage
	}
	return withCore(ctx, getenv, stdout, func(c *core) error {
		systems, err := newSystems(c)
		if err != nil {
			return err
		}
		defer systems.Close()
		run := &demo.Run{DB: c.DB, Now: time.Now(), Links: *n, Force: *force}
		var all []string
		for _, s := range systems.All() {
			if s.Demo == nil {
				continue
			}
			did, err := s.Demo(ctx, run)
			if err != nil {
				return err
			}
			all = append(all, did)
		}
		_, err = fmt.Fprintf(stdout, "Stored %s.\n"+
			"Nothing answers at their addresses. They are checked again in %d days; until then the demo stays as it is.\n"+
			"Now: linkwatch serve\n", english.OxfordWordSeries(all, "and"), demo.Rest/models.Day)
		return err
	})
}
