package google_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"linkwatch/jobs/sites/engine"
	"linkwatch/jobs/sites/google"
	"linkwatch/jobs/sites/standin"
	"linkwatch/models"
)

func TestPublishAndMetadata(t *testing.T) {
	c, s := newClient(t)
	n, err := c.Metadata(t.Context(), page)
	if err != nil || n != (google.Notification{}) {
		t.Errorf("before: %v, %v", n, err)
	}
	for _, deleted := range []bool{false, true} {
		if err := c.Publish(t.Context(), page, deleted); err != nil {
			t.Fatal(err)
		}
	}
	if n, err = c.Metadata(t.Context(), page); err != nil || n.UpdatedAt.IsZero() || n.Latest() != n.DeletedAt || n.DeletedAt.Before(n.UpdatedAt.Time) {
		t.Errorf("after: %v, %v", n, err)
	}
	sent := s.Requests(standin.Publish)
	if len(sent) != 2 || sent[0].URL != page || !strings.Contains(string(sent[0].Body), "URL_UPDATED") || !strings.Contains(string(sent[1].Body), "URL_DELETED") ||
		!strings.HasSuffix(sent[0].Header.Get("User-Agent"), "Linkwatch/test") {
		t.Errorf("%+v", sent)
	}
}

func TestInspect(t *testing.T) {
	c, s := newClient(t)
	s.Cover(page, standin.Coverage{
		Verdict: "PASS", CoverageState: "Submitted and\nindexed", RobotsTxtState: "ALLOWED", IndexingState: "INDEXING_ALLOWED", PageFetchState: "PAGE_FETCH_STATE_UNSPECIFIED",
		GoogleCanonical: "https://example.com/b", UserCanonical: "https://example.com/" + strings.Repeat("x", models.MaxURL), LastCrawlTime: "2026-03-20T10:00:00.123456789Z",
	})
	got, err := c.Inspect(t.Context(), site, page)
	if err != nil || got.Verdict != "PASS" || got.CoverageState != "Submitted and indexed" || got.RobotsState != "ALLOWED" || got.FetchState != "" || got.UserCanonical != "" ||
		!got.OtherCanonical(page) || !got.LastCrawledAt.Equal(time.Date(2026, 3, 20, 10, 0, 0, 123456000, time.UTC)) {
		t.Errorf("%+v, %v", got, err)
	}
	s.Cover(page, standin.Coverage{Verdict: "NEUTRAL", LastCrawlTime: "yesterday"})
	if got, err = c.Inspect(t.Context(), site, page); err != nil || got.Verdict != "NEUTRAL" || !got.LastCrawledAt.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
	if body := string(s.Requests(standin.Inspect)[0].Body); !strings.Contains(body, `"siteUrl":"`+site+`"`) || !strings.Contains(body, "en-US") {
		t.Errorf("sent %s", body)
	}
}

func TestSitemapAndSite(t *testing.T) {
	c, s := newClient(t)
	s.Permit("sc-domain:example.com", "siteOwner")
	s.Permit(site, "SITE_RESTRICTED_USER")
	if err := c.SubmitSitemap(t.Context(), "sc-domain:example.com", feed); err != nil {
		t.Error(err)
	}
	if sent := s.Requests(standin.Sitemaps); len(sent) != 1 || sent[0].URL != feed {
		t.Errorf("%+v", sent)
	}
	for property, want := range map[string]google.Permission{"sc-domain:example.com": google.Owner, site: google.RestrictedUser} {
		if got, err := c.Site(t.Context(), property); got != want || err != nil {
			t.Errorf("%s: %q, %v", property, got, err)
		}
	}
	_, err := c.Site(t.Context(), "https://example.com/blog/")
	e := failure(t, s, err)
	if e.Kind != engine.NotOwner || !strings.Contains(e.Fix, standin.ClientEmail) || !strings.Contains(e.Fix, "sc-domain:example.com") || !strings.Contains(e.Fix, "https://example.com/blog/") {
		t.Errorf("%+v", e)
	}
	_, err = c.Site(t.Context(), "sc-domain:example.org")
	if e := failure(t, s, err); e.Kind != engine.NotOwner || !strings.Contains(e.Fix, "https://example.org/") || !strings.Contains(e.Fix, "sc-domain:example.org") {
		t.Errorf("%+v", e)
	}
}

