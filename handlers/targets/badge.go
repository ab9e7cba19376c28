package targets

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/targets"
	views "linkwatch/views/targets"
)

// badgeCSP: a badge is looked at, and needs nothing.
const badgeCSP = "default-src 'none'; sandbox"

// badgeOperations describe Badge.
var badgeOperations = []middleware.Operation{
	badgeOperation("/badge/:target/:kind", "get-badge", "Get a badge of a target",
		"Uptime is that of 30 days, response time that of 24 hours.",
		middleware.Param{Name: "kind", In: "path", Enum: []string{"status.svg", "uptime.svg", "latency.svg"}, Description: "What the badge shows"}),
	badgeOperation("/badge/:target/:kind/:range", "get-badge-of-range", "Get a badge of a target over a range",
		"A status badge shows the status of now, whatever the range.",
		middleware.Param{Name: "kind", In: "path", Enum: []string{"status", "uptime", "latency"}, Description: "What the badge shows"},
		middleware.Param{Name: "range", In: "path", Enum: []string{"24h.svg", "7d.svg", "30d.svg", "90d.svg"}, Description: "Range that uptime and response time are of"}),
}

func badgeOperation(path, id, summary, description string, params ...middleware.Param) middleware.Operation {
	target := middleware.Param{Name: "target", In: "path", Example: "t_01HZ8QK3V5W7X9YABCDEFG", Description: "Id of a target that is on a status page"}
	return middleware.Operation{
		Methods: []string{http.MethodGet}, Path: path, ID: id, Tag: groupStatusPages, Public: true,
		Summary: summary, Description: description, Params: append([]middleware.Param{target}, params...),
		Responses: []middleware.Response{{Status: http.StatusOK, Description: "Badge", Content: map[string]any{"image/svg+xml": nil}}},
		Problems:  []models.Code{models.CodeNotFound, models.CodeUnavailable},
	}
}

// Badge draws a badge of a target that stands on a status page:
// /badge/{target}/{status,uptime,latency}.svg, or with a range, .../7d.svg.
// Without one uptime is of 30 days and latency of 24 hours; the status is that
// of now either way.
func (p Pages) Badge(c *gin.Context) {
	badge, keep, err := p.badge(c)
	if err != nil {
		p.Fail(c, err)
		return
	}
	var b bytes.Buffer
	if err := views.BadgeSVG(badge).Render(c.Request.Context(), &b); err != nil {
		p.Fail(c, err)
		return
	}
	c.Header("Cache-Control", keep)
	c.Header("Content-Security-Policy", badgeCSP)
	c.Data(http.StatusOK, "image/svg+xml", b.Bytes())
}

func (p Pages) badge(c *gin.Context) (b views.Badge, keep string, err error) {
	const short, long = "public, max-age=30", "public, max-age=60"
	kind, of, ok := badgeAddress(c.Param("kind"), c.Param("range"))
	if !ok {
		return b, "", models.NotFound("badge")
	}
	ctx := c.Request.Context()
	t, err := p.Targets.PublicTarget(ctx, c.Param("target"))
	if err != nil {
		return b, "", err
	}
	switch kind {
	case views.BadgeUptime:
		return views.UptimeBadge(t, of), long, nil
	case views.BadgeLatency:
		h, err := p.Targets.History(ctx, t, of)
		return views.LatencyBadge(t, h), long, err
	}
	return views.StatusBadge(t), short, nil
}

// badgeRanges are the ranges of badges whose address names none, by kind.
var badgeRanges = map[string]targets.Range{
	views.BadgeStatus: targets.Last24h, views.BadgeUptime: targets.Last30d, views.BadgeLatency: targets.Last24h,
}

// badgeAddress reads what an address says after the target: the kind, or the
// kind and a range, with ".svg" at its end. ok is false if there is no such badge.
func badgeAddress(kind, window string) (k string, of targets.Range, ok bool) {
	ranged := window != ""
	last := &kind
	if ranged {
		last = &window
	}
	if *last, ok = strings.CutSuffix(*last, ".svg"); !ok {
		return "", "", false
	}
	of, ok = badgeRanges[kind]
	if ranged {
		of = targets.Range(window)
	}
	return kind, of, ok && slices.Contains(targets.Windows, of)
}
