package links

import (
	"encoding/hex"
	"slices"
	"strings"

	"gorm.io/gorm"

	"linkwatch/models"
)

// index is the search index of one engine. Its parts run in the caller's
// transaction, so that a link and its entry are never apart.
type index interface {
	// put adds the entries of links, replacing those that are there.
	put(tx *gorm.DB, docs []doc) error
	// remove drops the entries of links (seqRows).
	remove(tx *gorm.DB, seqs *models.Rows) error
	// find gives the keys of one page of the links that match, best first:
	// words found in titles, then in URLs too, then in tags too; newest first
	// within each. total is the number of all matches, counted up to s.limit.
	find(tx *gorm.DB, s selection, p models.Page) (seqs []int64, total int, err error)
	// newest gives the keys of the newest links that match, up to limit of them.
	newest(tx *gorm.DB, s selection, limit int) ([]int64, error)
	// any says whether some link matches.
	any(tx *gorm.DB, s selection) (bool, error)
	// unused are those of some words (wordsOf) that are in no link's entry.
	unused(tx *gorm.DB, words []string) ([]string, error)
}

func newIndex(engine string) index {
	if engine == models.Postgres {
		return postgresIndex{}
	}
	return sqliteIndex{}
}

// doc is what the index knows of a link, folded.
type doc struct {
	seq              int64
	title, url, tags string
	marks            []string // whole words: see mark…
}

// The marks of a link, by which lists are filtered.
const (
	markExpired = "xexpired"
	markPrivate = "xprivate" // beside markOwner
)

// markOwner marks the private links of an owner. Names differ by case, and marks do not.
func markOwner(name string) string { return "p" + hex.EncodeToString([]byte(name)) }

func markTag(folded string) string { return "t" + folded }
func markHealth(h Health) string   { return "h" + string(h) }

// docOf is the entry of a link whose Tags are loaded.
func docOf(l Link) doc {
	d := doc{seq: l.Seq, title: models.Fold(l.Title), url: models.Fold(l.URL)}
	folded := make([]string, len(l.Tags))
	for i, t := range l.Tags {
		folded[i] = models.Fold(t)
		d.marks = append(d.marks, markTag(models.FoldName(t)))
	}
	d.tags = strings.Join(folded, "\n") // no query holds a line end, so none spans two tags
	d.marks = append(d.marks, markHealth(l.Health))
	if l.Expired() {
		d.marks = append(d.marks, markExpired)
	}
	if l.Private() {
		d.marks = append(d.marks, markPrivate, markOwner(l.PrivateTo))
	}
	return d
}

// selection is what a list shows, ready for the index.
type selection struct {
	query Query
	whole map[string]bool // the names in query.Tags that are tags as they stand
	must  []string        // marks that a link has to carry
	not   []string        // marks that it must not carry
	since models.Time     // it must have expired after it; zero = at any time, or not at all
	own   string          // the mark that a private link has to carry; "" = none: those of all owners are shown
	limit int             // where counting the matches stops; 0 = they are all counted
}

// hasPage says whether a page has results, given a total counted up to the limit.
func (s selection) hasPage(p models.Page, total int) bool {
	return total > p.Offset() || s.limit > 0 && total >= s.limit
}

// selectionOf adds the filter's marks to a parsed query, and what the actor sees.
func (s *Store) selectionOf(tx *gorm.DB, f Filter, q Query, whole map[string]bool) selection {
	sel := selection{query: q, whole: whole}
	if !seesAll(tx) {
		sel.own = markOwner(models.Owner(tx.Statement.Context))
	}
	if !q.Empty() {
		sel.limit = MaxCounted + 1
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

// tiers are the fields in which the words without a prefix may stand, best
// first. Each tier holds the one before it.
var tiers = [][]string{{"title"}, {"title", "url"}, {"title", "url", "tags"}}

// tiersOf is how many tiers a query needs to be looked at in.
func (s selection) tiersOf() int {
	if len(s.query.Words) == 0 {
		return 1
	}
	return len(tiers)
}

// fewMatches is how many matches are ranked by their texts. Asking the index
// for each tier and for a count takes as long as the words are frequent, even
// if few links hold all of them; so they are got at once if they are few, or if
// no more are looked at (Find).
const fewMatches = 200

// rank sorts links by the tier in which they hold the words, keeping their
// order within each.
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
			held := func(text string) bool {
				return slices.ContainsFunc(w, func(form string) bool { return strings.Contains(text, form) })
			}
			switch {
			case held(title):
			case held(url):
				tier[r.Seq] = max(tier[r.Seq], 1)
			default:
				tier[r.Seq] = 2
			}
		}
	}
	slices.SortStableFunc(seqs, func(a, b int64) int { return tier[a] - tier[b] })
	return nil
}