// Each failure of each call is one request and has its own error.
func TestFailures(t *testing.T) {
	google403 := func(reason string, details ...map[string]any) standin.Fault {
		return standin.APIError(403, "No.", reason, details...)
	}
	for _, f := range []struct {
		name   string
		fault  standin.Fault
		kind   engine.Kind
		status int
		text   string // in Text or Fix
		daily  bool
		retry  time.Duration
	}{
		{name: "not the owner", fault: standin.NotOwner(), kind: engine.NotOwner, status: 403, text: standin.ClientEmail},
		{name: "no permission", fault: standin.NoPermission(site), kind: engine.NotOwner, status: 403, text: "sc-domain:example.com"},
		{name: "API not enabled", fault: standin.Disabled("indexing.googleapis.com"), kind: engine.APIDisabled, status: 403, text: "not enabled in the Google project " + standin.ProjectID},
		{name: "API not enabled, old", fault: google403("accessNotConfigured"), kind: engine.APIDisabled, status: 403, text: "https://console.cloud.google.com/apis/library/"},
		{name: "API not enabled, new", fault: google403("", map[string]any{"reason": "SERVICE_DISABLED"}), kind: engine.APIDisabled, status: 403},
		{name: "minute", fault: standin.MinuteLimit(0), kind: engine.RateLimited, status: 429, text: "received too many requests"},
		{name: "minute with Retry-After", fault: standin.MinuteLimit(30), kind: engine.RateLimited, status: 429, retry: 30 * time.Second},
		{name: "RetryInfo", fault: standin.APIError(429, "Slow down.", "", map[string]any{"retryDelay": "7s"}), kind: engine.RateLimited, status: 429, retry: 7 * time.Second},
		{name: "endless RetryInfo", fault: standin.APIError(429, "Slow down.", "", map[string]any{"retryDelay": "9999h"}), kind: engine.RateLimited, status: 429, retry: 24 * time.Hour},
		{name: "day", fault: standin.DailyLimit(), kind: engine.RateLimited, status: 429, daily: true, text: "midnight Pacific time"},
		{name: "day by limit", fault: standin.APIError(429, "No.", "", map[string]any{"metadata": map[string]any{"quota_limit": "InspectionsPerDayPerSite"}}), kind: engine.RateLimited, status: 429, daily: true},
		{name: "day, old", fault: google403("dailyLimitExceeded"), kind: engine.RateLimited, status: 403, daily: true},
		{name: "a site named daily", fault: standin.APIError(429, "Quota exceeded for https://daily.example/d/.", ""), kind: engine.RateLimited, status: 429},
		{name: "403 for a quota", fault: standin.OldLimit(), kind: engine.RateLimited, status: 403},
		{name: "403 for a rate", fault: google403("userRateLimitExceeded"), kind: engine.RateLimited, status: 403},
		{name: "429 of a proxy", fault: standin.Answer(429, "wait", "Retry-After", "5"), kind: engine.RateLimited, status: 429, retry: 5 * time.Second},
		{name: "500", fault: standin.Internal(), kind: engine.Unavailable, status: 500, text: "retries"},
		{name: "502 of a proxy", fault: standin.Answer(502, "<html>Bad gateway"), kind: engine.Unavailable, status: 502},
		{name: "503", fault: standin.Answer(503, "", "Retry-After", "120"), kind: engine.Unavailable, status: 503, retry: 2 * time.Minute},
		{name: "503 with RetryInfo", fault: standin.APIError(503, "No.", "", map[string]any{"retryDelay": "7s"}), kind: engine.Unavailable, status: 503, retry: 7 * time.Second},
		{name: "400", fault: standin.APIError(400, "Invalid value at 'url'.", "badRequest"), kind: engine.Refused, status: 400, text: "Invalid value at 'url'."},
		{name: "400 of a proxy", fault: standin.Answer(400, "<html>"), kind: engine.Protocol, status: 400},
		{name: "401", fault: standin.APIError(401, "Request had invalid authentication credentials.", "authError"), kind: engine.Credentials, status: 401},
		{name: "scopes", fault: google403("insufficientPermissions"), kind: engine.Credentials, status: 403},
		{name: "project deleted", fault: google403("", map[string]any{"reason": "CONSUMER_INVALID"}), kind: engine.Credentials, status: 403, text: standin.ProjectID},
		{name: "403 of a proxy", fault: standin.Answer(403, "<html>"), kind: engine.Protocol, status: 403},
		{name: "404 of a proxy", fault: standin.Answer(404, "<html>"), kind: engine.NotFound, status: 404},
		{name: "redirect", fault: standin.Answer(302, "", "Location", "/elsewhere"), kind: engine.Protocol, status: 302},
		{name: "not modified", fault: standin.Answer(304, ""), kind: engine.Protocol, status: 304},
		{name: "error in a list", fault: standin.Answer(403, `[{"error":{"code":403,"message":"No."}}]`), kind: engine.NotOwner, status: 403},
		{name: "another code in the body", fault: standin.Answer(403, `{"error":{"code":-1,"message":"No."}}`), kind: engine.NotOwner, status: 403},
		{name: "answer lost", fault: standin.Lost(), kind: engine.NoAnswer, text: "may have been processed"},
		{name: "error broken off", fault: standin.Answer(403, "{", "Content-Length", "100"), kind: engine.NoAnswer, status: 403},
	} {
		for _, m := range methods {
			t.Run(f.name+" "+m.name, func(t *testing.T) {
				c, s := newClient(t)
				if err := m.do(t.Context(), c); err != nil { // the next call reuses the connection
					t.Fatal(err)
				}
				s.Fail(m.service, f.fault)
				err := m.do(t.Context(), c)
				if n := s.Count(m.service); n != 2 {
					t.Fatalf("%d requests for 2 calls", n)
				}
				e := failure(t, s, err)
				if e.Kind != f.kind || e.Status != f.status || e.Daily != f.daily || e.RetryAfter != f.retry {
					t.Errorf("%+v", e)
				}
				if all := e.Text + " " + e.Fix; !strings.Contains(all, f.text) {
					t.Errorf("%q does not contain %q", all, f.text)
				}
				if !e.Sent() || e.Lost() != (f.kind == engine.NoAnswer) || e.Sitewide() != (f.kind != engine.Refused) {
					t.Errorf("lost %t, sitewide %t", e.Lost(), e.Sitewide())
				}
			})
		}
	}
}

