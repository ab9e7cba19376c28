package pages

import (
	"encoding/csv"
	"iter"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// CSV answers with a file of rows, the first of which has the names of the columns. A
// cell that a spreadsheet would take for a formula begins with an apostrophe.
func CSV(c *gin.Context, file string, rows [][]string) {
	CSVBatches(c, file, func(yield func([][]string, error) bool) { yield(rows, nil) })
}

// CSVBatches is CSV for rows that come in batches, each of which is sent before the next
// one is asked for. An error ends the connection, so that the client does not take a part
// of the file for the whole.
func CSVBatches(c *gin.Context, file string, batches iter.Seq2[[][]string, error]) {
	c.Header("Content-Type", "text/csv; charset=utf-8")
	c.Header("Content-Disposition", `attachment; filename="`+file+`"`)
	c.Header("Cache-Control", "no-store")
	c.Status(http.StatusOK)
	w := csv.NewWriter(c.Writer)
	for rows, err := range batches {
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		for _, row := range rows {
			for i, cell := range row {
				if strings.HasPrefix(cell, "=") || strings.HasPrefix(cell, "+") || strings.HasPrefix(cell, "-") || strings.HasPrefix(cell, "@") {
					row[i] = "'" + cell
				}
			}
			_ = w.Write(row) // the reader may be gone
		}
		w.Flush()
	}
}
