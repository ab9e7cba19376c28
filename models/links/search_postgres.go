package links

import (
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"linkwatch/models"
)

// postgresIndex is the table links_search with pg_trgm indexes, which find any part of a text with LIKE. Words of
// one or two characters need a scan of the table.
type postgresIndex struct{}

func (postgresIndex) put(tx *gorm.DB, docs []doc) error {
	rows := models.NewRows("seq bigint, title text, url text, tags text, marks text")
	for _, d := range docs {
		rows.Add(d.seq, d.title, d.url, d.tags, "\n"+strings.Join(d.marks, "\n")+"\n")
	}
	return rows.Exec(tx, `INSERT INTO links_search (link_seq, title, url, tags, marks) SELECT seq, title, url, tags, marks FROM {rows} AS r
		ON CONFLICT (link_seq) DO UPDATE SET title = excluded.title, url = excluded.url, tags = excluded.tags, marks = excluded.marks`).Error
}

func (postgresIndex) remove(tx *gorm.DB, seqs *models.Rows) error {
	return seqs.Exec(tx, "DELETE FROM links_search WHERE link_seq IN (SELECT seq FROM {rows} AS r)").Error
}

func (postgresIndex) find(tx *gorm.DB, s selection, p models.Page) (seqs []int64, total int, err error) {
	where := conditions(s)
	// The rank is the first tier that matches all words.
	rank, rankArgs := "CASE", []any{}
	for i := range s.tierCount() - 1 {
		c := conditionsOf(s.query.Words, tiers[i]...)
		rank += " WHEN " + c.sql + " THEN " + string(rune('0'+i))
		rankArgs = append(rankArgs, c.args...)
	}
	if rank += " ELSE 9 END, "; len(rankArgs) == 0 {
		rank = ""
	}
	if total, err = countRows(tx, where, s.limit); err != nil || !s.hasPage(p, total) {
		return nil, total, err
	}
	args := append(append(where.args, rankArgs...), p.Size, p.Offset())
	err = tx.Raw("SELECT link_seq FROM links_search WHERE "+where.sql+
		" ORDER BY "+rank+"link_seq DESC LIMIT ? OFFSET ?", args...).Scan(&seqs).Error
	return seqs, total, err
}

// countRows counts matches and stops at limit.
func countRows(tx *gorm.DB, where condition, limit int) (n int, err error) {
	args := append(slices.Clone(where.args), limit)
	err = tx.Raw("SELECT count(*) FROM (SELECT 1 FROM links_search WHERE "+where.sql+" LIMIT ?) AS counted", args...).Scan(&n).Error
	return n, err
}

func (postgresIndex) newest(tx *gorm.DB, s selection, limit int) (seqs []int64, err error) {
	where, from := conditions(s), "links_search"
	if !s.query.indexed() {
		visible := visibleIn(s)
		from = fmt.Sprintf("(SELECT * FROM links_search WHERE "+visible.sql+" ORDER BY link_seq DESC LIMIT %d) AS newest", models.NewestSearched)
		where.args = append(visible.args, where.args...)
	}
	err = tx.Raw("SELECT link_seq FROM "+from+" WHERE "+where.sql+" ORDER BY link_seq DESC LIMIT ?", append(where.args, limit)...).Scan(&seqs).Error
	return seqs, err
}

// indexed reports whether a pg_trgm index can be used: it cannot for words of one or two characters only.
func (q Query) indexed() bool {
	long := func(w Word) bool {
		return !slices.ContainsFunc(w, func(form string) bool { return models.Runes(form) < 3 })
	}
	return len(q.Tags) > 0 || slices.ContainsFunc(slices.Concat(q.Words, q.Title, q.URL), long)
}

func (postgresIndex) any(tx *gorm.DB, s selection) (found bool, err error) {
	where := conditions(s)
	err = tx.Raw("SELECT EXISTS (SELECT 1 FROM links_search WHERE "+where.sql+")", where.args...).Scan(&found).Error
	return found, err
}

func (postgresIndex) unused(tx *gorm.DB, words []string) (out []string, err error) {
	rows := models.RowsOf("word text", words) // letters and digits need no escaping
	err = rows.Raw(tx, `SELECT word FROM {rows} AS r WHERE NOT EXISTS (SELECT 1 FROM links_search
		WHERE title LIKE '%' || word || '%' OR url LIKE '%' || word || '%' OR tags LIKE '%' || word || '%')`).Scan(&out).Error
	return out, err
}

type condition struct {
	sql  string
	args []any
}

func join(op string, cs ...condition) condition {
	var out condition
	for i, c := range cs {
		if i > 0 {
			out.sql += op
		}
		out.sql += c.sql
		out.args = append(out.args, c.args...)
	}
	out.sql = "(" + out.sql + ")"
	return out
}

func conditions(s selection) condition {
	and := []condition{{sql: "TRUE"}}
	and = append(and,
		conditionsOf(s.query.Words, "title", "url", "tags"),
		conditionsOf(s.query.Title, "title"),
		conditionsOf(s.query.URL, "url"))
	for _, g := range s.query.Tags {
		var names []condition
		for _, n := range g.Names {
			if s.exact[n.Name] {
				names = append(names, carries(markTag(n.Name)))
			} else {
				names = append(names, contains(n.Part, "tags"))
			}
		}
		op := " OR "
		if g.All {
			op = " AND "
		}
		and = append(and, join(op, names...))
	}
	if !s.since.IsZero() {
		and = append(and, condition{"link_seq IN (SELECT seq FROM links WHERE expired_at > ?)", []any{s.since}})
	}
	for _, m := range s.must {
		and = append(and, carries(m))
	}
	for _, m := range s.not {
		and = append(and, not(carries(m)))
	}
	return join(" AND ", append(and, visibleIn(s))...)
}

// visibleIn returns the condition for links that the actor sees.
func visibleIn(s selection) condition {
	if s.own == "" {
		return condition{sql: "TRUE"}
	}
	return not(join(" AND ", carries(markPrivate), not(carries(s.own))))
}

func not(c condition) condition { return condition{"NOT " + c.sql, c.args} }

func conditionsOf(words []Word, fields ...string) condition {
	and := []condition{{sql: "TRUE"}}
	for _, w := range words {
		and = append(and, contains(w, fields...))
	}
	return join(" AND ", and...)
}

func contains(w Word, fields ...string) condition {
	var or []condition
	for _, form := range w {
		for _, f := range fields {
			or = append(or, condition{f + " LIKE ?", []any{"%" + models.EscapeLike(form) + "%"}})
		}
	}
	return join(" OR ", or...)
}

func carries(mark string) condition {
	return condition{"(marks LIKE ?)", []any{"%\n" + models.EscapeLike(mark) + "\n%"}}
}
