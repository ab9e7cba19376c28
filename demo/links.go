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
	batchSize    = 5000          // links in memory at a time
	livedLinks   = 1500          // the newest links, which are checked and viewed too
	sitting      = 3             // of them are stored at a time, so that tags are as old as their links
	viewsEach    = 3             // views for each of them
	newestLinks  = 2             // of them are handed on in Run.Newest
	linksHistory = 2 * 365 * day // how long ago the first link was saved
)

// Links makes up saved links, and says how many. interval is how often links are rechecked.
func Links(ctx context.Context, r *Run, interval time.Duration) (did string, err error) {
	l := newLinkMaker(r)
	l.store = links.NewStore(r.DB, l.clock, l.web, links.Options{CheckInterval: interval})
	counts, err := l.store.Counts(ctx)
	if err != nil {
		return "", err
	}
	if counts.Active+counts.Expired > 0 && !r.Force {
		return "", errors.New("the store has links already: demo -force adds to them")
	}
	stored, err := l.fill(ctx)
	if err != nil {
		return "", fmt.Errorf("after %d links: %w", stored, err)
	}
	if r.Fresh = stored == r.Links; r.Fresh {
		if err := l.live(ctx); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d made-up links", stored), nil
}

// linkMaker fills one store with links. Its clock is moved through the two years.
type linkMaker struct {
	run   *Run
	store *links.Store
	web   *web
	maker *pageMaker
	rand  *rand.Rand
	lived int // of the links, the newest
	at    time.Time
}

func newLinkMaker(r *Run) *linkMaker {
	return &linkMaker{run: r, web: newWeb(), maker: newPageMaker(), rand: random(3), lived: min(r.Links, livedLinks), at: r.Now}
}

func (d *linkMaker) clock() time.Time { return d.at }

// saved is when the i-th link was saved: the pace grew over the two years.
func (d *linkMaker) saved(i int) time.Time {
	left := float64(d.run.Links-i) / float64(d.run.Links)
	return d.run.Now.Add(-time.Duration(math.Pow(left, 1.5) * float64(linksHistory)))
}

// fill stores the links, the oldest first.
func (d *linkMaker) fill(ctx context.Context) (stored int, err error) {
	for i := 0; i < d.run.Links; {
		size := min(batchSize, d.run.Links-d.lived-i)
		lived := size <= 0
		if lived {
			size = min(sitting, d.run.Links-i)
		}
		batch := make([]links.New, size)
		for k := range batch {
			batch[k] = d.maker.link(lived)
			batch[k].CreatedAt = models.At(d.saved(i + k))
			if lived {
				d.web.add(batch[k].URL, d.maker.page(), fateOf(d.run.Links-1-i-k))
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
	d.at = d.run.Now
	return stored, nil
}

// live lets the newest links be checked and viewed.
func (d *linkMaker) live(ctx context.Context) error {
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
	liked := rand.NewZipf(d.rand, 1.2, 3, uint64(len(ids)-1))
	for range viewsEach * len(ids) {
		if _, err := d.store.View(ctx, ids[liked.Uint64()]); err != nil {
			return err
		}
	}
	return nil
}

// freeze puts the next check of every link off by Rest, as those of the
// targets are: nothing answers at their addresses, so each recheck would make a
// healthy link suspect. Links that were there before (-force) are due at once.
func (d *linkMaker) freeze(ctx context.Context) (err error) {
	held := lease.New(d.run.DB, nil)
	if err := held.Beat(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.End(ctx)) }()
	holder, _, _ := held.Current()
	var others []lease.Released[links.Claimed]
	d.at = d.run.Now.Add(Rest) // what is due by then is claimed, and released for after it
	for {
		due, _, err := d.store.Claim(ctx, holder, batchSize)
		if err != nil {
			return err
		}
		if len(due) == 0 {
			break
		}
		var made []lease.Released[links.Claimed]
		for _, l := range due {
			if u, err := url.Parse(l.URL); err != nil || !strings.HasSuffix(u.Host, ".example") {
				others = append(others, lease.Released[links.Claimed]{Item: l})
			} else {
				made = append(made, lease.Released[links.Claimed]{Item: l, After: time.Minute})
			}
		}
		if err := d.store.Release(ctx, made...); err != nil {
			return err
		}
	}
	d.at = d.run.Now
	return d.store.Release(ctx, others...)
}

// checks are the times at which a link was looked at, the last one lately:
// once for those that are well, and twice or more for those that fell ill after
// the first time.
func (d *linkMaker) checks(l links.Link) []time.Time {
	ago := func(most time.Duration) time.Time { // no longer ago than the link was saved
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
