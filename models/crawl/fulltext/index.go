package fulltext

import (
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Doc is a page to index.
type Doc struct {
	Seq      int64
	Title    string
	Headings string // one per line
	URL      string
	Text     string
	Source   int64
	Language string      // "" = unknown
	Date     models.Time // date for filters
}

// Entry is an indexed page in the format of an engine.
type Entry struct {
	seq   int64
	words string
}

// Filter limits a search. The zero value does not limit it.
type Filter struct {
	Source      int64
	Language    string
	Since, Till time.Time // whole days in UTC; zero = no limit
}

// Index is the table page_index of one engine. Methods run in the caller's transaction.
type Index interface {
	// Entry converts a page for Put. It needs CPU time but no database.
	Entry(d Doc) Entry
	// Put inserts or replaces entries.
	Put(tx *gorm.DB, entries []Entry) error
	// Remove removes pages.
	Remove(tx *gorm.DB, seqs []int64) error
	// match returns up to limit pages that match an expression, the newest first.
	match(tx *gorm.DB, e expr, limit int) ([]int64, error)
}

// New returns the index of an engine.
func New(engine string) Index {
	if engine == models.Postgres {
		return postgres{}
	}
	return sqlite{}
}

// Find returns up to limit matching pages. Pages with all words in the title come first, then pages with all words in
// titles, headings or URLs, then the others. Each group has the newest first. more reports that there are others. q may
// be the zero Query if f limits the search. The cost grows with the number of pages that have the rarest word. It is
// lowest if titles have the words.
func Find(tx *gorm.DB, ix Index, q Query, f Filter, limit int) (seqs []int64, more bool, err error) {
	seen := map[int64]bool{}
	parts := []string{markTitle, markHeading, ""}
	if len(q.All) == 0 {
		parts = parts[2:]
	}
	for _, in := range parts {
		found, err := ix.match(tx, expr{q, in, f.marks()}, limit+1)
		if err != nil {
			return nil, false, fmt.Errorf("search crawled pages: %w", err)
		}
		for _, seq := range found {
			if seen[seq] {
				continue
			}
			if len(seqs) == limit {
				return seqs, true, nil
			}
			seen[seq] = true
			seqs = append(seqs, seq)
		}
	}
	return seqs, false, nil
}

type expr struct {
	Query
	in  string     // mark of the part that must have the words; "" = any part
	and [][]string // marks: at least one of each list
}

// A word is indexed as it is. It is indexed again with a mark if it is in a title, and with another mark if it is in a
// title, heading or URL. So the pages with a word in the title have their own list in the index, however frequent the
// word is in texts. Filters are also words with a mark. Marks are private-use characters, which no word of a text
// contains.
const (
	markTitle   = "\uE001"
	markHeading = "\uE002"
	markFilter  = "\uE003"
)

// Limits of indexed text. A PostgreSQL tsvector has at most 16,383 positions and 1 MiB.
const (
	maxText  = 14_000    // words of a text
	maxBytes = 512 << 10 // of the words of a text
	maxPart  = 200       // words of a title, of headings and of a URL
)

// tokens returns the words of a page separated by spaces, in the order of its parts. A gap between parts keeps phrases from
// matching across them.
func (d Doc) tokens() string {
	var b strings.Builder
	b.Grow(len(d.Text) + 4*(len(d.Title)+len(d.Headings)+len(d.URL)) + 100)
	part := func(text, mark string, limit int) {
		n := 0
		Words(text, func(w Word) bool {
			b.WriteString(mark)
			b.WriteString(w.Text)
			b.WriteByte(' ')
			n++
			return n < limit && b.Len() < maxBytes
		})
		b.WriteString(gap)
	}
	part(d.Title, "", maxPart)
	part(d.Title, markTitle, maxPart)
	part(d.Title, markHeading, maxPart)
	part(d.Headings, "", maxPart)
	part(d.Headings, markHeading, maxPart)
	part(d.URL, "", maxPart)
	part(d.URL, markHeading, maxPart)
	for _, m := range d.marks() {
		b.WriteString(m + " ")
	}
	b.WriteString(gap)
	part(d.Text, "", maxText)
	return b.String()
}

const gap = "\uE000 "

func sourceMark(seq int64) string     { return fmt.Sprintf(markFilter+"s%d", seq) }
func languageMark(lang string) string { return markFilter + "l" + fold(lang) }
func dayMark(t time.Time) string      { return markFilter + t.Format("d20060102") }
func monthMark(t time.Time) string    { return markFilter + t.Format("m200601") }
func yearMark(t time.Time) string     { return markFilter + t.Format("y2006") }

func (d Doc) marks() []string {
	m := []string{sourceMark(d.Source)}
	if d.Language != "" {
		m = append(m, languageMark(d.Language))
	}
	if !d.Date.IsZero() {
		t := d.Date.UTC()
		m = append(m, dayMark(t), monthMark(t), yearMark(t))
	}
	return m
}

func (f Filter) marks() (and [][]string) {
	if f.Source != 0 {
		and = append(and, []string{sourceMark(f.Source)})
	}
	if f.Language != "" {
		and = append(and, []string{languageMark(f.Language)})
	}
	if !f.Since.IsZero() || !f.Till.IsZero() {
		and = append(and, dateMarks(f.Since, f.Till))
	}
	return and
}

// Years of page dates. They replace a missing start or end of a date filter.
const firstYear, lastYear = 1990, 2100

// dateMarks returns the marks of days, months and years that cover the days from since to till.
func dateMarks(since, till time.Time) (marks []string) {
	first, last := time.Date(firstYear, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(lastYear, 12, 31, 0, 0, 0, 0, time.UTC)
	day := first
	if since = since.UTC().Truncate(24 * time.Hour); since.After(first) {
		day = since
	}
	if till = till.UTC().Truncate(24 * time.Hour); till.After(first) && till.Before(last) {
		last = till
	}
	for !day.After(last) {
		year, month := day.AddDate(1, 0, 0), day.AddDate(0, 1, 0)
		switch {
		case day.YearDay() == 1 && !year.AddDate(0, 0, -1).After(last):
			marks, day = append(marks, yearMark(day)), year
		case day.Day() == 1 && !month.AddDate(0, 0, -1).After(last):
			marks, day = append(marks, monthMark(day)), month
		default:
			marks, day = append(marks, dayMark(day)), day.AddDate(0, 0, 1)
		}
	}
	if len(marks) == 0 { // since is after till: nothing matches
		marks = []string{markFilter + "none"}
	}
	return marks
}
