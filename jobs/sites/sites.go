// Package sites does the background work of websites: it reads their sitemaps, submits
// their pages to search engines, and asks Google which pages are indexed.
package sites

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

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
	poll        = 5 * time.Second // how soon what was asked for on another instance is noticed
	parallel    = 4               // websites at a time
	wantedBatch = 100             // websites that one look finds
	recordTime  = 5 * time.Second // to store what was done when a context has ended
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
}

// New makes the worker.
func New(o Options) *Worker {
	w := &Worker{Options: o, accounts: newAccounts(o.Store, o.Google)}
	w.Background = jobs.NewBackground(w.loop)
	return w
}

// loop works for those who wait, each activity apart, so that a long submission delays
// nobody who waits for a sitemap.
func (w *Worker) loop(taking, working context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, a := range sites.Activities() {
		all.Go(func() { w.serve(taking, working, a) })
	}
}

func (w *Worker) serve(taking, working context.Context, a sites.Activity) {
	for {
		seqs, err := w.Store.WantedFor(taking, a, wantedBatch)
		if err == nil && len(seqs) > 0 {
			_, err = w.each(taking, working, a, seqs)
		}
		if err != nil && taking.Err() == nil {
			jobs.LogError(w.Log, "working on websites", err)
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

// each does an activity on websites, some at a time, but for those on which another
// instance is at it. The error is the first one; the other websites are worked on all the
// same.
func (w *Worker) each(taking, working context.Context, a sites.Activity, seqs []int64) (*did, error) {
	sum := &did{}
	var group errgroup.Group
	group.SetLimit(parallel)
	for _, seq := range seqs {
		group.Go(func() error {
			if taking.Err() != nil {
				return nil
			}
			return w.one(taking, working, a, seq, sum)
		})
	}
	return sum, group.Wait()
}

// one claims a website, works on it and releases it.
func (w *Worker) one(taking, working context.Context, a sites.Activity, seq int64, sum *did) error {
	holder, held, ok := w.Lease.Current()
	if !ok {
		return nil // without a lease nothing is claimed
	}
	site, ok, err := w.Store.Claim(working, holder, a, seq)
	if err != nil || !ok {
		return err
	}
	ctx, cancel := context.WithCancel(working)
	defer cancel()
	more, end := context.WithCancel(taking)
	defer end()
	defer context.AfterFunc(held, func() { end(); cancel() })() // the lease is lost: another instance may begin
	t := &task{Worker: w, more: more, ctx: ctx, holder: holder, site: site, did: sum}
	sum.add(func(d *did) { d.websites++ })
	switch a {
	case sites.Reading:
		err = t.read()
	case sites.Submitting:
		err = t.submit()
	case sites.Verifying:
		err = t.verify()
	}
	record, done := context.WithTimeout(context.WithoutCancel(working), recordTime)
	defer done()
	if released := w.Store.Release(record, holder, a, seq, t.again || err != nil && taking.Err() != nil); err == nil {
		err = released
	}
	if ctx.Err() != nil && working.Err() == nil && held.Err() != nil {
		return nil // somebody else goes on
	}
	return err
}

// task is an activity on one website.
type task struct {
	*Worker
	more   context.Context // ends when nothing further is to be begun
	ctx    context.Context // of the work itself
	holder lease.ID
	site   sites.Website
	did    *did
	again  bool // the rest is to be done within moments
}

// did is what was done on several websites. It is safe for concurrent use.
type did struct {
	mu                                        sync.Mutex
	websites, read, unchanged, unread, pages  int // of sitemaps
	accepted, refused, failed, indexed, asked int
	stopped                                   int // websites whose quota was used up, or whose service refused all calls
}

func (d *did) add(fn func(*did)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fn(d)
}

// String is for the page of jobs: "3 websites; 2 sitemaps read, 1 unchanged".
func (d *did) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	text := count(d.websites, "website")
	for _, part := range []struct {
		n    int
		what string
	}{
		{d.read, "sitemaps read"}, {d.unchanged, "sitemaps unchanged"}, {d.unread, "sitemaps failed"}, {d.pages, "pages in them"},
		{d.accepted, "submitted"}, {d.refused, "refused"}, {d.asked, "verified"}, {d.indexed, "indexed"}, {d.failed, "failed"}, {d.stopped, "stopped early"},
	} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.what)
		}
	}
	return text
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
