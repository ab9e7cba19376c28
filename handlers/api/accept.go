package api

import (
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
)

// negotiate chooses the format of the response by the header Accept: JSON or, for lists, CSV.
func negotiate(ctx huma.Context, next func(huma.Context)) {
	media := JSONMedia
	if table, _ := ctx.Operation().Metadata[tableKey].(bool); table {
		ctx.AppendHeader("Vary", "Accept")
		if prefersCSV(humagin.Unwrap(ctx).Request.Header.Values("Accept")) {
			media = csvMedia
		}
	}
	next(acceptContext{ctx, media})
}

// acceptContext is a context of a request that accepts one format.
type acceptContext struct {
	humaContext

	media string
}

// Unwrap is for humagin.Unwrap.
func (c acceptContext) Unwrap() huma.Context { return c.humaContext }

// Header implements huma.Context.
func (c acceptContext) Header(name string) string {
	if strings.EqualFold(name, "Accept") {
		return c.media
	}
	return c.humaContext.Header(name)
}

// prefersCSV reports whether a client prefers CSV to JSON. If it likes both alike, it gets JSON, unless it names only CSV.
func prefersCSV(accept []string) bool {
	var quality, exact [2]float64 // of CSV and JSON; how exact the range is that has the quality
	for header := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		media, params, _ := strings.Cut(header, ";")
		q := 1.0
		for param := range strings.SplitSeq(params, ";") {
			if name, value, ok := strings.Cut(param, "="); ok && strings.EqualFold(strings.TrimSpace(name), "q") {
				q, _ = strconv.ParseFloat(strings.TrimSpace(value), 64) // 0 if it is not a number
			}
		}
		for i, own := range []string{csvMedia, JSONMedia} {
			kind, _, _ := strings.Cut(own, "/")
			rank := float64(slices.Index([]string{"*/*", kind + "/*", own}, strings.ToLower(strings.TrimSpace(media))) + 1)
			if rank > 0 && rank >= exact[i] {
				quality[i], exact[i] = q, rank
			}
		}
	}
	return quality[0] > quality[1] || quality[0] == quality[1] && quality[0] > 0 && exact[0] > exact[1]
}
