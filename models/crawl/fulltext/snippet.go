package fulltext

import (
	"strings"
	"unicode/utf8"
)

// Piece is a part of a snippet.
type Piece struct {
	Text  string
	Match bool // it matches the query
}

// Hit is a position in a text that matches a term of a query.
type Hit struct{ Start, End, Term int }

// maxHits is the maximum number of hits per text.
const maxHits = 500

// maxScan is the number of bytes of a text that are searched for hits.
const maxScan = 200 << 10

// Hits returns the first hits of the query in a text, in order, and the number of words that were read.
func (q Query) Hits(text string) (hits []Hit, words int) {
	text = text[:min(len(text), maxScan)]
	begun := make([]progress, len(q.All))
	Words(text, func(w Word) bool {
		words++
		for i, t := range q.All {
			p := &begun[i]
			if !t.matches(p.n, w.Text) {
				p.n = 0
				if !t.matches(0, w.Text) {
					continue
				}
			}
			if p.n == 0 {
				p.start = w.Start
			}
			if p.n++; p.n == len(t.Words) {
				hits = append(hits, Hit{p.start, w.End, i})
				p.n = 0
			}
		}
		return len(hits) < maxHits
	})
	return hits, words
}

// progress is the number of words of a term that the last words of a text match.
type progress struct{ n, start int }

func (t Term) matches(n int, word string) bool {
	if t.Prefix && n == len(t.Words)-1 {
		return strings.HasPrefix(word, t.Words[n])
	}
	return word == t.Words[n]
}

// Lengths of snippets in bytes, for at most three lines.
const (
	snippetBytes  = 280
	snippetBefore = 60 // before the first match
)

// Snippet returns the part of a text with the most matches, which are marked. Without a match it is the beginning of the
// text. The result is one line, with an ellipsis where the text is cut.
func (q Query) Snippet(text string) []Piece {
	hits, _ := q.Hits(text)
	from := max(0, q.densest(hits)-snippetBefore)
	for from > 0 && from < len(text) && text[from-1] != ' ' && text[from-1] != '\n' && !utf8.RuneStart(text[from]) {
		from++
	}
	if i := strings.IndexAny(text[from:min(len(text), from+snippetBefore)], " \n"); from > 0 && i >= 0 {
		from += i + 1
	}
	to := len(text)
	if from+snippetBytes < to {
		to = from + snippetBytes
		if i := strings.LastIndexAny(text[from:to], " \n"); i > 0 {
			to = from + i
		}
		for !utf8.RuneStart(text[to]) {
			to--
		}
	}
	var out []Piece
	if from > 0 {
		out = append(out, Piece{Text: "… "})
	}
	out = append(out, pieces(text, from, to, hits)...)
	if to < len(text) {
		out = append(out, Piece{Text: " …"})
	}
	return out
}

// Mark returns the whole of a short text as one line, with matches marked.
func (q Query) Mark(text string) []Piece {
	hits, _ := q.Hits(text)
	return pieces(text, 0, len(text), hits)
}

// pieces returns a part of a text as one line, with hits marked.
func pieces(text string, from, to int, hits []Hit) (out []Piece) {
	add := func(s string, match bool) {
		if s != "" {
			out = append(out, Piece{strings.ReplaceAll(s, "\n", " "), match})
		}
	}
	at := from
	for _, h := range hits {
		if h.Start >= at && h.End <= to {
			add(text[at:h.Start], false)
			add(text[h.Start:h.End], true)
			at = h.End
		}
	}
	add(text[at:to], false)
	return out
}

// densest returns the start of the part of a text that has the most different terms, and the most hits among equals.
func (q Query) densest(hits []Hit) (start int) {
	best := 0
	for i, h := range hits {
		seen, score := uint32(0), 0
		for _, o := range hits[i:] {
			if o.End > h.Start+snippetBytes-snippetBefore {
				break
			}
			score++
			if seen&(1<<o.Term) == 0 {
				seen |= 1 << o.Term
				score += maxHits
			}
		}
		if score > best {
			start, best = h.Start, score
		}
	}
	return start
}

// Score returns how well a page matches, to compare it with others of the same query. It grows with the frequency of the
// terms and falls with the length of the text, like BM25 for one term. Terms in the title or headings add to it.
func (q Query) Score(title, headings, text string) (score float64) {
	hits, words := q.Hits(text)
	counts := make([]float64, len(q.All))
	for _, h := range hits {
		counts[h.Term]++
	}
	const k, usual = 1.2, 400.0
	length := 0.25 + 0.75*float64(words)/usual
	for _, n := range counts {
		score += n * (k + 1) / (n + k*length)
	}
	for _, part := range []struct {
		text   string
		weight float64
	}{{title, 4}, {headings, 1}} {
		hits, words := q.Hits(part.text)
		seen := map[int]bool{}
		for _, h := range hits {
			seen[h.Term] = true
		}
		// A title with few other words is about the query.
		score += part.weight * float64(len(seen)) * (0.5 + 0.5*min(1, float64(len(seen))/float64(max(words, 1))))
	}
	return score
}
