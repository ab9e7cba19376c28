package links

import (
	"iter"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Near misses: if a query has no match, it is repeated with stored words that are within two edits of its words. The
// table link_words has the words of all links.

const (
	maxEdits     = 2
	maxNear      = 16 // replacements of one word
	minWord      = 3  // runes; shorter words are not stored
	maxWord      = 32
	wordsPerLink = 64
	maxKnown     = 50_000 // cached words
	maxNearTags  = 10_000 // newest tags that near misses come from: comparing long ones with accents takes 0.2 s
)

// vocabulary adds words to link_words and caches which words are stored. It does not notice when another instance
// deletes words. It does not store these again until the cache is full and cleared, or the program restarts.
type vocabulary struct {
	mu      sync.Mutex
	known   map[string]struct{}
	sweeps  int    // number of calls of ReapWords
	sweptTo string // last word of the last call
}

// storedWords are words that a transaction stored. vocabulary.remember caches them after the commit.
type storedWords struct {
	words  []string
	sweeps int // vocabulary.sweeps at the time
}

type linkWord struct {
	Word   string `gorm:"primaryKey"`
	Length int
}

// put stores the new words of docs. lockChanges ensures that one transaction at a time calls it.
func (v *vocabulary) put(tx *gorm.DB, docs []doc) (storedWords, error) {
	fresh := v.unknown(docs)
	rows := make([]linkWord, len(fresh.words))
	for i, w := range fresh.words {
		rows[i] = linkWord{w, utf8.RuneCountInString(w)}
	}
	return fresh, models.Insert(tx, rows)
}

func (v *vocabulary) unknown(docs []doc) storedWords {
	v.mu.Lock()
	defer v.mu.Unlock()
	found := map[string]struct{}{}
	for _, d := range docs {
		for _, w := range wordsOf(d) {
			if _, ok := v.known[w]; !ok {
				found[w] = struct{}{}
			}
		}
	}
	return storedWords{sortedKeys(found), v.sweeps}
}

// remember caches words, unless a sweep may have deleted them in the meantime.
func (v *vocabulary) remember(fresh storedWords) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if fresh.sweeps != v.sweeps {
		return
	}
	if v.known == nil || len(v.known)+len(fresh.words) > maxKnown {
		v.known = make(map[string]struct{}, len(fresh.words))
	}
	for _, w := range fresh.words {
		v.known[w] = struct{}{}
	}
}

// wordsOf returns the words of a link: runs of letters and digits. It skips words with digits in the URL, which
// are mostly ids.
func wordsOf(d doc) []string {
	var out []string
	add := func(text string, digits bool) {
		for w := range wordsIn(text, digits) {
			if len(out) == wordsPerLink {
				return
			}
			out = append(out, w)
		}
	}
	add(d.title, true)
	add(d.tags, true)
	_, address, _ := strings.Cut(d.url, "://")
	add(address, false)
	return out
}

// wordsIn returns the words of a text. digits is whether they may have digits beside letters.
func wordsIn(text string, digits bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for w := range strings.FieldsFuncSeq(text, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
		}) {
			if n := utf8.RuneCountInString(w); n < minWord || n > maxWord {
				continue
			}
			hasDigit := strings.ContainsFunc(w, unicode.IsDigit)
			if (!hasDigit || digits && strings.ContainsFunc(w, unicode.IsLetter)) && !yield(w) {
				return
			}
		}
	}
}

// storedText returns texts with the stored words that may be near a word, separated by spaces.
type storedText func(w string) (texts []string, err error)

// wordsNear returns the words of all links that may be near a word.
func wordsNear(tx *gorm.DB, w string) (texts []string, err error) {
	n := utf8.RuneCountInString(w)
	// Of each length, all words in one text: reading a row for each word takes longer than comparing it.
	err = tx.Raw("SELECT string_agg(word, ' ') FROM link_words WHERE length BETWEEN ? AND ? GROUP BY length ORDER BY length",
		n-maxEdits, n+maxEdits).Scan(&texts).Error
	return texts, err
}

// tagsNear returns the words of tags that the actor sees. Most words of links are in no tag, and to look up one costs a list in
// each block.
func tagsNear(tx *gorm.DB) ([]string, error) {
	var names *string // NULL without tags
	newest := visibleTags(tx).Select("folded_name").Order("seq DESC").Limit(maxNearTags)
	if err := tx.Raw("SELECT string_agg(folded_name, ' ') FROM (?) AS t", newest).Scan(&names).Error; err != nil || names == nil {
		return nil, err
	}
	return slices.Collect(wordsIn(models.Fold(*names), true)), nil
}

// nearestWords returns stored words by the number of edits between them and w. It returns none for words shorter than
// minWord.
func nearestWords(w string, stored storedText) (byEdits [maxEdits + 1][]string, err error) {
	if n := utf8.RuneCountInString(w); n < minWord || n > maxWord+maxEdits {
		return byEdits, nil
	}
	texts, err := stored(w)
	if err != nil {
		return byEdits, err
	}
	target := []rune(w)
	var letters [maxWord + 2*maxEdits]rune
	for _, words := range texts {
		for word := range strings.SplitSeq(words, " ") {
			if d := editDistance(target, appendRunes(letters[:0], word), maxEdits); d <= maxEdits {
				byEdits[d] = append(byEdits[d], word)
			}
		}
	}
	for d := range byEdits {
		slices.Sort(byEdits[d])
		byEdits[d] = slices.Compact(byEdits[d])
		byEdits[d] = byEdits[d][:min(len(byEdits[d]), maxNear)]
	}
	return byEdits, nil
}

