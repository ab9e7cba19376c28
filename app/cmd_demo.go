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

type demoFlags struct {
	links int
	force bool
}

func (f *demoFlags) declare(flags *flag.FlagSet) {
	flags.IntVar(&f.links, "links", 1000, fmt.Sprintf("`N`umber of links to create, at most %d", demo.MaxLinks))
	flags.BoolVar(&f.force, "force", false, "Add the sample data to a database that already has links")
}

// fillDemo fills the database with sample data of every system.
func fillDemo(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	var f demoFlags
	if _, err := parse("demo", f.declare, args, "", stdout); err != nil {
		return err
	}
	if f.links < 1 || f.links > demo.MaxLinks {
		return wrongUsage(stdout, "demo", "--links must be between 1 and %d", demo.MaxLinks)
	}
	return withCore(ctx, getenv, func(c *core) error {
		systems, err := newSystems(c)
		if err != nil {
			return err
		}
		defer systems.Close()
		run := &demo.Run{DB: c.DB, Now: time.Now(), Links: f.links, Force: f.force}
		var all []string
		for _, s := range systems.All() {
			if s.Demo == nil {
				continue
			}
			added, err := s.Demo(ctx, run)
			if err != nil {
				return err
			}
			all = append(all, added)
		}
		if !run.Fresh {
			_, err = fmt.Fprintf(stdout, "Added %s. The database already has the other sample links, so no other sample data was added.\n", all[0])
			return err
		}
		_, err = fmt.Fprintf(stdout, "Added %s.\n"+
			"The URLs are not real. They are next checked in %d days, so the sample data does not change until then.\n"+
			"Run \"linkwatch serve\" to see it.\n", english.OxfordWordSeries(all, "and"), demo.Rest/models.Day)
		return err
	})
}
