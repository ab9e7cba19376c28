package demo

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
	"linkwatch/models/shortlinks/visits"
)

// shortLinkMaker generates short links and advances a clock through their months, so that
// their visits are counted as usual.
type shortLinkMaker struct {
	store   *shortlinks.Store
	cache   *cache.Memory
	counter *visits.Counter
	rand    *rand.Rand
	now, at time.Time
}

type madeShortLink struct {
	key, title, url string
	age             time.Duration
	ends            time.Duration // from now; 0 = never
	most            int64         // visits; 0 = any number
	perDay          float64       // visits at the start
	halved          time.Duration // half-life of the visits; 0 = constant
	disabled        bool
}

const (
	visitStep       = 12 * time.Hour // between two batches of visits
	oldestShortLink = 200 * day
)

// allShortLinks returns the short links of the fictional shop, in every state.
func allShortLinks() []madeShortLink {
	return []madeShortLink{
		{key: "northwind", title: "Shop, on the side of our vans", url: "https://shop.northwind.example/?from=van", age: oldestShortLink, perDay: 14},
		{key: "menu", title: "Canteen menu, by the door", url: "https://northwind.example/canteen/menu.pdf", age: 160 * day, perDay: 9},
		{key: "jobs-berlin", title: "Careers, job fair poster", url: "https://jobs.northwind.example/berlin", age: 45 * day, perDay: 22, halved: 9 * day},
		{key: "summer-sale", title: "Summer sale", url: "https://shop.northwind.example/sale?utm_source=newsletter", age: 75 * day, perDay: 60, halved: 12 * day, disabled: true},
		{key: "spring26", title: "Spring catalog", url: "https://shop.northwind.example/catalogues/spring", age: 20 * day, ends: 3*day + 5*time.Hour, perDay: 34, halved: 20 * day},
		{key: "webinar", title: "Webinar, registration", url: "https://letters.northwind.example/webinar", age: 12 * day, ends: 7 * time.Hour, perDay: 18},
		{key: "beta-invite", title: "Beta invitations", url: "https://accounts.northwind.example/join?code=beta", age: 6 * day, most: 50, perDay: 4},
		{key: "first-20", title: "Twenty free samples", url: "https://shop.northwind.example/samples", age: 30 * time.Hour, most: 20, perDay: 80},
		{key: "lunch-poll", title: "Where shall we eat?", url: "https://northwind.example/polls/4711", age: 2 * day, ends: -25 * time.Minute, perDay: 8},
		{key: "wifi", title: "Guest network", url: "https://help.northwind.example/wifi", age: 110 * day, perDay: 5},
		{url: "https://docs.northwind.example/api/changes#v7", title: "What changed in version 7", age: 33 * day, perDay: 3},
		{url: "https://maps.northwind.example/?q=warehouse%20gate%204", age: 4 * day, ends: 26 * day, perDay: 2},
		{url: "https://north-harbor.example/2024/notes-on-typography", age: 9 * time.Hour, ends: 15 * time.Hour, perDay: 6},
	}
}

