package demo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/targets"
)

const (
	watchedFor = 100 * day          // how long ago the first target was added
	checkEvery = 4 * time.Minute    // between two checks of a target
	lastStep   = checkEvery * 3 / 2 // between the last checks of the demo: each target is due again by then
	lately     = 40 * time.Second   // age of the last of them
)

// targetMaker generates targets. It advances a clock through months of checks, so that
// the store builds their history as usual.
type targetMaker struct {
	db      *models.DB
	holder  lease.ID // under which targets are claimed
	options targets.Options
	store   *targets.Store
	rand    *rand.Rand
	now, at time.Time
	to      []madeTarget
	ids     map[string]int // indexes in to, by target id
}

// madeTarget is a generated target and its behavior.
type madeTarget struct {
	name, url string
	latency   float64       // median, in milliseconds
	falls     int           // number of outages
	age       time.Duration // 0 = watchedFor
	fate      watchFate
	down      []madeOutage
}

// watchFate is the state of a generated target at the end.
type watchFate int

const (
	watchWell watchFate = iota
	watchDown
	watchPaused
	watchThrottled
	watchExpiring // its certificate, soon
)

type madeOutage struct {
	from, to time.Time
	status   int    // 0: no answer
	cause    string // as in check results
}

// allTargets returns the targets of a fictional shop. The first publicTargets are on its
// status page.
func allTargets() []madeTarget {
	return []madeTarget{
		{name: "Shop", url: "https://shop.northwind.example", latency: 120, falls: 3},
		{name: "Checkout", url: "https://shop.northwind.example/checkout", latency: 210, falls: 4},
		{name: "Product search", url: "https://search.northwind.example/health", latency: 85, falls: 6},
		{name: "Customer accounts", url: "https://accounts.northwind.example", latency: 140, falls: 2},
		{name: "Public API", url: "https://api.northwind.example/v1/ping", latency: 42, falls: 2},
		{name: "Shipping labels", url: "https://labels.northwind.example/status", latency: 380, falls: 14, fate: watchDown},
		{name: "Images", url: "https://images.northwind.example/pixel.png", latency: 18, falls: 1},
		{name: "Documentation", url: "https://docs.northwind.example", latency: 65},
		{name: "Help desk", url: "https://help.northwind.example", latency: 260, falls: 3},
		{name: "Blog", url: "https://blog.northwind.example", latency: 190, falls: 5, fate: watchExpiring},
		{name: "Webhooks", url: "https://api.northwind.example/v1/hooks", latency: 51, falls: 3},
		{name: "Payments provider", url: "https://pay.tallyhouse.example/health", latency: 96, falls: 4},
		{name: "Warehouse", url: "https://warehouse.northwind.example/login", latency: 310, falls: 7},
		{name: "Newsletter", url: "https://letters.northwind.example", latency: 150, falls: 1, age: 6 * day},
		{name: "Exchange rates", url: "https://rates.coinery.example/eur", latency: 75, falls: 2, fate: watchThrottled},
		{name: "Single sign-on", url: "https://id.northwind.example/.well-known/openid-configuration", latency: 33, falls: 1},
		{name: "Package registry", url: "https://packages.northwind.example", latency: 58},
		{name: "Git", url: "https://git.northwind.example", latency: 72, falls: 2},
		{name: "Continuous integration", url: "https://ci.northwind.example", latency: 230, falls: 9},
		{name: "Analytics", url: "https://stats.northwind.example", latency: 410, falls: 5},
		{name: "Careers", url: "https://jobs.northwind.example", latency: 175, falls: 1},
		{name: "Old shop", url: "http://old.northwind.example", latency: 540, falls: 8, fate: watchPaused},
	}
}

const publicTargets = 9

// Targets generates targets with history and a status page, and returns a summary.
// retention is the retention of check results.
func Targets(ctx context.Context, r *Run, retention time.Duration) (summary string, err error) {
	n := 0
	if r.Fresh {
		n, err = newTargetMaker(r.DB, retention, r.Now).fill(ctx, r.Newest)
	}
	if err != nil {
		return "", fmt.Errorf("after %d targets: %w", n, err)
	}
	return fmt.Sprintf("%d targets with a status page, /status/demo", n), nil
}

func newTargetMaker(db *models.DB, retention time.Duration, now time.Time) *targetMaker {
	w := &targetMaker{
		db: db, options: targets.Options{Retention: retention},
		rand: random(4), now: now, at: now, to: allTargets(), ids: map[string]int{},
	}
	w.setInterval(lastStep)
	return w
}

// setInterval sets the interval so that each target is checked once per step and its
// state stays known. A target is due at most 1.5 intervals after its last check.
func (w *targetMaker) setInterval(step time.Duration) {
	w.options.CheckInterval = step * 2 / 3
	w.store = targets.NewStore(w.db, func() time.Time { return w.at }, w.options)
}

