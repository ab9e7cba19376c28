//go:build e2e

package bench

// routeSystems are the systems of routes, by the beginnings of their paths.
var routeSystems = []struct{ name, prefixes string }{
	{"accounts", "/admin/audit /audit /settings /users /tokens /login"},
	{"admin", "/admin"},
	{"alerts", "/alert /channels /maintenance"},
	{"crawl", "/crawl /sources /jobs /executions /frontier /discovered-links /feeds /scheduler"},
	{"links", "/link /tag /popular /random /recent /refreshes /search"},
	{"short links", "/short /s/"},
	{"sites", "/sites /websites /pages"},
	{"watch", "/watch /targets /checks /status /badge"},
}

// skippedRoutes are the routes that are not measured, with the reason.
var skippedRoutes = map[string]string{
	"/sse/crawler/events": "stream", "/sse/health/events": "stream", "/sse/metrics/events": "stream", "/v1/jobs/:id/logs/stream/v2": "stream",
	"/admin/audit.csv": "download", "/crawl/executions/:id/broken-links.csv": "download", "/crawl/jobs/:id/log.txt": "download", "/crawl/pages/:id/archive/:hash": "download",
	"/sites/:id/coverage.csv": "download", "/sites/:id/not-indexed.csv": "download", "/sites/:id/indexnow/key.txt": "download", "/v1/jobs/:id/logs/download": "download",
	"/short/:key/qr.svg": "download", "/v1/shortlinks/:key/qr.svg": "download", "/openapi.json": "download", "/openapi-3.0.json": "download",
	"/static/*file": "static file", "/apidoc": "static file", "/apidoc/*asset": "static file", "/favicon.ico": "static file",
	"/login/oidc": "needs an identity provider", "/login/oidc/callback": "needs an identity provider", "/alerts/:id/manage": "needs the signature of a message",
	"/sites/:id/credentials/delete": "needs credentials of Google",
}

// routeParams are the values of parameters in paths: a text, or a query for an id. In a query, TIMED k stands for the columns
// of an id with the prefix k that is computed from them. The key is the part of the path before the parameter, with one more part
// where that is ambiguous.
var routeParams = map[string]string{
	"admin/jobs/:id":       "SELECT min(id) FROM scheduled_jobs",
	"alert-rules/:id":      "SELECT min(id) FROM alert_rules",
	"alerts/:id":           "SELECT id FROM alerts WHERE seq = 102",
	"badge/:target":        "SELECT t.id FROM targets AS t JOIN status_page_targets AS p ON p.target_seq = t.seq ORDER BY t.seq LIMIT 1",
	":target/:kind":        "uptime",
	":kind/:range":         "30d",
	"channels/:id":         "SELECT min(id) FROM channels",
	"crawl/pages/:id":      "SELECT TIMED k FROM crawled_pages WHERE seq = 2",
	"crawled-pages/:id":    "SELECT TIMED k FROM crawled_pages WHERE seq = 2",
	"versions/:version":    "2",
	"discovered-links/:id": "SELECT TIMED d FROM discovered_links WHERE seq = 2",
	"frontier/:id":         "SELECT TIMED f FROM frontier WHERE seq = 2",
	"sitemaps/:sitemap_id": "SELECT TIMED m FROM sitemaps WHERE website_seq = 2 ORDER BY seq LIMIT 1",
	"tokens/:id":           "SELECT t.id FROM tokens AS t JOIN users AS u ON u.seq = t.user_seq WHERE t.name = 'walk' AND u.username = 'alice'",
	"executions/:id":       "SELECT id FROM job_executions WHERE seq = {n}",
	"feeds/:id":            "SELECT TIMED h FROM feeds WHERE seq = 10",
	"jobs/:id":             "SELECT j.id FROM jobs AS j JOIN job_executions AS e ON e.job_seq = j.seq WHERE e.seq = {n}",
	"link/:id":             "SELECT id FROM links WHERE seq = 2",
	"links/:id":            "SELECT id FROM links WHERE seq = 2",
	"link/:link_id":        "SELECT id FROM links WHERE seq = 2",
	"tag/:tag_id":          "SELECT t.id FROM tags AS t JOIN link_tags AS l ON l.tag_seq = t.seq WHERE l.link_seq = 2 ORDER BY l.position LIMIT 1",
	"maintenance/:id":      "SELECT min(id) FROM maintenance",
	"probs/:slug":          "not-found",
	"refreshes/:id":        "SELECT min(id) FROM link_refreshes",
	"rules/:id":            "SELECT min(id) FROM alert_rules",
	"s/:key":               "s10000004",
	"short/:key":           "s10000004",
	"shortlinks/:key":      "s10000004",
	"sites/:id":            "SELECT id FROM websites WHERE seq = 2",
	"websites/:id":         "SELECT id FROM websites WHERE seq = 2",
	"pages/:page":          "SELECT TIMED p FROM pages WHERE website_seq = 2 AND gone_at IS NULL ORDER BY website_seq, seq LIMIT 1",
	"v1/pages/:id":         "SELECT TIMED p FROM pages WHERE website_seq = 2 AND gone_at IS NULL ORDER BY website_seq, seq LIMIT 1",
	"sitemaps/:sitemap":    "SELECT TIMED m FROM sitemaps WHERE website_seq = 2 ORDER BY seq LIMIT 1",
	"sources/:id":          "SELECT id FROM sources WHERE seq = 2",
	"status/:slug":         "page-1",
	"status-pages/:id":     "SELECT id FROM status_pages WHERE slug = 'page-1'",
	"targets/:id":          "SELECT id FROM targets WHERE seq = 2",
	"users/:id":            "SELECT id FROM users WHERE username = 'user-7'",
	"watch/:id":            "SELECT id FROM targets WHERE seq = 2",
}

