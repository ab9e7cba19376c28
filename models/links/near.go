package links

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Near misses: when a query finds nothing, the words that stand within two
// edits of its words are looked for instead (contract §3). The words come from
// the table link_words, which every stored link feeds.

const (
	maxEdits     = 2
	maxNear      = 16 // words that stand in for one
	minWord      = 3  // runes of a word worth keeping
	maxWord      = 32
	wordsPerLink = 64
	knownWords   = 50_000 // remembered as stored, so that they are not stored again
)

// vocabulary feeds link_words. It remembers words that are surely there.
type vocabulary struct {
	mu    sync.Mutex
	known map[string]struct{}
}

type linkWord struct {
	Word   string `gorm:"primaryKey"`
	Length int
}

// put stores the words of docs that are new and returns what to tell known
// about once the transaction is committed.
func (v *vocabulary) put(tx *gorm.DB, docs []doc) (stored []string, err error) {
	fresh := v.unknown(docs)
	if len(fresh) == 0 {
		return nil, nil
	}
	rows := make([]linkWord, len(fresh))
	for i, w := range fresh {
		rows[i] = linkWord{w, utf8.RuneCountInString(w)}
	}
	return fresh, tx.Clauses(clause.OnConflict{DoNothing: true}).CreateInBatches(rows, insertBatch).Error
}

func (v *vocabulary) unknown(docs []doc) []string {
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
	return sortedKeys(seen) // one order for all, so that writers do not wait for each other in a circle
}

func (v *vocabulary) learn(words []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known == nil || len(v.known)+len(words) > knownWords {
		v.known = make(map[string]struct{}, len(words))
	}
	for _, w := range words {
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

// nearest are the stored words that are fewest edits away from w, two at the
// most; none for a word that is too short to be misspelt.
func nearest(tx *gorm.DB, w string) ([]string, error) {
	n := utf8.RuneCountInString(w)
	if n < minWord || n > maxWord+maxEdits {
		return nil, nil
	}
	rows, err := tx.Model(&linkWord{}).Select("word").
		Where("length BETWEEN ? AND ?", n-maxEdits, n+maxEdits).Rows()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // reading is over, its errors are rows.Err
	best, found := maxEdits, []string(nil)
	target := []rune(w)
	for rows.Next() {
		var word string
		if err := rows.Scan(&word); err != nil {
			return nil, err
		}
		switch d := edits(target, []rune(word), best); {
		case d > best:
		case d < best:
			best, found = d, []string{word}
		case len(found) < maxNear:
			found = append(found, word)
		}
	}
	return found, rows.Err()
}

// edits is how many letters have to be put in, taken out, replaced or swapped
// with their neighbour to make b of a (optimal string alignment), or limit+1
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

// nearQuery is q with near misses in the place of the words that alone match
// nothing, and those words with what stands in for them. ok is false if a word
// that has to match has no near miss.
func (s *Store) nearQuery(tx *gorm.DB, f Filter, q Query) (near Query, misses map[string][]string, ok bool, err error) {
	misses = map[string][]string{}
	swap := func(words []Word, all bool, alone func([]Word) Query) ([]Word, bool, error) {
		out := make([]Word, len(words))
		for i, w := range words {
			out[i] = w
			if known, err := s.index.any(tx, selectionOf(f, alone([]Word{w}), nil)); err != nil {
				return nil, false, err
			} else if known {
				continue
			}
			found, err := nearest(tx, w[0])
			switch {
			case err != nil:
				return nil, false, err
			case len(found) > 0:
				out[i], misses[w[0]] = found, found
			case all:
				return nil, false, nil
			}
		}
		return out, true, nil
	}
	if near.Words, ok, err = swap(q.Words, true, func(w []Word) Query { return Query{Words: w} }); !ok {
		return near, nil, false, err
	}
	if near.Title, ok, err = swap(q.Title, true, func(w []Word) Query { return Query{Title: w} }); !ok {
		return near, nil, false, err
	}
	if near.URL, ok, err = swap(q.URL, true, func(w []Word) Query { return Query{URL: w} }); !ok {
		return near, nil, false, err
	}
	for _, g := range q.Tags {
		names, ok, err := swap(g.Names, g.All, func(w []Word) Query { return Query{Tags: []TagGroup{{Names: w}}} })
		if !ok {
			return near, nil, false, err
		}
		near.Tags = append(near.Tags, TagGroup{All: g.All, Names: names})
	}
	return near, misses, len(misses) > 0, nil
}
