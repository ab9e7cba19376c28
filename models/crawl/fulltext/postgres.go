package fulltext

import (
	"slices"
	"strconv"
	"strings"

	"gorm.io/gorm"

	"linkwatch/models"
)

// postgres is a table with a GIN index on tsvectors that this package builds. GIN reads all matches before it sorts them,
// so pages are in blocks of 4,096 and each has the mark of its block. For a frequent word the newest blocks are enough.
type postgres struct{}

const (
	blockBits     = 12
	firstBlocks   = 4  // blocks that each search reads first
	maxBlocks     = 16 // a search that seems to need more blocks reads all at once
	markOfABlock  = markFilter + "b"
	newestIndexed = "SELECT coalesce(max(page_seq), -1) FROM page_index"
)

func blockMark(block int64) string { return markOfABlock + strconv.FormatInt(block, 10) }

// Entry implements Index.
func (postgres) Entry(d Doc) Entry {
	return Entry{d.Seq, tsvector(d.tokens() + blockMark(d.Seq>>blockBits))}
}

// Put implements Index.
func (postgres) Put(tx *gorm.DB, entries []Entry) error {
	rows := models.NewRows("seq bigint, words text")
	for _, e := range entries {
		rows.Add(e.seq, e.words)
	}
	return rows.Exec(tx, `INSERT INTO page_index (page_seq, words) SELECT seq, CAST(words AS tsvector) FROM {rows} AS r WHERE true
		ON CONFLICT (page_seq) DO UPDATE SET words = excluded.words`).Error
}

// Remove implements Index.
func (postgres) Remove(tx *gorm.DB, seqs []int64) error {
	return models.RowsOf("seq bigint", seqs).Exec(tx, "DELETE FROM page_index WHERE page_seq IN (SELECT seq FROM {rows} AS r)").Error
}

// match implements Index. PostgreSQL may use only the index of words. Its generic plan reads pages from the newest and
// checks the words of each, which takes seconds for a rare word.
func (p postgres) match(tx *gorm.DB, e expr, limit int) (seqs []int64, err error) {
	var newest int64
	if err := tx.Raw(newestIndexed).Scan(&newest).Error; err != nil {
		return nil, err
	}
	err = tx.Transaction(func(tx *gorm.DB) error {
		for _, kind := range []string{"indexscan", "seqscan"} {
			if err := tx.Exec("SET LOCAL enable_" + kind + " = off").Error; err != nil {
				return err
			}
		}
		seqs = nil
		last := newest >> blockBits
		for block := last; block >= 0 && len(seqs) < limit; block-- {
			if read := int(last - block); read >= firstBlocks && read*limit > maxBlocks*len(seqs) {
				seqs, err = p.read(tx, e, limit)
				return err
			}
			in := e
			in.and = append(slices.Clone(e.and), []string{blockMark(block)})
			found, err := p.read(tx, in, limit-len(seqs))
			if err != nil {
				return err
			}
			seqs = append(seqs, found...)
		}
		return nil
	})
	return seqs, err
}

// read returns up to limit matching pages, the newest first.
func (postgres) read(tx *gorm.DB, e expr, limit int) (seqs []int64, err error) {
	visible, args := models.Visible(tx, "s")
	if len(args) == 0 {
		return seqs, tx.Raw(matches, e.tsquery(), limit).Scan(&seqs).Error
	}
	return seqs, tx.Raw(visibleMatches(visible), append(append([]any{e.tsquery()}, args...), limit)...).Scan(&seqs).Error
}

const matches = "SELECT page_seq FROM page_index WHERE words @@ CAST(? AS tsquery) ORDER BY page_seq DESC LIMIT ?"

// visibleMatches selects matches for users who cannot see all sources. PostgreSQL evaluates a scalar subquery outside the
// sort, so it checks only as many pages as it needs.
func visibleMatches(visible string) string {
	return `SELECT page_seq FROM (SELECT page_seq FROM page_index WHERE words @@ CAST(? AS tsquery) ORDER BY page_seq DESC) AS found
		WHERE (SELECT ` + visible + ` FROM crawled_pages AS p JOIN sources AS s ON s.seq = p.source_seq WHERE p.seq = found.page_seq)
		ORDER BY page_seq DESC LIMIT ?`
}

// maxPlaces is the maximum number of positions per word in a tsvector.
const maxPlaces = 255

// tsvector formats words with their positions.
func tsvector(tokens string) string {
	places, n := map[string][]int{}, 0
	var order []string
	for w := range strings.FieldsSeq(tokens) {
		n++
		p := places[w]
		if p == nil {
			order = append(order, w)
		}
		if len(p) < maxPlaces {
			places[w] = append(p, n)
		}
	}
	var b strings.Builder
	b.Grow(2 * len(tokens))
	for _, w := range order {
		b.WriteString("'" + w + "'")
		for i, at := range places[w] {
			b.WriteByte(":,"[min(i, 1)])
			b.WriteString(strconv.Itoa(at))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// tsquery formats the expression for PostgreSQL.
func (e expr) tsquery() string {
	and := make([]string, 0, len(e.All)+len(e.and)+len(e.Not))
	for _, t := range e.All {
		and = append(and, t.tsquery(e.in))
	}
	for _, marks := range e.and {
		and = append(and, "('"+strings.Join(marks, "' | '")+"')")
	}
	for _, t := range e.Not {
		and = append(and, "!"+t.tsquery(""))
	}
	return strings.Join(and, " & ")
}

func (t Term) tsquery(mark string) string {
	s := "('" + mark + strings.Join(t.Words, "' <-> '"+mark) + "'"
	if t.Prefix {
		s += ":*"
	}
	return s + ")"
}
