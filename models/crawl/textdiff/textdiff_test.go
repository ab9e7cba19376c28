package textdiff

import (
	"fmt"
	"strings"
	"testing"
)

// shown formats the rows, with changes in brackets.
func shown(d Diff) (out []string) {
	side := func(spans []Span) string {
		var b strings.Builder
		for _, s := range spans {
			if s.Changed {
				b.WriteString("[" + s.Text + "]")
			} else {
				b.WriteString(s.Text)
			}
		}
		return b.String()
	}
	for _, r := range d.Rows {
		out = append(out, fmt.Sprintf("%s|%s|%s", r.Kind, side(r.Old), side(r.New)))
	}
	return out
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		want           []string
		added, removed int
	}{
		{"nothing changed", "a\nb", "a\nb", []string{"same|a|a", "same|b|b"}, 0, 0},
		{"a word", "Opens at 9 am daily", "Opens at 10 am daily", []string{"changed|Opens at [9 ]am daily|Opens at [10 ]am daily"}, 1, 1},
		{"a line added", "one\nthree", "one\ntwo\nthree", []string{"same|one|one", "added||[two]", "same|three|three"}, 1, 0},
		{"a line removed", "one\ntwo words\nthree", "one\nthree", []string{"same|one|one", "removed|[two words]|", "same|three|three"}, 0, 2},
		{
			"a line moved beside its like", "the price is 10 euros\nend", "a new first line here\nthe price is 12 euros\nend",
			[]string{"added||[a new first line here]", "changed|the price is [10 ]euros|the price is [12 ]euros", "same|end|end"}, 6, 1,
		},
		{"unlike lines", "alpha beta", "gamma delta", []string{"removed|[alpha beta]|", "added||[gamma delta]"}, 2, 2},
		{"no text before", "", "new", []string{"added||[new]"}, 1, 0},
		{"letters without spaces", "今日は晴れです", "今日は雨です", []string{"changed|今日は[晴れ]です|今日は[雨]です"}, 1, 1},
	} {
		d := Compare(c.old, c.new)
		if got := shown(d); strings.Join(got, "\n") != strings.Join(c.want, "\n") || d.Added != c.added || d.Removed != c.removed {
			t.Errorf("%s: got +%d -%d\n%s", c.name, d.Added, d.Removed, strings.Join(got, "\n"))
		}
	}
}

// TestCompareIsLimited checks that long texts without common words are cut, and compared in limited time.
func TestCompareIsLimited(t *testing.T) {
	var a, b strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&a, "a%d b%d\n", i, i)
		fmt.Fprintf(&b, "c%d d%d\n", i, i)
	}
	d := Compare(a.String(), b.String())
	if !d.Cut || d.Added == 0 || d.Removed == 0 {
		t.Errorf("got cut %v, +%d -%d", d.Cut, d.Added, d.Removed)
	}
}

// FuzzCompare checks that the rows contain both texts.
func FuzzCompare(f *testing.F) {
	f.Add("one two\nthree", "one 2\nthree\nfour")
	f.Add("今日は", "")
	f.Fuzz(func(t *testing.T, before, after string) {
		if len(before)+len(after) > 4000 {
			return
		}
		side := func(rows []Row, of func(Row) []Span) string {
			var all []string
			for _, r := range rows {
				spans := of(r)
				if spans == nil {
					continue
				}
				all = append(all, Text(spans))
			}
			return strings.Join(all, "\n")
		}
		d := Compare(before, after)
		if got := side(d.Rows, func(r Row) []Span { return r.Old }); got != before {
			t.Errorf("old side: got %q, want %q", got, before)
		}
		if got := side(d.Rows, func(r Row) []Span { return r.New }); got != after {
			t.Errorf("new side: got %q, want %q", got, after)
		}
	})
}
