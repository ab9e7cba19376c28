//go:build e2e

package bench

import (
	"math/rand/v2"
	"strings"
)

// usual are the most frequent words of English, so that language detection is as fast as for real texts.
const usual = `the of and to in a is that for it was on as with be by this are from at or have not which an were but has they
	their will been one can all would there more when who if about what out up into its some only time could new other than then
	these two may like first also after any people over most our such where through between because before those years under many
	made make work used being does much each way during without here while part used both state place still between those must house
	again never world should system against government number public general small during until does always area given service`

// vocabulary has the words of texts, most frequent first. All but the first words are invented.
var vocabulary = func() []string {
	const onsets, vowels, ends = "bcdfghklmnprstvwz", "aeiou", "lnrst"
	r := rand.New(rand.NewPCG(7, 7))
	seen, words := map[string]bool{}, make([]string, 0, 50_000)
	for _, w := range strings.Fields(usual) {
		if !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	for len(words) < cap(words) {
		var b strings.Builder
		for range 1 + len(words)/800%3 + r.IntN(2) {
			b.WriteByte(onsets[r.IntN(len(onsets))])
			b.WriteByte(vowels[r.IntN(len(vowels))])
		}
		b.WriteByte(ends[r.IntN(len(ends))])
		if w := b.String(); !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	return words
}()

// writer generates texts with a realistic distribution of words: the second word is half as frequent as the first, the third
// a third as frequent.
type writer struct {
	r    *rand.Rand
	zipf *rand.Zipf
}

func newWriter(seed uint64) *writer {
	r := rand.New(rand.NewPCG(seed, 9))
	return &writer{r, rand.NewZipf(r, 1.07, 2, uint64(len(vocabulary)-1))}
}

// words returns a text of n words, in lines of about sixty.
func (w *writer) words(n int) string {
	var b strings.Builder
	for i := range n {
		switch {
		case i == 0:
		case i%60 == 0:
			b.WriteString(".\n")
		case i%12 == 0:
			b.WriteString(". ")
		default:
			b.WriteByte(' ')
		}
		b.WriteString(vocabulary[w.zipf.Uint64()])
	}
	return b.String()
}
