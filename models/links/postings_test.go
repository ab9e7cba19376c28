package links

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func readAll(list []byte) (all []occurrence) {
	read := readPostings(list)
	for o, ok := read.next(); ok; o, ok = read.next() {
		all = append(all, o)
	}
	return all
}

// Random changes of a posting list have the same result as changes of a set.
func TestPostings(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	want, list := map[occurrence]bool{}, []byte(nil)
	for range 200 {
		var c postingChange
		for range rnd.IntN(5) {
			link := rnd.IntN(blockSize)
			c.removed = append(c.removed, link)
			for o := range want {
				if o.link() == link {
					delete(want, o)
				}
			}
		}
		for range rnd.IntN(20) {
			link := rnd.IntN(blockSize)
			if o := occurrenceOf(link, 0); !want[o] && !slices.Contains(c.added, o) {
				for _, position := range []int{0, 1, 300, maxPosition}[:1+rnd.IntN(4)] {
					c.added = append(c.added, occurrenceOf(link, position))
				}
			}
		}
		for _, o := range c.added {
			want[o] = true
		}
		list = c.apply(list)
		got := readAll(list)
		if !slices.IsSorted(got) || len(got) != len(want) || slices.ContainsFunc(got, func(o occurrence) bool { return !want[o] }) {
			t.Fatalf("%d occurrences, want %d", len(got), len(want))
		}
	}
}

// Lists of a bucket stay sorted by key, and those without links disappear.
func TestBuckets(t *testing.T) {
	add := func(link int) *postingChange { return &postingChange{added: []occurrence{occurrenceOf(link, 7)}} }
	bucket := bucketChange{"tb": add(1), "td": add(2)}.apply(nil)
	bucket = bucketChange{"ta": add(3), "tc": add(4), "td": {removed: []int{2}}, "te": {removed: []int{5}}}.apply(bucket)
	var keys []string
	eachList(bucket, func(key, list []byte) {
		keys = append(keys, string(key))
		if all := readAll(list); len(all) != 1 || all[0].position() != 7 {
			t.Errorf("%s: %v", key, all)
		}
	})
	if strings.Join(keys, " ") != "ta tb tc" {
		t.Errorf("keys %q", keys)
	}
	if left := (bucketChange{"ta": {removed: []int{3}}, "tb": {removed: []int{1}}, "tc": {removed: []int{4}}}).apply(bucket); len(left) != 0 {
		t.Errorf("%d bytes are left", len(left))
	}
}

// Data that is not valid ends a list. It neither panics nor returns occurrences out of order.
func FuzzPostings(f *testing.F) {
	f.Add([]byte{1, 2, 0, 3, 5, 1}, []byte{2, 't', 'a', 2, 1, 1})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1}, []byte{0xff, 1})
	f.Fuzz(func(t *testing.T, list, bucket []byte) {
		all := readAll(list)
		if !slices.IsSorted(all) {
			t.Fatalf("out of order: %v", all)
		}
		if again := readAll((&postingChange{}).apply(list)); !slices.Equal(all, again) {
			t.Fatalf("%v became %v", all, again)
		}
		var set linkSet
		set.addWord([]gramAt{{"", 0}, {"", 3}}, [][]byte{list, bucket}, allLinks())
		eachList(bucket, func(_, list []byte) { set.addList(list) })
		bucketChange{"ta": {added: []occurrence{1}}}.apply(bucket)
	})
}

// A word is found where a text has it, and nowhere else.
func FuzzWord(f *testing.F) {
	f.Add("a station", "station")
	f.Add("status nation", "station") // has all of its groups
	f.Add("日本語のページ", "本語の")
	f.Add("aaaaaa", "aaaa")
	f.Add("x\xffyz", "\xffyz")
	f.Fuzz(func(t *testing.T, text, word string) {
		text, word = strings.ToValidUTF8(text, "?"), strings.ToValidUTF8(word, "?")
		if isShort(word) {
			return // it is found by the start of a group
		}
		changes := map[string]*postingChange{}
		eachGram(text, func(group string, position int) {
			key := group + fieldTitle
			if changes[key] == nil {
				changes[key] = &postingChange{}
			}
			changes[key].added = append(changes[key].added, occurrenceOf(9, position))
		})
		grams := gramsOfWord(fieldTitle, word)
		lists := make([][]byte, len(grams))
		for i, g := range grams {
			if c := changes[g.key]; c != nil {
				lists[i] = c.apply(nil)
			}
		}
		var within, other linkSet
		within.add(9)
		other.add(10)
		for _, among := range []*linkSet{allLinks(), &within, &other} {
			var set linkSet
			set.addWord(grams, lists, among)
			got, want := set.has(9), strings.Contains(text, word)
			if got && !want || !got && want && among.has(9) {
				t.Errorf("%q in %q: %t, want %t", word, text, got, want)
			}
		}
	})
}
