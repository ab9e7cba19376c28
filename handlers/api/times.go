package api

import (
	"regexp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// jsonTime matches an RFC 3339 time in JSON. Its t and z may be in lower case (5.6), which neither huma nor time.Time accept.
var jsonTime = regexp.MustCompile(`"\d{4}-\d\d-\d\d[tT][\d:.]+(?:[zZ]|[-+]\d\d:\d\d)"`)

// upperTimes passes query parameters that are times on in upper case.
func upperTimes(ctx huma.Context, next func(huma.Context)) {
	if slices.ContainsFunc(ctx.Operation().Parameters, isTime) {
		ctx = timeContext{humaContext: ctx}
	}
	next(ctx)
}

func isTime(p *huma.Param) bool {
	return p.In == "query" && p.Schema != nil && p.Schema.Format == "date-time"
}

// humaContext is embedded under this name because huma.Context has a method Context.
type humaContext = huma.Context

// timeContext is the context of a request with times in its query.
type timeContext struct{ humaContext }

// Unwrap returns the context of the router.
func (c timeContext) Unwrap() huma.Context { return c.humaContext }

// Query implements huma.Context.
func (c timeContext) Query(name string) string {
	value := c.humaContext.Query(name)
	if slices.ContainsFunc(c.Operation().Parameters, func(p *huma.Param) bool { return p.Name == name && isTime(p) }) {
		return strings.ToUpper(value)
	}
	return value
}
