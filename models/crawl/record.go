package crawl

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Result is the result of fetching an entry.
type Result struct {
	Entry             Entry
	Status            EntryStatus // Pending: it is retried
	Reason            string      // why it failed or is retried; with EntryDone "" or ReasonCanonical
	Unreachable       bool        // no response came
	Broken            bool        // there is no page: links to it are reported as broken
	MovedStatus       int         // status of a permanent redirect to another URL, whose target replaces the page; 0 = none
	TemporaryRedirect bool        // temporary redirect: the stored page is unchanged
	RedirectTo        string      // normalized redirect target, which the entry tries next; "" = none
	Cookies           string      // for the request of RedirectTo; "" = none

	Page       *Page // to store; nil = none
	Unchanged  bool  // not modified: only URL and FetchedAt of Page are used
	Links      []FoundURL
	Discovered []DiscoveredLink
	Feeds      []FoundFeed   // named by a start page
	LogLine    string        // for the log of its execution
	TextHash   string        // hexadecimal SHA-256 of the text of a start page; "" = no text
	CPU        time.Duration // CPU time for parsing
	Stack      string        // of a panic; "" = none
}

// Size returns the approximate size of the result in memory, in bytes.
func (r Result) Size() int {
	n := 256 + len(r.LogLine) + len(r.Cookies)
	if r.Page != nil {
		n += 1024 + len(r.Page.Text) + len(r.Page.Links) + len(r.Page.Headings) + len(r.Page.JSONLD)
	}
	for _, l := range r.Links {
		n += 64 + len(l.URL)
	}
	for _, d := range r.Discovered {
		n += 64 + len(d.URL) + len(d.Text)
	}
	for _, f := range r.Feeds {
		n += 64 + len(f.URL) + len(f.Title)
	}
	return n
}

// HostBatch has a claimed host, its unfetched entries and the results of fetched ones.
type HostBatch struct {
	Host      // as claimed, with its new NextAt, DelayMS, Failures, Slow and LastAttemptAt
	Results   []Result
	Unfetched []Entry // loaded but not fetched
	Bytes     int     // approximate size of the results in memory
}

// maxHostBatchBytes is the size of the results at which a batch ends.
const maxHostBatchBytes = 256 << 10

// Add adds a result. full reports whether the batch has reached its limit.
func (t *HostBatch) Add(r Result) (full bool) {
	t.Results = append(t.Results, r)
	t.Bytes += r.Size()
	return t.Bytes > maxHostBatchBytes
}

// lockRecord is held by transactions that store results.
const lockRecord models.LockKey = 7_110_913_004

// Record stores the results of batches and releases the hosts in one transaction, with one statement per table. It skips batches
// whose claim was lost.
func (s *Store) Record(ctx context.Context, batches ...*HostBatch) error {
	var learned []entryKey
	var counted map[patternKey]int
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockRecord); err != nil {
			return err
		}
		b := batch{s: s, tx: tx, now: s.clock.Now(), sums: map[int64]*sum{}, counted: map[patternKey]int{}}
		err := b.store(batches)
		learned, counted = b.learned, b.counted
		return err
	})
	if err != nil {
		return fmt.Errorf("record crawl results: %w", err)
	}
	for _, k := range learned {
		s.seen.Set(k, struct{}{})
	}
	for k, n := range counted {
		before, _ := s.patterns.GetIfPresent(k)
		s.patterns.Set(k, before+n)
	}
	signal(s.urls) // also for the hosts that were released
	signal(s.pages)
	return nil
}

// batch is a transaction that stores the results of hosts.
type batch struct {
	s       *Store
	tx      *gorm.DB
	now     models.Time
	results []Result
	active  map[int64]activeExecution // crawls that have not ended
	sums    map[int64]*sum            // by execution
	// Applied after the commit.
	learned []entryKey         // URLs in the frontier
	counted map[patternKey]int // new URLs by path pattern
}

