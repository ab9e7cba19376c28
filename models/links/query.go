package links

import (
	"fmt"
	"strings"
	"unicode"

	"linkwatch/models"
)

// Limits of a query, in addition to models.MaxFilter.
const (
	// MaxCounted is the largest number of matches that a search counts exactly. Counting all matches of a frequent
	// word takes longer than finding a page of them.
	MaxCounted = 10_000
	maxWords   = 32
)

// Query is a parsed search. A link must match all parts. The text is folded (models.Fold). A word matches any part
// of a text; a phrase is a word that contains spaces.
type Query struct {
	Words []Word // in the title, the URL or a tag
	Title []Word
	URL   []Word
	Tags  []TagGroup
}

// Word is a word of a query: a link must match one of its forms. There is one form, except for near misses.
type Word []string

// TagGroup has the tags of one "tag:" prefix.
type TagGroup struct {
	All   bool // separated by commas only: a link must have all tags, else one of them
	Names []TagName
}

// TagName is a tag of a query. It matches the tag with that name or, if there is none, tags that contain it.
type TagName struct {
	Name string // folded (models.FoldName)
	Part Word
}

// Empty reports whether the query has no words.
func (q Query) Empty() bool { return q.size() == 0 }

// size returns the number of words, including those of tags.
func (q Query) size() int {
	n := len(q.Words) + len(q.Title) + len(q.URL)
	for _, g := range q.Tags {
		n += len(g.Names)
	}
	return n
}

// ParseQuery parses a search. "…" is a phrase. A prefix (tag:, url:, title:) applies to the words up to the next
// prefix. tag:a,b requires both tags, tag:a b and tag:a, b one of them. The error is CodeInvalid and has the
// position.
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
	in         []rune
	pos        int
	field      string // current prefix: "", "tag", "url" or "title"
	start      int    // position of the prefix
	fieldWords int    // number of words of the prefix
	words      int
	q          Query
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
			p.field, p.start, p.fieldWords = f, p.pos, 0
			p.pos += len(f) + 1
			if f == "tag" {
				p.q.Tags = append(p.q.Tags, TagGroup{All: true})
			}
			continue
		}
		if p.field == "tag" && p.fieldWords > 0 && (blanks || !commas) {
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

// skipSeparators skips the characters between words. A comma is a separator only between tags.
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
		return "", syntaxError(from, "the quote is not closed")
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
	if word == "" { // an empty phrase, or only invisible characters
		return nil
	}
	if p.words++; p.words > maxWords {
		return models.TooLong("query.q", maxWords, "words")
	}
	p.fieldWords++
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
	if p.field != "" && p.fieldWords == 0 {
		return syntaxError(p.start, p.field+": needs a word after it")
	}
	return nil
}

// syntaxError returns the error at a position, which counts from 0.
func syntaxError(pos int, what string) error {
	return models.Invalid("query.q", "%s", fmt.Sprintf("has an error at character %d: %s", pos+1, what))
}