// fill generates the targets and those of the saved links, and their months of checks. n
// is the number of targets.
func (w *targetMaker) fill(ctx context.Context, saved []Link) (n int, err error) {
	for _, l := range saved {
		w.to = append(w.to, madeTarget{name: l.Title, url: l.URL, latency: 130, falls: 2, age: watchedFor / 2})
	}
	for i := range w.to {
		w.fall(&w.to[i])
	}
	instance := lease.New(w.db, nil)
	if err := instance.Beat(ctx); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, instance.End(ctx)) }()
	w.holder, _, _ = instance.Current()
	ids := make([]string, len(w.to))
	for _, m := range w.moments() {
		w.at = m.at
		w.setInterval(m.step)
		for i, t := range w.to {
			if ids[i] != "" || w.at.Before(w.since(t)) {
				continue
			}
			added, _, err := w.store.Add(ctx, targets.New{URL: t.url, Name: t.name, IntervalSeconds: int(checkEvery.Seconds())})
			if err != nil {
				return n, err
			}
			ids[i], n = added.ID, n+1
			w.ids[added.ID] = i
		}
		for _, i := range m.turns {
			if ids[i] == "" {
				continue
			}
			if err := w.store.RequestCheck(ctx, ids[i]); err != nil {
				return n, err
			}
		}
		if err := w.check(ctx); err != nil {
			return n, err
		}
	}
	w.at = w.now
	for i, id := range ids {
		if w.to[i].fate == watchPaused {
			paused := true
			if _, err := w.store.Edit(ctx, id, targets.Edit{Paused: &paused}); err != nil {
				return n, err
			}
		}
	}
	_, err = w.store.AddPage(ctx, targets.PageSettings{
		Slug: "demo", Title: "Northwind status", TargetIDs: ids[:publicTargets],
		Description: "Status of our shop and its services, checked every four minutes.",
	})
	return n, err
}

func (w *targetMaker) since(t madeTarget) time.Time {
	if t.age == 0 {
		return w.now.Add(-watchedFor)
	}
	return w.now.Add(-t.age)
}

// fall generates the outages of a target.
func (w *targetMaker) fall(t *madeTarget) {
	causes := []madeOutage{
		{cause: "timed out"}, {cause: "timed out"}, {cause: "connection refused"}, {cause: "connection reset"},
		{status: 502}, {status: 503}, {status: 503}, {status: 500},
	}
	for range t.falls {
		o := causes[w.rand.IntN(len(causes))]
		o.from = w.since(*t).Add(time.Duration(w.rand.Float64() * float64(w.now.Sub(w.since(*t))-8*time.Hour)))
		o.to = o.from.Add(time.Duration(float64(10*time.Minute) * math.Pow(30, w.rand.Float64()))) // up to five hours, mostly short
		t.down = append(t.down, o)
	}
	if t.fate == watchDown {
		t.down = append(t.down, madeOutage{from: w.now.Add(-130 * time.Minute), to: w.now.Add(time.Hour), status: 503})
	}
	for i, o := range t.down {
		if o.status != 0 {
			t.down[i].cause = "unexpected status " + strconv.Itoa(o.status)
		}
	}
}

// moment is a time at which targets are checked: those that are due, and those whose
// outage starts or ends.
type moment struct {
	at    time.Time
	step  time.Duration // until the next one
	turns []int         // indexes in targetMaker.to
}

// moments returns all moments. They get closer together towards now.
func (w *targetMaker) moments() []moment {
	var all []moment
	for _, part := range []struct{ from, to, step time.Duration }{
		{watchedFor, 30 * day, 6 * time.Hour},
		{30 * day, 2 * day, 2 * time.Hour},
		{2 * day, 5 * time.Hour, 30 * time.Minute},
		{49*lastStep + lately, 0, lastStep},
	} {
		for ago := part.from; ago > part.to; ago -= part.step {
			all = append(all, moment{at: w.now.Add(-ago), step: part.step})
		}
	}
	regular := len(all)
	for i, t := range w.to {
		for _, o := range t.down {
			for _, at := range []time.Time{o.from, o.to} {
				after, _ := slices.BinarySearchFunc(all[:regular], at, func(m moment, at time.Time) int { return m.at.Compare(at) })
				if after > 0 && after < regular {
					all = append(all, moment{at, all[after-1].step, []int{i}})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b moment) int { return a.at.Compare(b.at) })
	return all
}

// check checks due targets. The last checks set a rate limit of Rest, so that Linkwatch
// does not check these URLs, which do not exist, and find them down.
func (w *targetMaker) check(ctx context.Context) error {
	due, _, err := w.store.Claim(ctx, w.holder, len(w.to))
	if err != nil {
		return err
	}
	done := make([]targets.Checked, len(due))
	for i, t := range due {
		made := w.to[w.ids[t.ID]]
		done[i] = targets.Checked{Target: t, Result: w.result(made)}
		if strings.HasPrefix(made.url, "https:") {
			done[i].TLSExpiresAt = models.At(w.now.Add(time.Duration(30+7*w.ids[t.ID]%50) * day))
		}
		if made.fate == watchExpiring {
			done[i].TLSExpiresAt = models.At(w.now.Add(certificateLeft))
		}
		if w.now.Sub(w.at) < lastStep {
			done[i].RetryAfter = Rest
		}
	}
	if err := w.store.Record(ctx, done...); err != nil {
		return fmt.Errorf("check demo targets: %w", err)
	}
	return nil
}

// result generates the result of a check at the current time.
func (w *targetMaker) result(t madeTarget) targets.Result {
	hour := float64(w.at.Hour()) + float64(w.at.Minute())/60
	busy := 1 + 0.25*math.Sin((hour-8)/12*math.Pi) // most traffic is in the afternoon
	latency := t.latency * busy * math.Exp(0.15*w.rand.NormFloat64())
	if w.rand.IntN(60) == 0 {
		latency *= 2 + 3*w.rand.Float64()
	}
	r := targets.Result{CheckedAt: models.At(w.at), StatusCode: 200, LatencyMS: int(latency), Attempts: 1}
	for _, o := range t.down {
		if w.at.Before(o.from) || !w.at.Before(o.to) {
			continue
		}
		r.Outcome, r.StatusCode, r.Error, r.Attempts = targets.DownOutcome, o.status, o.cause, 3
		if o.cause == "timed out" {
			r.LatencyMS = 5000
		}
		return r
	}
	if t.fate == watchThrottled && w.now.Sub(w.at) < 40*time.Minute {
		r.Outcome, r.StatusCode, r.Error = targets.ThrottledOutcome, 429, "throttled: status 429"
	}
	return r
}
