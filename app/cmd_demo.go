package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"time"

	"linkwatch/config"
	"linkwatch/models"
	"linkwatch/models/links"
)

const (
	demoLinks    = 1000
	maxDemoLinks = 500_000
	demoBatch    = 5000 // links in memory at a time

	demoLived        = 1500                     // the newest links, which are checked and viewed too
	demoSitting      = 3                        // of them are stored at a time, so that tags are as old as their links
	demoViews        = 3                        // views for each of them
	demoWatchedLinks = 2                        // of them are watched, too
	demoHistory      = 2 * 365 * 24 * time.Hour // how long ago the first link was saved
)

// demo fills the store with made-up links that look as if somebody had kept
// them for two years. Their hosts end in .example, which leads nowhere
// (RFC 2606), and what their pages say is made up as well: a demo must not
// knock at anybody's door.
func fillDemo(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) (err error) {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	n := flags.Int("links", demoLinks, fmt.Sprintf("how many links, up to %d", maxDemoLinks))
	force := flags.Bool("force", false, "add them to a store that has links already")
	if err := parseFlags(flags, args, stdout); err != nil {
		return err
	}
	if *n < 1 || *n > maxDemoLinks {
		fmt.Fprintf(stdout, "-links must be from 1 to %d\n", maxDemoLinks)
		return ErrUsage
	}
	cfg, err := config.Load(getenv)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	db, err := openStore(ctx, cfg, newLogger(cfg, stdout, stdout))
	if err != nil {
		return err
	}
	defer closeStore(db, &err)

	d := newDemo(*n)
	d.store = links.NewStore(db, d.clock, d.web, links.Options{CheckInterval: cfg.LinkCheckInterval})
	counts, err := d.store.Counts(ctx)
	if err != nil {
		return err
	}
	if counts.Active+counts.Expired > 0 && !*force {
		return errors.New("the store has links already: demo -force adds to them")
	}
	stored, err := d.fill(ctx)
	if err != nil {
		return fmt.Errorf("after %d links: %w", stored, err)
	}
	watched, shortened := 0, 0
	if stored == *n { // else some were there before, with a life of their own
		if err := d.live(ctx); err != nil {
			return err
		}
		if watched, err = newDemoWatch(db, cfg.ResultRetention, d.now).fill(ctx, d.newest); err != nil {
			return fmt.Errorf("after %d targets: %w", watched, err)
		}
		short := newDemoShort(db, d.now)
		defer short.close()
		if shortened, err = short.fill(ctx, d.newest); err != nil {
			return fmt.Errorf("after %d short links: %w", shortened, err)
		}
	}
	_, err = fmt.Fprintf(stdout, "Stored %d made-up links, %d watched targets with a status page, /status/demo, and %d short links.\n"+
		"Nothing answers at their addresses. They are checked again in %d days; until then the demo stays as it is.\n"+
		"Now: linkwatch serve\n", stored, watched, shortened, int(demoRest.Hours()/24))
	return err
}

// demoRun fills one store. Its clock is moved through the two years.
type demoRun struct {
	store   *links.Store
	web     *demoWeb
	maker   *demoMaker
	rand    *rand.Rand
	total   int
	lived   int          // of them, the newest
	newest  []links.Link // of them, those that are watched too
	now, at time.Time
}

func newDemo(n int) *demoRun {
	now := time.Now()
	return &demoRun{
		web: newDemoWeb(), maker: newDemoMaker(), rand: demoRand(3),
		total: n, lived: min(n, demoLived), now: now, at: now,
	}
}

func (d *demoRun) clock() time.Time { return d.at }

// demoRand gives the same numbers at each start.
func demoRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(1, seed)) } //nolint:gosec // nothing here is a secret

// saved is when the i-th link was saved: the pace grew over the two years.
func (d *demoRun) saved(i int) time.Time {
	left := float64(d.total-i) / float64(d.total)
	return d.now.Add(-time.Duration(math.Pow(left, 1.5) * float64(demoHistory)))
}

