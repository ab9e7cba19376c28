package crawl

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// MaxLog is the maximum size in bytes of the log of an execution. The last lines, about how it ended, are stored even beyond
// this limit.
const MaxLog = 1 << 20

// maxLine is the maximum length of a log line in bytes.
const maxLine = 4 << 10

// LogLine is one line of the log of an execution.
type LogLine struct {
	Number  int // from 1
	At      time.Time
	Level   string // info, warn or error
	Message string
}

// line formats a log line with the current time. facts are alternating names and values.
func (s *Store) line(level, message string, facts ...any) string {
	return FormatLogLine(s.clock.Now(), level, message, facts...)
}

// FormatLogLine formats a log line: time, level, message and facts, which are alternating names and values.
func FormatLogLine(at models.Time, level, message string, facts ...any) string {
	b := make([]byte, 0, 128)
	b = at.UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
	b = append(append(append(append(b, ' '), level...), ' '), message...)
	for i := 0; i+1 < len(facts); i += 2 {
		b = fmt.Appendf(b, " %s=", facts[i])
		switch v := facts[i+1].(type) {
		case int:
			b = strconv.AppendInt(b, int64(v), 10)
		case string:
			b = appendFact(b, v)
		default:
			b = appendFact(b, fmt.Sprint(v))
		}
	}
	if len(b) > maxLine {
		b = b[:maxLine]
	}
	return strings.ToValidUTF8(string(b), "") // the cut may split a rune
}

// appendFact quotes a value unless it is a single word.
func appendFact(b []byte, v string) []byte {
	if v == "" || strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r == '"' || r == 0x7f || r == 0x2028 || r == 0xfffd }) {
		return strconv.AppendQuote(b, v)
	}
	return append(b, v...)
}

func parseLine(number int, text string) LogLine {
	l := LogLine{Number: number, Message: text}
	at, rest, _ := strings.Cut(text, " ")
	level, message, ok := strings.Cut(rest, " ")
	if when, err := time.Parse("2006-01-02T15:04:05.000Z", at); err == nil && ok {
		l.At, l.Level, l.Message = when, level, message
	}
	return l
}

// log appends lines to the log of an execution, even beyond its limit.
func (s *Store) log(tx *gorm.DB, execution int64, lines ...string) error {
	text := strings.Join(lines, "\n")
	var now struct{ LogLines int }
	err := tx.Raw("UPDATE job_executions SET log_lines = log_lines + ?, log_bytes = log_bytes + ? WHERE seq = ? RETURNING log_lines",
		len(lines), len(text)+1, execution).Scan(&now).Error
	if err == nil {
		err = tx.Exec("INSERT INTO job_logs (execution_seq, first_line, lines, text) VALUES (?, ?, ?, ?)",
			execution, now.LogLines-len(lines)+1, len(lines), text).Error
	}
	if err != nil {
		return fmt.Errorf("write crawl log: %w", err)
	}
	return nil
}

// maxPieces is the maximum number of log pieces to read at once.
const maxPieces = 64

// Log returns lines of the log of an execution after a line number, in order. It may return slightly more than limit.
func (s *Store) Log(ctx context.Context, e Execution, after, limit int) (lines []LogLine, err error) {
	var pieces []struct {
		FirstLine int
		Lines     int
		Text      string
	}
	err = s.db.Read(ctx).Raw(`SELECT first_line, lines, text FROM job_logs WHERE execution_seq = ? AND first_line >= (
			SELECT coalesce(max(first_line), 1) FROM job_logs WHERE execution_seq = ? AND first_line <= ?)
		ORDER BY first_line LIMIT ?`, e.Seq, e.Seq, after+1, maxPieces).Scan(&pieces).Error
	if err != nil {
		return nil, fmt.Errorf("read crawl log: %w", err)
	}
	for _, p := range pieces {
		for i, text := range strings.Split(p.Text, "\n") {
			if n := p.FirstLine + i; n > after && len(lines) < limit {
				lines = append(lines, parseLine(n, text))
			}
		}
	}
	return lines, nil
}

// StoredLines returns the number of lines that Log can return. Lines beyond MaxLog were not stored.
func (s *Store) StoredLines(ctx context.Context, e Execution) (n int, err error) {
	if e.LogBytes <= MaxLog {
		return e.LogLines, nil
	}
	err = s.db.Read(ctx).Raw("SELECT coalesce(sum(lines), 0) FROM job_logs WHERE execution_seq = ?", e.Seq).Scan(&n).Error
	if err != nil {
		return 0, fmt.Errorf("count lines of crawl log: %w", err)
	}
	return n, nil
}

// LogText calls write with each piece of the log of an execution, in order. It stops at the first error of write.
func (s *Store) LogText(ctx context.Context, e Execution, write func(text string) error) error {
	for after := 0; ; {
		lines, err := s.Log(ctx, e, after, 10_000)
		if err != nil || len(lines) == 0 {
			return err
		}
		var b strings.Builder
		for _, l := range lines {
			b.WriteString(l.String() + "\n")
		}
		if err := write(b.String()); err != nil {
			return err
		}
		after = lines[len(lines)-1].Number
	}
}

// String returns the line as it is stored.
func (l LogLine) String() string {
	if l.At.IsZero() {
		return l.Message
	}
	return l.At.UTC().Format("2006-01-02T15:04:05.000Z") + " " + l.Level + " " + l.Message
}