// Responses with an unreadable body.
func TestInvalidResponses(t *testing.T) {
	for _, m := range methods {
		if m.name == "sitemap" {
			continue // its response has no body
		}
		for name, f := range map[string]struct {
			fault standin.Fault
			kind  engine.Kind
		}{
			"garbage":    {standin.Garbage(), engine.Protocol},
			"null":       {standin.Answer(200, "null"), engine.Protocol},
			"empty":      {standin.Answer(200, ""), engine.Protocol},
			"wrong type": {standin.Answer(200, `{"inspectionResult":1,"latestUpdate":1,"siteUrl":1,"urlNotificationMetadata":1}`), engine.Protocol},
			"too large":  {standin.Answer(200, `{"x":"`+strings.Repeat("x", 6<<20)+`"}`), engine.Protocol},
			"cut":        {standin.Cut(), engine.NoAnswer},
		} {
			t.Run(m.name+" "+name, func(t *testing.T) {
				c, s := newClient(t)
				s.Fail(m.service, f.fault)
				e := failure(t, s, m.do(t.Context(), c))
				if e.Kind != f.kind || e.Status != 200 || s.Count(m.service) != 1 {
					t.Errorf("%+v, %d requests", e, s.Count(m.service))
				}
			})
		}
	}
	t.Run("no result", func(t *testing.T) {
		c, s := newClient(t)
		s.Fail(standin.Inspect, standin.Answer(200, "{}"))
		s.Fail(standin.Sites, standin.Answer(200, `{"permissionLevel":"emperor"}`))
		_, err := c.Inspect(t.Context(), site, page)
		if e := failure(t, s, err); e.Kind != engine.Protocol {
			t.Errorf("%+v", e)
		}
		_, err = c.Site(t.Context(), site)
		if e := failure(t, s, err); e.Kind != engine.Protocol {
			t.Errorf("%+v", e)
		}
	})
}

