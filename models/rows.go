package models

import (
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ncruces/go-sqlite3"
	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// Rows is a batch of rows that a statement reads as a table, so that writing a batch takes one statement per table
// (ADR 18). The batch is a single argument, so its size is not limited like the number of arguments: a JSON array
// on PostgreSQL, and on SQLite a pointer that the table function of rows_sqlite.go reads.
type Rows struct {
	columns []column
	values  []any // of one row after the other: nil, int64, string, bool or []byte
}

type column struct{ name, kind string }

// NewRows returns an empty batch. columns are names and types, separated by commas: "seq bigint, name text, paused
// boolean, checks bytes".
func NewRows(columns string) *Rows {
	r := &Rows{}
	for c := range strings.SplitSeq(columns, ",") {
		name, kind, _ := strings.Cut(strings.TrimSpace(c), " ")
		r.columns = append(r.columns, column{name, kind})
	}
	return r
}

// RowsOf returns a batch with one column, as in NewRows, and a row for each value.
func RowsOf[T any](column string, values []T) *Rows {
	r := NewRows(column)
	for _, v := range values {
		r.Add(v)
	}
	return r
}

// Len returns the number of rows.
func (r *Rows) Len() int { return len(r.values) / len(r.columns) }

// Add adds a row with a value for each column. A value is a string, a bool, an integer, a []byte, nil for NULL, or
// a driver.Valuer of one of these. Add panics for any other value and for a wrong number of values. A []byte must
// not change until the statement has run.
func (r *Rows) Add(values ...any) {
	if len(values) != len(r.columns) {
		panic(fmt.Sprintf("models: a row of %d values for %d columns", len(values), len(r.columns)))
	}
	for _, v := range values {
		r.values = append(r.values, plainValue(v))
	}
}

// plainValue returns a value as one of the types of Rows.values.
func plainValue(value any) any {
	switch v := value.(type) {
	case nil, int64, bool:
		return v
	case string:
		return plainText(v)
	case int:
		return int64(v)
	case []byte:
		if v == nil { // not NULL
			return []byte{}
		}
		return v
	case driver.Valuer:
		plain, err := v.Value()
		if err != nil {
			panic(fmt.Sprintf("models: the value of a %T: %v", value, err))
		}
		return plainValue(plain)
	}
	switch v := reflect.ValueOf(value); v.Kind() { // a named type, such as a status
	case reflect.String:
		return plainText(v.String())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int()
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return plainValue(v.Bytes())
		}
	}
	panic(fmt.Sprintf("models: a row cannot hold a %T", value))
}

// plainText returns text that both engines can store: UTF-8 without NUL.
func plainText(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	return s
}

// appendJSON appends the rows as a JSON array, with an array for each row. The engine reads a flat list in half the
// time, so rows of one column are one.
func (r *Rows) appendJSON(to []byte) []byte {
	width := len(r.columns)
	to = append(to, '[')
	for i, v := range r.values {
		if i > 0 {
			to = append(to, ',')
		}
		if width > 1 && i%width == 0 {
			to = append(to, '[')
		}
		to = appendValue(to, v)
		if width > 1 && i%width == width-1 {
			to = append(to, ']')
		}
	}
	return append(to, ']')
}

func appendValue(to []byte, value any) []byte {
	switch v := value.(type) {
	case string:
		return appendString(to, v)
	case bool:
		return strconv.AppendBool(to, v)
	case int64:
		return strconv.AppendInt(to, v, 10)
	case []byte:
		return append(hex.AppendEncode(append(to, '"'), v), '"')
	}
	return append(to, "null"...)
}

func appendString(to []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(to, '"'), s...), '"')
	}
	quoted, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return append(to, quoted...)
}

// isPlain reports whether s needs no escaping in JSON, like most URLs.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// Exec runs a statement in which {rows} is replaced by a subquery of the rows. args are the other arguments of the
// statement. It does nothing if there are no rows.
func (r *Rows) Exec(tx *gorm.DB, sql string, args ...any) *gorm.DB {
	if len(r.values) == 0 {
		return tx.Session(&gorm.Session{})
	}
	return r.with(tx, sql, args, tx.Exec)
}

// Raw is like Exec for a statement that returns rows. It runs even if there are no rows, so that there is a result
// to scan.
func (r *Rows) Raw(tx *gorm.DB, sql string, args ...any) *gorm.DB {
	return r.with(tx, sql, args, tx.Raw)
}

func (r *Rows) with(tx *gorm.DB, sql string, args []any, run func(string, ...any) *gorm.DB) *gorm.DB {
	before, after, ok := strings.Cut(sql, "{rows}")
	if !ok {
		panic("models: the statement reads no {rows}: " + sql)
	}
	at := strings.Count(before, "?")
	all := make([]any, 0, len(args)+1)
	all = append(append(append(all, args[:at]...), r.argument(tx.Name())), args[at:]...)
	return run(before+r.table(tx.Name())+after, all...)
}

