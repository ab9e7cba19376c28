//go:build e2e

package bench

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"linkwatch/models/links"
)

// corpus generates links. Its words are distributed as in real titles (Zipf), and are the same in each run.
type corpus struct {
	rnd   *rand.Rand
	zipf  *rand.Zipf
	words []string
	tags  []string
	first []links.New // the first links of a database
}

func newCorpus() *corpus {
	c := &corpus{rnd: rand.New(rand.NewPCG(1, 2))}
	const consonants, vowels = "bcdfghjklmnprstvwz", "aeiou"
	seen := map[string]bool{}
	for len(c.words) < figureWords {
		var b strings.Builder
		for range 2 + c.rnd.IntN(3) {
			b.WriteByte(consonants[c.rnd.IntN(len(consonants))])
			b.WriteByte(vowels[c.rnd.IntN(len(vowels))])
			if c.rnd.IntN(3) == 0 {
				b.WriteByte(consonants[c.rnd.IntN(len(consonants))])
			}
		}
		if w := b.String(); !seen[w] {
			seen[w] = true
			c.words = append(c.words, w)
		}
	}
	c.zipf = rand.NewZipf(c.rnd, 1.1, 5, figureWords-1)
	for i := range figureTags {
		c.tags = append(c.tags, fmt.Sprintf("%s-%d", c.words[figureWords-1-i], i))
	}
	return c
}

func (c *corpus) word() string { return c.words[c.zipf.Uint64()] }

func (c *corpus) tag() string { return c.tags[c.rnd.IntN(figureTags)] }

func (c *corpus) phrase() string { return `"` + c.word() + " " + c.word() + `"` }

func (c *corpus) short() string { return c.word()[:1+c.rnd.IntN(2)] }

func (c *corpus) part() string { w := c.word(); return w[1:max(4, len(w)-1)] }

// mixed returns a search for two words, a tag and a host.
func (c *corpus) mixed() string {
	l := c.first[c.rnd.IntN(len(c.first))]
	title := strings.Fields(l.Title)
	return title[0] + " " + title[3] + " tag:" + l.Tags[1] + " url:example.com"
}

func (c *corpus) misspelled() string {
	w := []byte(c.word())
	i := 1 + c.rnd.IntN(len(w)-2)
	w[i], w[i+1] = w[i+1], w[i]
	return string(w) + "x"
}

// links returns n links with the numbers from first on.
func (c *corpus) links(first, n int) []links.New {
	out := make([]links.New, n)
	for i := range out {
		out[i] = c.link(first + i)
	}
	return out
}

func (c *corpus) link(i int) links.New {
	title := []string{c.word(), c.word(), c.word(), c.word(), c.word(), c.word()}
	if i%2 == 0 {
		title = append(title, "common")
	}
	return links.New{
		URL:   fmt.Sprintf("https://%s.example.com/%s/%s-%d", c.word(), c.word(), c.word(), i),
		Title: strings.Join(title, " "),
		Tags:  []string{c.tag(), c.tag(), c.tag()},
	}
}
