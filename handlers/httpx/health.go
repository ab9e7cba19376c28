package httpx

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/linkwatch/linkwatch/models"
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

// Alive answers GET /healthz: 200 as long as anything answers at all.
func (h *Health) Alive(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"status": "ok"}) }

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
	c.JSON(http.StatusOK, gin.H{"status": "ok"})
}

// Report answers GET /health: status is ok, stopping or degraded, uptime is a
// Go duration, database.detail says why the database is unavailable (null: it is
// not). It is 503 if the program is stopping or the database is unavailable.
// Without Redis it is degraded, but all is served, so that is 200.
func (h *Health) Report(c *gin.Context) {
	status, code := "ok", http.StatusOK
	report := gin.H{"version": h.version, "uptime": time.Since(h.started).Truncate(time.Second).String()}
	if h.redis != nil {
		redis := "ok"
		if !h.redis() {
			status, redis = "degraded", "unavailable"
		}
		report["redis"] = gin.H{"status": redis}
	}
	if h.isStopping() {
		status, code = "stopping", http.StatusServiceUnavailable
	}
	database := gin.H{"engine": h.db.Engine, "status": "ok", "detail": nil}
	if err := h.database(c); err != nil {
		status, code = "degraded", http.StatusServiceUnavailable
		database["status"], database["detail"] = "unavailable", databaseDetail(err)
	}
	report["status"], report["database"] = status, database
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
