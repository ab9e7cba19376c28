package links

import (
	"encoding/hex"
	"slices"
	"strings"

	"gorm.io/gorm"

	"linkwatch/models"
)

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
func markHealth(h Health) string   { return "h" + string(h) } // OK has none: most links would have it

// docOf returns the entry of a link whose Tags are loaded.
func docOf(l Link) doc {
	d := doc{seq: l.Seq, title: models.Fold(l.Title), url: models.Fold(l.URL)}
	folded := make([]string, len(l.Tags))
	for i, t := range l.Tags {
		folded[i] = models.Fold(t)
		d.marks = append(d.marks, markTag(models.FoldName(t)))
	}
	d.tags = strings.Join(folded, "\n") // queries have no line breaks, so no match spans two tags
	if l.Health != OK {
		d.marks = append(d.marks, markHealth(l.Health))
	}
	if l.Expired() {
		d.marks = append(d.marks, markExpired)
	}
	if l.Private() {
		d.marks = append(d.marks, markPrivate, markOwner(l.PrivateTo))
	}
	return d
}

// selection selects links. It has a word, a tag, a mark in must or since: what a link must not have is not enough.
type selection struct {
	query Query
	exact map[string]bool // names in query.Tags that match a tag exactly
	must  []string        // marks that a link must have
	not   []string        // marks that a link must not have
	since models.Time     // earliest time of expiry; zero = any
	own   string          // mark that private links must have; "" = all private links are visible
	limit int             // where counting stops

	healths []Health // that find counts, up to the limit too
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
	for _, h := range Healths {
		switch {
		case h == OK || f.Health == "":
		case f.Health == h:
			sel.must = append(sel.must, markHealth(h))
		case f.Health == OK:
			sel.not = append(sel.not, markHealth(h))
		}
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

// wordFields are the fields in which words without a prefix may match, best first. Tier i has the links in which each
// word matches in one of the first i+1 fields.
var wordFields = []string{fieldTitle, fieldURL, fieldTags}

// tierCount returns the number of tiers that apply to a selection.
func (s selection) tierCount() int {
	if len(s.query.Words) == 0 {
		return 1
	}
	return len(wordFields)
}

// maxRanked is the number of newest matches that the global search ranks by their text.
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
