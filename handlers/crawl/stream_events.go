package crawl

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/crawl"
)

const (
	changesInterval = time.Second
	metricsInterval = 10 * time.Second
)

type statusEvent struct {
	JobID     string        `json:"job_id"`
	Status    string        `json:"status"`
	At        time.Time     `json:"at"`
	Timestamp time.Time     `json:"timestamp"` // deprecated: at
	Details   statusDetails `json:"details"`
}

type statusDetails struct {
	LastError    *string    `json:"last_error"`
	ErrorMessage *string    `json:"error_message"` // deprecated: last_error
	NextRunAt    *time.Time `json:"next_run_at"`
}

type progressEvent struct {
	JobID        string    `json:"job_id"`
	ExecutionID  string    `json:"execution_id"`
	ItemsCrawled int       `json:"items_crawled"`
	ItemsFound   int       `json:"items_found"` // deprecated: items_crawled
	ItemsIndexed int       `json:"items_indexed"`
	Queued       int       `json:"queued"`
	Failed       int       `json:"failed"`
	At           time.Time `json:"at"`
	Timestamp    time.Time `json:"timestamp"` // deprecated: at
}

type completedEvent struct {
	JobID        string    `json:"job_id"`
	ExecutionID  string    `json:"execution_id"`
	Status       string    `json:"status"`
	DurationMS   int64     `json:"duration_ms"`
	ItemsCrawled int       `json:"items_crawled"`
	ItemsIndexed int       `json:"items_indexed"`
	ErrorMessage *string   `json:"error_message"`
	At           time.Time `json:"at"`
	Timestamp    time.Time `json:"timestamp"` // deprecated: at
}

// CrawlerEvents streams new events of jobs: job:status, job:progress and job:completed.
func (d *Deps) CrawlerEvents(c *gin.Context) {
	changes := d.Crawl.NewJobWatcher()
	d.Streams.Serve(c, changesInterval, func(ctx context.Context, _ string) (events []middleware.StreamEvent, end bool, err error) {
		jobs, executions, err := changes.Next(ctx)
		for _, j := range jobs {
			events = append(events, middleware.StreamEvent{Name: "job:status", Data: statusEvent{
				j.ID, string(j.Status), j.UpdatedAt.Time, j.UpdatedAt.Time, statusDetails{api.OrNull(j.LastError), api.OrNull(j.LastError), api.Time(j.NextRun())},
			}})
		}
		for _, e := range executions {
			events = append(events, executionEvent(e))
		}
		return events, false, err
	})
}

func executionEvent(e crawl.Execution) middleware.StreamEvent {
	if e.Status == crawl.ExecutionRunning {
		return middleware.StreamEvent{Name: "job:progress", Data: progressEvent{
			e.JobID, e.ID, e.ItemsCrawled, e.ItemsCrawled, e.ItemsIndexed, max(0, e.Queued), e.Failed, e.ProgressAt.Time, e.ProgressAt.Time,
		}}
	}
	return middleware.StreamEvent{Name: "job:completed", Data: completedEvent{
		e.JobID, e.ID, string(e.Status), e.Duration(e.CompletedAt).Milliseconds(), e.ItemsCrawled, e.ItemsIndexed, api.OrNull(e.ErrorMessage),
		e.CompletedAt.Time, e.CompletedAt.Time,
	}}
}

type healthEvent struct {
	Service   string    `json:"service"`
	Status    string    `json:"status"`     // healthy or unhealthy
	LatencyMS int64     `json:"latency_ms"` // duration of the check
	Latency   int64     `json:"latency"`    // deprecated: latency_ms
	Details   *string   `json:"details"`
	At        time.Time `json:"at"`
	Timestamp time.Time `json:"timestamp"` // deprecated: at
}

// HealthEvents streams the health of the program every 10 s.
func (d *Deps) HealthEvents(c *gin.Context) {
	d.Streams.Serve(c, metricsInterval, func(ctx context.Context, _ string) ([]middleware.StreamEvent, bool, error) {
		started := time.Now()
		now := d.Clock.Now().Time
		e := healthEvent{Service: "linkwatch", Status: "healthy", At: now, Timestamp: now}
		if err := d.Ready(ctx); err != nil {
			detail := "The database is unavailable."
			e.Status, e.Details = "unhealthy", &detail
		}
		e.LatencyMS = time.Since(started).Milliseconds()
		e.Latency = e.LatencyMS
		return []middleware.StreamEvent{{Name: "health:status", Data: e}}, false, nil
	})
}

type metricEvent struct {
	Metric    string    `json:"metric"`
	Value     float64   `json:"value"`
	At        time.Time `json:"at"`
	Timestamp time.Time `json:"timestamp"` // deprecated: at
}

