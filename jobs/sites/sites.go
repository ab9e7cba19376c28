// Package sites does the background work of websites: it reads their sitemaps, submits
// their pages to search engines, and asks Google which pages are indexed.
package sites

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"linkwatch/jobs"
	"linkwatch/jobs/sites/google"
	"linkwatch/jobs/sites/indexnow"
	"linkwatch/models/lease"
	"linkwatch/models/sites"
	"linkwatch/outbound"
)

// Parallel is how many sitemaps are fetched at a time.
const Parallel = parallel * readParallel

// Limits of the work.
const (
	poll        = 5 * time.Second  // how soon what was asked for on another instance is noticed
	parallel    = 4                // websites at a time
	wantedBatch = 100              // websites that one look finds
	recordTime  = 20 * time.Second // to store what was done when a context has ended; a batch of IndexNow has 10,000 pages

	releaseAgain = time.Second // between attempts to release a website
)

// Options are what the work needs.
type Options struct {
	Store    *sites.Store
	Lease    *lease.Lease
	Client   *outbound.Client // fetches sitemaps and key files
	Google   *google.Endpoints
	IndexNow *indexnow.Client
	Log      *slog.Logger

	Concurrency          int           // requests to Google at a time for a website
	SitemapInterval      time.Duration // SITEMAP_INTERVAL
	SubmissionInterval   time.Duration // SUBMISSION_INTERVAL
	VerificationInterval time.Duration // VERIFICATION_INTERVAL
}

// Worker does the work that users wait for, within moments: it is a service. Its Jobs do
// the rest on their schedules. On all instances together one at a time works on an
// activity of a website.
type Worker struct {
	*jobs.Background
	Options
	accounts *accounts
	sendTime time.Duration
	readTime time.Duration
	tempDir  string // of sitemaps that are being read, "" = the system's
}

// New makes the worker.
func New(o Options) *Worker {
	w := &Worker{Options: o, accounts: newAccounts(o.Store, o.Google), sendTime: sendTime, readTime: readTime}
	w.Background = jobs.NewBackground(w.loop)
	return w
}

// loop works for those who wait, each activity apart, so that a long submission does
// not delay the reading of a sitemap.
func (w *Worker) loop(taking, working context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, a := range sites.Activities() {
		all.Go(func() { w.serve(taking, working, a) })
	}
}

// serve works on the websites that are waited for, some at a time. One that takes long
// delays the others only when there are that many.
func (w *Worker) serve(taking, working context.Context, a sites.Activity) {
	var group errgroup.Group
	group.SetLimit(parallel)
	defer func() { _ = group.Wait() }() // errors are logged
	failed := func(err error) {
		if err != nil && taking.Err() == nil {
			jobs.LogError(w.Log, "working on websites", err)
		}
	}
	for {
		seqs, err := w.Store.WantedFor(taking, a, wantedBatch)
		failed(err)
		for _, seq := range seqs {
			group.Go(func() error {
				if taking.Err() == nil {
					failed(w.one(taking, working, a, seq, true, &did{}))
				}
				return nil
			})
		}
		select {
		case <-taking.Done():
			return
		case <-w.Store.Wanted(a):
		case <-time.After(poll):
		}
	}
}

// Jobs are the scheduled jobs.
func (w *Worker) Jobs() []jobs.Job {
	job := func(a sites.Activity, every time.Duration) jobs.Job {
		return jobs.Job{ID: string(a), Schedule: "@every " + every.String(), Run: func(taking, working context.Context) (string, error) { return w.run(taking, working, a) }}
	}
	return []jobs.Job{
		job(sites.Reading, w.SitemapInterval), job(sites.Submitting, w.SubmissionInterval), job(sites.Verifying, w.VerificationInterval),
	}
}

// run is a run of a job: an activity on all websites.
func (w *Worker) run(taking, working context.Context, a sites.Activity) (string, error) {
	for n := sites.StoreBatch; n == sites.StoreBatch && taking.Err() == nil; { // pages have aged since the last run
		var err error
		if n, err = w.Store.Reprioritize(working); err != nil {
			return "", err
		}
	}
	seqs, err := w.Store.All(working)
	if err != nil {
		return "", err
	}
	did, err := w.each(taking, working, a, seqs)
	if snap := w.Store.SnapCoverage(working); err == nil {
		err = snap
	}
	return did.String(), err
}

