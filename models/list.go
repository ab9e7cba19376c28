package models

import (
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
)

// MaxCounted is the number up to which lists are counted.
const MaxCounted = 10_000

// maxCountSearched is the number of rows that a count reads at most for a filter that no index supports.
const maxCountSearched = 100_000

// Count is the number of items on all pages of a list.
type Count struct {
	Known      bool
	N          int
	LowerBound bool // there are more than N, or there may be
}

// CountAll returns the count of a list that has all its items on one page.
func CountAll[T any](items []T) Count { return Count{Known: true, N: len(items)} }

// NoItems is a list without items.
func NoItems[T any](after Cursor) Slice[T] {
	return Slice[T]{Count: Count{Known: after.Want.Total}}
}

// ListQuery selects the rows of a list, without their order.
type ListQuery struct {
	Table string // with its alias: "frontier AS f"
	Where string // "" = all rows
	Args  []any
	// From is what Where reads to count the rows: Table with the tables that it is joined with. "" = Table.
	From     string
	FromArgs []any
	// Own is the condition for rows of Table that the actor can see, if Where does not have it because the list joins a table
	// that has it.
	Own     string
	OwnArgs []any
	// Filter is the name of a filter in Where whose index has the rows in the default order only.
	Filter      string
	match       string
	matchArgs   []any
	also        string
	alsoArgs    []any
	counted     string
	countedArgs []any
}

// And adds a condition that an index supports.
func (q *ListQuery) And(condition string, args ...any) {
	q.Where, q.Args = and(q.Where, condition), append(slices.Clip(q.Args), args...)
}

// Search adds a condition that no index supports. The list reads MaxSearched rows at most.
func (q *ListQuery) Search(condition string, args ...any) {
	q.match, q.matchArgs = and(q.match, condition), append(slices.Clip(q.matchArgs), args...)
}

// Also adds a condition that no index supports, but that most rows meet. The list reads as many rows as it needs.
func (q *ListQuery) Also(condition string, args ...any) {
	q.also, q.alsoArgs = and(q.also, condition), append(slices.Clip(q.alsoArgs), args...)
}

// Counted adds a condition for the count only. The rows of a page are loaded with a condition of their own.
func (q *ListQuery) Counted(condition string, args ...any) {
	q.counted, q.countedArgs = and(q.counted, condition), append(slices.Clip(q.countedArgs), args...)
}

// with adds a condition if there is one.
func (q *ListQuery) with(condition string, args []any) {
	if condition != "" {
		q.And(condition, args...)
	}
}

func and(where, condition string) string {
	if where == "" {
		return condition
	}
	return where + " AND " + condition
}

// ListPart is the part of a list for one page.
type ListPart struct {
	Where string // never empty
	Args  []any
	Order string
	Limit int
}

// Of adds the part to a query.
func (p ListPart) Of(q *gorm.DB) *gorm.DB {
	return q.Where(p.Where, p.Args...).Order(p.Order).Limit(p.Limit)
}

// Raw adds the part to a statement that ends with WHERE or AND.
func (p ListPart) Raw(tx *gorm.DB, sql string, args ...any) *gorm.DB {
	return tx.Raw(sql+" "+p.Where+" ORDER BY "+p.Order+" LIMIT ?", slices.Concat(args, p.Args, []any{p.Limit})...)
}

// List returns a page of a list after a cursor, in the order that the cursor wants, with the count if it wants that. load reads
// the rows of a part. Errors are CodeInvalid ("query.sort", "query.order", "query.page_token").
func (o Orders[T]) List(tx *gorm.DB, q ListQuery, after Cursor, limit int, load func(ListPart) ([]T, error)) (page Slice[T], err error) {
	plain := o.plain()
	part, err := plain.part(tx, q, after)
	if err != nil {
		return page, err
	}
	part.Limit = limit + 1
	items, err := load(part.ListPart)
	if err != nil {
		return page, err
	}
	page = NewSlice(items, limit, func(item T) Cursor { return o.cursor(item, part.by, part.more) }).SearchedTo(part.end)
	page.Count, err = plain.count(tx, q, after)
	return page, err
}

// orderedPart is a part of a list in an order.
type orderedPart struct {
	ListPart
	by   order
	more int    // index in Orders.More, or -1
	end  Cursor // where the search ends; zero = not before the list
}

