// Package middleware contains what pages and the API share: request ID, log, metrics, access
// control, rate limits, event streams, health, and the conversion of errors to responses.
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

// Codes of errors of HTTP. The other codes are in package models.
const (
	CodeUnauthorized     models.Code = "unauthorized"
	CodeMethodNotAllowed models.Code = "method-not-allowed"
	CodeRequestTimeout   models.Code = "request-timeout" // the body arrived too slowly
	CodeTooLarge         models.Code = "too-large"
	CodeUnsupportedMedia models.Code = "unsupported-media-type"
	CodeRateLimited      models.Code = "rate-limited"
	CodeInternal         models.Code = "internal"
)

// StatusClientGone is the status in logs and metrics of a request whose client closed the
// connection (as in nginx).
const StatusClientGone = 499

// kinds are the status and title of each code. Each has an entry in explanations.
var kinds = map[models.Code]struct {
	status int
	title  string
}{
	models.CodeInvalid:      {http.StatusBadRequest, "Invalid request"},
	models.CodeTooManyTags:  {http.StatusBadRequest, "Too many tags"},
	CodeUnauthorized:        {http.StatusUnauthorized, "Login required"},
	models.CodeForbidden:    {http.StatusForbidden, "Not allowed"},
	models.CodeNotFound:     {http.StatusNotFound, "Not found"},
	CodeMethodNotAllowed:    {http.StatusMethodNotAllowed, "Method not allowed"},
	CodeRequestTimeout:      {http.StatusRequestTimeout, "Request timeout"},
	models.CodeConflict:     {http.StatusConflict, "Conflict"},
	models.CodePrecondition: {http.StatusPreconditionFailed, "Changed meanwhile"},
	models.CodeGone:         {http.StatusGone, "Gone"},
	CodeRateLimited:         {http.StatusTooManyRequests, "Too many requests"},
	CodeTooLarge:            {http.StatusRequestEntityTooLarge, "Request too large"},
	CodeUnsupportedMedia:    {http.StatusUnsupportedMediaType, "Unsupported media type"},
	models.CodeUnresolvable: {http.StatusUnprocessableEntity, "Link could not be fetched"},
	models.CodeBlocked:      {http.StatusUnprocessableEntity, "Address not allowed"},
	models.CodeUndelivered:  {http.StatusUnprocessableEntity, "Message not delivered"},
	CodeInternal:            {http.StatusInternalServerError, "Internal error"},
	models.CodeUnavailable:  {http.StatusServiceUnavailable, "Service unavailable"},
}

// Problem is an RFC 9457 problem. huma sends it unchanged.
type Problem struct {
	Type   string       `json:"type" format:"uri-reference" example:"/probs/not-found" doc:"Type of the problem: the path of a page that explains it"`
	Title  string       `json:"title" example:"Not found" doc:"Name of the type"`
	Status int          `json:"status" example:"404" doc:"HTTP status of the response"`
	Detail string       `json:"detail" example:"Link not found." doc:"What is wrong and what to do"`
	Errors []FieldError `json:"errors,omitempty" nullable:"false" doc:"Invalid parts of the request. Missing in other problems"`
	// Current is the item as its GET returns it, if the status is 412.
	Current any `json:"current,omitempty" doc:"The item as it is now, in a response with the status 412. Missing in other problems"`

	retryAfter time.Duration
}

// FieldError is one invalid part of the input.
type FieldError struct {
	Location string `json:"location" example:"url" doc:"Member of the body, body for the whole body, or query, path or header with the name of the parameter"`
	Message  string `json:"message" example:"must start with http:// or https://" doc:"What is wrong"`
}

// For returns the problem for the client of a request: if Subpath serves the request, the type has the path of
// PUBLIC_URL.
func (p *Problem) For(ctx context.Context) *Problem {
	path := subpath(ctx)
	if path == "" {
		return p
	}
	own := *p
	own.Type = path + p.Type
	return &own
}

// Error returns the detail.
func (p *Problem) Error() string { return p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// GetHeaders implements huma.HeadersError. It returns Retry-After in whole seconds, rounded up, if known.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(p.retryAfter.Seconds()))))
	}
	return h
}

// NewProblem returns a problem. An unknown code becomes CodeInternal.
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
	// Page writes a problem as HTML, for browsers outside of the API; nil = JSON for all.
	Page func(c *gin.Context, p *Problem)
}

// Problem converts err to a problem for the client. An error that is not meant for clients is
// logged, and the problem has only the request ID.
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
		p := NewProblem(models.CodeUnavailable, "The client closed the connection.")
		p.Status = StatusClientGone
		return p
	case errors.Is(err, context.DeadlineExceeded):
		e.Log.WarnContext(ctx, "request timed out", "request_id", RequestID(ctx), "error", err)
		return NewProblem(models.CodeUnavailable, "The request timed out. Try again later.")
	case models.FaultOf(err) != nil: // logged as an error when it started
		e.Log.WarnContext(ctx, "request failed", "request_id", RequestID(ctx), "error", err)
		return NewProblem(models.CodeUnavailable, models.FaultOf(err).Detail)
	case models.DatabaseDown(err):
		e.Log.ErrorContext(ctx, "database unavailable", "request_id", RequestID(ctx), "error", err)
		return NewProblem(models.CodeUnavailable, "The database is unavailable. Try again later.")
	}
	e.Log.ErrorContext(ctx, "request failed", "request_id", RequestID(ctx), "error", err)
	return Internal(ctx)
}

// Internal returns a 500 problem with the request ID only.
func Internal(ctx context.Context) *Problem {
	return NewProblem(CodeInternal, fmt.Sprintf("Something went wrong on this server. The server log has details under request ID %s.", RequestID(ctx)))
}

// Write answers the request with err and aborts its handlers. It writes nothing if the response
// has started.
func (e *Errors) Write(c *gin.Context, err error) {
	identifyContext(c)
	p := e.Problem(c.Request.Context(), err)
	nested := c.IsAborted() // the error page itself failed
	c.Abort()
	if c.Writer.Written() {
		return
	}
	for name, values := range p.GetHeaders() {
		c.Writer.Header()[name] = values
	}
	if e.Page != nil && !nested && WantsPage(c.Request) {
		e.Page(c, p)
		return
	}
	body, err := json.Marshal(p.For(c.Request.Context()))
	if err != nil { // cannot happen: strings and numbers only
		panic(err)
	}
	c.Data(p.Status, p.ContentType(""), append(body, '\n'))
}

// WantsPage reports whether a request is from a browser and outside of the API.
func WantsPage(r *http.Request) bool {
	return !isCall(r.URL.Path) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// IsAPI reports whether a path belongs to the JSON API.
func IsAPI(path string) bool { return path == "/v1" || strings.HasPrefix(path, "/v1/") }

// isCall reports whether a path belongs to the JSON API or to an event stream.
func isCall(path string) bool { return IsAPI(path) || strings.HasPrefix(path, "/sse/") }
