package links

import (
	"math/bits"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
)

// maxWindow is the largest number of blocks whose posting lists are loaded together.
const maxWindow = 32

// search reads the index block by block, newest links first, and stops when it has what it needs.
type search struct {
	tx     *gorm.DB
	s      selection
	recent map[int64]*linkSet  // links that match s.since, by block; nil = all
	blocks int64               // number of blocks
	grams  map[string][]gramAt // of words, by field and word; rarest first, once ranked
	sizes  map[string]int      // of the lists that were loaded before ranked, by key
	seen   int                 // number of blocks that were loaded before ranked
	ranked bool
	upTo   [stageRest]int // groups of each word that are loaded up to a stage, once ranked

	loaded int // the last stage that is loaded: words of later ones match everything
}

func newSearch(tx *gorm.DB, s selection) (*search, error) {
	last, err := lastSeq(tx)
	if err != nil {
		return nil, err
	}
	f := &search{tx: tx, s: s, blocks: last>>blockBits + 1, grams: map[string][]gramAt{}, sizes: map[string]int{}}
	if s.since.IsZero() {
		return f, nil
	}
	var seqs []int64
	if err := tx.Raw("SELECT seq FROM links WHERE expired_at > ?", s.since).Scan(&seqs).Error; err != nil {
		return nil, err
	}
	f.recent = map[int64]*linkSet{}
	for _, seq := range seqs {
		if f.recent[seq>>blockBits] == nil {
			f.recent[seq>>blockBits] = &linkSet{}
		}
		f.recent[seq>>blockBits].add(int(seq & (blockSize - 1)))
	}
	return f, nil
}

// matches are the links that find has found. total and health are the numbers of all matches, counted up to the limit of
// the selection.
type matches struct {
	seqs   []int64 // keys of one page
	total  int
	health map[Health]int
}

// find returns a page of matches, best first: matches in titles, then in URLs, then in tags; newest first within each.
func find(tx *gorm.DB, s selection, p models.Page) (out matches, err error) {
	f, err := newSearch(tx, s)
	if err != nil {
		return out, err
	}
	out.health = map[Health]int{}
	want := p.Offset() + p.Size
	byTier := make([][]int64, s.tierCount())
	// needed returns how many tiers are needed in the next block: all to count, else those that can still get on the page.
	needed := func() int {
		if out.total < s.limit {
			return len(byTier)
		}
		n := slices.IndexFunc(byTier, func(found []int64) bool { return len(found) >= want })
		if n < 0 {
			return len(byTier)
		}
		return n
	}
	err = f.each(needed, func(block int64, lists map[string][]byte, n int) {
		tiers := f.match(block, lists, n)
		for i := range tiers {
			found := tiers[i]
			if i > 0 {
				found.not(&tiers[i-1])
			}
			byTier[i] = appendNewest(byTier[i], block, &found, want)
		}
		if len(tiers) == len(byTier) {
			out.total += count(&tiers[len(tiers)-1])
			for _, h := range s.healths {
				var with linkSet
				with.addList(lists[markHealth(h)+fieldMark])
				with.and(&tiers[len(tiers)-1])
				out.health[h] += count(&with)
			}
		}
	})
	all := slices.Concat(byTier...)
	out.total = min(out.total, s.limit)
	out.seqs = all[min(p.Offset(), len(all)):min(want, len(all))]
	return out, err
}

// newest returns the keys of up to limit newest matches.
func newest(tx *gorm.DB, s selection, limit int) (seqs []int64, err error) {
	f, err := newSearch(tx, s)
	if err != nil {
		return nil, err
	}
	needed := func() int {
		if len(seqs) >= limit {
			return 0
		}
		return s.tierCount()
	}
	err = f.each(needed, func(block int64, lists map[string][]byte, n int) {
		seqs = appendNewest(seqs, block, &f.match(block, lists, n)[n-1], limit)
	})
	return seqs, err
}

// anyMatch reports whether a link matches.
func anyMatch(tx *gorm.DB, s selection) (bool, error) {
	seqs, err := newest(tx, s, 1)
	return len(seqs) > 0, err
}

// appendNewest adds the keys of a set of links, newest first, up to limit keys in total.
func appendNewest(seqs []int64, block int64, found *linkSet, limit int) []int64 {
	for i := len(found) - 1; i >= 0; i-- {
		for word := found[i]; word != 0 && len(seqs) < limit; {
			bit := bits.Len64(word) - 1
			word &^= 1 << bit
			seqs = append(seqs, block<<blockBits|int64(i*64+bit))
		}
	}
	return seqs
}

