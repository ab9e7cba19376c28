package links

import (
	"fmt"
	"strings"
	"unicode"

	"linkwatch/models"
)

// The limits of a query, beside models.MaxFilter.
const (
	// MaxCounted is the largest number of matches that a search counts exactly.
	// Counting all matches of a frequent word takes longer than finding a page of them.
	MaxCounted = 10_000
	maxWords   = 32
)

// Query is a search, parsed. Its parts combine with AND. All text is folded
// (models.Fold), and a phrase is a word with blanks in it: every word is
// looked for as a part of the text.
type Query struct {
	Words []Word // in the title, the URL or a tag
	Title []Word
	URL   []Word
	Tags  []TagGroup
}

// Word is what is looked for: any of its forms. There is one, unless near
// misses stand in for a word that nothing matched.
type Word []string

// TagGroup is the words of one "tag:" prefix.
type TagGroup struct {
	All   bool // commas only: every tag must be there; else any of them
	Names []TagName
}

// TagName is a tag in a query: the tag of that name if there is one, and
// any that holds it if not.
type TagName struct {
	Name string // as names are compared (models.FoldName)
	Part Word
}

// Empty says whether the query asks for nothing.
func (q Query) Empty() bool {
	return len(q.Words)+len(q.Title)+len(q.URL)+len(q.Tags) == 0
}

// ParseQuery reads the search language. Words
// stand for themselves, "…" is a phrase, and a field prefix (tag:, url:,
// title:) owns the words up to the next prefix. tag:a,b asks for both tags,
// tag:a b and tag:a, b for either. The error is CodeInvalid and says where.
func ParseQuery(s string) (Query, error) {
	if err := models.CheckFilter("query.q", s); err != nil {
		return Query{}, err
	}
	p := parser{in: []rune(strings.ToValidUTF8(s, "\uFFFD"))}
	if err := p.parse(); err != nil {
		return Query{}, err
	}
	return p.q, nil
}

type parser struct {
	in    []rune
	pos   int
	field string // the prefix in force: "", "tag", "url" or "title"
	start int    // where that prefix began
	owned int    // how many words it has so far
	words int
	q     Query
}

var prefixes = []string{"tag", "url", "title"}

func (p *parser) parse() error {
	for {
		commas, blanks := p.skipSeparators()
		if p.pos == len(p.in) {
			return p.endField()
		}
		if f, ok := p.prefix(); ok {
			if err := p.endField(); err != nil {
				return err
			}
			p.field, p.start, p.owned = f, p.pos, 0
			p.pos += len(f) + 1
			if f == "tag" {
				p.q.Tags = append(p.q.Tags, TagGroup{All: true})
			}
			continue
		}
		if p.field == "tag" && p.owned > 0 && (blanks || !commas) {
			p.q.Tags[len(p.q.Tags)-1].All = false
		}
		word, err := p.word()
		if err != nil {
			return err
		}
		if err := p.add(word); err != nil {
			return err
		}
	}
}

// skipSeparators skips the characters between words. A comma separates
// only tags; elsewhere it is text.
func (p *parser) skipSeparators() (commas, blanks bool) {
	for p.pos < len(p.in) {
		switch r := p.in[p.pos]; {
		case unicode.IsSpace(r):
			blanks = true
		case r == ',' && p.field == "tag":
			commas = true
		default:
			return commas, blanks
		}
		p.pos++
	}
	return commas, blanks
}

func (p *parser) prefix() (string, bool) {
	for _, f := range prefixes {
		end := p.pos + len(f)
		if end < len(p.in) && p.in[end] == ':' && strings.EqualFold(string(p.in[p.pos:end]), f) {
			return f, true
		}
	}
	return "", false
}

// word reads a word or a phrase.
func (p *parser) word() (string, error) {
	from := p.pos
	if p.in[from] == '"' {
		for p.pos++; p.pos < len(p.in); p.pos++ {
			if p.in[p.pos] == '"' {
				p.pos++
				return string(p.in[from+1 : p.pos-1]), nil
			}
		}
		return "", syntaxError(from, "the quote that opens here is not closed")
	}
	for p.pos < len(p.in) {
		r := p.in[p.pos]
		if unicode.IsSpace(r) || r == '"' || r == ',' && p.field == "tag" {
			break
		}
		p.pos++
	}
	return string(p.in[from:p.pos]), nil
}

func (p *parser) add(typed string) error {
	word := models.Fold(typed)
	if word == "" { // nothing but invisible characters, or an empty phrase
		return nil
	}
	if p.words++; p.words > maxWords {
		return models.Invalid("query.q", "has more than %d words", maxWords)
	}
	p.owned++
	w := Word{word}
	switch p.field {
	case "tag":
		g := &p.q.Tags[len(p.q.Tags)-1]
		g.Names = append(g.Names, TagName{models.FoldName(typed), w})
	case "url":
		p.q.URL = append(p.q.URL, w)
	case "title":
		p.q.Title = append(p.q.Title, w)
	default:
		p.q.Words = append(p.q.Words, w)
	}
	return nil
}

func (p *parser) endField() error {
	if p.field != "" && p.owned == 0 {
		return syntaxError(p.start, "a word must follow "+p.field+":")
	}
	return nil
}

// syntaxError says at which character (from 1) the query cannot be read.
func syntaxError(pos int, what string) error {
	return models.Invalid("query.q", "%s", fmt.Sprintf("at character %d: %s", pos+1, what))
}
