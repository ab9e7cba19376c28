package pages

import (
	"iter"
	"net/http"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
)

// CSV sends rows as a CSV file (middleware.CSVWriter). The first row has the column names.
func CSV(c *gin.Context, file string, rows [][]string) {
	CSVBatches(c, file, func(yield func([][]string, error) bool) { yield(rows, nil) })
}

// CSVBatches is CSV for rows in batches. It sends each batch before it reads the next. An error
// aborts the connection, so that the client notices that the file is incomplete.
func CSVBatches(c *gin.Context, file string, batches iter.Seq2[[][]string, error]) {
	c.Header("Content-Type", middleware.CSVMedia)
	c.Header("Content-Disposition", `attachment; filename="`+file+`"`)
	c.Header("Cache-Control", middleware.NoStore)
	c.Status(http.StatusOK)
	w := middleware.NewCSVWriter(c.Writer)
	for rows, err := range batches {
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		for _, row := range rows {
			_ = w.Write(row) // fails only if the client is gone
		}
		_ = w.Flush()
	}
}
