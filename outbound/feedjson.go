package outbound

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// jsonText is a string in JSON. Values of other types count as "".
type jsonText string

// UnmarshalJSON implements json.Unmarshaler.
func (t *jsonText) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = jsonText(s)
	}
	return nil
}

// json reads a JSON feed (jsonfeed.org). Errors are ErrNotFeed, and io.EOF if it ends early or is malformed after
// complete items.
func (f *readFeed) json(body []byte) error {
	err := f.members(json.NewDecoder(bytes.NewReader(body)))
	if err == nil || errors.Is(err, ErrNotFeed) {
		return err
	}
	if _, malformed := errors.AsType[*json.SyntaxError](err); malformed && f.complete == 0 {
		return ErrNotFeed
	}
	return io.EOF
}

// members reads the members of the feed. The items may be before the title.
func (f *readFeed) members(d *json.Decoder) error {
	_, err := d.Token() // {
	isFeed := false
	for err == nil && d.More() {
		var key json.Token
		if key, err = d.Token(); err != nil {
			break
		}
		var page jsonText
		switch key {
		case "items":
			isFeed, err = true, f.items(d)
		case "title":
			err = decode(d, (*jsonText)(&f.title))
		case "home_page_url":
			err = decode(d, &page)
			f.page.take(string(page), ownLink)
		default:
			err = decode(d, &struct{}{})
		}
	}
	if !isFeed {
		return ErrNotFeed
	}
	if err == nil {
		_, err = d.Token() // }
	}
	return err
}

func (f *readFeed) items(d *json.Decoder) error {
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return ErrNotFeed
	}
	for d.More() {
		var item struct {
			ID          jsonText `json:"id"`
			URL         jsonText `json:"url"`
			ExternalURL jsonText `json:"external_url"`
		}
		if err := decode(d, &item); err != nil {
			return err
		}
		if f.complete == FeedEntries {
			f.more = true
			continue
		}
		var link feedLink
		link.take(string(item.URL), ownLink)
		link.take(string(item.ExternalURL), ownLink)
		f.add(link, cleanURL(string(item.ID)))
	}
	_, err := d.Token()
	return err
}

// decode decodes the next value. A value of a wrong type is skipped.
func decode(d *json.Decoder, to any) error {
	err := d.Decode(to)
	if _, wrongType := errors.AsType[*json.UnmarshalTypeError](err); wrongType {
		return nil
	}
	return err
}
