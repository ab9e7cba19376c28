package demo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"strings"
	"time"

	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/links"
)

const (
	batchSize       = 5000          // links per batch
	activeLinks     = 1500          // newest links, which are also checked and viewed
	activeBatchSize = 3             // small, so that tags are as old as their links
	viewsEach       = 3             // average views of an active link
	newestLinks     = 2             // links in Run.Newest
	linksHistory    = 2 * 365 * day // age of the oldest link
)

// Links adds sample links and returns a summary. interval is the interval of rechecks.
func Links(ctx context.Context, r *Run, interval time.Duration) (summary string, err error) {
	l := newLinkMaker(r)
	l.store = links.NewStore(r.DB, l.clock, l.web, links.Options{CheckInterval: interval})
	counts, err := l.store.Counts(ctx)
	if err != nil {
		return "", err
	}
	if counts.Active+counts.Expired > 0 && !r.Force {
		return "", errors.New("the database has links already: run \"linkwatch demo --force\" to add the sample data anyway")
	}
	stored, err := l.fill(ctx)
	if err != nil {
		return "", fmt.Errorf("after %d links: %w", stored, err)
	}
	if r.Fresh = stored == r.Links; r.Fresh {
		if err := l.simulate(ctx); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d links", stored), nil
}

// linkMaker adds sample links to a store. It sets its clock to times of the last two years.
type linkMaker struct {
	run    *Run
	store  *links.Store
	web    *web
	maker  *pageMaker
	rand   *rand.Rand
	active int // number of active links
	at     time.Time
}

func newLinkMaker(r *Run) *linkMaker {
	return &linkMaker{run: r, web: newWeb(), maker: newPageMaker(), rand: random(3), active: min(r.Links, activeLinks), at: r.Now}
}

func (d *linkMaker) clock() time.Time { return d.at }

// savedAt returns when the i-th link was saved. The number of links per day grows.
func (d *linkMaker) savedAt(i int) time.Time {
	left := float64(d.run.Links-i) / float64(d.run.Links)
	return d.run.Now.Add(-time.Duration(math.Pow(left, 1.5) * float64(linksHistory)))
}

// fill stores the links, oldest first.
func (d *linkMaker) fill(ctx context.Context) (stored int, err error) {
	for i := 0; i < d.run.Links; {
		size := min(batchSize, d.run.Links-d.active-i)
		active := size <= 0
		if active {
			size = min(activeBatchSize, d.run.Links-i)
		}
		batch := make([]links.New, size)
		for k := range batch {
			batch[k] = d.maker.link(active)
			batch[k].CreatedAt = models.At(d.savedAt(i + k))
			if active {
				d.web.add(batch[k].URL, d.maker.page(), fateOf(d.run.Links-1-i-k))
			}
		}
		if i += size; active {
			d.at = d.savedAt(i - 1)
		}
		k, err := d.store.Import(ctx, batch)
		if stored += k; err != nil {
			return stored, err
		}
	}
	d.at = d.run.Now
	return stored, nil
}

// simulate checks and views the active links.
func (d *linkMaker) simulate(ctx context.Context) error {
	ids := make([]string, 0, d.active)
	var all []links.Link
	for page := 1; len(all) < d.active; page++ {
		found, err := d.store.List(ctx, links.Filter{}, models.Page{Number: page, Size: models.MaxPerPage})
		if err != nil {
			return err
		}
		all = append(all, found.Items[:min(len(found.Items), d.active-len(all))]...)
	}
	for i, l := range all {
		ids = append(ids, l.ID)
		for _, d.at = range d.checkTimes(l) {
			var err error
			if l, err = d.store.Recheck(ctx, l.ID); err != nil {
				return err
			}
		}
		if i < newestLinks {
			d.run.Newest = append(d.run.Newest, Link{l.URL, l.Title})
		}
	}
	if err := d.freeze(ctx); err != nil {
		return err
	}
	d.rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	popularity := rand.NewZipf(d.rand, 1.2, 3, uint64(len(ids)-1))
	for range viewsEach * len(ids) {
		if _, err := d.store.View(ctx, ids[popularity.Uint64()]); err != nil {
			return err
		}
	}
	return nil
}

// freeze delays the next check of every link by Rest, as for targets. Sample hosts do not exist, so a recheck
// would make a healthy link suspect. Links that existed before (--force) become due now.
func (d *linkMaker) freeze(ctx context.Context) (err error) {
	instance := lease.New(d.run.DB, nil)
	if err := instance.Beat(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, instance.End(ctx)) }()
	holder, _, _ := instance.Current()
	var others []lease.Released[links.Claimed]
	d.at = d.run.Now.Add(Rest) // claim all links that are due by then, and schedule them after it
	for {
		due, _, err := d.store.Claim(ctx, holder, batchSize)
		if err != nil {
			return err
		}
		if len(due) == 0 {
			break
		}
		var samples []lease.Released[links.Claimed]
		for _, l := range due {
			if u, err := url.Parse(l.URL); err != nil || !strings.HasSuffix(u.Host, ".example") {
				others = append(others, lease.Released[links.Claimed]{Item: l})
			} else {
				samples = append(samples, lease.Released[links.Claimed]{Item: l, After: time.Minute})
			}
		}
		if err := d.store.Release(ctx, samples...); err != nil {
			return err
		}
	}
	d.at = d.run.Now
	return d.store.Release(ctx, others...)
}

// checkTimes returns when a link was checked: once if it is healthy, else at least twice, first when it was
// healthy.
func (d *linkMaker) checkTimes(l links.Link) []time.Time {
	ago := func(most time.Duration) time.Time { // not before the link was saved
		return d.run.Now.Add(-time.Duration(d.rand.Int64N(1 + int64(min(most, d.run.Now.Sub(l.CreatedAt.Time))))))
	}
	switch d.web.pages[l.URL].fate {
	case fateGone:
		return []time.Time{l.CreatedAt.Time, ago(linksHistory)}
	case fateSilent:
		return []time.Time{l.CreatedAt.Time, ago(day / 2)}
	case fateDead:
		return []time.Time{l.CreatedAt.Time, d.run.Now.Add(-49 * time.Hour), d.run.Now.Add(-25 * time.Hour), d.run.Now.Add(-time.Hour)}
	case fateMoved, fateShut:
		return []time.Time{l.CreatedAt.Time, ago(6 * day)}
	case fateWell:
	}
	return []time.Time{ago(6 * day)}
}
