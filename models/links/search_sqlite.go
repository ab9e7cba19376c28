package links

import (
	"strings"
	"unicode/utf8"

	"gorm.io/gorm"

	"linkwatch/models"
)

// sqliteIndex is the FTS5 table links_search. FTS5 matches whole tokens and prefixes of tokens. To match any part
// of a word, each text is stored as its overlapping groups of three characters: "golang" is "gol ola lan ang ng
// g". A word of three or more characters is a phrase of groups, a shorter one the prefix of a group. The trigram
// tokenizer of FTS5 cannot match the shorter ones. The row ids are Link.Seq, so FTS5 returns matches newest first
// without sorting.
type sqliteIndex struct{}

func (sqliteIndex) put(tx *gorm.DB, docs []doc) error {
	rows := models.NewRows("seq bigint, title text, url text, tags text, marks text")
	for _, d := range docs {
		rows.Add(d.seq, grams(d.title), grams(d.url), grams(d.tags), tokens(d.marks))
	}
	return rows.Exec(tx, `INSERT OR REPLACE INTO links_search (rowid, title, url, tags, marks)
		SELECT seq, title, url, tags, marks FROM {rows} AS r`).Error
}

func (sqliteIndex) remove(tx *gorm.DB, seqs *models.Rows) error {
	return seqs.Exec(tx, "DELETE FROM links_search WHERE rowid IN (SELECT seq FROM {rows} AS r)").Error
}

func (sqliteIndex) find(tx *gorm.DB, s selection, p models.Page) (seqs []int64, total int, err error) {
	n := s.tierCount()
	if n > 1 {
		top, err := newest(tx, s, match(s, n-1), maxRanked+1, 0)
		if err != nil {
			return nil, 0, err
		}
		if len(top) <= maxRanked {
			err := rank(tx, s.query.Words, top)
			return top[min(p.Offset(), len(top)):min(p.Offset()+p.Size, len(top))], len(top), err
		}
	}
	if total, err = countMatches(tx, s, match(s, n-1), s.limit); err != nil || !s.hasPage(p, total) {
		return nil, total, err
	}
	want, skip := p.Size, p.Offset()
	if total < s.limit {
		want = min(want, total-skip)
	}
	for i := 0; i < n && len(seqs) < want; i++ {
		expr := match(s, i)
		if i > 0 { // exclude matches of better tiers
			expr = "(" + expr + ") NOT (" + match(s, i-1) + ")"
		}
		rows, err := newest(tx, s, expr, want-len(seqs), skip)
		if err != nil {
			return nil, 0, err
		}
		seqs = append(seqs, rows...)
		switch {
		case len(rows) > 0:
			skip = 0
		case skip > 0:
			inTier, err := countMatches(tx, s, expr, skip) // counting more than skip is not needed
			if err != nil {
				return nil, 0, err
			}
			skip -= inTier
		}
	}
	return seqs, total, nil
}

func (sqliteIndex) newest(tx *gorm.DB, s selection, limit int) ([]int64, error) {
	return newest(tx, s, match(s, s.tierCount()-1), limit, 0)
}

func (sqliteIndex) any(tx *gorm.DB, s selection) (bool, error) {
	seqs, err := newest(tx, s, match(s, s.tierCount()-1), 1, 0)
	return len(seqs) > 0, err
}

func (sqliteIndex) unused(tx *gorm.DB, words []string) (out []string, err error) {
	rows := models.NewRows("word text, expr text")
	for _, w := range words {
		rows.Add(w, gramQuery(w))
	}
	err = rows.Raw(tx, `SELECT word FROM {rows} AS r
		WHERE NOT EXISTS (SELECT 1 FROM links_search WHERE links_search MATCH '{title url tags} : ' || expr)`).Scan(&out).Error
	return out, err
}

// newest returns the keys of matches of an expression, newest first.
func newest(tx *gorm.DB, s selection, expr string, limit, offset int) (seqs []int64, err error) {
	where, args := whereMatch(s, expr)
	err = tx.Raw("SELECT rowid FROM links_search WHERE "+where+" ORDER BY rowid DESC LIMIT ? OFFSET ?",
		append(args, limit, offset)...).Scan(&seqs).Error
	return seqs, err
}