// routeSuffixes are the ends of paths without which a route responds with an error.
var routeSuffixes = map[string]string{
	"/badge/:target/:kind": ".svg", "/badge/:target/:kind/:range": ".svg",
	"/v1/search":  "?q=example",
	"/links/tags": "?prefix=ba",
}

// routeVariants are the filters, sorts and pages of lists that people use. walk.complete replaces what is in braces.
var routeVariants = map[string][]string{
	// Links.
	"/links":      {"?page={last 30}", "?health=dead", "?q=common", "?q=example", "?q=tag:ba", "?sort=popular", "?expired=true"},
	"/v1/links":   {"?page={last 30}", "?per_page=100&page={last 100}"},
	"/v1/popular": {"?page={last 30}"}, "/v1/recent": {"?page={last 30}"},
	"/v1/search":            {"?q=common", "?q=qqqqqq", "?q=example&page=300", "?q=exmaple"},
	"/v1/tag/:tag_id/links": {"?page=3"},
	"/v1/tags":              {"?q=ba", "?page=100"}, "/tags": {"?sort=count", "?sort=recent", "?q=ba", "?page=100"},

	// Watch.
	"/watch":                  {"?status=down", "?status=paused", "?host=host-7.example", "?q=page-77", "?q=qqqqqq", "?certificate=expiring", "?page_token={deep /v1/targets}"},
	"/v1/targets":             {"?status=down", "?status=up", "?host=host-7.example", "?q=page-77", "?q=qqqqqq", "?page_token={deep /v1/targets}", "?limit=500"},
	"/watch/:id":              {"?range=30d", "?range=90d", "?failed=true"},
	"/v1/targets/:id/results": {"?failed=true", "?page_token={deep /v1/targets/:id/results}"}, "/v1/targets/:id/outages": {"?page_token={deep /v1/targets/:id/outages}"}, "/v1/targets/:id/history": {"?range=365d"},
	"/v1/checks":    {"?failed=true", "?page_token={deep /v1/checks}"},
	"/admin/checks": {"?failed=true", "?since=24h", "?since=7d&failed=true", "?target={targets/:id}", "?page_token={deep /v1/checks}"},

	// Short links.
	"/short":         {"?status=active", "?status=expired", "?status=disabled", "?q=spring", "?q=s10000077", "?q=qqqqqq", "?page_token={deep /v1/shortlinks}"},
	"/v1/shortlinks": {"?status=active", "?status=expired", "?status=disabled", "?q=qqqqqq", "?page_token={deep /v1/shortlinks}"},
	"/short/:key":    {"?days=400"}, "/v1/shortlinks/:key/stats": {"?days=400"},

	// Crawl.
	"/crawl":                  {"?status=failed", "?status=scheduled", "?status=running", "?q=site-77", "?q=qqqqqq", "?page_token={deep /v1/jobs}"},
	"/v1/jobs":                {"?status=failed", "?source_id={sources/:id}", "?q=qqqqqq", "?page_token={deep /v1/jobs}"},
	"/v1/executions":          {"?status=failed", "?status=running", "?job_id={jobs/:id}", "?page_token={deep /v1/executions}"},
	"/v1/jobs/:id/executions": {"?limit=5", "?status=failed"},
	"/v1/sources":             {"?q=source+77", "?q=qqqqqq", "?page_token={deep /v1/sources}"},
	"/crawl/discovered":       {"?source={sources/:id}", "?host=found-7.example", "?q=found-77", "?q=qqqqqq", "?page_token={deep /v1/discovered-links}"},
	"/v1/discovered-links":    {"?source_id={sources/:id}", "?host=found-7.example", "?q=qqqqqq", "?page_token={deep /v1/discovered-links}"},
	"/crawl/feeds":            {"?source={sources/:id}", "?page_token={deep /v1/feeds}"},
	"/v1/feeds":               {"?source_id={sources/:id}", "?page_token={deep /v1/feeds}"},
	"/crawl/frontier":         {"?status=failed", "?status=pending", "?status=fetching", "?source={sources/:id}", "?execution={executions/:id}", "?host=site-7.example", "?q=qqqqqq", "?page_token={deep /v1/frontier}"},
	"/v1/frontier":            {"?status=failed", "?status=pending", "?status=fetching", "?source_id={sources/:id}", "?execution_id={executions/:id}", "?page_token={deep /v1/frontier}"},
	"/crawl/pages":            {"?q=solar", "?q=w77", "?q=qqqqqq", "?source={sources/:id}", "?language=en", "?language=de", "?page_token={deep /v1/crawled-pages}"},
	"/v1/crawled-pages":       {"?q=solar", "?q=w77", "?q=qqqqqq", "?source_id={sources/:id}", "?language=de", "?page_token={deep /v1/crawled-pages}"},
	"/crawl/executions/:id":   {"?change=changed"}, "/v1/executions/:id/changes": {"?change=changed", "?change=gone"}, "/v1/executions/:id/broken-links": {"?page_token={deep /v1/executions/:id/broken-links}"},

	// Sites.
	"/sites":                       {"?problem=google", "?problem=sitemaps", "?problem=pages", "?page_token={deep /v1/websites}"},
	"/sites/:id":                   {"?range=90d", "?sitemaps=all"},
	"/sites/:id/pages":             {"?status=pending", "?status=indexed", "?status=failed", "?cause=noindex", "?gone=true", "?queued=true", "?q=/blog/*", "?q=/nothing/*", "?page_token={deep /v1/websites/:id/pages}"},
	"/sites/:id/not-indexed":       {"?cause=noindex", "?q=/nothing/*"},
	"/sites/:id/submissions":       {"?page_token={deep /v1/websites/:id/submissions}"},
	"/v1/websites":                 {"?page_token={deep /v1/websites}"},
	"/v1/websites/:id/pages":       {"?status=pending", "?status=not_indexed", "?gone=true", "?queued=true", "?q=/nothing/*", "?page_token={deep /v1/websites/:id/pages}"},
	"/v1/websites/:id/submissions": {"?page_id={v1/pages/:id}", "?page_token={deep /v1/websites/:id/submissions}"},
	"/v1/websites/:id/coverage":    {"?days=400"},

	// Alerts.
	"/alerts":    {"?state=firing", "?state=unacknowledged", "?state=resolved", "?page_token={deep /v1/alerts}"},
	"/v1/alerts": {"?state=firing", "?state=unacknowledged", "?state=resolved", "?page_token={deep /v1/alerts}"},

	// Accounts and administration.
	"/admin/audit": {"?actor=rare", "?actor=user-7", "?action=target.edit", "?action=target.", "?address=192.0.2.7", "?subject_id={targets/:id}", "?since=2026-01-01", "?actor=rare&action=shortlink.delete"},
	"/v1/audit":    {"?actor=rare", "?action=target.", "?actor=rare&action=shortlink.delete", "?since=2026-01-01T00:00:00Z"},

	// Overview and search.
	"/":       {},
	"/search": {"?q=spring", "?q=example", "?q=qqqqqq", "?q=shop+77", "?q=user-7", "?q=https://host-7.example/page-7"},
}
