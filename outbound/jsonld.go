package outbound

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a page's JSON-LD.
const (
	scriptLimit    = 256 << 10 // bytes of a script; a longer one is skipped
	scriptsLimit   = 1 << 20   // bytes of all scripts of a page; later ones are skipped
	jsonLDLimit    = 32 << 10  // bytes of Page.JSONLD
	maxThings      = 100
	maxThingDepth  = 8  // nested arrays and objects; deeper ones are skipped
	maxThingTexts  = 20 // texts of one field
	thingTextLimit = 1000
)

// thing is a JSON-LD object. Each field always has the same type, whatever form the page uses.
type thing struct {
	Type           string  `json:"@type,omitempty"`
	Headline       string  `json:"headline,omitempty"`
	Name           string  `json:"name,omitempty"`
	Description    string  `json:"description,omitempty"`
	DatePublished  string  `json:"datePublished,omitempty"`
	DateModified   string  `json:"dateModified,omitempty"`
	Author         []named `json:"author,omitempty"`
	Publisher      *named  `json:"publisher,omitempty"`
	Image          string  `json:"image,omitempty"`
	URL            string  `json:"url,omitempty"`
	InLanguage     string  `json:"inLanguage,omitempty"`
	ArticleSection string  `json:"articleSection,omitempty"`
	Keywords       string  `json:"keywords,omitempty"`
	WordCount      int64   `json:"wordCount,omitempty"`
}

type named struct {
	Name string `json:"name"`
}

// things holds the JSON-LD of a page.
type things struct {
	all  []thing
	read int // bytes of scripts
}

// add parses a script. Invalid JSON adds nothing.
func (t *things) add(script []byte) {
	if len(script) > scriptLimit || t.read+len(script) > scriptsLimit {
		return
	}
	t.read += len(script)
	d := jsontext.NewDecoder(bytes.NewBuffer(bareJSON(script)), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	before := len(t.all)
	if err := t.value(d, 0); err != nil {
		t.all = t.all[:before]
	}
}

// bareJSON returns a copy of a script without comments and CDATA marks around it. Control characters, which are invalid but
// common in strings, become spaces.
func bareJSON(script []byte) []byte {
	s := bytes.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, script)
	if i := bytes.IndexAny(s, "{["); i > 0 && !bytes.ContainsAny(s[:i], `"`) {
		s = s[i:]
		if bytes.HasPrefix(s, []byte("[CDATA[")) {
			s = s[len("[CDATA["):]
			if i := bytes.IndexAny(s, "{["); i > 0 {
				s = s[i:]
			}
		}
	}
	return s
}

// value reads one thing, an array of things, or skips another value.
func (t *things) value(d *jsontext.Decoder, depth int) error {
	switch kind := d.PeekKind(); {
	case kind == '{' && depth < maxThingDepth:
		return t.object(d, depth)
	case kind == '[' && depth < maxThingDepth:
		return elementsOf(d, func() error { return t.value(d, depth+1) })
	}
	return d.SkipValue()
}

func (t *things) object(d *jsontext.Decoder, depth int) error {
	var o thing
	err := fieldsOf(d, func(name string) error {
		if name == "@graph" {
			return t.value(d, depth+1)
		}
		return o.field(d, name)
	})
	if err == nil && o.Type+o.Headline+o.Name+o.Description != "" && len(t.all) < maxThings {
		t.all = append(t.all, o)
	}
	return err
}

// field reads a field. Of repeated fields the first that is not empty counts.
func (o *thing) field(d *jsontext.Decoder, name string) error {
	keys := []string{"name", "@value", "alternateName"}
	var to *string
	switch name {
	case "@type":
		to = &o.Type
	case "headline":
		to = &o.Headline
	case "name":
		to = &o.Name
	case "description":
		to = &o.Description
	case "datePublished":
		to = &o.DatePublished
	case "dateModified":
		to = &o.DateModified
	case "image":
		to, keys = &o.Image, []string{"url", "contentUrl", "@id"}
	case "url":
		to, keys = &o.URL, []string{"@id", "url"}
	case "inLanguage":
		to = &o.InLanguage
	case "articleSection":
		to = &o.ArticleSection
	case "keywords":
		to = &o.Keywords
	case "author", "publisher", "wordCount":
	default:
		return d.SkipValue()
	}
	all, err := texts(d, nil, 0, keys)
	if err != nil || len(all) == 0 {
		return err
	}
	switch {
	case to != nil && *to != "":
	case name == "articleSection", name == "keywords":
		*to = cleanText(strings.Join(all, ", "), thingTextLimit)
	case name == "@type":
		*to = all[0][strings.LastIndexAny(all[0], "/#:")+1:]
	case to != nil:
		*to = all[0]
	case name == "author" && o.Author == nil:
		for _, a := range all {
			o.Author = append(o.Author, named{a})
		}
	case name == "publisher" && o.Publisher == nil:
		o.Publisher = &named{all[0]}
	case name == "wordCount":
		if n, err := strconv.ParseInt(all[0], 10, 32); err == nil && n > 0 {
			o.WordCount = n
		}
	}
	return nil
}

// texts appends the texts of a value. A string or number is a text. An object has the text of the first of keys that it
// has, and an array the texts of all its elements.
func texts(d *jsontext.Decoder, to []string, depth int, keys []string) ([]string, error) {
	switch kind := d.PeekKind(); {
	case kind == '"' || kind == '0':
		token, err := d.ReadToken()
		if err != nil {
			return to, err
		}
		if s := cleanText(token.String(), thingTextLimit); s != "" && len(to) < maxThingTexts {
			to = append(to, s)
		}
		return to, nil
	case kind == '[' && depth < maxThingDepth:
		err := elementsOf(d, func() (err error) {
			to, err = texts(d, to, depth+1, keys)
			return err
		})
		return to, err
	case kind == '{' && depth < maxThingDepth:
		found, at := "", len(keys)
		err := fieldsOf(d, func(name string) error {
			for i, key := range keys[:at] {
				if key == name {
					got, err := texts(d, nil, depth+1, keys)
					if len(got) > 0 {
						found, at = got[0], i
					}
					return err
				}
			}
			return d.SkipValue()
		})
		if found != "" && len(to) < maxThingTexts {
			to = append(to, found)
		}
		return to, err
	}
	return to, d.SkipValue()
}

var errName = errors.New("outbound: JSON field name is not a string")

// fieldsOf calls read for each field of an object. read must consume the value.
func fieldsOf(d *jsontext.Decoder, read func(name string) error) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		if token.Kind() != '"' {
			return errName
		}
		if err := read(token.String()); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// elementsOf calls read for each element of an array. read must consume the element.
func elementsOf(d *jsontext.Decoder, read func() error) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != ']' {
		if err := read(); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// json returns the things as a JSON array of at most jsonLDLimit bytes, or "" if there are none.
func (t *things) json() string {
	if len(t.all) == 0 {
		return ""
	}
	out := []byte{'['}
	for i := range t.all {
		one, err := json.Marshal(&t.all[i])
		if err != nil || len(out)+len(one)+2 > jsonLDLimit {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, one...)
	}
	if len(out) == 1 {
		return ""
	}
	return string(append(out, ']'))
}
