package models

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"time"
)

// Cursor is a position in a list: the last item that the caller has seen. It also has what the caller wants of the list. The
// zero Cursor is the start of a list in its default order.
type Cursor struct {
	CreatedAt Time
	ID        string
	Priority  int     // of the item, in lists ordered by priority first; else 0
	Sorted    Sorting // the order in which the position is; zero = the default
	Values    string  // JSON of the item's values of the columns of that order; "" in the default order and its reverse
	Want      Want
}

// Want is what a caller wants of a list. It is not part of a position.
type Want struct {
	Sort  Sorting
	Total bool // count all items: Slice.Count
}

// Started reports whether the cursor is a position and not the start of a list.
func (c Cursor) Started() bool { return c.ID != "" }

type cursorJSON struct {
	CreatedAt time.Time       `json:"created_at"`
	ID        string          `json:"id"`
	Priority  int             `json:"priority,omitempty"`
	Field     string          `json:"sort,omitempty"`
	Direction string          `json:"order,omitempty"`
	Values    json.RawMessage `json:"values,omitempty"`
}

// ErrPageToken is the error of an invalid page token.
var ErrPageToken = Invalid("query.page_token", "is not a token of this list and its order; leave it out to start at the first page")

const maxToken = 16 << 10 // bytes; a valid one has about 110, and more if the list is sorted by URL

// Token returns the page token of a cursor: Base64 of JSON, or "" for the start of a list.
func (c Cursor) Token() string {
	if !c.Started() {
		return ""
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(cursorJSON{c.CreatedAt.Time, c.ID, c.Priority, c.Sorted.Field, string(c.Sorted.Direction), json.RawMessage(c.Values)}); err != nil {
		return "" // a year beyond 9999, which is never stored
	}
	return base64.URLEncoding.EncodeToString(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// ParseToken parses a page token, or returns ErrPageToken. It accepts the URL-safe and the standard alphabet of
// Base64.
func ParseToken(s string) (Cursor, error) {
	if s == "" {
		return Cursor{}, nil
	}
	if len(s) > maxToken {
		return Cursor{}, ErrPageToken
	}
	b, err := base64.URLEncoding.DecodeString(s)
	if err != nil {
		if b, err = base64.StdEncoding.DecodeString(s); err != nil {
			return Cursor{}, ErrPageToken
		}
	}
	var c cursorJSON
	if err := json.Unmarshal(b, &c); err != nil || c.ID == "" || c.CreatedAt.IsZero() {
		return Cursor{}, ErrPageToken
	}
	sorted := Sorting{c.Field, Direction(c.Direction)}
	return Cursor{CreatedAt: At(c.CreatedAt), ID: c.ID, Priority: c.Priority, Sorted: sorted, Values: string(c.Values)}, nil
}
