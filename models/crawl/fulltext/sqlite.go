package fulltext

import (
	"cmp"
	"slices"
	"strings"

	"gorm.io/gorm"

	"linkwatch/models"
)

// sqlite is a contentless FTS5 table. Its tokenizer ("ascii") splits at spaces and treats all non-ASCII characters as parts
// of words, so it does not change the words.
type sqlite struct{}

// maxRowID is the rowid of a page with seq 0. FTS5 reads a list from its end at a third of the speed, so rowids decrease as
// seq increases and the newest pages are first. It is the largest number that the index stores in five bytes.
const maxRowID = 1<<35 - 1

// Entry implements Index.
func (sqlite) Entry(d Doc) Entry { return Entry{d.Seq, d.tokens()} }

// Put implements Index.
func (s sqlite) Put(tx *gorm.DB, entries []Entry) error {
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(b.seq, a.seq) })
	rows, seqs := models.NewRows("seq bigint, words text"), make([]int64, len(entries))
	for i, e := range entries {
		rows.Add(e.seq, e.words)
		seqs[i] = e.seq
	}
	// With INSERT OR REPLACE or another order, FTS5 flushes its memory for each row, which takes three times as long.
	if err := s.Remove(tx, seqs); err != nil {
		return err
	}
	return rows.Exec(tx, "INSERT INTO page_index (rowid, words) SELECT ? - seq, words FROM {rows} AS r", maxRowID).Error
}

// Remove implements Index.
func (sqlite) Remove(tx *gorm.DB, seqs []int64) error {
	return models.RowsOf("seq bigint", seqs).Exec(tx, "DELETE FROM page_index WHERE rowid IN (SELECT ? - seq FROM {rows} AS r)", maxRowID).Error
}

func (sqlite) match(tx *gorm.DB, e expr, limit int) (seqs []int64, err error) {
	visible, args := models.Visible(tx, "s")
	if len(args) == 0 {
		err = tx.Raw("SELECT ? - rowid FROM page_index WHERE page_index MATCH ? ORDER BY rowid LIMIT ?", maxRowID, e.fts5(), limit).Scan(&seqs).Error
		return seqs, err
	}
	// The index returns rows in order, so it checks only as many pages as it needs.
	args = append(append([]any{maxRowID, e.fts5()}, args...), maxRowID, limit)
	err = tx.Raw(`SELECT ? - rowid FROM page_index WHERE page_index MATCH ?
		AND (SELECT `+visible+` FROM crawled_pages AS p JOIN sources AS s ON s.seq = p.source_seq WHERE p.seq = ? - page_index.rowid) ORDER BY rowid LIMIT ?`, args...).Scan(&seqs).Error
	return seqs, err
}

// fts5 formats the expression for FTS5. Words are quoted and have only letters, digits and marks, so they cannot contain
// syntax.
func (e expr) fts5() string {
	and := make([]string, 0, len(e.All)+len(e.and))
	for _, t := range e.All {
		and = append(and, t.fts5(e.in))
	}
	for _, marks := range e.and {
		or := make([]string, len(marks))
		for i, m := range marks {
			or[i] = `"` + m + `"`
		}
		and = append(and, "("+strings.Join(or, " OR ")+")")
	}
	expr := strings.Join(and, " AND ")
	for _, t := range e.Not {
		expr = "(" + expr + ") NOT " + t.fts5("")
	}
	return expr
}

func (t Term) fts5(mark string) string {
	s := `"` + mark + strings.Join(t.Words, " "+mark) + `"`
	if t.Prefix {
		s += "*"
	}
	return s
}
