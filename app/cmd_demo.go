package app

import (
	"context"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize/english"

	"linkwatch/config"
	"linkwatch/demo"
	"linkwatch/models"
)

const demoLinks = 1000

// fillDemo fills the database with made-up data of every system.
func fillDemo(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) (err error) {
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
	systems, err := newSystems(c)
	if err != nil {
		return err
	}
	defer systems.Close()
	run := &demo.Run{DB: db, Now: time.Now(), Links: *n, Force: *force}
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
}
