package google

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"linkwatch/jobs/sites/engine"
	"linkwatch/models"
	"linkwatch/models/sites"
)

// Client sends requests to Google as a service account. It is safe for concurrent use and caches the access token, so reuse
// it.
type Client struct {
	endpoints *Endpoints
	account   Credentials
	tokens    *tokens
}

// NewClient returns the client of a service account.
func NewClient(e *Endpoints, account Credentials) *Client {
	return &Client{e, account, &tokens{client: e.token, account: account, url: e.opts.Token, timeout: e.opts.Timeout}}
}

// Authorize makes sure that the access token is valid for the next minutes. Call it before a request counts against a quota,
// so that the request itself needs no token exchange.
func (c *Client) Authorize(ctx context.Context) error {
	_, err := c.tokens.get(ctx, tokenMargin)
	return err
}

// Publish notifies the Indexing API that a page was updated or deleted.
func (c *Client) Publish(ctx context.Context, url string, deleted bool) error {
	n := notification{URL: url, Type: "URL_UPDATED"}
	if deleted {
		n.Type = "URL_DELETED"
	}
	return c.call(ctx, call{api: indexingAPI, timeout: c.endpoints.opts.Timeout}, func(ctx context.Context, token string) (bool, error) {
		var response *published
		err := c.endpoints.indexing.send(ctx, token, http.MethodPost, "v3/urlNotifications:publish", n, &response)
		return response != nil, err
	})
}

// Notification has the latest notifications of a page that the Indexing API received; zero times = none.
type Notification struct {
	UpdatedAt models.Time // latest URL_UPDATED
	DeletedAt models.Time // latest URL_DELETED
}

// Latest returns the time of the latest notification; zero = none.
func (n Notification) Latest() models.Time {
	if n.DeletedAt.After(n.UpdatedAt.Time) {
		return n.DeletedAt
	}
	return n.UpdatedAt
}

// Metadata returns the notifications of a page that the Indexing API has received. The zero Notification means that it does
// not know the page.
func (c *Client) Metadata(ctx context.Context, pageURL string) (n Notification, err error) {
	known := call{api: indexingAPI, timeout: c.endpoints.opts.Timeout, notFoundOK: true}
	err = c.call(ctx, known, func(ctx context.Context, token string) (bool, error) {
		var response *metadata
		err := c.endpoints.indexing.send(ctx, token, http.MethodGet, "v3/urlNotifications/metadata?url="+url.QueryEscape(pageURL), nil, &response)
		if err != nil || response == nil {
			return false, err
		}
		n = Notification{notifiedAt(response.LatestUpdate), notifiedAt(response.LatestRemove)}
		return true, nil
	})
	return n, err
}

func notifiedAt(n *notification) models.Time {
	if n == nil {
		return models.Time{}
	}
	return parseTime(n.NotifyTime)
}

// Inspect inspects a page of a property with the URL Inspection API.
func (c *Client) Inspect(ctx context.Context, siteURL, url string) (found sites.Inspection, err error) {
	q := inspectRequest{InspectionURL: url, SiteURL: siteURL, LanguageCode: "en-US"}
	err = c.call(ctx, call{api: searchConsoleAPI, site: siteURL, timeout: c.endpoints.opts.InspectTimeout}, func(ctx context.Context, token string) (bool, error) {
		var response *inspectResponse
		err := c.endpoints.searchConsole.send(ctx, token, http.MethodPost, "v1/urlInspection/index:inspect", q, &response)
		if err != nil || response == nil || response.InspectionResult == nil || response.InspectionResult.IndexStatusResult == nil {
			return false, err
		}
		s := response.InspectionResult.IndexStatusResult
		found = sites.Inspection{
			Verdict: cleanState(s.Verdict), CoverageState: cleanState(s.CoverageState), RobotsState: cleanState(s.RobotsTxtState),
			IndexingState: cleanState(s.IndexingState), FetchState: cleanState(s.PageFetchState),
			GoogleCanonical: cleanURL(s.GoogleCanonical), UserCanonical: cleanURL(s.UserCanonical), LastCrawledAt: parseTime(s.LastCrawlTime),
		}
		return true, nil
	})
	return found, err
}

