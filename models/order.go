package models

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Sorting is the order that a caller wants a list in. Empty members are the default of the list.
type Sorting struct {
	Field     string // as in the API
	Direction Direction
}

// Direction is the direction of an order.
type Direction string

// Values of Direction.
const (
	Ascending  Direction = "asc"
	Descending Direction = "desc"
)

// Order is an order other than the default one. An index has its columns.
type Order[T any] struct {
	Field   string        // as in the API
	Columns []string      // together unique, and never NULL: rows with NULL would be in no position
	Desc    bool          // by default
	Values  func(T) []any // of the columns: string or int64
}

// Orders are the orders of a list. The default is by time, then by id.
type Orders[T any] struct {
	Field string // of the time, as in the API
	Desc  bool   // newest first by default
	Time  string // column
	ID    string // column of the id, or of the number of which TimedID makes the id
	Key   Key
	Kind  Kind // of the ids
	// IsID checks the id of a page token if ids have no kind.
	IsID func(id string) bool
	At   func(T) Cursor // position of an item in the default order: CreatedAt and ID
	More []Order[T]
}

// Key is how the default order of a list follows from its rows.
type Key int

// Values of Key.
const (
	TimeAndID     Key = iota // by time, then by id
	TimeAndNumber            // by time, then by number
	ByNumber                 // by number, which rises with the time
)

// Fields returns the fields by which the list can be sorted, the default first.
func (o Orders[T]) Fields() []string {
	fields := []string{o.Field}
	for _, more := range o.More {
		fields = append(fields, more.Field)
	}
	return fields
}

// plainOrders are Orders without the type of their items. Its methods are compiled once, not for each type.
type plainOrders struct {
	field, time, id string
	desc            bool
	key             Key
	kind            Kind
	isID            func(id string) bool
	more            []order
	like            func(more int) []any // values with the types of those of an item
}

func (o Orders[T]) plain() plainOrders {
	p := plainOrders{
		field: o.Field, time: o.Time, id: o.ID, desc: o.Desc, key: o.Key, kind: o.Kind, isID: o.IsID,
		like: func(more int) []any {
			var zero T
			return o.More[more].Values(zero)
		},
	}
	for _, m := range o.More {
		p.more = append(p.more, order{sorting: Sorting{Field: m.Field}, columns: m.Columns, desc: m.Desc})
	}
	return p
}

// order is the order of one request.
type order struct {
	sorting Sorting // zero = the default order and direction
	columns []string
	desc    bool
}

// resolve returns the order that a cursor wants. more is the index in more, or -1. filter is the name of a filter whose index
// has only the default order; "" = none.
func (o plainOrders) resolve(after Cursor, filter string) (by order, more int, err error) {
	want := after.Want.Sort
	by, more = order{columns: o.columns(), desc: o.desc}, -1
	if want.Field != "" && want.Field != o.field {
		fields := []string{o.field}
		for i, m := range o.more {
			fields = append(fields, m.sorting.Field)
			if m.sorting.Field == want.Field {
				by, more = m, i
			}
		}
		if more < 0 {
			return by, more, Invalid("query.sort", "must be %s", alternatives(fields))
		}
		if filter != "" {
			return by, more, Invalid("query.sort", "must be %s in a list with the filter %s", o.field, filter)
		}
	}
	switch want.Direction {
	case "":
	case Ascending, Descending:
		by.desc = want.Direction == Descending
	default:
		return by, more, Invalid("query.order", "must be asc or desc")
	}
	if more >= 0 || by.desc != o.desc {
		by.sorting.Direction = Ascending
		if by.desc {
			by.sorting.Direction = Descending
		}
	}
	if after.Started() && after.Sorted != by.sorting {
		return by, more, ErrPageToken
	}
	return by, more, nil
}

func (o plainOrders) columns() []string {
	if o.key == ByNumber {
		return []string{o.id}
	}
	return []string{o.time, o.id}
}

// position returns the values of the columns of an order at a cursor, or ErrPageToken.
func (o plainOrders) position(after Cursor, more int) ([]any, error) {
	var number int64
	at := after.CreatedAt
	switch {
	case o.key != TimeAndID:
		var err error
		if at, number, err = ParseTimedID(o.kind, after.ID); err != nil {
			return nil, ErrPageToken
		}
	case o.isID != nil && !o.isID(after.ID), o.isID == nil && CheckID(o.kind, after.ID) != nil:
		return nil, ErrPageToken
	}
	if more >= 0 {
		return parseValues(after.Values, o.like(more))
	}
	switch o.key {
	case ByNumber:
		return []any{number}, nil
	case TimeAndNumber:
		return []any{at, number}, nil
	default:
		return []any{at, after.ID}, nil
	}
}

// parseValues parses the values of a token. They must have the types of like.
func parseValues(text string, like []any) ([]any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var values []any
	if err := dec.Decode(&values); err != nil || len(values) != len(like) {
		return nil, ErrPageToken
	}
	for i, v := range values {
		switch v := v.(type) {
		case string:
			if _, ok := like[i].(string); !ok || !utf8.ValidString(v) || strings.ContainsRune(v, 0) { // PostgreSQL rejects zero bytes
				return nil, ErrPageToken
			}
		case json.Number:
			n, err := v.Int64()
			if _, ok := like[i].(int64); !ok || err != nil {
				return nil, ErrPageToken
			}
			values[i] = n
		default:
			return nil, ErrPageToken
		}
	}
	return values, nil
}

// cursor returns the position of an item in an order.
func (o Orders[T]) cursor(item T, by order, more int) Cursor {
	c := o.At(item)
	c.Sorted = by.sorting
	if more >= 0 {
		c.Values = valuesJSON(o.More[more].Values(item))
	}
	return c
}

func valuesJSON(values []any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // a URL would get longer
	if err := enc.Encode(values); err != nil {
		panic(err) // values are strings and integers
	}
	return strings.TrimSpace(b.String())
}

// sql returns ORDER BY without these words.
func (by order) sql() string {
	if !by.desc {
		return strings.Join(by.columns, ", ")
	}
	return strings.Join(by.columns, " DESC, ") + " DESC"
}

// compare returns the condition for rows after a position, or for rows up to it.
func (by order) compare(upTo bool) string {
	operator := ">"
	if by.desc {
		operator = "<"
	}
	if upTo {
		operator = map[string]string{">": "<=", "<": ">="}[operator]
	}
	if len(by.columns) == 1 {
		return by.columns[0] + " " + operator + " ?"
	}
	return fmt.Sprintf("(%s) %s (?%s)", strings.Join(by.columns, ", "), operator, strings.Repeat(", ?", len(by.columns)-1))
}

// alternatives returns names as in "a, b or c".
func alternatives(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