// sum is the change of the counters of an execution.
type sum struct {
	crawled, indexed, queued, fetched, failed int
	changes                                   map[Change]int // of pages
	cpu                                       time.Duration
	progress                                  bool // an entry is finished, or its host responded
	hash, startError, stack                   string
	lines                                     []string
}

// sum returns the sum for the execution of an entry. This is the newest execution of its crawl, which may have taken over
// from the one that loaded the entry.
func (b *batch) sum(e Entry) *sum {
	seq := e.Crawl.Execution
	if going, ok := b.active[e.CrawlSeq]; ok {
		seq = going.Seq
	}
	if b.sums[seq] == nil {
		b.sums[seq] = &sum{changes: map[Change]int{}}
	}
	return b.sums[seq]
}

func (b *batch) store(batches []*HostBatch) error {
	owned, err := b.freeHosts(batches)
	if err != nil || len(owned) == 0 {
		return err
	}
	left := models.NewRows("seq bigint")
	crawls := map[int64]bool{}
	for _, t := range owned {
		b.results = append(b.results, t.Results...)
		for _, e := range t.Unfetched {
			left.Add(e.Seq)
		}
	}
	for _, r := range b.results {
		crawls[r.Entry.CrawlSeq] = true
	}
	if b.active, err = b.s.activeExecutions(b.tx, crawls); err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error {
			return left.Exec(b.tx, "UPDATE frontier SET status = 'pending' WHERE seq IN (SELECT seq FROM {rows} AS r) AND status = 'fetching'").Error
		},
		b.redirects, b.entries, b.links, b.pages, b.permanentRedirects, b.temporaryRedirects, b.unchanged, b.discovered, b.feeds, b.executions, func() error { return b.restHosts(owned) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// freeHosts releases hosts and returns the batches whose claim was still valid.
func (b *batch) freeHosts(batches []*HostBatch) (owned []*HostBatch, err error) {
	rows := models.NewRows("seq bigint, claimed_by text, claim bigint, next_at bigint, delay_ms bigint, failures bigint, slow boolean, last_attempt_at bigint, silent_since bigint")
	for _, t := range batches {
		rows.Add(t.Seq, t.ClaimedBy, t.Claim, t.NextAt, t.DelayMS, t.Failures, t.Slow, t.LastAttemptAt, t.silentSince(b.now))
	}
	var seqs []int64
	err = rows.Raw(b.tx, `UPDATE crawl_hosts SET claimed_by = NULL, next_at = r.next_at, delay_ms = r.delay_ms, failures = r.failures, slow = r.slow, last_attempt_at = r.last_attempt_at,
			silent_since = coalesce(r.silent_since, crawl_hosts.silent_since)
		FROM {rows} AS r WHERE crawl_hosts.seq = r.seq AND crawl_hosts.claimed_by = r.claimed_by AND crawl_hosts.claim = r.claim RETURNING crawl_hosts.seq`).Scan(&seqs).Error
	if err != nil {
		return nil, err
	}
	kept := make(map[int64]bool, len(seqs))
	for _, seq := range seqs {
		kept[seq] = true
	}
	for _, t := range batches {
		if kept[t.Seq] {
			owned = append(owned, t)
		}
	}
	return owned, nil
}

// restHosts makes hosts idle that have nothing to fetch. They become due again when entries are added or a crawl continues.
func (b *batch) restHosts(batches []*HostBatch) error {
	rows := models.NewRows("seq bigint")
	for _, t := range batches {
		rows.Add(t.Seq)
	}
	return rows.Exec(b.tx, `UPDATE crawl_hosts SET next_at = NULL WHERE seq IN (SELECT seq FROM {rows} AS r) AND claimed_by IS NULL
		AND NOT EXISTS (SELECT 1 FROM frontier WHERE host_seq = crawl_hosts.seq AND `+fetchableEntries+`)`).Error
}
