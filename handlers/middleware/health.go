package middleware

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
)

// databaseTimeout is how long the health routes wait for the database.
const databaseTimeout = 2 * time.Second

// Health serves /healthz, /readyz and /health.
type Health struct {
	errors   *Errors
	db       *models.DB
	checks   []HealthCheck
	version  string
	started  time.Time
	stopping chan struct{}
	stop     sync.Once
}

// HealthCheck reports the state of an optional dependency.
type HealthCheck struct {
	Name string // member of the report of /health: "redis"
	Doc  string // describes the member in the OpenAPI document
	// State returns the member of the report: a struct with JSON members, always of the same
	// type. If ok is false, the dependency is unavailable and the status is degraded.
	State func() (state any, ok bool)
}

// NewHealth returns the Health of a program that has just started.
func NewHealth(e *Errors, db *models.DB, version string) *Health {
	return &Health{errors: e, db: db, version: version, started: time.Now(), stopping: make(chan struct{})}
}

// Add adds checks to the report, before the server starts.
func (h *Health) Add(checks ...HealthCheck) { h.checks = append(h.checks, checks...) }

// Stopping makes /readyz answer 503, so that load balancers stop sending requests before the
// listener closes.
func (h *Health) Stopping() { h.stop.Do(func() { close(h.stopping) }) }

// WhenStopping returns a channel that Stopping closes, for long-lived requests.
func (h *Health) WhenStopping() <-chan struct{} { return h.stopping }

func (h *Health) isStopping() bool {
	select {
	case <-h.stopping:
		return true
	default:
		return false
	}
}

// GroupHealth is the OpenAPI tag of the health and metrics operations.
const GroupHealth = "Health"

// Operations describes the health and metrics routes.
func (h *Health) Operations() []Operation {
	return []Operation{
		{
			Methods: []string{http.MethodGet}, Path: "/healthz", ID: "check-liveness", Tag: GroupHealth, Public: true,
			Summary: "Check liveness", Description: "Returns 200 as long as the process serves requests.",
			Responses: []Response{{Status: http.StatusOK, Description: "The server runs", Content: map[string]any{jsonMedia: Status{}}}},
		},
		{
			Methods: []string{http.MethodGet}, Path: "/readyz", ID: "check-readiness", Tag: GroupHealth, Public: true,
			Summary: "Check readiness",
			Description: "The server is ready if the database is available and writable, all migrations have run, " +
				"and the server is not stopping.",
			Responses: []Response{{Status: http.StatusOK, Description: "The server is ready", Content: map[string]any{jsonMedia: Status{}}}},
			Problems:  []models.Code{models.CodeUnavailable},
		},
		{
			Methods: []string{http.MethodGet}, Path: "/health", ID: "get-health", Tag: GroupHealth,
			Summary: "Get health", Description: "Returns the state of the server and its dependencies. Optional dependencies such as Redis do not cause a 503.",
			Responses: []Response{
				{Status: http.StatusOK, Description: "The server is available, possibly degraded", Content: map[string]any{jsonMedia: h.report()}},
				{Status: http.StatusServiceUnavailable, Description: "The database is unavailable or the server is stopping", Content: map[string]any{jsonMedia: h.report()}},
			},
		},
		{
			Methods: []string{http.MethodGet}, Path: "/metrics", ID: "get-metrics", Tag: GroupHealth,
			Summary: "Get metrics for Prometheus", Description: "Counters, gauges and histograms in the text format of Prometheus.",
			Responses: []Response{{Status: http.StatusOK, Description: "Metrics", Content: map[string]any{"text/plain": nil}}},
		},
	}
}

const jsonMedia = "application/json"

// Status is the response of /healthz and /readyz.
type Status struct {
	Status string `json:"status" enum:"ok" doc:"Always ok"`
}

// Report is the response of /health.
type Report struct {
	Status   string         `json:"status" enum:"ok,degraded,stopping" doc:"degraded if a dependency is unavailable, stopping during shutdown"`
	Version  string         `json:"version" example:"1.4.0" doc:"Version of the program"`
	Uptime   string         `json:"uptime" example:"3h12m5s" doc:"Time since the program started, as a Go duration"`
	Database DatabaseHealth `json:"database" doc:"Health of the database"`

	checks []checked
}

type checked struct {
	HealthCheck
	state any
}

// MarshalJSON adds a member for each check.
func (r Report) MarshalJSON() ([]byte, error) {
	type members Report
	b, err := json.Marshal(members(r))
	for _, c := range r.checks {
		var state []byte
		if err == nil {
			state, err = json.Marshal(c.state)
		}
		b = fmt.Appendf(bytes.TrimSuffix(b, []byte("}")), ",%q:%s}", c.Name, state)
	}
	return b, err
}

// Members returns the members of the checks, for the OpenAPI document.
func (r Report) Members() []Member {
	all := make([]Member, len(r.checks))
	for i, c := range r.checks {
		all[i] = Member{c.Name, c.Doc, c.state}
	}
	return all
}

// DatabaseHealth is the state of the database.
type DatabaseHealth struct {
	Engine string  `json:"engine" enum:"sqlite,postgres" doc:"Database engine"`
	Status string  `json:"status" enum:"ok,unavailable" doc:"Whether the database is available"`
	Detail *string `json:"detail" example:"The database is unavailable or its schema is out of date." doc:"Why the database is unavailable. null if it is available"`
}

// Alive answers GET /healthz with 200.
func (h *Health) Alive(c *gin.Context) { c.JSON(http.StatusOK, Status{"ok"}) }

// Ready answers GET /readyz. It is 200 if the database is available and writable, the schema is
// up to date and the program is not stopping. Otherwise it is a 503 problem with the reason.
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

// Report answers GET /health. It is 503 if the program is stopping or the database is
// unavailable. A failed HealthCheck makes it degraded, with status 200.
func (h *Health) Report(c *gin.Context) {
	code, report := http.StatusOK, h.report()
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

// report returns the report without the state of the database.
func (h *Health) report() Report {
	r := Report{Status: "ok", Version: h.version, Uptime: time.Since(h.started).Truncate(time.Second).String()}
	r.Database.Status = "ok"
	if h.db != nil { // nil if only the API is described
		r.Database.Engine = h.db.Engine
	}
	for _, c := range h.checks {
		state, ok := c.State()
		if !ok {
			r.Status = "degraded"
		}
		r.checks = append(r.checks, checked{c, state})
	}
	return r
}

// databaseDetail returns the public text of a database error.
func databaseDetail(err error) string {
	if e, ok := errors.AsType[*models.Error](err); ok {
		return e.Detail
	}
	return "The database is unavailable or its schema is out of date."
}

func (h *Health) database(c *gin.Context) error {
	ctx, cancel := context.WithTimeout(c.Request.Context(), databaseTimeout)
	defer cancel()
	err := h.db.Ready(ctx)
	if err != nil {
		h.errors.Log.WarnContext(ctx, "database not ready", "request_id", RequestID(ctx), "error", err)
	}
	return err
}