// visitors are the visitors; some are more frequent.
var visitors = []struct {
	often int
	who   shortlinks.Visitor
}{
	{26, shortlinks.Visitor{UserAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1"}},
	{22, shortlinks.Visitor{UserAgent: "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36"}},
	{14, shortlinks.Visitor{UserAgent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36", Referrer: "https://mail.northwind.example/"}},
	{9, shortlinks.Visitor{UserAgent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_6) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15", Referrer: "https://news.daybreak.example/"}},
	{7, shortlinks.Visitor{UserAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", Referrer: "https://social.openbench.example/"}},
	{5, shortlinks.Visitor{UserAgent: "Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1", Referrer: "https://blog.northwind.example/"}},
	{2, shortlinks.Visitor{UserAgent: "curl/8.14.1"}},
	{8, shortlinks.Visitor{UserAgent: "Mozilla/5.0 (compatible; Riverbot/1.3; +https://riverbed.example/bot)"}},
	{7, shortlinks.Visitor{UserAgent: "Papertrail-Preview/2.0 (link preview bot)"}},
}

// ShortLinks generates short links with visits, and returns a summary.
func ShortLinks(ctx context.Context, r *Run) (summary string, err error) {
	n := 0
	if r.Fresh {
		maker := newShortLinkMaker(r.DB, r.Now)
		defer maker.close()
		n, err = maker.fill(ctx, r.Newest)
	}
	if err != nil {
		return "", fmt.Errorf("after %d short links: %w", n, err)
	}
	return fmt.Sprintf("%d short links", n), nil
}

func newShortLinkMaker(db *models.DB, now time.Time) *shortLinkMaker {
	d := &shortLinkMaker{rand: random(5), now: now, at: now}
	clock := func() time.Time { return d.at }
	d.cache, d.counter = cache.NewMemory(1000, clock), visits.New()
	d.store = shortlinks.NewStore(db, clock, d.cache, d.counter, shortlinks.Options{})
	return d
}

func (d *shortLinkMaker) close() { d.cache.Close() }

// fill creates the short links, one of them for a saved link, with their visits. n is the
// number of short links.
func (d *shortLinkMaker) fill(ctx context.Context, saved []Link) (n int, err error) {
	all := allShortLinks()
	for _, l := range saved[:min(len(saved), 1)] {
		all = append(all, madeShortLink{url: l.URL, title: l.Title, age: 20 * time.Minute, perDay: 90})
	}
	for at := d.now.Add(-oldestShortLink); !at.After(d.now); at = at.Add(visitStep) {
		for i, l := range all {
			made := d.now.Add(-l.age)
			if made.After(at) || !made.After(at.Add(-visitStep)) {
				continue
			}
			d.at = made
			if all[i].key, err = d.make(ctx, l); err != nil {
				return n, err
			}
			n++
		}
		d.at = at
		if err := d.come(ctx, all); err != nil {
			return n, err
		}
	}
	disabled := true
	for _, l := range all {
		if !l.disabled {
			continue
		}
		if _, err := d.store.Edit(ctx, l.key, shortlinks.Edit{Disabled: &disabled}); err != nil {
			return n, err
		}
	}
	return n, nil
}

func (d *shortLinkMaker) make(ctx context.Context, l madeShortLink) (key string, err error) {
	n := shortlinks.New{LongURL: l.url, Key: l.key, Title: l.title, MaxVisits: l.most}
	if l.ends != 0 {
		n.ExpiresAt = models.At(d.now.Add(l.ends))
	}
	made, _, err := d.store.Add(ctx, n)
	return made.Key, err
}

// come visits the current short links as people, bots and link previews, and stores the visits.
func (d *shortLinkMaker) come(ctx context.Context, all []madeShortLink) error {
	for _, l := range all {
		for range d.visits(l) {
			if _, err := d.store.Visit(ctx, l.key, d.visitor()); err != nil && models.CodeOf(err) != models.CodeGone {
				return fmt.Errorf("visiting a short link of the demo: %w", err)
			}
		}
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	d.counter.Aggregate(over)
	return d.counter.Write(ctx, d.store)
}

// visits returns the number of visits in the step before the current time.
func (d *shortLinkMaker) visits(l madeShortLink) int {
	age := d.at.Sub(d.now.Add(-l.age))
	if age < 0 {
		return 0
	}
	mean := l.perDay * min(float64(age), float64(visitStep)) / float64(day)
	if l.halved > 0 {
		mean *= math.Exp2(-float64(age) / float64(l.halved))
	}
	if slices.Contains([]time.Weekday{time.Saturday, time.Sunday}, d.at.Weekday()) {
		mean *= 0.45
	}
	mean *= math.Exp(0.35 * d.rand.NormFloat64())
	n := int(mean)
	if d.rand.Float64() < mean-float64(n) {
		n++
	}
	return n
}

func (d *shortLinkMaker) visitor() shortlinks.Visitor {
	all := 0
	for _, v := range visitors {
		all += v.often
	}
	at := d.rand.IntN(all)
	for _, v := range visitors {
		if at -= v.often; at < 0 {
			return v.who
		}
	}
	return shortlinks.Visitor{}
}
