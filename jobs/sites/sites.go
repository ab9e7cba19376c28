// Package sites runs the background work of websites: it reads sitemaps, submits pages to search engines, and checks with Google
// which pages are indexed.
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

// Parallel is the maximum number of concurrent sitemap requests.
const Parallel = parallel * readParallel

// Limits of the work.
const (
	pollInterval = 5 * time.Second  // for requests made on other instances
	parallel     = 4                // websites at a time
	requestBatch = 100              // websites per poll
	recordTime   = 20 * time.Second // to store results after a context has ended; an IndexNow batch has 10,000 pages

	releaseRetry = time.Second // between attempts to release a website
)

// Options are the dependencies and settings of a Worker.
type Options struct {
	Store    *sites.Store
	Lease    *lease.Lease
	Client   *outbound.Client // fetches sitemaps and key files
	Google   *google.Endpoints
	IndexNow *indexnow.Client
	Log      *slog.Logger

	Concurrency          int           // concurrent requests to Google per website
	SitemapInterval      time.Duration // SITEMAP_INTERVAL
	SubmissionInterval   time.Duration // SUBMISSION_INTERVAL
	VerificationInterval time.Duration // VERIFICATION_INTERVAL
}

// Worker is a service that runs requested activities of websites. Its Jobs run the activities of all websites on their schedules.
// Across all instances, one worker at a time works on an activity of a website.
type Worker struct {
	*jobs.Background
	Options
	accounts *accounts
	sendTime time.Duration
	readTime time.Duration
	tempDir  string // for downloaded sitemaps; "" = the system default
}

// New returns a worker.
func New(o Options) *Worker {
	w := &Worker{Options: o, accounts: newAccounts(o.Store, o.Google), sendTime: sendTime, readTime: readTime}
	w.Background = jobs.NewBackground(w.loop)
	return w
}

// loop runs the activities independently, so that a long submission does not delay the reading of a sitemap.
func (w *Worker) loop(taking, working context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, a := range sites.Activities() {
		all.Go(func() { w.serve(taking, working, a) })
	}
}

// serve runs an activity on the websites with requests, up to parallel at a time.
func (w *Worker) serve(taking, working context.Context, a sites.Activity) {
	var group errgroup.Group
	group.SetLimit(parallel)
	defer func() { _ = group.Wait() }() // errors are logged below
	failed := func(err error) {
		if err != nil && taking.Err() == nil {
			jobs.LogError(w.Log, "website job failed", err)
		}
	}
	for {
		seqs, err := w.Store.RequestedWebsites(taking, a, requestBatch)
		failed(err)
		for _, seq := range seqs {
			group.Go(func() error {
				if taking.Err() == nil {
					failed(w.process(taking, working, a, seq, true, &summary{}))
				}
				return nil
			})
		}
		select {
		case <-taking.Done():
			return
		case <-w.Store.Requested(a):
		case <-time.After(pollInterval):
		}
	}
}

// Jobs returns the scheduled jobs.
func (w *Worker) Jobs() []jobs.Job {
	job := func(a sites.Activity, every time.Duration) jobs.Job {
		return jobs.Job{ID: string(a), Schedule: "@every " + every.String(), Run: func(taking, working context.Context) (string, error) { return w.run(taking, working, a) }}
	}
	return []jobs.Job{
		job(sites.Reading, w.SitemapInterval), job(sites.Submitting, w.SubmissionInterval), job(sites.Verifying, w.VerificationInterval),
	}
}

// run runs an activity on all websites, as a scheduled job.
func (w *Worker) run(taking, working context.Context, a sites.Activity) (string, error) {
	for n := sites.StoreBatch; n == sites.StoreBatch && taking.Err() == nil; { // priorities depend on the age of pages
		var err error
		if n, err = w.Store.Reprioritize(working); err != nil {
			return "", err
		}
	}
	seqs, err := w.Store.AllSeqs(working)
	if err != nil {
		return "", err
	}
	sum, err := w.processAll(taking, working, a, seqs)
	if snapshotErr := w.Store.SnapshotCoverage(working); err == nil {
		err = snapshotErr
	}
	return sum.String(), err
}

