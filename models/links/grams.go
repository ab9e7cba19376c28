package links

import (
	"hash/fnv"
	"strings"
	"unicode/utf8"
)

// gram is the number of characters of a group.
const gram = 3

// Fields of the keys of posting lists. A key is a group of characters and a field, or a mark and fieldMark.
const (
	fieldTitle = "t"
	fieldURL   = "u"
	fieldTags  = "g"
	fieldMark  = "m"
)

// eachGram calls see for the overlapping groups of three characters of a text, and the shorter ones at its end, so that
// each position starts a group: "golang" has gol, ola, lan, ang, ng and g. Positions count runes.
func eachGram(text string, see func(group string, position int)) {
	position := 0
	for i := range text {
		end := i
		for n := 0; n < gram && end < len(text); n++ {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		if position > maxPosition-gram {
			return
		}
		see(text[i:end], position)
		position++
	}
}

// gramsOfWord returns groups that cover a word of at least three characters, so that a text has the word where it has
// all of them at their offsets.
func gramsOfWord(field, word string) (out []gramAt) {
	length := utf8.RuneCountInString(word)
	eachGram(word, func(group string, position int) {
		if position+gram <= length && (position%gram == 0 || position+gram == length) {
			out = append(out, gramAt{group + field, position})
		}
	})
	return out
}

// A bucket has the lists of the keys with the same first character and the same shard. Its number has the block, then
// the character, then the shard. So a short word is in one bucket of a block, and a single character in shards buckets.
const (
	shardBits  = 5
	shards     = 1 << shardBits
	runeBits   = 21
	markRunes  = 8 // in place of a character, marks have one of these
	firstMark  = utf8.MaxRune + 1
	bucketBits = runeBits + shardBits
)

// bucketOf returns the bucket of a key in a block.
func bucketOf(block int64, key string) int64 {
	rest, field := key[:len(key)-1], key[len(key)-1:]
	var first, second rune
	if field == fieldMark {
		h := fnv.New32a()
		_, _ = h.Write([]byte(rest)) // never fails
		first, second = firstMark+rune(h.Sum32()%markRunes), rune(h.Sum32()/markRunes%shards)
	} else {
		var size int
		first, size = utf8.DecodeRuneInString(rest)
		if len(rest) > size {
			second, _ = utf8.DecodeRuneInString(rest[size:])
		}
	}
	return block<<bucketBits | int64(first)<<shardBits | int64(second%shards)
}

// isShort reports whether a word is shorter than a group of characters. Groups that start with it are searched.
func isShort(word string) bool { return utf8.RuneCountInString(word) < gram }

// startsWith reports whether a key is of a group that starts with a short word.
func startsWith(key, word, field string) bool {
	return strings.HasPrefix(key, word) && strings.HasSuffix(key, field) && len(key) > len(word)
}

// bucketsOf returns the buckets of the groups that start with a short word.
func bucketsOf(block int64, word string) []int64 {
	first := bucketOf(block, word+fieldTitle)
	if utf8.RuneCountInString(word) > 1 {
		return []int64{first}
	}
	first -= first % shards
	all := make([]int64, shards)
	for i := range all {
		all[i] = first + int64(i)
	}
	return all
}