// MetricsEvents streams the scheduler metrics every 10 s.
func (d *Deps) MetricsEvents(c *gin.Context) {
	d.Streams.Serve(c, metricsInterval, func(ctx context.Context, _ string) (events []middleware.StreamEvent, end bool, err error) {
		m, err := d.metrics(ctx)
		add := func(name string, value float64) {
			events = append(events, middleware.StreamEvent{Name: "metrics:update", Data: metricEvent{name, value, m.At.Time, m.At.Time}})
		}
		for _, status := range crawl.Statuses {
			add("jobs."+string(status), float64(m.Jobs[status]))
		}
		add("executions.total", float64(m.Executions.Total))
		if rate, ok := m.Executions.SuccessRate(); ok {
			add("executions.success_rate", rate)
		}
		add("executions.average_duration_ms", float64(m.Executions.AverageDuration.Milliseconds()))
		add("stale_locks_cleared", float64(m.StaleLocksCleared))
		add("distribution_score", m.Score)
		return events, false, err
	})
}

// streams returns the routes of the event streams and the log download, which huma does not serve.
func (d *Deps) streams() []middleware.Route {
	const viewer = middleware.Viewer
	return []middleware.Route{
		{Method: "GET", Path: "/v1/jobs/:id/logs/stream/v2", Needs: viewer, Handler: d.StreamLog, Stream: true},
		{Method: "GET", Path: "/v1/jobs/:id/logs/download", Needs: viewer, Handler: d.DownloadLog},
		{Method: "GET", Path: "/sse/crawler/events", Needs: viewer, Handler: d.CrawlerEvents, Stream: true},
		{Method: "GET", Path: "/sse/health/events", Needs: viewer, Handler: d.HealthEvents, Stream: true},
		{Method: "GET", Path: "/sse/metrics/events", Needs: viewer, Handler: d.MetricsEvents, Stream: true},
	}
}

// Described returns the OpenAPI descriptions of the routes that huma does not serve.
func Described() []middleware.Operation {
	job := middleware.Param{Name: "id", In: "path", Example: "j_01HZ8QK3V5W7X9YABCDEFG", Description: "Id of the job"}
	execution := middleware.Param{Name: "execution_id", In: "query", Description: "Id of an execution of the job. Default: the newest"}
	last := middleware.Param{Name: "last_event_id", In: "query", Description: "Id of the last received event, for clients that cannot send Last-Event-ID"}
	stream := func(path, id, tag, summary, description string, params ...middleware.Param) middleware.Operation {
		return middleware.Operation{
			Methods: []string{http.MethodGet}, Path: path, ID: id, Tag: tag, Summary: summary, Description: description, Params: append(params, last),
			Responses: []middleware.Response{{Status: http.StatusOK, Description: "Server-sent events, with a heartbeat every 15 seconds", Content: map[string]any{"text/event-stream": nil}}},
			Problems:  []models.Code{models.CodeInvalid, models.CodeNotFound, middleware.CodeRateLimited, models.CodeUnavailable},
		}
	}
	return []middleware.Operation{
		stream("/v1/jobs/:id/logs/stream/v2", "stream-log", groupJobs, "Stream the log of an execution",
			"Sends log:line events. Last-Event-ID resumes the stream. It ends with an end event when the execution ends. The member timestamp is deprecated: use at.", job, execution),
		{
			Methods: []string{http.MethodGet}, Path: "/v1/jobs/:id/logs/download", ID: "download-log", Tag: groupJobs, Summary: "Download the log of an execution",
			Description: "Returns one line per entry: time, level, message.", Params: []middleware.Param{job, execution},
			Responses: []middleware.Response{{Status: http.StatusOK, Description: "Log", Content: map[string]any{"text/plain": nil}}},
			Problems:  []models.Code{models.CodeInvalid, models.CodeNotFound, models.CodeUnavailable},
		},
		stream("/sse/crawler/events", "stream-crawler-events", groupJobs, "Stream job events", "Sends job:status, job:progress and job:completed events. Past events are not sent. "+
			"Deprecated members: timestamp (use at), items_found (use items_crawled), and details.error_message of job:status (use last_error)."),
		stream("/sse/health/events", "stream-health-events", middleware.GroupHealth, "Stream the health of the server", "Sends a health:status event every 10 seconds. Deprecated members: timestamp (use at) and latency (use latency_ms)."),
		stream("/sse/metrics/events", "stream-metrics-events", groupScheduler, "Stream scheduler metrics", "Sends a metrics:update event for each metric every 10 seconds. The member timestamp is deprecated: use at."),
	}
}