// processAll runs an activity on websites, up to parallel at a time. It skips websites claimed by other instances. An error of
// one website does not stop the others; all errors are joined.
func (w *Worker) processAll(taking, working context.Context, a sites.Activity, seqs []int64) (*summary, error) {
	sum := &summary{}
	errs := make([]error, len(seqs))
	var group errgroup.Group
	group.SetLimit(parallel)
	for i, seq := range seqs {
		group.Go(func() error {
			if taking.Err() == nil {
				errs[i] = w.process(taking, working, a, seq, false, sum)
			}
			return nil
		})
	}
	_ = group.Wait()
	return sum, errors.Join(errs...)
}

// process claims a website, runs the activity and releases the website. If requested is set, it needs an open request.
func (w *Worker) process(taking, working context.Context, a sites.Activity, seq int64, requested bool, sum *summary) error {
	holder, leaseCtx, ok := w.Lease.Current()
	if !ok {
		return nil // nothing may be claimed without a lease
	}
	site, ok, err := w.Store.Claim(working, holder, a, seq, requested)
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
	defer context.AfterFunc(leaseCtx, func() { end(); cancel() })() //nolint:contextcheck // leaseCtx ends when the lease is lost and another instance may start
	t := &task{Worker: w, intake: more, ctx: ctx, holder: holder, site: site, summary: sum}
	sum.add(func(d *summary) { d.websites++ })
	switch a {
	case sites.Reading:
		err = t.read()
	case sites.Submitting:
		err = t.submit() //nolint:contextcheck // the task has its context
	case sites.Verifying:
		err = t.verify() //nolint:contextcheck // the task has its context
	}
	if t.stoppedEarly.Load() {
		sum.add(func(d *summary) { d.stopped++ })
	}
	w.release(working, leaseCtx, holder, a, site, t.requestAgain || err != nil && taking.Err() != nil)
	switch {
	case err == nil, errors.Is(err, lease.ErrLost), leaseCtx.Err() != nil: // another instance continues
		return nil
	default:
		return fmt.Errorf("website %s: %w", site.ID, err)
	}
}

// release releases a website. It retries until that succeeds, the lease is lost or working ends; then the claim ends with the
// lease.
func (w *Worker) release(working, leaseCtx context.Context, holder lease.ID, a sites.Activity, site sites.Website, again bool) {
	for {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(working), recordTime)
		err := w.Store.Release(ctx, holder, a, site, again)
		cancel()
		if err == nil || leaseCtx.Err() != nil {
			return
		}
		jobs.LogError(w.Log, "website not released", fmt.Errorf("website %s: %w", site.ID, err))
		select {
		case <-working.Done():
			return
		case <-leaseCtx.Done():
			return
		case <-time.After(releaseRetry):
		}
	}
}

type task struct {
	*Worker
	intake       context.Context // ends when no new work may start
	ctx          context.Context // of running work
	holder       lease.ID
	site         sites.Website
	summary      *summary
	stoppedEarly atomic.Bool // a quota is used up, or a service refuses all requests
	requestAgain bool        // more work is left
}

func (t *task) stopping() bool { return t.intake.Err() != nil }

// summary counts the work on several websites. It is safe for concurrent use.
type summary struct {
	mu                                    sync.Mutex
	websites, stopped                     int
	read, unchanged, unread, pages        int // sitemaps, and pages in read sitemaps
	accepted, sitemaps, refused, verified int // submitted pages and sitemaps; verified pages
	indexed, failed                       int
}

func (d *summary) add(fn func(*summary)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fn(d)
}

// String is the text on the page of jobs, such as "3 websites: 12 sitemaps read with 3,400 pages, 2 unchanged".
func (d *summary) String() string {
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
	add(d.unread, number(d.unread)+" unreadable")
	add(d.accepted, count(d.accepted, "page")+" submitted")
	add(d.sitemaps, count(d.sitemaps, "sitemap")+" submitted")
	add(d.verified, count(d.verified, "page")+" verified")
	add(d.indexed, number(d.indexed)+" indexed")
	add(d.refused, number(d.refused)+" refused")
	add(d.failed, number(d.failed)+" failed")
	add(d.stopped, count(d.stopped, "website")+" stopped early")
	return text
}

// count formats a number of things, such as "1 page" or "3,400 pages".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return number(n) + " " + noun
}

func number(n int) string { return humanize.Comma(int64(n)) }
