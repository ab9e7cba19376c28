// Package middleware is what every request passes on its way to a handler, whichever
// face it is for: request id, log, metrics, guards, limits, and the one place
// where an error becomes a response.
package middleware

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
)

// Codes of errors that only HTTP knows; the others are in models.
const (
	CodeUnauthorized     models.Code = "unauthorized"
	CodeMethodNotAllowed models.Code = "method-not-allowed"
	CodeRequestTimeout   models.Code = "request-timeout" // the body came too slowly
	CodeTooLarge         models.Code = "too-large"
	CodeUnsupportedMedia models.Code = "unsupported-media-type"
	CodeRateLimited      models.Code = "rate-limited"
	CodeInternal         models.Code = "internal"
)

// StatusClientGone is the status that logs and metrics show for a request whose
// client did not wait for the answer (nginx's 499).
const StatusClientGone = 499

// kinds is what each code is on the wire. Each has an entry in explanations.
var kinds = map[models.Code]struct {
	status int
	title  string
}{
	models.CodeInvalid:      {http.StatusBadRequest, "Invalid request"},
	models.CodeTooManyTags:  {http.StatusBadRequest, "Too many tags"},
	CodeUnauthorized:        {http.StatusUnauthorized, "Login needed"},
	models.CodeForbidden:    {http.StatusForbidden, "Not allowed"},
	models.CodeNotFound:     {http.StatusNotFound, "Not found"},
	CodeMethodNotAllowed:    {http.StatusMethodNotAllowed, "Method not allowed"},
	CodeRequestTimeout:      {http.StatusRequestTimeout, "Request took too long"},
	models.CodeConflict:     {http.StatusConflict, "Conflict"},
	models.CodeGone:         {http.StatusGone, "Gone"},
	CodeRateLimited:         {http.StatusTooManyRequests, "Too many requests"},
	CodeTooLarge:            {http.StatusRequestEntityTooLarge, "Too large"},
	CodeUnsupportedMedia:    {http.StatusUnsupportedMediaType, "Not JSON"},
	models.CodeUnresolvable: {http.StatusUnprocessableEntity, "The link does not resolve"},
	models.CodeBlocked:      {http.StatusUnprocessableEntity, "Address not allowed"},
	models.CodeUndelivered:  {http.StatusUnprocessableEntity, "Message not delivered"},
	CodeInternal:            {http.StatusInternalServerError, "Internal error"},
	models.CodeUnavailable:  {http.StatusServiceUnavailable, "Not available"},
}

// Problem is an error as RFC 9457 writes it. It is also an error that huma
// sends as it is.
type Problem struct {
	Type   string       `json:"type" format:"uri-reference" example:"/probs/not-found" doc:"Type of the problem: the path of a page that explains it"`
	Title  string       `json:"title" example:"Not found" doc:"Type of the problem in words"`
	Status int          `json:"status" example:"404" doc:"HTTP status of the response"`
	Detail string       `json:"detail" example:"There is no such link." doc:"What happened and what to do"`
	Errors []FieldError `json:"errors,omitempty" nullable:"false" doc:"Which parts of the request are invalid. Only for invalid requests"`

	retryAfter time.Duration
}

// FieldError is one invalid part of the input.
type FieldError struct {
	Location string `json:"location" example:"url" doc:"Place in the request: a member of the body, body for the whole body, or query, path or header with the name of the parameter"`
	Message  string `json:"message" example:"must start with http:// or https://" doc:"What is wrong with it"`
}

// Error is the detail.
func (p *Problem) Error() string { return p.Detail }

// GetStatus is the HTTP status, for huma.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is the problem's own media type in place of plain JSON, for huma.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// GetHeaders is Retry-After (whole seconds, rounded up) where the time is known, for huma.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(p.retryAfter.Seconds()))))
	}
	return h
}

// NewProblem is a problem of a code with a detail of its own. A code that is
// not in the table is internal.
func NewProblem(code models.Code, detail string, fields ...FieldError) *Problem {
	k, ok := kinds[code]
	if !ok {
		code, k = CodeInternal, kinds[CodeInternal]
	}
	return &Problem{Type: typePrefix + string(code), Title: k.title, Status: k.status, Detail: detail, Errors: fields}
}

// Errors turns errors into responses.
type Errors struct {
	Log *slog.Logger
	// Page shows a problem to a person. It is asked for requests of browsers
	// outside of the API; nil sends problem+json to them too.
	Page func(c *gin.Context, p *Problem)
}

// Problem is what the outside sees of err. An error that was not made for the
// caller is logged, and shown as internal with the request's id and nothing of its text.
func (e *Errors) Problem(ctx context.Context, err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if m, ok := errors.AsType[*models.Error](err); ok {
		p := NewProblem(m.Code, m.Detail)
		p.retryAfter = m.RetryAfter
		for _, f := range m.Fields {
			p.Errors = append(p.Errors, FieldError(f))
		}
		return p
	}
	switch {
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		p := NewProblem(models.CodeUnavailable, "The request was given up.")
		p.Status = StatusClientGone
		return p
	case errors.Is(err, context.DeadlineExceeded):
		e.Log.WarnContext(ctx, "request timed out", "request_id", RequestID(ctx), "error", err)
		return NewProblem(models.CodeUnavailable, "This took too long. Try again later.")
	case models.FaultOf(err) != nil: // logged as an error when it began
		e.Log.WarnContext(ctx, "request failed", "request_id", RequestID(ctx), "error", err)
		return NewProblem(models.CodeUnavailable, models.FaultOf(err).Detail)
	case models.DatabaseDown(err):
		e.Log.ErrorContext(ctx, "database does not answer", "request_id", RequestID(ctx), "error", err)
		return NewProblem(models.CodeUnavailable, "The database does not answer. Try again later.")
	}
	e.Log.ErrorContext(ctx, "request failed", "request_id", RequestID(ctx), "error", err)
	return Internal(ctx)
}

// Internal is the problem of an error that is nobody's business but ours.
func Internal(ctx context.Context) *Problem {
	return NewProblem(CodeInternal, fmt.Sprintf("Something went wrong here. The log has more under request id %s.", RequestID(ctx)))
}

// Write answers the request with err and ends its chain of handlers. Nothing
// is written if the answer has begun.
func (e *Errors) Write(c *gin.Context, err error) {
	p := e.Problem(c.Request.Context(), err)
	again := c.IsAborted() // the page of a problem has a problem itself
	c.Abort()
	if c.Writer.Written() {
		return
	}
	for name, values := range p.GetHeaders() {
		c.Writer.Header()[name] = values
	}
	if e.Page != nil && !again && WantsPage(c.Request) {
		e.Page(c, p)
		return
	}
	body, err := json.Marshal(p)
	if err != nil { // a Problem is strings and numbers
		panic(err)
	}
	c.Data(p.Status, p.ContentType(""), append(body, '\n'))
}

// WantsPage says whether a person is looking: a browser outside of the API.
func WantsPage(r *http.Request) bool {
	return !isCall(r.URL.Path) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// IsAPI says whether a path belongs to the JSON API.
func IsAPI(path string) bool { return path == "/v1" || strings.HasPrefix(path, "/v1/") }

// isCall says whether programs call a path: the JSON API, and the event streams beside it.
func isCall(path string) bool { return IsAPI(path) || strings.HasPrefix(path, "/sse/") }