func appendRunes(to []rune, word string) []rune {
	for _, r := range word {
		to = append(to, r)
	}
	return to
}

// editDistance returns the number of insertions, deletions, replacements and swaps of neighbors that turn a into b
// (optimal string alignment). It returns limit+1 if there are more than limit.
func editDistance(a, b []rune, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	var rowsBuf [3][maxWord + 2*maxEdits + 1]int
	before, prev, cur := rowsBuf[0][:len(b)+1], rowsBuf[1][:len(b)+1], rowsBuf[2][:len(b)+1]
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
			least = min(least, cur[j])
		}
		if least > limit {
			return limit + 1
		}
		before, prev, cur = prev, cur, before
	}
	return min(prev[len(b)], limit+1)
}

// maxMisspelled is the maximum number of misspelled words of a query. The search for near misses of a word reads
// the whole vocabulary, or up to maxNearTags tags.
const maxMisspelled = 4

// nearQuery replaces the words of q without a match by near misses, and returns the replacements by word. ok is
// false if a required word has no near miss. Names of tags that exist (exact) stay.
//
// Near misses are words of visible links only. A word of a hidden link is not suggested, even if a visible link
// contains it as part of a word.
func (s *Store) nearQuery(tx *gorm.DB, f Filter, q Query, exact map[string]bool) (near Query, replaced map[string][]string, ok bool, err error) {
	replaced = map[string][]string{}
	all := seesAll(tx)
	misspelled, only := 0, q.size() == 1
	words := func(w string) ([]string, error) { return wordsNear(tx, w) }
	allTags := sync.OnceValues(func() ([]string, error) { return tagsNear(tx) })
	tags := func(string) ([]string, error) { return allTags() }
	// replace returns w, its replacement among stored words, or nil if there is none. single returns the query for one word in
	// its field.
	replace := func(w Word, stored storedText, single func(Word) Query) (Word, error) {
		if !only { // a single word is known to have no match
			if known, err := anyMatch(tx, s.selectionOf(tx, f, single(w), nil)); err != nil || known {
				return w, err
			}
		}
		if misspelled++; misspelled > maxMisspelled {
			return nil, nil
		}
		byEdits, err := nearestWords(w[0], stored)
		if err != nil {
			return nil, err
		}
		for _, candidates := range byEdits[1:] { // w itself has no match
			// A stored word may have no link any more, or only hidden ones.
			found, err := usedForms(tx, s.selectionOf(tx, f, Query{}, nil), candidates, single)
			if err != nil {
				return nil, err
			}
			if !all {
				if found, err = s.visibleWords(tx, f, found, single); err != nil {
					return nil, err
				}
			}
			if len(found) > 0 {
				replaced[w[0]] = found
				return found, nil
			}
		}
		return nil, nil
	}
	field := func(in []Word, single func(Word) Query) (out []Word, ok bool, err error) {
		for _, w := range in {
			w, err = replace(w, words, single)
			if err != nil || w == nil {
				return nil, false, err
			}
			out = append(out, w)
		}
		return out, true, nil
	}
	if near.Words, ok, err = field(q.Words, anywhere); !ok {
		return near, nil, false, err
	}
	if near.Title, ok, err = field(q.Title, func(w Word) Query { return Query{Title: []Word{w}} }); !ok {
		return near, nil, false, err
	}
	if near.URL, ok, err = field(q.URL, func(w Word) Query { return Query{URL: []Word{w}} }); !ok {
		return near, nil, false, err
	}
	for _, g := range q.Tags {
		group := TagGroup{All: g.All}
		for _, n := range g.Names {
			if exact[n.Name] {
				group.Names = append(group.Names, n)
				continue
			}
			part, err := replace(n.Part, tags, func(w Word) Query { return Query{Tags: []TagGroup{{Names: []TagName{{Part: w}}}}} })
			switch {
			case err != nil:
				return near, nil, false, err
			case part != nil:
				group.Names = append(group.Names, TagName{Part: part})
			case g.All:
				return near, nil, false, nil
			}
		}
		if len(group.Names) == 0 {
			return near, nil, false, nil
		}
		near.Tags = append(near.Tags, group)
	}
	return near, replaced, len(replaced) > 0, nil
}

// visibleWords returns the words that one of the newest links of a selection has as a whole word.
func (s *Store) visibleWords(tx *gorm.DB, f Filter, words Word, single func(Word) Query) (visible Word, err error) {
	for _, w := range words {
		seqs, err := newest(tx, s.selectionOf(tx, f, single(Word{w}), nil), maxRanked)
		if err != nil {
			return nil, err
		}
		ls, err := loadRows(tx, seqRows(seqs), bySeq)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(ls, func(l Link) bool { return slices.Contains(wordsOf(docOf(l)), w) }) {
			visible = append(visible, w)
		}
	}
	return visible, nil
}

// anywhere returns the query for one word without a prefix.
func anywhere(w Word) Query { return Query{Words: []Word{w}} }
