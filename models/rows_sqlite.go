package models

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// rowsFunction is a table function of SQLite that returns the rows of its argument, a pointer to Rows, as columns c0,
// c1 and so on, so that SQLite need not parse JSON.
const rowsFunction = "batch_rows"

// maxColumns is the largest number of columns of Rows on SQLite.
const maxColumns = 64

// registerRows adds rowsFunction to a connection.
func registerRows(conn *sqlite3.Conn) error {
	var schema strings.Builder
	for i := range maxColumns {
		schema.WriteString("c" + strconv.Itoa(i) + ", ")
	}
	return sqlite3.CreateModule(conn, rowsFunction, nil, //nolint:staticcheck // its replacement needs Go 1.27
		func(conn *sqlite3.Conn, _, _, _ string, _ ...string) (rowsTable, error) {
			return rowsTable{}, conn.DeclareVTab("CREATE TABLE rows(" + schema.String() + "argument HIDDEN)")
		})
}

// rowsTable implements sqlite3.VTab.
type rowsTable struct{}

// BestIndex tells SQLite that the argument is required, and the same costs as those of json_each.
func (rowsTable) BestIndex(index *sqlite3.IndexInfo) error {
	for i, c := range index.Constraint {
		if c.Column == maxColumns && c.Op == sqlite3.INDEX_CONSTRAINT_EQ && c.Usable {
			index.ConstraintUsage[i] = sqlite3.IndexConstraintUsage{ArgvIndex: 1, Omit: true}
			index.EstimatedCost, index.EstimatedRows = 1, 25
			return nil
		}
	}
	return sqlite3.CONSTRAINT
}

// Open implements sqlite3.VTab.
func (rowsTable) Open() (sqlite3.VTabCursor, error) { return &rowsCursor{}, nil }

// rowsCursor implements sqlite3.VTabCursor.
type rowsCursor struct {
	width  int
	values []any // of the current row and those after it
	row    int64
}

// Filter implements sqlite3.VTabCursor.
func (c *rowsCursor) Filter(_ int, _ string, args ...sqlite3.Value) error {
	rows, ok := args[0].Pointer().(*Rows)
	if !ok {
		return fmt.Errorf("models: %s needs rows", rowsFunction)
	}
	*c = rowsCursor{width: len(rows.columns), values: rows.values}
	return nil
}

// Next implements sqlite3.VTabCursor.
func (c *rowsCursor) Next() error {
	c.values = c.values[c.width:]
	c.row++
	return nil
}

// EOF implements sqlite3.VTabCursor.
func (c *rowsCursor) EOF() bool { return len(c.values) == 0 }

// RowID implements sqlite3.VTabCursor.
func (c *rowsCursor) RowID() (int64, error) { return c.row, nil }

// Column implements sqlite3.VTabCursor.
func (c *rowsCursor) Column(ctx sqlite3.Context, n int) error {
	if n >= c.width {
		return nil
	}
	switch v := c.values[n].(type) {
	case int64:
		ctx.ResultInt64(v)
	case string:
		ctx.ResultText(v)
	case []byte:
		ctx.ResultBlob(v)
	case bool:
		ctx.ResultBool(v)
	}
	return nil
}
