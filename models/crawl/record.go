package crawl

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Result is what a fetch of an entry came to.
type Result struct {
	Entry  Entry
	Status EntryStatus // Pending: it is tried again
	Reason string      // why it failed, or is tried again; "" = it is done
	To     string      // where it redirects to, as Normalize gave it; "" = nowhere. The entry is then tried again there

	Page       *Page // to store; nil = none
	Unchanged  bool  // of Page only URL and FetchedAt count: it is as it was
	Links      []Found
	Discovered []Discovered
	Line       string        // for the log of its execution
	Hash       string        // of the text of a start page, SHA-256 in hexadecimal; "" = it has none
	CPU        time.Duration // spent on reading it
	Stack      string        // of a panic; "" = there was none
}

// Size is about how many bytes a result takes in memory.
func (r Result) Size() int {
	n := 256 + len(r.Line)
	if r.Page != nil {
		n += 512 + len(r.Page.Outlinks)
	}
	for _, l := range r.Links {
		n += 64 + len(l.URL)
	}
	for _, d := range r.Discovered {
		n += 64 + len(d.URL) + len(d.Text)
	}
	return n
}

// Turn is an instance's time with a host: what it fetched, and when the host may be
// asked again.
type Turn struct {
	Host    // as it was claimed, with its new NextAt, DelayMS, Failures, Slow and TriedAt
	Results []Result
	Left    []Entry // loaded, but not fetched
	Bytes   int     // that the results take in memory, about
}

// maxTurnBytes ends a turn whose results take more memory.
const maxTurnBytes = 256 << 10

// Add adds a result. full says that the turn has as many results as it may hold.
func (t *Turn) Add(r Result) (full bool) {
	t.Results = append(t.Results, r)
	t.Bytes += r.Size()
	return t.Bytes > maxTurnBytes
}

// lockRecord is held by transactions that store what was fetched.
const lockRecord models.LockKey = 7_110_913_004

// Record stores what was fetched and frees the hosts, in one transaction: each table
// is written by one statement, however many results there are. Turns whose claim was
// lost are passed over.
func (s *Store) Record(ctx context.Context, turns ...*Turn) error {
	var learned []entryKey
	var counted map[patternKey]int
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockRecord); err != nil {
			return err
		}
		b := batch{s: s, tx: tx, now: s.clock.Now(), sums: map[int64]*sum{}, counted: map[patternKey]int{}}
		err := b.store(turns)
		learned, counted = b.learned, b.counted
		return err
	})
	if err != nil {
		return fmt.Errorf("recording what was crawled: %w", err)
	}
	for _, k := range learned {
		s.seen.Set(k, struct{}{})
	}
	for k, n := range counted {
		before, _ := s.patterns.GetIfPresent(k)
		s.patterns.Set(k, before+n)
	}
	ring(s.urls) // for the hosts that were freed, too
	return nil
}

// batch is a transaction that stores turns.
type batch struct {
	s       *Store
	tx      *gorm.DB
	now     models.Time
	results []Result
	going   map[int64]goingOn // crawls that have not ended
	sums    map[int64]*sum    // by execution
	// What counts once the transaction is committed.
	learned []entryKey         // the frontier has it
	counted map[patternKey]int // URLs that were added, by their path pattern
}

// sum is what results change of an execution.
type sum struct {
	crawled, indexed, queued, fetched, failed int
	cpu                                       time.Duration
	hash, startError, stack                   string
	lines                                     []string
}

// sum is that of the execution of an entry: the newest one of its crawl, which may
// have taken over from the one that loaded the entry.
func (b *batch) sum(e Entry) *sum {
	seq := e.Crawl.Execution
	if going, ok := b.going[e.CrawlSeq]; ok {
		seq = going.Seq
	}
	if b.sums[seq] == nil {
		b.sums[seq] = &sum{}
	}
	return b.sums[seq]
}

