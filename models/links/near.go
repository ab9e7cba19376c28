package links

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Near misses: when a query finds nothing, the words that stand within two
// edits of its words are looked for instead. The words come from
// the table link_words, which every stored link feeds.

const (
	maxEdits     = 2
	maxNear      = 16 // words that stand in for one
	minWord      = 3  // runes of a word worth keeping
	maxWord      = 32
	wordsPerLink = 64
	knownWords   = 50_000 // remembered as stored, so that they are not stored again
)

// vocabulary feeds link_words. It remembers words that are surely there. A word that
// another instance deletes stays remembered: near misses miss it until so many words
// have been remembered that all are forgotten, or until the program starts again.
type vocabulary struct {
	mu      sync.Mutex
	known   map[string]struct{}
	sweeps  int    // of ReapWords, so far
	sweptTo string // the word at which the last of them ended
}

// stored are words that a transaction stored, for learn once it is committed.
type stored struct {
	words  []string
	sweeps int // when it was stored
}

type linkWord struct {
	Word   string `gorm:"primaryKey"`
	Length int
}

// put stores the words of docs that are new. It is called by one change of links at
// a time (lockChanges).
func (v *vocabulary) put(tx *gorm.DB, docs []doc) (stored, error) {
	fresh := v.unknown(docs)
	rows := make([]linkWord, len(fresh.words))
	for i, w := range fresh.words {
		rows[i] = linkWord{w, utf8.RuneCountInString(w)}
	}
	return fresh, models.Insert(tx, rows)
}

func (v *vocabulary) unknown(docs []doc) stored {
	v.mu.Lock()
	defer v.mu.Unlock()
	seen := map[string]struct{}{}
	for _, d := range docs {
		for _, w := range wordsOf(d) {
			if _, ok := v.known[w]; !ok {
				seen[w] = struct{}{}
			}
		}
	}
	return stored{sortedKeys(seen), v.sweeps}
}

// learn remembers words. A sweep since they were stored may have deleted them again.
func (v *vocabulary) learn(fresh stored) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if fresh.sweeps != v.sweeps {
		return
	}
	if v.known == nil || len(v.known)+len(fresh.words) > knownWords {
		v.known = make(map[string]struct{}, len(fresh.words))
	}
	for _, w := range fresh.words {
		v.known[w] = struct{}{}
	}
}

// wordsOf are the words of a link: letters and digits in a row. Of the
// address only words of letters count, since it is full of numbers and keys.
func wordsOf(d doc) []string {
	var out []string
	add := func(text string, digits bool) {
		for w := range strings.FieldsFuncSeq(text, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
		}) {
			n := utf8.RuneCountInString(w)
			if n < minWord || n > maxWord || len(out) == wordsPerLink {
				continue
			}
			if hasDigit := strings.ContainsFunc(w, unicode.IsDigit); !hasDigit || digits && strings.ContainsFunc(w, unicode.IsLetter) {
				out = append(out, w)
			}
		}
	}
	add(d.title, true)
	add(d.tags, true)
	_, address, _ := strings.Cut(d.url, "://")
	add(address, false)
	return out
}

// nearest are stored words that are one edit away from w, and such that are
// two away; none for a word that is too short to be misspelled.
func nearest(tx *gorm.DB, w string) (byEdits [maxEdits + 1][]string, err error) {
	n := utf8.RuneCountInString(w)
	if n < minWord || n > maxWord+maxEdits {
		return byEdits, nil
	}
	rows, err := tx.Model(&linkWord{}).Select("word").
		Where("length BETWEEN ? AND ?", n-maxEdits, n+maxEdits).Rows()
	if err != nil {
		return byEdits, err
	}
	defer func() { _ = rows.Close() }() // reading is over, its errors are rows.Err
	target := []rune(w)
	for rows.Next() {
		var word string
		if err := rows.Scan(&word); err != nil {
			return byEdits, err
		}
		if d := edits(target, []rune(word), maxEdits); d <= maxEdits && len(byEdits[d]) < maxNear {
			byEdits[d] = append(byEdits[d], word)
		}
	}
	return byEdits, rows.Err()
}