func count(found *linkSet) (n int) {
	for _, word := range found {
		n += bits.OnesCount64(word)
	}
	return n
}

// each calls see for each block, newest first, with the posting lists for as many tiers as needed returns. It stops when
// none is needed.
func (f *search) each(needed func() int, see func(block int64, lists map[string][]byte, tiers int)) error {
	window := int64(1)
	for last := f.blocks - 1; last >= 0; {
		tiers := needed()
		if tiers == 0 {
			return nil
		}
		var blocks []int64
		for ; last >= 0 && int64(len(blocks)) < window; last-- {
			if f.recent == nil || f.recent[last] != nil {
				blocks = append(blocks, last)
			}
		}
		lists, err := f.load(blocks, tiers)
		if err != nil {
			return err
		}
		for _, block := range blocks {
			if n := needed(); n < tiers {
				tiers = n
			}
			if tiers == 0 {
				return nil
			}
			if lists[block] != nil {
				see(block, lists[block], tiers)
			}
		}
		window = min(2*window, maxWindow)
	}
	return nil
}

// wanted are the posting lists of a stage: those of keys, and those of groups that start with short words.
type wanted struct {
	keys  map[string]bool
	short map[[2]string]bool // word and field
}

func (w wanted) has(key string) bool {
	for s := range w.short {
		if startsWith(key, s[0], s[1]) {
			return true
		}
	}
	return w.keys[key]
}

func (w wanted) buckets(blocks []int64) (buckets []int64) {
	for _, block := range blocks {
		for key := range w.keys {
			buckets = append(buckets, bucketOf(block, key))
		}
		for s := range w.short {
			buckets = append(buckets, bucketsOf(block, s[0])...)
		}
	}
	slices.Sort(buckets)
	return slices.Compact(buckets)
}

// wanted returns the posting lists of each stage. Marks are in the first.
func (f *search) wanted(tiers int) (all [stages]wanted) {
	for i := range all {
		all[i] = wanted{map[string]bool{}, map[[2]string]bool{}}
	}
	f.s.eachWord(tiers, func(w Word, of int, fields []string) {
		for _, form := range w {
			for _, field := range fields {
				if isShort(form) {
					all[stageShort].short[[2]string{form, field}] = true
					continue
				}
				grams := f.gramsOf(field, form)
				for stage, from := of, 0; from < len(grams); stage++ {
					to := f.groups(of, stage, len(grams))
					for _, g := range grams[from:to] {
						all[stage].keys[g.key] = true
					}
					from = to
				}
			}
		}
	})
	for _, m := range f.s.marks() {
		all[0].keys[m+fieldMark] = true
	}
	return all
}

