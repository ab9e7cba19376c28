package crawl

import (
	"context"
	"fmt"
	"strings"
)

// LogTail returns the last n stored lines of the log of an execution, in order. It needs one query for any number of pieces.
func (s *Store) LogTail(ctx context.Context, e Execution, n int) ([]LogLine, error) {
	var pieces []struct {
		FirstLine int
		Text      string
	}
	err := s.db.Read(ctx).Raw(`SELECT first_line, text FROM (
			SELECT first_line, text, sum(lines) OVER (ORDER BY first_line DESC) - lines AS newer FROM job_logs WHERE execution_seq = ?) AS p
		WHERE newer < ? ORDER BY first_line`, e.Seq, n).Scan(&pieces).Error
	if err != nil {
		return nil, fmt.Errorf("read end of crawl log: %w", err)
	}
	var lines []LogLine
	for _, p := range pieces {
		for i, text := range strings.Split(p.Text, "\n") {
			lines = append(lines, parseLine(p.FirstLine+i, text))
		}
	}
	return lines[max(0, len(lines)-n):], nil
}