// part returns the part of a list after a cursor, without its limit.
func (o plainOrders) part(tx *gorm.DB, q ListQuery, after Cursor) (part orderedPart, err error) {
	by, more, err := o.resolve(after, q.Filter)
	if err != nil {
		return part, err
	}
	rest := q
	if after.Started() {
		at, err := o.position(after, more)
		if err != nil {
			return part, err
		}
		// Before the conditions of the list: if two limit the same column of an index, SQLite uses the first.
		rest.Where, rest.Args = by.compare(false), at
		rest.with(q.Where, q.Args)
	}
	var end Cursor
	if q.match != "" {
		var last []any
		if end, last, err = o.end(tx, rest, by, MaxSearched); err != nil {
			return part, err
		}
		if last != nil {
			rest.And(by.compare(true), last...)
		}
	}
	rest.with(q.match, q.matchArgs)
	rest.with(q.also, q.alsoArgs)
	if rest.Where == "" {
		rest.Where = "TRUE"
	}
	return orderedPart{ListPart{Where: rest.Where, Args: rest.Args, Order: by.sql()}, by, more, end}, nil
}

// end returns the position of row number n of a query in an order, and the values of its columns; none if there are no rows
// after it.
func (o plainOrders) end(tx *gorm.DB, q ListQuery, by order, n int) (end Cursor, values []any, err error) {
	columns := append(slices.Clone(by.columns), o.time, o.id)
	q.with(q.Own, q.OwnArgs)
	where := "TRUE"
	if q.Where != "" {
		where = q.Where
	}
	var rows [][]any
	err = Each(tx.Raw("SELECT "+strings.Join(columns, ", ")+" FROM "+q.Table+" WHERE "+where+" ORDER BY "+by.sql()+" LIMIT 2 OFFSET ?",
		append(slices.Clip(q.Args), n-1)...), func(r *Row) { rows = append(rows, slices.Clone(r.values)) })
	if err != nil {
		return end, nil, fmt.Errorf("find the end of a search: %w", err)
	}
	if len(rows) < 2 {
		return end, nil, nil
	}
	last := rows[0]
	values = last[:len(by.columns)]
	if err := end.CreatedAt.Scan(last[len(last)-2]); err != nil {
		return end, nil, fmt.Errorf("find the end of a search: %w", err)
	}
	switch id := last[len(last)-1].(type) {
	case string:
		end.ID = id
	case int64:
		end.ID = TimedID(o.kind, end.CreatedAt, id)
	}
	end.Sorted = by.sorting
	if by.sorting.Field != "" {
		end.Values = valuesJSON(values)
	}
	return end, values, nil
}

// count counts the rows of a query.
func (o plainOrders) count(tx *gorm.DB, q ListQuery, after Cursor) (n Count, err error) {
	if !after.Want.Total {
		return n, nil
	}
	partly := false
	if q.match != "" {
		by := order{columns: o.columns(), desc: o.desc}
		_, last, err := o.end(tx, q, by, maxCountSearched)
		if err != nil {
			return n, err
		}
		if partly = last != nil; partly {
			q.And(by.compare(true), last...)
		}
	}
	q.with(q.match, q.matchArgs)
	q.with(q.also, q.alsoArgs)
	q.with(q.counted, q.countedArgs)
	q.with(q.Own, q.OwnArgs)
	from, where := q.Table, "TRUE"
	if q.From != "" {
		from = q.From
	}
	if q.Where != "" {
		where = q.Where
	}
	n, err = CountRows(tx, after, "SELECT 1 AS one FROM "+from+" WHERE "+where, slices.Concat(q.FromArgs, q.Args)...)
	n.LowerBound = n.LowerBound || partly
	return n, err
}

// CountRows counts the rows of a SELECT up to MaxCounted, if a cursor wants the count.
func CountRows(tx *gorm.DB, after Cursor, sql string, args ...any) (n Count, err error) {
	if !after.Want.Total {
		return n, nil
	}
	err = tx.Raw("SELECT count(*) FROM (SELECT 1 AS one FROM ("+sql+") AS listed LIMIT ?) AS counted", append(slices.Clip(args), MaxCounted+1)...).Scan(&n.N).Error
	if err != nil {
		return n, fmt.Errorf("count a list: %w", err)
	}
	n.Known, n.LowerBound, n.N = true, n.N > MaxCounted, min(n.N, MaxCounted)
	return n, nil
}

// OnlyOrder returns CodeInvalid if a cursor wants another order than the only one of a list.
func (c Cursor) OnlyOrder(field string, d Direction) error {
	switch {
	case c.Want.Sort.Field != "" && c.Want.Sort.Field != field:
		return Invalid("query.sort", "must be %s", field)
	case c.Want.Sort.Direction != "" && c.Want.Sort.Direction != d:
		return Invalid("query.order", "must be %s", d)
	case c.Started() && c.Sorted != Sorting{}:
		return ErrPageToken
	}
	return nil
}