// load loads the posting lists that match needs, by block and key.
func (f *search) load(blocks []int64, tiers int) (lists map[int64]map[string][]byte, err error) {
	lists = make(map[int64]map[string][]byte, len(blocks))
	for _, block := range blocks {
		lists[block] = map[string][]byte{}
	}
	if !f.ranked && f.seen >= rankedAfter {
		f.rank()
	}
	if f.ranked {
		f.plan(tiers)
	} else {
		f.seen += len(blocks)
	}
	blocks = slices.Clone(blocks)
	for stage, w := range f.wanted(tiers) {
		f.loaded = stage - 1
		if len(w.keys)+len(w.short) == 0 {
			continue
		}
		if stage > 0 {
			blocks = slices.DeleteFunc(blocks, func(block int64) bool {
				return f.match(block, lists[block], tiers)[tiers-1] == (linkSet{})
			})
		}
		err = loadBuckets(f.tx, w.buckets(blocks), func(block int64, key, list []byte) {
			if w.has(string(key)) {
				lists[block][string(key)] = slices.Clone(list)
				if !f.ranked {
					f.sizes[string(key)] += len(list)
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	f.loaded = stages
	return lists, nil
}

// eachWord calls see for each word of the query, with the fields in which it may match. of is the first stage of its
// forms that are not short.
func (s selection) eachWord(tiers int, see func(w Word, of int, fields []string)) {
	add := func(of int, words []Word, fields ...string) {
		for _, w := range words {
			see(w, of, fields)
		}
	}
	add(stageWords, s.query.Words, wordFields[:tiers]...)
	add(stageWords, s.query.Title, fieldTitle)
	add(stageURL, s.query.URL, fieldURL)
	for _, g := range s.query.Tags {
		for _, n := range g.Names {
			if !s.exact[n.Name] {
				add(stageWords, []Word{n.Part}, fieldTags)
			}
		}
	}
}

// marks returns all marks that match reads.
func (s selection) marks() []string {
	marks := slices.Concat(s.must, s.not)
	for _, h := range s.healths {
		marks = append(marks, markHealth(h))
	}
	for _, g := range s.query.Tags {
		for _, n := range g.Names {
			if s.exact[n.Name] {
				marks = append(marks, markTag(n.Name))
			}
		}
	}
	if s.own != "" {
		marks = append(marks, markPrivate, s.own)
	}
	return marks
}

// match returns the matches in a block by tier: each tier has those of the better ones, too.
func (f *search) match(block int64, lists map[string][]byte, tiers int) []linkSet {
	s := f.s
	base := *allLinks()
	marked := func(mark string) *linkSet {
		var set linkSet
		set.addList(lists[mark+fieldMark])
		return &set
	}
	for _, m := range s.must {
		base.and(marked(m))
	}
	for _, m := range s.not {
		base.not(marked(m))
	}
	if s.own != "" {
		hidden := marked(markPrivate)
		hidden.not(marked(s.own))
		base.not(hidden)
	}
	if f.recent != nil {
		base.and(f.recent[block])
	}
	for _, g := range s.query.Tags {
		var either linkSet
		for _, n := range g.Names {
			var tagged *linkSet
			if s.exact[n.Name] {
				tagged = marked(markTag(n.Name))
			} else {
				tagged = f.wordIn(lists, fieldTags, n.Part, stageWords, &base)
			}
			if g.All {
				base.and(tagged)
			}
			either.or(tagged)
		}
		if !g.All {
			base.and(&either)
		}
	}
	out := make([]linkSet, tiers)
	if base == (linkSet{}) {
		return out
	}
	for i := range out {
		out[i] = base
	}
	left := &out[tiers-1] // each tier has those of the better ones
	for _, w := range s.query.Words {
		var found linkSet
		for i, field := range wordFields[:tiers] {
			found.or(f.wordIn(lists, field, w, stageWords, left))
			out[i].and(&found)
		}
		if *left == (linkSet{}) {
			return out
		}
	}
	and := func(field string, w Word, of int) {
		found := f.wordIn(lists, field, w, of, left)
		for i := range out {
			out[i].and(found)
		}
	}
	for _, w := range s.query.Title {
		and(fieldTitle, w, stageWords)
	}
	for _, w := range s.query.URL {
		and(fieldURL, w, stageURL)
	}
	return out
}

// wordIn returns the links whose field has a form of a word, at least those that are in within. of is the stage of a form that
// is not short.
func (f *search) wordIn(lists map[string][]byte, field string, w Word, of int, within *linkSet) *linkSet {
	var set linkSet
	for _, form := range w {
		if stageOf(form, of) > f.loaded {
			return allLinks()
		}
		if isShort(form) {
			for key, list := range lists {
				if startsWith(key, form, field) {
					set.addList(list)
				}
			}
			continue
		}
		grams := f.gramsOf(field, form)
		grams = grams[:f.groups(of, f.loaded, len(grams))]
		all := make([][]byte, len(grams))
		for i, g := range grams {
			all[i] = lists[g.key]
		}
		set.addWord(grams, all, within)
	}
	return &set
}

func (f *search) gramsOf(field, word string) []gramAt {
	grams, ok := f.grams[field+word]
	if !ok {
		grams = gramsOfWord(field, word)
		f.grams[field+word] = grams
	}
	return grams
}

// usedForms returns the forms of a word that a link of a selection has, in the query that single makes of one. It reads
// the index once for all of them.
func usedForms(tx *gorm.DB, s selection, forms Word, single func(Word) Query) (Word, error) {
	used, left := Word{}, slices.Clone(forms)
	s.query = single(left)
	f, err := newSearch(tx, s)
	if err != nil {
		return nil, err
	}
	needed := func() int {
		if len(left) == 0 {
			return 0
		}
		return s.tierCount()
	}
	err = f.each(needed, func(block int64, lists map[string][]byte, n int) {
		left = slices.DeleteFunc(left, func(form string) bool {
			f.s.query = single(Word{form})
			found := f.match(block, lists, n)[n-1] != linkSet{}
			if found {
				used = append(used, form)
			}
			return found
		})
		f.s.query = single(left) // the next blocks are read for these
	})
	return slices.DeleteFunc(slices.Clone(forms), func(form string) bool { return !slices.Contains(used, form) }), err
}
