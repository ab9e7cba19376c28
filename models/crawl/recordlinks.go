package crawl

import (
	"linkwatch/models"
)

// redirects moves entries to their redirect targets. If the crawl already has that URL, the entry is done. A redirect to the
// same URL must set a cookie.
func (b *batch) redirects() error {
	rows := models.NewRows("seq bigint, crawl_seq bigint, host text, url text, url_hash bytes, cookies text")
	hosts, to := map[string]bool{}, map[entryKey]int{}
	for i, r := range b.results {
		if r.RedirectTo == "" {
			continue
		}
		k, self := entryKey{r.Entry.CrawlSeq, hashOf(r.RedirectTo)}, r.RedirectTo == r.Entry.URL
		if self && r.Cookies == r.Entry.Cookies {
			b.results[i].RedirectTo, b.results[i].Status, b.results[i].Reason, b.results[i].Broken = "", EntryFailed, ReasonRedirects, true
			continue
		}
		if _, twice := to[k]; twice && !self {
			b.duplicate(i)
			continue
		}
		if !self {
			to[k] = i
		}
		hosts[models.HostPort(r.RedirectTo)] = true
		rows.Add(r.Entry.Seq, k.crawl, models.HostPort(r.RedirectTo), r.RedirectTo, k.hash[:], r.Cookies)
	}
	if rows.Len() == 0 {
		return nil
	}
	if err := b.s.addHosts(b.tx, hosts); err != nil {
		return err
	}
	var moved []struct{ Seq, HostSeq int64 }
	err := rows.Raw(b.tx, `UPDATE frontier SET url = r.url, url_hash = r.url_hash, host_seq = h.seq, redirects = frontier.redirects + 1, attempts = 0,
			linked_as = CASE WHEN r.url = frontier.linked_as THEN '' WHEN frontier.linked_as <> '' OR r.url = frontier.url THEN frontier.linked_as ELSE frontier.url END,
			cookies = r.cookies, status = 'pending', last_error = '', updated_at = ?
		FROM {rows} AS r CROSS JOIN crawl_hosts AS h WHERE frontier.seq = r.seq AND h.host = r.host
			AND NOT EXISTS (SELECT 1 FROM frontier AS f WHERE f.crawl_seq = r.crawl_seq AND f.url_hash = r.url_hash AND f.scope_seq = frontier.scope_seq AND f.seq <> frontier.seq)
		RETURNING frontier.seq, frontier.host_seq`, b.now).Scan(&moved).Error
	if err != nil {
		return err
	}
	changed, due := map[int64]bool{}, map[int64]bool{}
	for _, m := range moved {
		changed[m.Seq], due[m.HostSeq] = true, true
	}
	for k, i := range to {
		b.learned = append(b.learned, k)
		if !changed[b.results[i].Entry.Seq] {
			b.duplicate(i)
		}
	}
	return b.s.wakeHosts(b.tx, due)
}

// duplicate sets the result of an entry whose redirect target is already in its crawl.
func (b *batch) duplicate(i int) {
	b.results[i].RedirectTo, b.results[i].Status, b.results[i].Reason = "", EntryDone, ReasonDuplicate
}

// entries stores the results of the entries. Entries that were deleted meanwhile do not count.
func (b *batch) entries() error {
	rows, results := models.NewRows("seq bigint, status text, attempts bigint, last_error text, broken boolean"), map[int64]Result{}
	for _, r := range b.results {
		if r.RedirectTo != "" {
			continue
		}
		attempts := r.Entry.Attempts
		if r.Status != EntryDone {
			attempts++
		}
		rows.Add(r.Entry.Seq, r.Status, attempts, models.Truncate(r.Reason, 200), r.Broken && r.Status == EntryFailed)
		results[r.Entry.Seq] = r
	}
	var seqs []int64
	err := rows.Raw(b.tx, `UPDATE frontier SET status = r.status, attempts = r.attempts, last_error = r.last_error, broken = r.broken, updated_at = ?,
			cookies = CASE r.status WHEN 'pending' THEN frontier.cookies ELSE '' END
		FROM {rows} AS r WHERE frontier.seq = r.seq AND frontier.`+openEntries+` RETURNING frontier.seq`, b.now).Scan(&seqs).Error
	for _, seq := range seqs {
		r := results[seq]
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

// links adds the links of the pages to the frontier.
func (b *batch) links() error {
	var found []FoundURL
	entries, patterns := map[int64]Entry{}, map[entryKey]patternKey{}
	pending, skipped := map[patternKey]int{}, map[patternKey]FoundURL{}
	over := map[patternKey]int{}
	for _, r := range b.results {
		if _, ok := b.active[r.Entry.CrawlSeq]; !ok {
			continue
		}
		entries[r.Entry.CrawlSeq] = r.Entry
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
		b.log(entries[f.Crawl], "warn", "URLs skipped", "count", over[p], "reason", ReasonPattern, "such_as", models.Truncate(f.URL, 300))
	}
	all, err := b.s.enqueue(b.tx, found)
	for _, a := range all {
		b.counted[patterns[entryKey{a.CrawlSeq, hash(a.URLHash)}]]++
		if sum := b.sum(entries[a.CrawlSeq]); a.Status == EntryPending {
			sum.queued++
		} else {
			sum.failed++
		}
	}
	return err
}
