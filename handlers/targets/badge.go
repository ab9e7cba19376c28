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

// badgeCSP lets a badge load and run nothing.
const badgeCSP = "default-src 'none'; sandbox"

var badgeOperations = []middleware.Operation{
	badgeOperation("/badge/:target/:kind", "get-badge", "Get a badge of a target",
		"An SVG image. Uptime covers 30 days, response time 24 hours.",
		middleware.Param{Name: "kind", In: "path", Enum: []string{"status.svg", "uptime.svg", "latency.svg"}, Description: "What the badge shows"}),
	badgeOperation("/badge/:target/:kind/:range", "get-badge-of-range", "Get a badge of a target over a range",
		"An SVG image. Status badges show the current status for any range.",
		middleware.Param{Name: "kind", In: "path", Enum: []string{"status", "uptime", "latency"}, Description: "What the badge shows"},
		middleware.Param{Name: "range", In: "path", Enum: []string{"24h.svg", "7d.svg", "30d.svg", "90d.svg"}, Description: "Range of the uptime or response time"}),
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

// Badge returns a badge of a target that is on a status page. Its path is
// /badge/{target}/{kind}.svg or /badge/{target}/{kind}/{range}.svg, where kind is status,
// uptime or latency. The default range of uptime is 30 days, that of latency 24 hours.
func (p Pages) Badge(c *gin.Context) {
	badge, cacheControl, err := p.badge(c)
	if err != nil {
		p.Fail(c, err)
		return
	}
	var b bytes.Buffer
	if err := views.BadgeSVG(badge).Render(c.Request.Context(), &b); err != nil {
		p.Fail(c, err)
		return
	}
	c.Header("Cache-Control", cacheControl)
	c.Header("Content-Security-Policy", badgeCSP)
	c.Data(http.StatusOK, "image/svg+xml", b.Bytes())
}

func (p Pages) badge(c *gin.Context) (b views.Badge, cacheControl string, err error) {
	const short, long = "public, max-age=30", "public, max-age=60"
	kind, r, ok := badgeAddress(c.Param("kind"), c.Param("range"))
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
		return views.UptimeBadge(t, r), long, nil
	case views.BadgeLatency:
		h, err := p.Targets.History(ctx, t, r)
		return views.LatencyBadge(t, h), long, err
	}
	return views.StatusBadge(t), short, nil
}

// badgeRanges is the default range of each kind of badge.
var badgeRanges = map[string]targets.Range{
	views.BadgeStatus: targets.Last24h, views.BadgeUptime: targets.Last30d, views.BadgeLatency: targets.Last24h,
}

// badgeAddress parses the path after the target: the kind, or the kind and a range, with
// the suffix ".svg". ok is false if there is no such badge.
func badgeAddress(kind, window string) (k string, r targets.Range, ok bool) {
	ranged := window != ""
	suffixed := &kind
	if ranged {
		suffixed = &window
	}
	if *suffixed, ok = strings.CutSuffix(*suffixed, ".svg"); !ok {
		return "", "", false
	}
	r, ok = badgeRanges[kind]
	if ranged {
		r = targets.Range(window)
	}
	return kind, r, ok && slices.Contains(targets.Windows, r)
}
