package links

import (
	"encoding/binary"
	"maps"
	"slices"
)

// A posting list says in which links of a block a key occurs, and where. Its values are occurrences, in ascending
// order. They are stored as pairs of varints: how much greater the number of the link is than that of the previous
// one (for the first, than -1), and the position or, in the same link, how much greater it is.

// occurrence is the number of a link in its block and a position in a text, in runes.
type occurrence uint32

const (
	blockSize    = 1 << blockBits
	positionBits = 32 - blockBits
	maxPosition  = 1<<positionBits - 1
)

func occurrenceOf(link, position int) occurrence {
	return occurrence(link<<positionBits | position)
}

func (o occurrence) link() int { return int(o >> positionBits) }

func (o occurrence) position() int { return int(o & maxPosition) }

// postings reads a posting list. It stops at data that is not valid.
type postings struct {
	data     []byte
	link     int
	position int
}

func readPostings(list []byte) postings { return postings{data: list, link: -1} }

func (p *postings) next() (o occurrence, ok bool) {
	var links, position int
	if len(p.data) >= 2 && p.data[0]|p.data[1] < 0x80 { // nearly always: two numbers of one byte
		links, position = int(p.data[0]), int(p.data[1])
		p.data = p.data[2:]
	} else if links, position, ok = p.pair(); !ok {
		return 0, false
	}
	if links > 0 {
		p.position = 0
	}
	p.link, p.position = p.link+links, p.position+position
	if p.link < 0 || p.link >= blockSize || p.position > maxPosition {
		p.data = nil
		return 0, false
	}
	return occurrenceOf(p.link, p.position), true
}

// pair reads two numbers. ok is false at the end.
func (p *postings) pair() (a, b int, ok bool) {
	first, n := binary.Uvarint(p.data)
	second, m := binary.Uvarint(p.data[max(n, 0):])
	if n <= 0 || m <= 0 || first > 1<<32 || second > 1<<32 {
		p.data = nil
		return 0, 0, false
	}
	p.data = p.data[n+m:]
	return int(first), int(second), true
}

// appendPosting adds an occurrence to the end of a list whose last one is last (-1 = the list is empty).
func appendPosting(list []byte, last int64, o occurrence) []byte {
	link, position := -1, 0
	if last >= 0 {
		link, position = occurrence(last).link(), occurrence(last).position()
	}
	if o.link() > link {
		position = 0
	}
	list = binary.AppendUvarint(list, uint64(o.link()-link))
	return binary.AppendUvarint(list, uint64(o.position()-position))
}

// postingChange is a change of a posting list.
type postingChange struct {
	removed []int        // links
	added   []occurrence // not of links that the list has and keeps
}

// apply returns a posting list after a change. It is empty if there are no occurrences.
func (c *postingChange) apply(list []byte) []byte {
	var removed linkSet
	for _, link := range c.removed {
		removed.add(link)
	}
	slices.Sort(c.added)
	out, last := make([]byte, 0, len(list)+2*len(c.added)), int64(-1)
	add := func(o occurrence) {
		out = appendPosting(out, last, o)
		last = int64(o)
	}
	added := c.added
	read := readPostings(list)
	for o, ok := read.next(); ok; o, ok = read.next() {
		if removed.has(o.link()) {
			continue
		}
		for len(added) > 0 && added[0] < o {
			add(added[0])
			added = added[1:]
		}
		add(o)
	}
	for _, o := range added {
		add(o)
	}
	return out
}

// A bucket has the posting lists of some keys of a block, sorted by key. Each is stored as the length of the key, the
// key, the length of the list and the list.

// eachList calls see for each list of a bucket. It stops at data that is not valid.
func eachList(bucket []byte, see func(key, list []byte)) {
	part := func() ([]byte, bool) {
		length, n := binary.Uvarint(bucket)
		if n <= 0 || length > uint64(len(bucket)-n) {
			return nil, false
		}
		out := bucket[n : n+int(length)]
		bucket = bucket[n+int(length):]
		return out, true
	}
	for len(bucket) > 0 {
		key, ok := part()
		list, also := part()
		if !ok || !also {
			return
		}
		see(key, list)
	}
}