func (r *Rows) argument(engine string) any {
	if engine == SQLite {
		return sqlite3.Pointer(r)
	}
	return string(r.appendJSON(nil))
}

// table returns the subquery that reads the argument.
func (r *Rows) table(engine string) string {
	var b strings.Builder
	b.WriteString("(SELECT ")
	plain := len(r.columns) == 1
	for i, c := range r.columns {
		if i > 0 {
			b.WriteString(", ")
		}
		value := "value"
		if !plain {
			value += "->>" + strconv.Itoa(i)
		}
		switch {
		case engine == SQLite:
			value = "c" + strconv.Itoa(i)
		case c.kind == "bytes":
			value = "decode(" + value + ", 'hex')"
		default:
			value = "CAST(" + value + " AS " + c.kind + ")"
		}
		b.WriteString(value + " AS " + c.name)
	}
	switch {
	case engine == SQLite:
		b.WriteString(" FROM " + rowsFunction + "(?))")
	case plain:
		b.WriteString(" FROM jsonb_array_elements_text(CAST(? AS jsonb)))")
	default:
		b.WriteString(" FROM jsonb_array_elements(CAST(? AS jsonb)))")
	}
	return b.String()
}

// Insert stores rows in one statement and skips rows that violate a unique constraint. It does not set their keys.
// Generated keys must be zero in all rows.
func Insert[T any](tx *gorm.DB, rows []T) error {
	batch, sql, err := insertion(tx, rows)
	if err != nil || len(rows) == 0 {
		return err
	}
	// Without WHERE, SQLite parses ON as a join condition.
	return batch.Exec(tx, sql+" WHERE true ON CONFLICT DO NOTHING").Error
}

// InsertReturning is Insert of the rows r that meet a condition. It calls fn with some columns of each row that it stored,
// in any order. For a look-up in a large table, the condition is "(SELECT … LIMIT 1) IS NULL": of NOT EXISTS, PostgreSQL
// can make a join that reads the whole table.
func InsertReturning[T any](tx *gorm.DB, rows []T, columns string, fn func(*Row), condition string, args ...any) error {
	batch, sql, err := insertion(tx, rows)
	if err != nil || len(rows) == 0 {
		return err
	}
	return Each(batch.Raw(tx, sql+" WHERE "+condition+" ON CONFLICT DO NOTHING RETURNING "+columns, args...), fn)
}

// insertion returns the rows and the start of the statement of Insert.
func insertion[T any](tx *gorm.DB, rows []T) (*Rows, string, error) {
	if len(rows) == 0 {
		return nil, "", nil
	}
	stmt := &gorm.Statement{DB: tx}
	if err := stmt.Parse(new(T)); err != nil {
		return nil, "", fmt.Errorf("read columns of %T: %w", rows[0], err)
	}
	ctx, reflected := tx.Statement.Context, reflect.ValueOf(rows)
	generated := false
	if key := stmt.Schema.PrioritizedPrimaryField; key != nil && key.AutoIncrement {
		_, generated = key.ValueOf(ctx, reflected.Index(0))
	}
	p := planInsert(stmt.Schema, generated)
	batch := &Rows{columns: p.columns, values: make([]any, 0, len(rows)*len(p.columns))}
	values := make([]any, len(p.fields))
	for i := range rows {
		for j, f := range p.fields {
			values[j], _ = f.ValueOf(ctx, reflected.Index(i))
		}
		batch.Add(values...)
	}
	return batch, p.sql, nil
}

// insertPlan is what Insert needs to know about a type.
type insertPlan struct {
	fields  []*schema.Field
	columns []column
	sql     string
}

// insertPlans keeps the plan of each type, with and without its key. Making a plan was a quarter of the time of storing
// one target.
var insertPlans sync.Map

// planInsert returns the plan of a table, without the key if that is generated.
func planInsert(table *schema.Schema, generated bool) insertPlan {
	type key struct {
		row       reflect.Type
		generated bool
	}
	if known, ok := insertPlans.Load(key{table.ModelType, generated}); ok {
		return known.(insertPlan) //nolint:forcetypeassert // there are no others
	}
	var p insertPlan
	var names []string
	for _, f := range table.Fields {
		if f.DBName == "" || !f.Creatable || f.AutoIncrement && generated {
			continue
		}
		p.fields, names = append(p.fields, f), append(names, f.DBName)
		p.columns = append(p.columns, column{f.DBName, kindOf(f)})
	}
	list := strings.Join(names, ", ")
	p.sql = "INSERT INTO " + table.Table + " (" + list + ") SELECT " + list + " FROM {rows} AS r"
	insertPlans.Store(key{table.ModelType, generated}, p)
	return p
}

// kindOf returns the type of a field's column for NewRows.
func kindOf(f *schema.Field) string {
	switch f.DataType {
	case schema.Bool:
		return "boolean"
	case schema.String:
		return "text"
	case schema.Bytes:
		return "bytes"
	default:
		return "bigint"
	}
}
