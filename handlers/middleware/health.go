package middleware

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
)

// databasePatience is how long the health routes wait for the database.
const databasePatience = 2 * time.Second

// Health answers those who ask how the program is.
type Health struct {
	errors   *Errors
	db       *models.DB
	redis    func() bool
	version  string
	started  time.Time
	stopping chan struct{}
	stop     sync.Once
}

// NewHealth is a program of a version that has just started. redis says whether
// Redis is in use; it is nil where there is none.
func NewHealth(e *Errors, db *models.DB, redis func() bool, version string) *Health {
	return &Health{errors: e, db: db, redis: redis, version: version, started: time.Now(), stopping: make(chan struct{})}
}

// Stopping makes /readyz answer 503 from now on, so that whoever sends
// requests here turns elsewhere before the listener closes.
func (h *Health) Stopping() { h.stop.Do(func() { close(h.stopping) }) }

// WhenStopping is closed by Stopping: for requests that only wait.
func (h *Health) WhenStopping() <-chan struct{} { return h.stopping }

func (h *Health) isStopping() bool {
	select {
	case <-h.stopping:
		return true
	default:
		return false
	}
}

const tagHealth = "Health"

// HealthOperations describe the routes that answer how the program is.
var HealthOperations = []Operation{
	{
		Methods: []string{http.MethodGet}, Path: "/healthz", ID: "check-liveness", Tag: tagHealth, Public: true,
		Summary: "Check that the server runs", Description: "Answers as long as the process serves requests.",
		Responses: []Response{{Status: http.StatusOK, Description: "The server runs", Content: map[string]any{jsonMedia: Status{}}}},
	},
	{
		Methods: []string{http.MethodGet}, Path: "/readyz", ID: "check-readiness", Tag: tagHealth, Public: true,
		Summary: "Check that the server is ready",
		Description: "The server is ready while its database can be read and written, all migrations have run, " +
			"and the server is not stopping.",
		Responses: []Response{{Status: http.StatusOK, Description: "The server is ready", Content: map[string]any{jsonMedia: Status{}}}},
		Problems:  []models.Code{models.CodeUnavailable},
	},
	{
		Methods: []string{http.MethodGet}, Path: "/health", ID: "get-health", Tag: tagHealth,
		Summary: "Get the health of the server", Description: "The server works without Redis, so its failure is not a 503.",
		Responses: []Response{
			{Status: http.StatusOK, Description: "The server works", Content: map[string]any{jsonMedia: Report{}}},
			{Status: http.StatusServiceUnavailable, Description: "The database is unavailable, or the server is stopping", Content: map[string]any{jsonMedia: Report{}}},
		},
	},
	{
		Methods: []string{http.MethodGet}, Path: "/metrics", ID: "get-metrics", Tag: tagHealth,
		Summary: "Get metrics for Prometheus", Description: "Counters, gauges and histograms in the text format of Prometheus.",
		Responses: []Response{{Status: http.StatusOK, Description: "Metrics", Content: map[string]any{"text/plain": nil}}},
	},
}

const jsonMedia = "application/json"

// Status is the answer of /healthz and /readyz.
type Status struct {
	Status string `json:"status" enum:"ok" doc:"Always ok"`
}

// Report is the answer of /health.
type Report struct {
	Status   string         `json:"status" enum:"ok,degraded,stopping" doc:"degraded if the database or Redis is unavailable, stopping if the server is about to end"`
	Version  string         `json:"version" example:"1.4.0" doc:"Version of the program"`
	Uptime   string         `json:"uptime" example:"3h12m5s" doc:"Time since the program started, as a Go duration"`
	Database DatabaseHealth `json:"database" doc:"Health of the database"`
	Redis    RedisHealth    `json:"redis" doc:"Health of Redis"`
}

// DatabaseHealth is the state of the database.
type DatabaseHealth struct {
	Engine string  `json:"engine" enum:"sqlite,postgres" doc:"Database engine"`
	Status string  `json:"status" enum:"ok,unavailable" doc:"Whether the database can be used"`
	Detail *string `json:"detail" example:"The database does not answer, or its schema is not the newest." doc:"Why the database is unavailable. null if it is not"`
}

// RedisHealth is the state of Redis.
type RedisHealth struct {
	Status string `json:"status" enum:"ok,unavailable,off" doc:"Whether Redis can be used. off if REDIS_URL is not set"`
}

// Alive answers GET /healthz: 200 as long as anything answers at all.
func (h *Health) Alive(c *gin.Context) { c.JSON(http.StatusOK, Status{"ok"}) }

// Ready answers GET /readyz: 200 if the database answers and can be written, its
// schema is the newest, and the program is not about to stop; else a 503 problem
// that says which of these fails.
func (h *Health) Ready(c *gin.Context) {
	if h.isStopping() {
		h.errors.Write(c, NewProblem(models.CodeUnavailable, "The server is stopping."))
		return
	}
	if err := h.database(c); err != nil {
		h.errors.Write(c, NewProblem(models.CodeUnavailable, databaseDetail(err)))
		return
	}
	c.JSON(http.StatusOK, Status{"ok"})
}

// Report answers GET /health. It is 503 if the program is stopping or the
// database is unavailable. Without Redis it is degraded, but everything is
// served, so that is 200.
func (h *Health) Report(c *gin.Context) {
	code := http.StatusOK
	report := Report{
		Status: "ok", Version: h.version, Uptime: time.Since(h.started).Truncate(time.Second).String(),
		Database: DatabaseHealth{Engine: h.db.Engine, Status: "ok"}, Redis: RedisHealth{"off"},
	}
	if h.redis != nil {
		report.Redis.Status = "ok"
		if !h.redis() {
			report.Status, report.Redis.Status = "degraded", "unavailable"
		}
	}
	if h.isStopping() {
		report.Status, code = "stopping", http.StatusServiceUnavailable
	}
	if err := h.database(c); err != nil {
		detail := databaseDetail(err)
		report.Status, code = "degraded", http.StatusServiceUnavailable
		report.Database.Status, report.Database.Detail = "unavailable", &detail
	}
	c.JSON(code, report)
}

// databaseDetail is what the outside may know of an error of the database.
func databaseDetail(err error) string {
	if e, ok := errors.AsType[*models.Error](err); ok {
		return e.Detail
	}
	return "The database does not answer, or its schema is not the newest."
}

func (h *Health) database(c *gin.Context) error {
	ctx, cancel := context.WithTimeout(c.Request.Context(), databasePatience)
	defer cancel()
	err := h.db.Ready(ctx)
	if err != nil {
		h.errors.Log.WarnContext(ctx, "database not ready", "request_id", RequestID(ctx), "error", err)
	}
	return err
}