func (b *batch) store(turns []*Turn) error {
	owned, err := b.freeHosts(turns)
	if err != nil || len(owned) == 0 {
		return err
	}
	left := models.NewRows("seq bigint")
	crawls := map[int64]bool{}
	for _, t := range owned {
		b.results = append(b.results, t.Results...)
		for _, e := range t.Left {
			left.Add(e.Seq)
		}
	}
	for _, r := range b.results {
		crawls[r.Entry.CrawlSeq] = true
	}
	if b.going, err = b.s.going(b.tx, crawls); err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error {
			return left.Exec(b.tx, "UPDATE frontier SET status = 'pending' WHERE seq IN (SELECT seq FROM {rows} AS r) AND status = 'fetching'").Error
		},
		b.redirects, b.entries, b.links, b.pages, b.unchanged, b.discovered, b.executions, func() error { return b.restHosts(owned) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// freeHosts ends the claims of hosts and returns the turns that still had theirs.
func (b *batch) freeHosts(turns []*Turn) (owned []*Turn, err error) {
	rows := models.NewRows("seq bigint, claimed_by text, claim bigint, next_at bigint, delay_ms bigint, failures bigint, slow boolean, tried_at bigint")
	for _, t := range turns {
		rows.Add(t.Seq, t.ClaimedBy, t.Claim, t.NextAt, t.DelayMS, t.Failures, t.Slow, t.TriedAt)
	}
	var seqs []int64
	err = rows.Raw(b.tx, `UPDATE crawl_hosts SET claimed_by = NULL, next_at = r.next_at, delay_ms = r.delay_ms, failures = r.failures, slow = r.slow, tried_at = r.tried_at
		FROM {rows} AS r WHERE crawl_hosts.seq = r.seq AND crawl_hosts.claimed_by = r.claimed_by AND crawl_hosts.claim = r.claim RETURNING crawl_hosts.seq`).Scan(&seqs).Error
	if err != nil {
		return nil, err
	}
	kept := make(map[int64]bool, len(seqs))
	for _, seq := range seqs {
		kept[seq] = true
	}
	for _, t := range turns {
		if kept[t.Seq] {
			owned = append(owned, t)
		}
	}
	return owned, nil
}

// restHosts lets hosts rest of which nothing is to be fetched. Whoever adds entries, or
// lets a crawl go on, wakes them.
func (b *batch) restHosts(turns []*Turn) error {
	rows := models.NewRows("seq bigint")
	for _, t := range turns {
		rows.Add(t.Seq)
	}
	return rows.Exec(b.tx, `UPDATE crawl_hosts SET next_at = NULL WHERE seq IN (SELECT seq FROM {rows} AS r) AND claimed_by IS NULL
		AND NOT EXISTS (SELECT 1 FROM frontier WHERE host_seq = crawl_hosts.seq AND `+liveEntries+`)`).Error
}

// redirects moves entries to the URLs that they redirect to. One whose crawl has
// that URL already is done.
func (b *batch) redirects() error {
	rows := models.NewRows("seq bigint, crawl_seq bigint, host text, url text, url_hash bytes")
	hosts, to := map[string]bool{}, map[entryKey]int{}
	for i, r := range b.results {
		if r.To == "" {
			continue
		}
		k := entryKey{r.Entry.CrawlSeq, hashOf(r.To)}
		if k.hash == hashOf(r.Entry.URL) {
			b.results[i].To, b.results[i].Status, b.results[i].Reason = "", EntryFailed, ReasonRedirects
			continue
		}
		if _, twice := to[k]; twice {
			b.duplicate(i)
			continue
		}
		to[k] = i
		hosts[models.HostPort(r.To)] = true
		rows.Add(r.Entry.Seq, k.crawl, models.HostPort(r.To), r.To, k.hash[:])
	}
	if rows.Len() == 0 {
		return nil
	}
	if err := b.s.addHosts(b.tx, hosts); err != nil {
		return err
	}
	var moved []struct{ Seq, HostSeq int64 }
	err := rows.Raw(b.tx, `UPDATE frontier SET url = r.url, url_hash = r.url_hash, host_seq = h.seq, redirects = frontier.redirects + 1, attempts = 0,
			status = 'pending', last_error = '', updated_at = ?
		FROM {rows} AS r CROSS JOIN crawl_hosts AS h WHERE frontier.seq = r.seq AND h.host = r.host
			AND NOT EXISTS (SELECT 1 FROM frontier AS f WHERE f.crawl_seq = r.crawl_seq AND f.url_hash = r.url_hash)
		RETURNING frontier.seq, frontier.host_seq`, b.now).Scan(&moved).Error
	if err != nil {
		return err
	}
	went, due := map[int64]bool{}, map[int64]bool{}
	for _, m := range moved {
		went[m.Seq], due[m.HostSeq] = true, true
	}
	for k, i := range to {
		b.learned = append(b.learned, k)
		if !went[b.results[i].Entry.Seq] {
			b.duplicate(i)
		}
	}
	return b.s.wakeHosts(b.tx, due)
}

// duplicate makes a result of an entry that leads to another one of its crawl.
func (b *batch) duplicate(i int) {
	b.results[i].To, b.results[i].Status, b.results[i].Reason = "", EntryDone, ReasonDuplicate
}

// entries stores what became of the entries. One that was deleted meanwhile counts no
// more.
func (b *batch) entries() error {
	rows, of := models.NewRows("seq bigint, status text, attempts bigint, last_error text"), map[int64]Result{}
	for _, r := range b.results {
		if r.To != "" {
			continue
		}
		attempts := r.Entry.Attempts
		if r.Status != EntryDone {
			attempts++
		}
		rows.Add(r.Entry.Seq, r.Status, attempts, models.Truncate(r.Reason, 200))
		of[r.Entry.Seq] = r
	}
	var seqs []int64
	err := rows.Raw(b.tx, `UPDATE frontier SET status = r.status, attempts = r.attempts, last_error = r.last_error, updated_at = ?
		FROM {rows} AS r WHERE frontier.seq = r.seq AND frontier.`+openEntries+` RETURNING frontier.seq`, b.now).Scan(&seqs).Error
	for _, seq := range seqs {
		r := of[seq]
		if r.Entry.Crawl.Execution == 0 {
			continue
		}
		switch sum := b.sum(r.Entry); r.Status {
		case EntryDone:
			sum.queued--
			sum.fetched++
		case EntryFailed:
			sum.queued--
			sum.failed++
		case EntryPending, EntryFetching:
		}
	}
	return err
}

// links puts what the pages link to into the frontier.
func (b *batch) links() error {
	var found []Found
	of, patterns := map[int64]Entry{}, map[entryKey]patternKey{}
	pending, skipped := map[patternKey]int{}, map[patternKey]Found{}
	over := map[patternKey]int{}
	for _, r := range b.results {
		if _, ok := b.going[r.Entry.CrawlSeq]; !ok {
			continue
		}
		of[r.Entry.CrawlSeq] = r.Entry
		for _, f := range r.Links {
			k := entryKey{f.Crawl, hashOf(f.URL)}
			if _, known := b.s.seen.GetIfPresent(k); known {
				continue
			}
			if _, twice := patterns[k]; twice {
				continue
			}
			p := patternKey{f.Crawl, hashOf(Pattern(f.URL))}
			patterns[k] = p
			if n, _ := b.s.patterns.GetIfPresent(p); n+pending[p] >= MaxPerPattern {
				skipped[p] = f
				over[p]++
				continue
			}
			pending[p]++
			found = append(found, f)
			b.learned = append(b.learned, k)
		}
	}
	for p, f := range skipped {
		b.log(of[f.Crawl], "warn", "URLs skipped", "count", over[p], "reason", ReasonPattern, "such_as", models.Truncate(f.URL, 300))
	}
	all, err := b.s.enqueue(b.tx, found)
	for _, a := range all {
		b.counted[patterns[entryKey{a.CrawlSeq, hash(a.URLHash)}]]++
		if sum := b.sum(of[a.CrawlSeq]); a.Status == EntryPending {
			sum.queued++
		} else {
			sum.failed++
		}
	}
	return err
}

func (b *batch) log(e Entry, level, message string, facts ...any) {
	sum := b.sum(e)
	sum.lines = append(sum.lines, b.s.line(level, message, facts...))
}

// executions stores the sums, and writes the logs.
func (b *batch) executions() error {
	rows := models.NewRows(`seq bigint, crawled bigint, indexed bigint, queued bigint, fetched bigint, failed bigint, cpu_us bigint,
		start_hash text, start_error text, stack text, lines bigint, bytes bigint`)
	for _, r := range b.results {
		if r.Entry.Crawl.Execution == 0 {
			continue
		}
		sum := b.sum(r.Entry)
		sum.cpu += r.CPU
		if r.Line != "" {
			sum.lines = append(sum.lines, r.Line)
		}
		if r.Stack != "" {
			sum.stack, sum.startError = r.Stack, r.Reason
		}
		if r.Entry.Start() && r.To == "" {
			sum.hash = r.Hash
			if r.Status == EntryFailed {
				sum.startError = r.Reason
			}
		}
	}
	text := map[int64]string{}
	for seq, sum := range b.sums {
		text[seq] = strings.Join(sum.lines, "\n")
		rows.Add(seq, sum.crawled, sum.indexed, sum.queued, sum.fetched, sum.failed, sum.cpu.Microseconds(),
			sum.hash, models.Truncate(sum.startError, 500), sum.stack, len(sum.lines), len(text[seq])+min(len(sum.lines), 1))
	}
	var stored []struct {
		Seq                int64
		LogLines, LogBytes int
	}
	err := rows.Raw(b.tx, `UPDATE job_executions SET items_crawled = items_crawled + r.crawled, items_indexed = items_indexed + r.indexed, queued = job_executions.queued + r.queued,
			fetched = job_executions.fetched + r.fetched, failed = job_executions.failed + r.failed, cpu_time_us = cpu_time_us + r.cpu_us, progress_at = ?,
			start_hash = CASE r.start_hash WHEN '' THEN job_executions.start_hash ELSE r.start_hash END,
			start_error = CASE r.start_error WHEN '' THEN job_executions.start_error ELSE r.start_error END,
			stack_trace = CASE r.stack WHEN '' THEN stack_trace ELSE r.stack END,
			log_lines = log_lines + r.lines, log_bytes = log_bytes + r.bytes
		FROM {rows} AS r WHERE job_executions.seq = r.seq RETURNING job_executions.seq, log_lines, log_bytes`, b.now).Scan(&stored).Error
	if err != nil {
		return err
	}
	logs := models.NewRows("execution_seq bigint, first_line bigint, lines bigint, text text")
	for _, e := range stored {
		all := b.sums[e.Seq].lines
		before := e.LogBytes - len(text[e.Seq]) - min(len(all), 1)
		// What is beyond the limit is counted, and not kept.
		if kept := fitting(all, MaxLog-before); len(kept) > 0 {
			logs.Add(e.Seq, e.LogLines-len(all)+1, len(kept), strings.Join(kept, "\n"))
		}
	}
	return logs.Exec(b.tx, `INSERT INTO job_logs (execution_seq, first_line, lines, text)
		SELECT execution_seq, first_line, lines, text FROM {rows} AS r WHERE true ON CONFLICT DO NOTHING`).Error
}

// fitting are the first lines that take so many bytes at most.
func fitting(lines []string, bytes int) []string {
	for i, l := range lines {
		if bytes -= len(l) + 1; bytes < 0 {
			return lines[:i]
		}
	}
	return lines
}
