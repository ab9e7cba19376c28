package outbound

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// Limits of a feed's parts. The library needs a few hundred bytes for each, so without limits a feed of 2 MiB could need
// 1 GiB of memory.
const (
	feedParts  = 50_000 // elements and attributes
	feedDepth  = 100    // nested elements
	feedSpaces = 200    // XML namespaces in scope; the library copies them all for each new one
)

// boundFeed cuts a feed after FeedEntries entries, or before the entry that exceeds feedParts.
func boundFeed(body []byte) ([]byte, error) {
	body = bytes.TrimLeft(body, "\uFEFF \t\r\n\x00")
	switch {
	case bytes.HasPrefix(body, []byte("<")):
		return boundXML(body)
	case bytes.HasPrefix(body, []byte("{")):
		return boundJSON(body)
	}
	return nil, ErrNotFeed
}

type element struct {
	name   string // with its prefix
	spaces int    // namespaces that it declares
}

func boundXML(body []byte) ([]byte, error) {
	body = bytes.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' { // the library ignores them too
			return -1
		}
		return r
	}, body)
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Strict = false
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is already UTF-8
	var open []element
	parts, spaces, entries := 0, 0, 0
	cutAt, cutDepth := int64(-1), 0 // the start of the last entry
	for {
		at := d.InputOffset()
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return body, nil
		}
		if err != nil {
			return nil, ErrNotFeed
		}
		switch t := token.(type) {
		case xml.StartElement:
			if name := strings.ToLower(t.Name.Local); name == "item" || name == "entry" {
				cutAt, cutDepth = at, len(open)
				entries++
			}
			e := element{name: nameAt(body[at:])}
			for _, a := range t.Attr {
				if a.Name.Space == "xmlns" || a.Name.Local == "xmlns" {
					e.spaces++
				}
			}
			open = append(open, e)
			spaces += e.spaces
			parts += 1 + len(t.Attr)
		case xml.EndElement:
			if len(open) > 0 {
				spaces -= open[len(open)-1].spaces
				open = open[:len(open)-1]
			}
		}
		switch {
		case len(open) > feedDepth, spaces > feedSpaces, parts > feedParts && cutAt < 0:
			return nil, ErrFeedParts
		case entries > FeedEntries, parts > feedParts:
			return closed(body[:cutAt], open[:min(cutDepth, len(open))]), nil
		}
	}
}

// nameAt returns the name of the tag at the start of b.
func nameAt(b []byte) string {
	b = bytes.TrimPrefix(b, []byte("<"))
	if end := bytes.IndexAny(b, " \t\r\n/>"); end >= 0 {
		b = b[:end]
	}
	return string(b)
}

// closed returns a copy of body with end tags for the open elements.
func closed(body []byte, open []element) []byte {
	out := bytes.Clone(body)
	for i := len(open) - 1; i >= 0; i-- {
		out = append(append(append(out, "</"...), open[i].name...), '>')
	}
	return out
}

// jsonFeed has only the fields that ParseFeed uses.
type jsonFeed struct {
	Version     json.RawMessage `json:"version,omitempty"`
	Title       json.RawMessage `json:"title,omitempty"`
	HomePageURL json.RawMessage `json:"home_page_url,omitempty"`
	Items       jsonItems       `json:"items"`
}

type jsonItem struct {
	ID          json.RawMessage `json:"id,omitempty"`
	URL         json.RawMessage `json:"url,omitempty"`
	ExternalURL json.RawMessage `json:"external_url,omitempty"`
}

// jsonItems are the first FeedEntries items of a feed.
type jsonItems []jsonItem

// UnmarshalJSON implements json.Unmarshaler.
func (l *jsonItems) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return ErrNotFeed
	}
	*l = nil
	for len(*l) < FeedEntries && d.More() {
		var item jsonItem
		if err := d.Decode(&item); err != nil {
			return err
		}
		*l = append(*l, item)
	}
	return nil
}

// boundJSON removes all fields that ParseFeed does not use.
func boundJSON(body []byte) ([]byte, error) {
	var f jsonFeed
	if err := json.Unmarshal(body, &f); err != nil || len(f.Version) == 0 && f.Items == nil {
		return nil, ErrNotFeed
	}
	out, err := json.Marshal(f)
	if err != nil {
		return nil, ErrNotFeed
	}
	return out, nil
}
