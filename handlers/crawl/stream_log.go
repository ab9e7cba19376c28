package crawl

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/crawl"
)

const (
	logPollInterval = 500 * time.Millisecond
	logBatch        = 1000 // lines sent at once
)

type logEvent struct {
	JobID       string    `json:"job_id"`
	ExecutionID string    `json:"execution_id"`
	Line        int       `json:"line"`
	Level       string    `json:"level"`
	Message     string    `json:"message"`
	At          time.Time `json:"at"`
	Timestamp   time.Time `json:"timestamp"` // deprecated: at
}

// StreamLog streams the log of a job's newest execution, or of the one in the query, as
// server-sent events. It starts after Last-Event-ID, or at the first line, and ends when the
// execution ends. Event ids consist of the number of the execution and of the line.
func (d *Deps) StreamLog(c *gin.Context) {
	jobID, executionID := c.Param("id"), c.Query("execution_id")
	d.Streams.Serve(c, logPollInterval, func(ctx context.Context, after string) (events []middleware.StreamEvent, end bool, err error) {
		e, ok, err := d.executionOf(ctx, jobID, executionID)
		if err != nil || !ok { // without an execution, wait for the first one
			return nil, false, err
		}
		lines, err := d.Crawl.Log(ctx, e, lineAfter(e, after), logBatch)
		for _, l := range lines {
			events = append(events, middleware.StreamEvent{
				ID: strconv.Itoa(e.ExecutionNumber) + "-" + strconv.Itoa(l.Number), Name: "log:line",
				Data: logEvent{jobID, e.ID, l.Number, l.Level, l.Message, l.At, l.At},
			})
		}
		return events, e.Status != crawl.ExecutionRunning && len(lines) < logBatch, err
	})
}

// lineAfter returns the number of the last line of an execution that a client has received.
func lineAfter(e crawl.Execution, eventID string) int {
	number, line, ok := strings.Cut(eventID, "-")
	n, err := strconv.Atoi(line)
	if !ok || err != nil || number != strconv.Itoa(e.ExecutionNumber) {
		return 0 // the id is of another execution
	}
	return n
}

// DownloadLog returns the log of an execution as a text file.
func (d *Deps) DownloadLog(c *gin.Context) {
	ctx := c.Request.Context()
	e, ok, err := d.executionOf(ctx, c.Param("id"), c.Query("execution_id"))
	if err == nil && !ok {
		err = models.NotFound("execution")
	}
	if err != nil {
		d.Errors.Write(c, err)
		return
	}
	c.Header("Content-Type", "text/plain; charset=utf-8")
	c.Header("Content-Disposition", `attachment; filename="`+e.JobID+"-"+strconv.Itoa(e.ExecutionNumber)+`.log"`)
	c.Header("Cache-Control", "no-store")
	c.Status(http.StatusOK)
	err = d.Crawl.LogText(ctx, e, func(text string) error {
		_, err := c.Writer.WriteString(text)
		return err
	})
	if err != nil { // the status is sent already: abort the response
		panic(http.ErrAbortHandler)
	}
}