// countMatches counts matches and stops at limit.
func countMatches(tx *gorm.DB, s selection, expr string, limit int) (n int, err error) {
	where, args := whereMatch(s, expr)
	err = tx.Raw("SELECT count(*) FROM (SELECT 1 FROM links_search WHERE "+where+" LIMIT ?)", append(args, limit)...).Scan(&n).Error
	return n, err
}

// whereMatch returns the condition for matches of an expression, and for s.since. The plus keeps FTS5 from looking
// up each row separately.
func whereMatch(s selection, expr string) (where string, args []any) {
	if s.since.IsZero() {
		return "links_search MATCH ?", []any{expr}
	}
	return "links_search MATCH ? AND +rowid IN (SELECT seq FROM links WHERE expired_at > ?)", []any{expr, s.since}
}

// match returns the FTS5 expression of a selection, with words without a prefix in the fields of a tier. User
// input becomes quoted tokens without FTS5 syntax.
func match(s selection, tier int) string {
	var and []string
	add := func(words []Word, fields ...string) {
		for _, w := range words {
			and = append(and, in(fields, w))
		}
	}
	add(s.query.Words, tiers[tier]...)
	add(s.query.Title, "title")
	add(s.query.URL, "url")
	for _, g := range s.query.Tags {
		var names []string
		for _, n := range g.Names {
			if s.exact[n.Name] {
				names = append(names, mark(markTag(n.Name)))
			} else {
				names = append(names, in([]string{"tags"}, n.Part))
			}
		}
		op := " OR "
		if g.All {
			op = " AND "
		}
		and = append(and, "("+strings.Join(names, op)+")")
	}
	for _, m := range s.must {
		and = append(and, mark(m))
	}
	expr := strings.Join(and, " AND ")
	switch {
	case len(s.not) == 0 && s.own == "":
		return expr
	case expr == "":
		expr = mark(markAny)
	}
	for _, m := range s.not {
		expr = "(" + expr + ") NOT " + mark(m)
	}
	if s.own != "" {
		expr = "(" + expr + ") NOT (" + mark(markPrivate) + " NOT " + mark(s.own) + ")"
	}
	return expr
}

// markAny is a mark of all links. FTS5 has no expression for all rows.
const markAny = "any"

func mark(m string) string { return `marks : "` + token(m) + `"` }

// in returns the expression for a word in one of the fields.
func in(fields []string, w Word) string {
	forms := make([]string, len(w))
	for i, form := range w {
		forms[i] = gramQuery(form)
	}
	return "({" + strings.Join(fields, " ") + "} : (" + strings.Join(forms, " OR ") + "))"
}

const gram = 3

// grams returns the overlapping groups of three characters of a text, and the shorter ones at its end.
func grams(folded string) string {
	t := token(folded)
	var b strings.Builder
	b.Grow(4 * len(t))
	for i := range t {
		end := i
		for n := 0; n < gram && end < len(t); n++ {
			_, size := utf8.DecodeRuneInString(t[end:])
			end += size
		}
		b.WriteString(t[i:end])
		b.WriteByte(' ')
	}
	return b.String()
}

// gramQuery returns the expression for any part of a text.
func gramQuery(folded string) string {
	t := token(folded)
	if utf8.RuneCountInString(t) < gram {
		return `"` + t + `"*`
	}
	g := strings.Fields(grams(folded))
	return `"` + strings.Join(g[:len(g)-gram+1], " ") + `"` // without the shorter ones at the end: the match may be inside a word
}

func tokens(marks []string) string {
	out := make([]string, len(marks), len(marks)+1)
	for i, m := range marks {
		out[i] = token(m)
	}
	return strings.Join(append(out, markAny), " ")
}

// token replaces ASCII characters except letters and digits by private use characters. The tokenizer "ascii" would
// split the text at them.
func token(folded string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (r < '0' || r > '9') && (r < 'a' || r > 'z') {
			return 0xE000 + r
		}
		return r
	}, folded)
}
