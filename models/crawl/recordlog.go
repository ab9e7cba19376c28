package crawl

import (
	"strings"

	"linkwatch/models"
)

func (b *batch) log(e Entry, level, message string, facts ...any) {
	sum := b.sum(e)
	sum.lines = append(sum.lines, b.s.line(level, message, facts...))
}

// executions stores the sums and writes the logs.
func (b *batch) executions() error {
	rows := models.NewRows(`seq bigint, crawled bigint, indexed bigint, queued bigint, fetched bigint, failed bigint, cpu_us bigint,
		start_hash text, start_error text, stack text, lines bigint, bytes bigint, progress boolean, pages_new bigint, pages_changed bigint, pages_gone bigint`)
	for _, r := range b.results {
		if r.Entry.Crawl.Execution == 0 {
			continue
		}
		sum := b.sum(r.Entry)
		sum.cpu += r.CPU
		sum.progress = sum.progress || !r.Unreachable || r.Status != EntryPending
		if r.LogLine != "" {
			sum.lines = append(sum.lines, r.LogLine)
		}
		if r.Stack != "" {
			sum.stack, sum.startError = r.Stack, r.Reason
		}
		if r.Entry.IsStartPage() && r.RedirectTo == "" {
			sum.hash = r.TextHash
			if r.Status == EntryFailed {
				sum.startError = r.Reason
			}
		}
	}
	text := map[int64]string{}
	for seq, sum := range b.sums {
		text[seq] = strings.Join(sum.lines, "\n")
		rows.Add(seq, sum.crawled, sum.indexed, sum.queued, sum.fetched, sum.failed, sum.cpu.Microseconds(),
			sum.hash, models.Truncate(sum.startError, 500), sum.stack, len(sum.lines), len(text[seq])+min(len(sum.lines), 1), sum.progress,
			sum.changes[PageNew]+sum.changes[PageBack], sum.changes[PageChanged], sum.changes[PageGone])
	}
	var stored []struct {
		Seq                int64
		LogLines, LogBytes int
	}
	err := rows.Raw(b.tx, `UPDATE job_executions SET items_crawled = items_crawled + r.crawled, items_indexed = items_indexed + r.indexed, queued = job_executions.queued + r.queued,
			fetched = job_executions.fetched + r.fetched, failed = job_executions.failed + r.failed, cpu_time_us = cpu_time_us + r.cpu_us, progress_at = CASE WHEN r.progress THEN ? ELSE progress_at END,
			start_hash = CASE r.start_hash WHEN '' THEN job_executions.start_hash ELSE r.start_hash END,
			start_error = CASE r.start_error WHEN '' THEN job_executions.start_error ELSE r.start_error END,
			stack_trace = CASE r.stack WHEN '' THEN stack_trace ELSE r.stack END,
			log_lines = log_lines + r.lines, log_bytes = log_bytes + r.bytes,
			pages_new = job_executions.pages_new + r.pages_new, pages_changed = job_executions.pages_changed + r.pages_changed, pages_gone = job_executions.pages_gone + r.pages_gone
		FROM {rows} AS r WHERE job_executions.seq = r.seq RETURNING job_executions.seq, log_lines, log_bytes`, b.now).Scan(&stored).Error
	if err != nil {
		return err
	}
	logs := models.NewRows("execution_seq bigint, first_line bigint, lines bigint, text text")
	for _, e := range stored {
		all := b.sums[e.Seq].lines
		before := e.LogBytes - len(text[e.Seq]) - min(len(all), 1)
		// Lines beyond the limit are counted but not stored.
		if kept := linesWithin(all, MaxLog-before); len(kept) > 0 {
			logs.Add(e.Seq, e.LogLines-len(all)+1, len(kept), strings.Join(kept, "\n"))
		}
	}
	return logs.Exec(b.tx, `INSERT INTO job_logs (execution_seq, first_line, lines, text)
		SELECT execution_seq, first_line, lines, text FROM {rows} AS r WHERE true ON CONFLICT DO NOTHING`).Error
}

// linesWithin returns the first lines that fit into a number of bytes.
func linesWithin(lines []string, bytes int) []string {
	for i, l := range lines {
		if bytes -= len(l) + 1; bytes < 0 {
			return lines[:i]
		}
	}
	return lines
}
