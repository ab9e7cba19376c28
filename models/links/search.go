package links

import (
	"encoding/hex"
	"slices"
	"strings"

	"gorm.io/gorm"

	"linkwatch/models"
)

// index is the search index of a database. Its methods run in the transaction of the caller, so a link and its
// entry are always consistent.
type index interface {
	// put inserts or replaces entries.
	put(tx *gorm.DB, docs []doc) error
	// remove deletes the entries of links (seqRows).
	remove(tx *gorm.DB, seqs *models.Rows) error
	// find returns the keys of a page of matches, best first: matches in titles, then in URLs, then in tags;
	// newest first within each. total is the number of all matches, counted up to s.limit.
	find(tx *gorm.DB, s selection, p models.Page) (seqs []int64, total int, err error)
	// newest returns the keys of up to limit newest matches.
	newest(tx *gorm.DB, s selection, limit int) ([]int64, error)
	// any reports whether a link matches.
	any(tx *gorm.DB, s selection) (bool, error)
	// unused returns the words (wordsOf) that no entry has.
	unused(tx *gorm.DB, words []string) ([]string, error)
}

func newIndex(engine string) index {
	if engine == models.Postgres {
		return postgresIndex{}
	}
	return sqliteIndex{}
}

// doc is the index entry of a link. Its text is folded.
type doc struct {
	seq              int64
	title, url, tags string
	marks            []string // see markExpired etc.
}

// Marks of a link are keywords by which lists are filtered.
const (
	markExpired = "xexpired"
	markPrivate = "xprivate" // in addition to markOwner
)

// markOwner is the mark of the private links of an owner. It is in hex because marks ignore case and names do not.
func markOwner(name string) string { return "p" + hex.EncodeToString([]byte(name)) }

func markTag(folded string) string { return "t" + folded }
func markHealth(h Health) string   { return "h" + string(h) }

// docOf returns the entry of a link whose Tags are loaded.
func docOf(l Link) doc {
	d := doc{seq: l.Seq, title: models.Fold(l.Title), url: models.Fold(l.URL)}
	folded := make([]string, len(l.Tags))
	for i, t := range l.Tags {
		folded[i] = models.Fold(t)
		d.marks = append(d.marks, markTag(models.FoldName(t)))
	}
	d.tags = strings.Join(folded, "\n") // queries have no line breaks, so no match spans two tags
	d.marks = append(d.marks, markHealth(l.Health))
	if l.Expired() {
		d.marks = append(d.marks, markExpired)
	}
	if l.Private() {
		d.marks = append(d.marks, markPrivate, markOwner(l.PrivateTo))
	}
	return d
}

type selection struct {
	query Query
	exact map[string]bool // names in query.Tags that match a tag exactly
	must  []string        // marks that a link must have
	not   []string        // marks that a link must not have
	since models.Time     // earliest time of expiry; zero = any
	own   string          // mark that private links must have; "" = all private links are visible
	limit int             // where counting stops
}

// hasPage reports whether a page has results. total is counted up to the limit.
func (s selection) hasPage(p models.Page, total int) bool {
	return total > p.Offset() || total >= s.limit
}

// selectionOf returns the selection for a filter and its parsed query. It has only visible links.
func (s *Store) selectionOf(tx *gorm.DB, f Filter, q Query, exact map[string]bool) selection {
	sel := selection{query: q, exact: exact, limit: MaxCounted + 1}
	if !seesAll(tx) {
		sel.own = markOwner(models.Owner(tx.Statement.Context))
	}
	if f.Tag != "" {
		sel.must = append(sel.must, markTag(models.FoldName(f.Tag)))
	}
	if f.Health != "" {
		sel.must = append(sel.must, markHealth(f.Health))
	}
	switch f.Shown {
	case ShowActive:
		sel.not = append(sel.not, markExpired)
	case ShowRecent:
		sel.must, sel.since = append(sel.must, markExpired), s.recently()
	case ShowExpired:
		sel.must = append(sel.must, markExpired)
	case ShowAll:
	}
	return sel
}

// tiers are the fields in which words without a prefix may match, best first. A tier includes the previous ones.
var tiers = [][]string{{"title"}, {"title", "url"}, {"title", "url", "tags"}}

// tierCount returns the number of tiers that apply to a selection.
func (s selection) tierCount() int {
	if len(s.query.Words) == 0 {
		return 1
	}
	return len(tiers)
}

// maxRanked is the largest number of matches that rank sorts by their text. A query of the index for each tier
// takes long for frequent words, even if few links have all of them. Find never ranks more.
const maxRanked = 200

// rank sorts links by tier. Within a tier the order does not change.
func rank(tx *gorm.DB, words []Word, seqs []int64) error {
	var rows []struct {
		Seq        int64
		Title, URL string
	}
	if err := tx.Model(&Link{}).Where("seq IN ?", seqs).Find(&rows).Error; err != nil {
		return err
	}
	tier := make(map[int64]int, len(rows))
	for _, r := range rows {
		title, url := models.Fold(r.Title), models.Fold(r.URL)
		for _, w := range words {
			matches := func(text string) bool {
				return slices.ContainsFunc(w, func(form string) bool { return strings.Contains(text, form) })
			}
			switch {
			case matches(title):
			case matches(url):
				tier[r.Seq] = max(tier[r.Seq], 1)
			default:
				tier[r.Seq] = 2
			}
		}
	}
	slices.SortStableFunc(seqs, func(a, b int64) int { return tier[a] - tier[b] })
	return nil
}
