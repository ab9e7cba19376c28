package pages

import (
	"encoding/csv"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// CSV answers with a file of rows, the first of which has the names of the columns. A
// cell that a spreadsheet would take for a formula begins with an apostrophe.
func CSV(c *gin.Context, file string, rows [][]string) {
	c.Header("Content-Type", "text/csv; charset=utf-8")
	c.Header("Content-Disposition", `attachment; filename="`+file+`"`)
	c.Header("Cache-Control", "no-store")
	c.Status(http.StatusOK)
	w := csv.NewWriter(c.Writer)
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