// SubmitSitemap submits a sitemap of a property to Search Console.
func (c *Client) SubmitSitemap(ctx context.Context, siteURL, feedURL string) error {
	return c.call(ctx, call{api: searchConsoleAPI, site: siteURL, timeout: c.endpoints.opts.Timeout}, func(ctx context.Context, token string) (bool, error) {
		path := sitePath(siteURL) + "/sitemaps/" + url.PathEscape(feedURL)
		return true, c.endpoints.searchConsole.send(ctx, token, http.MethodPut, path, nil, nil)
	})
}

// Permission is the permission level of the service account on a property.
type Permission string

// The permissions.
const (
	Owner          Permission = "siteOwner"
	FullUser       Permission = "siteFullUser"
	RestrictedUser Permission = "siteRestrictedUser"
	UnverifiedUser Permission = "siteUnverifiedUser"
)

// Search Console sends the first form of the permission levels, and documents the second.
var permissions = map[string]Permission{
	"siteOwner": Owner, "siteFullUser": FullUser, "siteRestrictedUser": RestrictedUser, "siteUnverifiedUser": UnverifiedUser,
	"SITE_OWNER": Owner, "SITE_FULL_USER": FullUser, "SITE_RESTRICTED_USER": RestrictedUser, "SITE_UNVERIFIED_USER": UnverifiedUser,
}

// Site returns the permission on a property. The error has the kind engine.NotOwner if the service account has no access.
func (c *Client) Site(ctx context.Context, siteURL string) (p Permission, err error) {
	err = c.call(ctx, call{api: searchConsoleAPI, site: siteURL, timeout: c.endpoints.opts.Timeout}, func(ctx context.Context, token string) (bool, error) {
		var response *site
		err := c.endpoints.searchConsole.send(ctx, token, http.MethodGet, sitePath(siteURL), nil, &response)
		if err != nil || response == nil {
			return false, err
		}
		p = permissions[response.PermissionLevel]
		return p != "", nil
	})
	return p, err
}

func sitePath(siteURL string) string { return "webmasters/v3/sites/" + url.PathEscape(siteURL) }

type call struct {
	api        api
	site       string // the property; "" = not in the request
	timeout    time.Duration
	notFoundOK bool // 404 is a valid response
}

func (c *Client) call(ctx context.Context, r call, do func(ctx context.Context, token string) (ok bool, err error)) error {
	token, err := c.tokens.get(ctx, 0)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	asking, attempt := engine.NewAttempt(ctx)
	ok, err := do(asking, token)
	if err == nil && ok {
		return nil
	}
	failed := c.classify(ctx, r, attempt, token, err)
	if failed == nil {
		return nil
	}
	if failed.Status == http.StatusUnauthorized {
		c.tokens.invalidate(token)
	}
	return failed
}

const maxState = 200 // runes

// cleanState returns a state from Google; "" = unspecified.
func cleanState(s string) string {
	if s = models.Truncate(models.CleanLine(s), maxState); unspecified[s] {
		return ""
	}
	return s
}

var unspecified = map[string]bool{
	"VERDICT_UNSPECIFIED": true, "ROBOTS_TXT_STATE_UNSPECIFIED": true, "INDEXING_STATE_UNSPECIFIED": true, "PAGE_FETCH_STATE_UNSPECIFIED": true,
}

// cleanURL returns a URL from Google; "" if it is too long.
func cleanURL(s string) string {
	if s = models.CleanLine(s); len(s) > models.MaxURL {
		return ""
	}
	return s
}

func parseTime(s string) models.Time {
	t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(s))
	if err != nil || t.Year() < 1970 {
		return models.Time{}
	}
	return models.At(t)
}