// An unknown property concerns the whole website.
func TestUnknownProperty(t *testing.T) {
	c, s := newClient(t)
	for _, fault := range []standin.Fault{
		standin.APIError(404, "'https://example.com/' not found.", "notFound"),
		standin.APIError(400, "'https://example.com/' is not a valid Search Console site URL.", "invalidParameter"),
	} {
		s.Fail(standin.Inspect, fault)
		_, err := c.Inspect(t.Context(), site, page)
		if e := failure(t, s, err); e.Kind != engine.NotOwner || !e.Sitewide() {
			t.Errorf("%+v", e)
		}
	}
	s.Fail(standin.Publish, standin.APIError(404, "Requested entity was not found.", ""))
	if e := failure(t, s, c.Publish(t.Context(), page, false)); e.Kind != engine.NotFound {
		t.Errorf("%+v", e)
	}
}

// A request that gets no response is canceled and counts as spent.
func TestSlowResponses(t *testing.T) {
	for _, m := range methods {
		t.Run(m.name, func(t *testing.T) {
			c, s := newClient(t)
			if err := c.Authorize(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			s.Fail(m.service, standin.Slow(nil))
			answered := make(chan error)
			go func() { answered <- m.do(ctx, c) }()
			s.Await(t, m.service, 1)
			cancel()
			e := failure(t, s, <-answered)
			if !e.Lost() || !errors.Is(e, context.Canceled) || s.Count(m.service) != 1 {
				t.Errorf("%+v, %d requests", e, s.Count(m.service))
			}

			hasty := clientOf(t, s, standin.Credentials(), func(o *google.Options) { o.Timeout = time.Minute })
			if err := hasty.Authorize(t.Context()); err != nil {
				t.Fatal(err)
			}
			if e := failure(t, s, m.do(ctx, hasty)); e.Kind != engine.Canceled || e.Sent() || e.Lost() || e.Sitewide() || s.Count(m.service) != 1 {
				t.Errorf("canceled before: %+v, %d requests", e, s.Count(m.service))
			}
		})
	}
}

// Each request has the timeout of its call; inspections have their own.
func TestTimeouts(t *testing.T) {
	for _, m := range methods {
		t.Run(m.name, func(t *testing.T) {
			c, s := newClient(t, func(o *google.Options) {
				if m.name == "inspect" {
					o.InspectTimeout = brief
				}
			})
			if err := c.Authorize(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx := t.Context()
			if m.name != "inspect" { // Timeout applies to the token request too
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, brief)
				defer cancel()
			}
			s.Fail(m.service, standin.Slow(nil))
			e := failure(t, s, m.do(ctx, c))
			if !errors.Is(e, context.DeadlineExceeded) || !strings.Contains(e.Text, "timed out") {
				t.Errorf("%+v", e)
			}
			if s.Count(m.service) > 0 && !e.Lost() {
				t.Errorf("request that arrived: %+v", e)
			}
		})
	}
}

// A service that cannot be reached has received nothing.
func TestUnreachable(t *testing.T) {
	for _, m := range methods {
		t.Run(m.name, func(t *testing.T) {
			c, s := newClient(t)
			if err := c.Authorize(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.Close()
			e := failure(t, s, m.do(t.Context(), c))
			if e.Kind != engine.Unavailable || e.Sent() || !strings.Contains(e.Text, "connection refused") {
				t.Errorf("%+v", e)
			}
		})
	}
}

// Messages from Google are shown unless they contain the access token.
func TestMessagesOfGoogle(t *testing.T) {
	c, s := newClient(t)
	if err := c.Publish(t.Context(), page, false); err != nil {
		t.Fatal(err)
	}
	token := s.Requests(standin.Publish)[0].Header.Get("Authorization")
	s.Fail(standin.Publish,
		standin.APIError(400, "You sent "+token, ""),
		standin.APIError(400, "You sent "+strings.TrimPrefix(token, "Bearer "), ""),
		standin.APIError(400, "No\x00\u202e\n way"+strings.Repeat(" at all", 1000), ""))
	for _, want := range []string{"Google refused the request.", "Google refused the request.", "Google refused the request: No way at all"} {
		e := failure(t, s, c.Publish(t.Context(), page, false))
		if !strings.HasPrefix(e.Text, want) || len(e.Text) > 400 {
			t.Errorf("%q", e.Text)
		}
	}
}

func TestInvalidEndpoints(t *testing.T) {
	for _, o := range []google.Options{
		{Indexing: "http://x.test", SearchConsole: "http://x.test"},
		{Token: "http://x.test", SearchConsole: "http://x.test"},
		{Token: "http://x.test", Indexing: "http://x.test", SearchConsole: "%"},
	} {
		if _, err := google.NewEndpoints(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}
