package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/linkwatch/linkwatch/config"
	"github.com/linkwatch/linkwatch/models/links"
)

const (
	demoLinks    = 1000
	maxDemoLinks = 500_000
	demoBatch    = 5000 // links in memory at a time
)

// demo fills the store with made-up links. Their hosts end in .example, which
// leads nowhere (RFC 2606): a demo must not knock at anybody's door.
func demo(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) (err error) {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	n := flags.Int("links", demoLinks, fmt.Sprintf("how many links, up to %d", maxDemoLinks))
	force := flags.Bool("force", false, "add them to a store that has links already")
	if err := parseFlags(flags, args, stdout); err != nil {
		return err
	}
	if *n < 1 || *n > maxDemoLinks {
		fmt.Fprintf(stdout, "-links must be from 1 to %d\n", maxDemoLinks)
		return errUsage
	}
	cfg, err := config.Load(getenv)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	db, err := openStore(ctx, cfg, newLogger(cfg, stdout))
	if err != nil {
		return err
	}
	defer closeStore(db, &err)

	store := links.NewStore(db, nil, nil, links.Options{CheckInterval: cfg.LinkCheckInterval})
	counts, err := store.Counts(ctx)
	if err != nil {
		return err
	}
	if counts.Active+counts.Expired > 0 && !*force {
		return errors.New("the store has links already: demo -force adds to them")
	}
	stored := 0
	made := newDemoMaker()
	for left := *n; left > 0; left -= demoBatch {
		batch := make([]links.New, 0, demoBatch)
		for range min(left, demoBatch) {
			batch = append(batch, made.link())
		}
		k, err := store.Import(ctx, batch)
		stored += k
		if err != nil {
			return fmt.Errorf("after %d links: %w", stored, err)
		}
	}
	_, err = fmt.Fprintf(stdout, "Stored %d made-up links. Now: linkwatch serve\n", stored)
	return err
}

// demoMaker makes up links, the same ones each time.
type demoMaker struct {
	rand *rand.Rand
	n    int
}

func newDemoMaker() *demoMaker {
	return &demoMaker{rand: rand.New(rand.NewPCG(1, 2))} //nolint:gosec // nothing here is a secret
}

var (
	demoHosts  = strings.Fields("north-harbor quietcode papertrail fieldnotes lowtide greenroom ironworks moonpost daybreak oldmill openbench riverbed")
	demoTopics = strings.Fields("Go SQLite PostgreSQL HTTP DNS TLS Linux Kubernetes CSS accessibility testing security performance typography gardening cooking cycling history maps music photography privacy radio woodworking")
	demoTitles = []string{
		"A field guide to %s", "What I learned from ten years of %s", "%s for people in a hurry", "The quiet art of %s",
		"Notes on %s and %s", "How %s changed the way we think about %s", "Common mistakes in %s", "%s from first principles",
		"Why %s is harder than it looks", "A short history of %s", "Measuring %s without fooling yourself", "%s, %s and the long view",
	}
	demoKinds = strings.Fields("read-later reference tutorial talk tool book")
)

func (m *demoMaker) link() links.New {
	m.n++
	topic, other := m.pick(demoTopics), m.pick(demoTopics)
	title := m.pick(demoTitles)
	words := []any{topic, other}
	title = fmt.Sprintf(title, words[:strings.Count(title, "%s")]...)
	slug := strings.ReplaceAll(strings.ToLower(strings.ReplaceAll(title, ",", "")), " ", "-")
	l := links.New{
		URL:   fmt.Sprintf("https://%s.example/%d/%s-%d", m.pick(demoHosts), 2015+m.rand.IntN(11), slug, m.n),
		Title: title,
		Tags:  []string{topic},
	}
	if m.rand.IntN(2) == 0 && other != topic {
		l.Tags = append(l.Tags, other)
	}
	if m.rand.IntN(3) == 0 {
		l.Tags = append(l.Tags, m.pick(demoKinds))
	}
	if m.rand.IntN(8) == 0 {
		l.Notes = "Came up in a talk about " + other + "."
	}
	return l
}

func (m *demoMaker) pick(from []string) string { return from[m.rand.IntN(len(from))] }
