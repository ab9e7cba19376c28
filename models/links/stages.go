package links

import (
	"math"
	"slices"
	"unicode"
)

// Posting lists are loaded in stages. Those of a later stage are loaded only for the blocks in which the query matches so
// far. So a word that few links have costs one list in most blocks, not one for each of its groups of characters.
const (
	stageWords = iota // marks, and the rarest group of each word, or more (plan)
	stageNext         // the next groups
	stageRest         // the other groups
	stageURL          // words after url:, which most URLs may have
	stageShort        // words with many lists
	stages
)

// rankedAfter is the number of blocks after which the rarest groups are known well enough. Before, stageWords has all
// groups.
const rankedAfter = 3

// stageOf returns the first stage of a form of a word. of is that of a form that is not short.
func stageOf(form string, of int) int {
	if isShort(form) {
		return stageShort
	}
	return of
}

// groups returns how many of the groups of a word are loaded up to a stage. of is its first stage.
func (f *search) groups(of, stage, all int) int {
	if of != stageWords || !f.ranked || stage >= stageRest {
		return all
	}
	return min(f.upTo[stage], all)
}

// rank sorts the groups of each word by the sizes of their lists so far. The sizes are those of all fields together, because
// a bucket has the lists of all fields.
func (f *search) rank() {
	f.ranked = true
	f.s.eachWord(f.s.tierCount(), func(w Word, of int, fields []string) {
		for _, form := range w {
			if of != stageWords || isShort(form) {
				continue
			}
			size := map[int]int{} // by offset in the word
			for _, field := range fields {
				for _, g := range f.gramsOf(field, form) {
					size[g.offset] += f.sizes[g.key]
				}
			}
			for _, field := range fields {
				slices.SortStableFunc(f.gramsOf(field, form), func(a, b gramAt) int { return size[a.offset] - size[b.offset] })
				takeTurns(f.gramsOf(field, form), form)
			}
		}
	})
}

// takeTurns moves the first group of each part of a phrase or URL before the second ones, and so on. Groups of the same part
// mostly occur together, so that a second one rules out few links.
func takeTurns(grams []gramAt, form string) {
	part, offset, parts := 0, 0, map[int]int{} // by offset
	for _, r := range form {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) {
			part++
		}
		parts[offset] = part
		offset++
	}
	seen, turn := map[int]int{}, map[int]int{} // by part, by offset
	for _, g := range grams {
		turn[g.offset] = seen[parts[g.offset]]
		seen[parts[g.offset]]++
	}
	slices.SortStableFunc(grams, func(a, b gramAt) int { return turn[a.offset] - turn[b.offset] })
}

// plan decides how many groups of each word the first stages load. If nearly every block has a match, a stage only delays the
// next.
func (f *search) plan(tiers int) {
	switch {
	case f.estimate(tiers, 3) >= 2:
		f.upTo = [...]int{math.MaxInt, math.MaxInt}
	case f.estimate(tiers, 1) >= 2:
		f.upTo = [...]int{3, math.MaxInt}
	default:
		f.upTo = [...]int{1, 3}
	}
}

// positions is about how many groups a text has. A group at a given offset is that much rarer than anywhere in the text.
const positions = 40

// estimate returns how many links of a block probably match if only the first n groups of each word count.
func (f *search) estimate(tiers, n int) float64 {
	links := float64(f.seen * blockSize)
	share := func(key string) float64 { return float64(f.sizes[key]) / 2 / links } // an occurrence mostly has two bytes
	matches := float64(blockSize)
	must := f.s.must
	for _, g := range f.s.query.Tags {
		for _, tag := range g.Names {
			if g.All && f.s.exact[tag.Name] {
				must = append(slices.Clip(must), markTag(tag.Name))
			}
		}
	}
	for _, m := range must {
		matches *= share(m + fieldMark)
	}
	f.s.eachWord(tiers, func(w Word, of int, fields []string) {
		word := 0.0
		for _, form := range w {
			if of != stageWords || isShort(form) {
				return
			}
			all := 1.0
			for i := range min(n, len(f.gramsOf(fields[0], form))) {
				group := 0.0
				for _, field := range fields {
					group += share(f.gramsOf(field, form)[i].key)
				}
				if i > 0 {
					group /= positions
				}
				all *= min(1, group)
			}
			word += all
		}
		matches *= min(1, word)
	})
	return matches
}