// fill stores the links, the oldest first.
func (d *demoRun) fill(ctx context.Context) (stored int, err error) {
	for i := 0; i < d.total; {
		size := min(demoBatch, d.total-d.lived-i)
		lived := size <= 0
		if lived {
			size = min(demoSitting, d.total-i)
		}
		batch := make([]links.New, size)
		for k := range batch {
			batch[k] = d.maker.link(lived)
			batch[k].CreatedAt = models.At(d.saved(i + k))
			if lived {
				d.web.add(batch[k].URL, d.maker.page(), fateOf(d.total-1-i-k))
			}
		}
		if i += size; lived {
			d.at = d.saved(i - 1)
		}
		k, err := d.store.Import(ctx, batch)
		if stored += k; err != nil {
			return stored, err
		}
	}
	d.at = d.now
	return stored, nil
}

// live lets the newest links be checked and viewed.
func (d *demoRun) live(ctx context.Context) error {
	ids := make([]string, 0, d.lived)
	var all []links.Link
	for page := 1; len(all) < d.lived; page++ {
		found, err := d.store.List(ctx, links.Filter{}, models.Page{Number: page, Size: models.MaxPerPage})
		if err != nil {
			return err
		}
		all = append(all, found.Items[:min(len(found.Items), d.lived-len(all))]...)
	}
	for i, l := range all {
		ids = append(ids, l.ID)
		for _, d.at = range d.checks(l) {
			var err error
			if l, err = d.store.Check(ctx, l); err != nil {
				return err
			}
		}
		if i < demoWatchedLinks {
			d.newest = append(d.newest, l)
		}
	}
	if err := d.freeze(ctx); err != nil {
		return err
	}
	d.rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	liked := rand.NewZipf(d.rand, 1.2, 3, uint64(len(ids)-1))
	for range demoViews * len(ids) {
		if _, err := d.store.View(ctx, ids[liked.Uint64()]); err != nil {
			return err
		}
	}
	return nil
}

// freeze puts the next check of every link off by demoRest, as those of the
// targets are: nothing answers at their addresses, so each recheck would make a
// healthy link suspect. Links that were there before (-force) are due at once.
func (d *demoRun) freeze(ctx context.Context) error {
	var others []string
	d.at = d.now.Add(demoRest) // what is due by then is claimed, and so comes due after it
	for {
		due, err := d.store.Claim(ctx, demoBatch)
		if err != nil {
			return err
		}
		if len(due) == 0 {
			break
		}
		for _, l := range due {
			if u, err := url.Parse(l.URL); err != nil || !strings.HasSuffix(u.Host, ".example") {
				others = append(others, l.ID)
			}
		}
	}
	d.at = d.now
	for batch := range slices.Chunk(others, demoBatch) {
		if err := d.store.PutOff(ctx, 0, batch...); err != nil {
			return err
		}
	}
	return nil
}

// checks are the times at which a link was looked at, the last one lately:
// once for those that are well, and twice or more for those that fell ill after
// the first time.
func (d *demoRun) checks(l links.Link) []time.Time {
	const day = 24 * time.Hour
	ago := func(most time.Duration) time.Time { // no longer ago than the link was saved
		return d.now.Add(-time.Duration(d.rand.Int64N(1 + int64(min(most, d.now.Sub(l.CreatedAt.Time))))))
	}
	switch d.web.pages[l.URL].fate {
	case fateGone:
		return []time.Time{l.CreatedAt.Time, ago(demoHistory)}
	case fateSilent:
		return []time.Time{l.CreatedAt.Time, ago(day / 2)}
	case fateDead:
		return []time.Time{l.CreatedAt.Time, d.now.Add(-49 * time.Hour), d.now.Add(-25 * time.Hour), d.now.Add(-time.Hour)}
	case fateMoved, fateShut:
		return []time.Time{l.CreatedAt.Time, ago(6 * day)}
	case fateWell:
	}
	return []time.Time{ago(6 * day)}
}