func appendList(bucket []byte, key string, list []byte) []byte {
	bucket = append(binary.AppendUvarint(bucket, uint64(len(key))), key...)
	return append(binary.AppendUvarint(bucket, uint64(len(list))), list...)
}

// bucketChange is changes of lists, by key.
type bucketChange map[string]*postingChange

// apply returns the bucket of the keys after the changes. It is empty if there are no lists.
func (c bucketChange) apply(bucket []byte) []byte {
	keys, out := slices.Sorted(maps.Keys(c)), make([]byte, 0, 2*len(bucket))
	add := func(key string, list []byte) {
		if list = c[key].apply(list); len(list) > 0 {
			out = appendList(out, key, list)
		}
	}
	eachList(bucket, func(key, list []byte) {
		for len(keys) > 0 && keys[0] < string(key) {
			add(keys[0], nil)
			keys = keys[1:]
		}
		if len(keys) > 0 && keys[0] == string(key) {
			add(keys[0], list)
			keys = keys[1:]
			return
		}
		out = appendList(out, string(key), list)
	})
	for _, key := range keys {
		add(key, nil)
	}
	return out
}

// shortens reports whether a list loses links.
func (c bucketChange) shortens() bool {
	for _, change := range c {
		if len(change.removed) > 0 {
			return true
		}
	}
	return false
}

// linkSet is a set of the links of a block.
type linkSet [blockSize / 64]uint64

// allLinks returns the set of all links that a block can have.
func allLinks() *linkSet {
	var s linkSet
	for i := range s {
		s[i] = ^uint64(0)
	}
	return &s
}

func (s *linkSet) add(link int) { s[link/64] |= 1 << (link % 64) }

func (s *linkSet) has(link int) bool { return s[link/64]&(1<<(link%64)) != 0 }

func (s *linkSet) or(other *linkSet) {
	for i := range s {
		s[i] |= other[i]
	}
}

func (s *linkSet) and(other *linkSet) {
	for i := range s {
		s[i] &= other[i]
	}
}

func (s *linkSet) not(other *linkSet) {
	for i := range s {
		s[i] &^= other[i]
	}
}

func (s *linkSet) addList(list []byte) {
	read := readPostings(list)
	for o, ok := read.next(); ok; o, ok = read.next() {
		s.add(o.link())
	}
}

// gramAt is a group of characters at an offset of a word.
type gramAt struct {
	key    string // the group and the field
	offset int
}

// addWord adds the links in which all grams of a word occur at their offsets, so the whole word does. lists has the
// posting list of each gram. It may skip links that are not in within: often, only one of the lists is read then.
func (s *linkSet) addWord(grams []gramAt, lists [][]byte, within *linkSet) {
	if len(grams) == 1 {
		s.addList(lists[0])
		return
	}
	shortest := 0
	for i, list := range lists {
		if len(list) == 0 {
			return
		}
		if len(list) < len(lists[shortest]) {
			shortest = i
		}
	}
	// starts are the occurrences of the word, as far as the lists that were read tell.
	var starts []occurrence
	read := readPostings(lists[shortest])
	for o, ok := read.next(); ok; o, ok = read.next() {
		if o.position() >= grams[shortest].offset && within.has(o.link()) {
			starts = append(starts, o-occurrence(grams[shortest].offset))
		}
	}
	for i, list := range lists {
		if len(starts) == 0 {
			return
		}
		if i == shortest {
			continue
		}
		kept := starts[:0]
		read, offset := readPostings(list), occurrence(grams[i].offset)
		o, ok := read.next()
		for _, start := range starts {
			for ok && o < start+offset {
				o, ok = read.next()
			}
			if ok && o == start+offset {
				kept = append(kept, start)
			}
		}
		starts = kept
	}
	for _, o := range starts {
		s.add(o.link())
	}
}
