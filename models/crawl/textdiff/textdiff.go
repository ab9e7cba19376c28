// Package textdiff compares two texts line by line, and changed lines word by word.
package textdiff

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Limits of a comparison. Longer texts are compared up to them. A comparison takes at most one second, after which it is
// coarser.
const (
	maxText  = 256 << 10 // bytes
	maxRows  = 5000      // per comparison
	maxTime  = 300 * time.Millisecond
	maxLines = 40 // lines of a block that are aligned with each other
)

// Text returns the text of a line.
func Text(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Kind is the kind of a row.
type Kind string

// The kinds of rows.
const (
	Same    Kind = "same"
	Changed Kind = "changed"
	Added   Kind = "added"
	Removed Kind = "removed"
)

// Span is a part of a line.
type Span struct {
	Text    string
	Changed bool // only in this line
}

// Row is a line of both texts side by side. Old is nil for an added line, New for a removed line.
type Row struct {
	Kind     Kind
	Old, New []Span
}

// Diff is the comparison of two texts.
type Diff struct {
	Rows           []Row
	Added, Removed int  // words
	Cut            bool // the texts exceed the limits
}

// Compare compares two texts.
func Compare(before, after string) Diff {
	var d Diff
	before, after = d.cut(before), d.cut(after)
	end := time.Now().Add(2 * maxTime)
	var removed, added []string
	for _, e := range edits(lines(before), lines(after), maxTime) {
		switch e.kind {
		case diffmatchpatch.DiffDelete:
			removed = append(removed, e.tokens...)
		case diffmatchpatch.DiffInsert:
			added = append(added, e.tokens...)
		case diffmatchpatch.DiffEqual:
			d.block(removed, added, end)
			removed, added = nil, nil
			for _, l := range e.tokens {
				d.Rows = append(d.Rows, Row{Kind: Same, Old: plain(l), New: plain(l)})
			}
		}
	}
	d.block(removed, added, end)
	if len(d.Rows) > maxRows {
		d.Rows, d.Cut = slices.Clone(d.Rows[:maxRows]), true
	}
	return d
}

func (d *Diff) cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	d.Cut = true
	end := maxText
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

func plain(s string) []Span { return []Span{{Text: s}} }

// block adds removed lines and the lines that replace them. It aligns lines with common words.
func (d *Diff) block(removed, added []string, end time.Time) {
	for _, p := range pair(removed, added) {
		switch {
		case p.new < 0:
			d.Removed += len(strings.Fields(removed[p.old]))
			d.Rows = append(d.Rows, Row{Kind: Removed, Old: []Span{{removed[p.old], true}}})
		case p.old < 0:
			d.Added += len(strings.Fields(added[p.new]))
			d.Rows = append(d.Rows, Row{Kind: Added, New: []Span{{added[p.new], true}}})
		default:
			d.Rows = append(d.Rows, d.words(removed[p.old], added[p.new], end))
		}
	}
}

func (d *Diff) words(before, after string, end time.Time) Row {
	row := Row{Kind: Changed, Old: []Span{}, New: []Span{}}
	for _, e := range edits(split(before), split(after), max(time.Until(end), time.Millisecond)) {
		text := strings.Join(e.tokens, "")
		switch e.kind {
		case diffmatchpatch.DiffDelete:
			d.Removed += len(strings.Fields(text))
			row.Old = append(row.Old, Span{text, true})
		case diffmatchpatch.DiffInsert:
			d.Added += len(strings.Fields(text))
			row.New = append(row.New, Span{text, true})
		case diffmatchpatch.DiffEqual:
			row.Old, row.New = append(row.Old, Span{Text: text}), append(row.New, Span{Text: text})
		}
	}
	return row
}

// split splits a line into words, each with the spaces after it, and punctuation. A letter of a script without spaces is a
// word.
func split(s string) (tokens []string) {
	start := 0
	in := false // inside a word
	for i, r := range s {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
		switch {
		case r == ' ' && i > start:
			continue // belongs to the previous token
		case in && letter && r < 0x2e80 && s[i-1] != ' ':
			continue
		case i > start:
			tokens = append(tokens, s[start:i])
			start = i
		}
		in = letter && r < 0x2e80
	}
	if start < len(s) {
		tokens = append(tokens, s[start:])
	}
	return tokens
}

type edit struct {
	kind   diffmatchpatch.Operation
	tokens []string
}

// edits returns the shortest edit script, or a longer one when the time is over.
func edits(before, after []string, limit time.Duration) []edit {
	codes, tokens := map[string]rune{}, map[rune]string{}
	next := rune(1)
	code := func(all []string) []rune {
		out := make([]rune, len(all))
		for i, t := range all {
			c, ok := codes[t]
			if !ok {
				if next == 0xd800 { // surrogates are not runes
					next = 0xe000
				}
				c = next
				next++
				codes[t], tokens[c] = c, t
			}
			out[i] = c
		}
		return out
	}
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = limit
	var out []edit
	for _, e := range dmp.DiffCleanupSemantic(dmp.DiffMainRunes(code(before), code(after), false)) {
		var all []string
		for _, c := range e.Text {
			all = append(all, tokens[c])
		}
		out = append(out, edit{e.Type, all})
	}
	return out
}
