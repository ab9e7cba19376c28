package middleware

import (
	"bufio"
	"io"
	"regexp"
	"strings"
)

// CSVWriter writes rows as CSV (RFC 4180). All cells are quoted. A cell that a spreadsheet would
// evaluate as a formula gets an apostrophe, see csvText.
type CSVWriter struct{ w *bufio.Writer }

// CSVMedia is the media type of a CSV file.
const CSVMedia = "text/csv; charset=utf-8"

// NewCSVWriter returns a writer. Call Flush after the last row.
func NewCSVWriter(w io.Writer) *CSVWriter { return &CSVWriter{bufio.NewWriter(w)} }

// Write buffers a row. The first row of a file has the names of the columns.
func (w *CSVWriter) Write(row []string) error {
	var line strings.Builder
	for i, cell := range row {
		if i > 0 {
			line.WriteByte(',')
		}
		line.WriteByte('"')
		line.WriteString(strings.ReplaceAll(csvText(cell), `"`, `""`))
		line.WriteByte('"')
	}
	line.WriteString("\r\n")
	_, err := w.w.WriteString(line.String())
	return err
}

// Flush writes the buffered rows.
func (w *CSVWriter) Flush() error { return w.w.Flush() }

var (
	// csvFormula matches the start of a cell that is a formula, also after spaces and quotes. Spreadsheets
	// read full-width signs like the others.
	csvFormula = regexp.MustCompile(`^[\pZ\pC"]*[=+\-@;\t\r\n＝＋－＠]`)
	// csvInner matches a place inside of a cell where another cell starts if the program takes ;, a tab or
	// a line break as a separator, and that would be a formula.
	csvInner = regexp.MustCompile(`([;\t\r\n][\pZ\pC;"]*)([=+\-@＝＋－＠])`)
)

// csvText returns a cell with an apostrophe before each formula. A spreadsheet shows the cell as text then. It
// also replaces invalid UTF-8.
func csvText(cell string) string {
	cell = strings.ToValidUTF8(cell, "\uFFFD")
	if strings.ContainsAny(cell, ";\t\r\n") { // for speed
		cell = csvInner.ReplaceAllString(cell, "$1'$2")
	}
	if csvFormula.MatchString(cell) {
		return "'" + cell
	}
	return cell
}