// each does an activity on websites, some at a time, but for those on which an instance
// is at it. The errors are those of all websites; each leaves the others alone.
func (w *Worker) each(taking, working context.Context, a sites.Activity, seqs []int64) (*did, error) {
	sum := &did{}
	errs := make([]error, len(seqs))
	var group errgroup.Group
	group.SetLimit(parallel)
	for i, seq := range seqs {
		group.Go(func() error {
			if taking.Err() == nil {
				errs[i] = w.one(taking, working, a, seq, false, sum)
			}
			return nil
		})
	}
	_ = group.Wait()
	return sum, errors.Join(errs...)
}

// one claims a website, works on it and releases it. With wanted it does so only if
// somebody waits for it.
func (w *Worker) one(taking, working context.Context, a sites.Activity, seq int64, wanted bool, sum *did) error {
	holder, held, ok := w.Lease.Current()
	if !ok {
		return nil // without a lease nothing is claimed
	}
	site, ok, err := w.Store.Claim(working, holder, a, seq, wanted)
	if errors.Is(err, lease.ErrLost) {
		return nil
	}
	if err != nil || !ok {
		return err
	}
	ctx, cancel := context.WithCancel(working)
	defer cancel()
	more, end := context.WithCancel(taking)
	defer end()
	defer context.AfterFunc(held, func() { end(); cancel() })() //nolint:contextcheck // held is that of the lease: when it is lost, another instance may begin
	t := &task{Worker: w, more: more, ctx: ctx, holder: holder, site: site, did: sum}
	sum.add(func(d *did) { d.websites++ })
	switch a {
	case sites.Reading:
		err = t.read()
	case sites.Submitting:
		err = t.submit() //nolint:contextcheck // the task has its context
	case sites.Verifying:
		err = t.verify() //nolint:contextcheck // the task has its context
	}
	if t.stopped.Load() {
		sum.add(func(d *did) { d.stopped++ })
	}
	w.release(working, held, holder, a, site, t.again || err != nil && taking.Err() != nil)
	switch {
	case err == nil, errors.Is(err, lease.ErrLost), held.Err() != nil: // somebody else goes on
		return nil
	default:
		return fmt.Errorf("website %s: %w", site.ID, err)
	}
}

// release releases a website. It tries until that is stored, the lease is lost or the
// work is given up: then the claim ends with the lease.
func (w *Worker) release(working, held context.Context, holder lease.ID, a sites.Activity, site sites.Website, again bool) {
	for {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(working), recordTime)
		err := w.Store.Release(ctx, holder, a, site, again)
		cancel()
		if err == nil || held.Err() != nil {
			return
		}
		jobs.LogError(w.Log, "website not released", fmt.Errorf("website %s: %w", site.ID, err))
		select {
		case <-working.Done():
			return
		case <-held.Done():
			return
		case <-time.After(releaseAgain):
		}
	}
}

// task is an activity on one website.
type task struct {
	*Worker
	more    context.Context // ends when nothing further is to be begun
	ctx     context.Context // of the work itself
	holder  lease.ID
	site    sites.Website
	did     *did
	stopped atomic.Bool // its quota is used up, or a service refuses all calls
	again   bool        // the rest is to be done within moments
}

// ending reports whether nothing further is to be begun.
func (t *task) ending() bool { return t.more.Err() != nil }

// did is what was done on several websites. It is safe for concurrent use.
type did struct {
	mu                                 sync.Mutex
	websites, stopped                  int
	read, unchanged, unread, pages     int // sitemaps, and pages in those that were read
	accepted, sitemaps, refused, asked int // pages and sitemaps that were submitted; pages
	indexed, failed                    int
}

func (d *did) add(fn func(*did)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fn(d)
}

// String is for the page of jobs: "3 websites: 12 sitemaps read with 3,400 pages, 2
// unchanged".
func (d *did) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	text, mark := count(d.websites, "website"), ": "
	add := func(n int, part string) {
		if n > 0 {
			text, mark = text+mark+part, ", "
		}
	}
	add(d.read, count(d.read, "sitemap")+" read with "+count(d.pages, "page"))
	add(d.unchanged, number(d.unchanged)+" unchanged")
	add(d.unread, number(d.unread)+" not readable")
	add(d.accepted, count(d.accepted, "page")+" submitted")
	add(d.sitemaps, count(d.sitemaps, "sitemap")+" submitted")
	add(d.asked, count(d.asked, "page")+" verified")
	add(d.indexed, number(d.indexed)+" indexed")
	add(d.refused, number(d.refused)+" refused")
	add(d.failed, number(d.failed)+" failed")
	add(d.stopped, count(d.stopped, "website")+" stopped early")
	return text
}

// count is a number of things, such as "1 page" or "3,400 pages".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return number(n) + " " + noun
}

func number(n int) string { return humanize.Comma(int64(n)) }