// edits is how many letters have to be put in, taken out, replaced or swapped
// with their neighbor to make b of a (optimal string alignment), or limit+1
// if it takes more than limit.
func edits(a, b []rune, limit int) int {
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

// maxMisspelt is how many words of one query near misses are looked for: each
// takes a look through the vocabulary.
const maxMisspelt = 4

// nearQuery is q with near misses in the place of the words that alone match
// nothing, and the replacements of those words. ok is false if a word
// that has to match has no near miss.
//
// Of a link that the actor does not see, no word stands in for another: not even if it is a
// part of a word of a link that it sees.
func (s *Store) nearQuery(tx *gorm.DB, f Filter, q Query) (near Query, misses map[string][]string, ok bool, err error) {
	misses = map[string][]string{}
	all := seesAll(tx)
	looked := 0
	// swap is w or its replacement; nil if there is none. alone is
	// the query for one word in its field.
	swap := func(w Word, alone func(Word) Query) (Word, error) {
		matches := func(w Word) (bool, error) { return s.index.any(tx, s.selectionOf(tx, f, alone(w), nil)) }
		if known, err := matches(w); err != nil || known {
			return w, err
		}
		if looked++; looked > maxMisspelt {
			return nil, nil
		}
		byEdits, err := nearest(tx, w[0])
		if err != nil {
			return nil, err
		}
		for _, candidates := range byEdits {
			var found Word
			for _, c := range candidates { // some words stood only in links that are gone or hidden
				live, err := matches(Word{c})
				if live && !all {
					live, err = s.holdsWord(tx, s.selectionOf(tx, f, alone(Word{c}), nil), c)
				}
				if err != nil {
					return nil, err
				}
				if live {
					found = append(found, c)
				}
			}
			if len(found) > 0 {
				misses[w[0]] = found
				return found, nil
			}
		}
		return nil, nil
	}
	field := func(words []Word, alone func(Word) Query) (out []Word, ok bool, err error) {
		for _, w := range words {
			w, err = swap(w, alone)
			if err != nil || w == nil {
				return nil, false, err
			}
			out = append(out, w)
		}
		return out, true, nil
	}
	if near.Words, ok, err = field(q.Words, func(w Word) Query { return Query{Words: []Word{w}} }); !ok {
		return near, nil, false, err
	}
	if near.Title, ok, err = field(q.Title, func(w Word) Query { return Query{Title: []Word{w}} }); !ok {
		return near, nil, false, err
	}
	if near.URL, ok, err = field(q.URL, func(w Word) Query { return Query{URL: []Word{w}} }); !ok {
		return near, nil, false, err
	}
	for _, g := range q.Tags {
		tags := TagGroup{All: g.All}
		for _, n := range g.Names {
			part, err := swap(n.Part, func(w Word) Query { return Query{Tags: []TagGroup{{Names: []TagName{{Part: w}}}}} })
			switch {
			case err != nil:
				return near, nil, false, err
			case part != nil:
				tags.Names = append(tags.Names, TagName{Part: part})
			case g.All:
				return near, nil, false, nil
			}
		}
		if len(tags.Names) == 0 {
			return near, nil, false, nil
		}
		near.Tags = append(near.Tags, tags)
	}
	return near, misses, len(misses) > 0, nil
}

// holdsWord says whether one of the newest links of a selection has a word as a whole.
func (s *Store) holdsWord(tx *gorm.DB, sel selection, word string) (bool, error) {
	seqs, err := s.index.newest(tx, sel, fewMatches)
	if err != nil {
		return false, err
	}
	ls, err := among(tx, seqRows(seqs), bySeq)
	return slices.ContainsFunc(ls, func(l Link) bool { return slices.Contains(wordsOf(docOf(l)), word) }), err
}
