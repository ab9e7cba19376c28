package pages

import (
	"encoding/csv"
	"iter"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// CSV sends rows as a CSV file. The first row has the column names. Cells that a spreadsheet
// would evaluate as a formula are prefixed with an apostrophe.
func CSV(c *gin.Context, file string, rows [][]string) {
	CSVBatches(c, file, func(yield func([][]string, error) bool) { yield(rows, nil) })
}

// CSVBatches is CSV for rows in batches. It sends each batch before it reads the next. An error
// aborts the connection, so that the client notices that the file is incomplete.
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
			_ = w.Write(row) // fails only if the client is gone
		}
		w.Flush()
	}
}
