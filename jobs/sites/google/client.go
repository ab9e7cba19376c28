package google

import (
	"context"
	"net/http"
	"time"

	"google.golang.org/api/indexing/v3"
	"google.golang.org/api/searchconsole/v1"

	"linkwatch/jobs/sites/engine"
	"linkwatch/models"
	"linkwatch/models/sites"
)

// Client asks Google as one service account. It is safe for concurrent use and keeps
// the access token, so keep it as long as the credentials are in use.
type Client struct {
	endpoints *Endpoints
	account   Credentials
	tokens    *tokens
}

// NewClient makes the client of a service account.
func NewClient(e *Endpoints, account Credentials) *Client {
	return &Client{e, account, &tokens{client: e.token, account: account, url: e.opts.Token, timeout: e.opts.Timeout}}
}

// Authorize makes sure that there is an access token for the next minutes. Call it before
// a request is counted against a quota: the calls below need no token request then.
func (c *Client) Authorize(ctx context.Context) error {
	_, err := c.tokens.get(ctx, early)
	return err
}

// Publish tells the Indexing API that a page was updated or deleted.
func (c *Client) Publish(ctx context.Context, url string, deleted bool) error {
	n := &indexing.UrlNotification{Url: url, Type: "URL_UPDATED"}
	if deleted {
		n.Type = "URL_DELETED"
	}
	return c.call(ctx, call{api: indexingAPI, timeout: c.endpoints.opts.Timeout}, func(ctx context.Context, auth authorize) (bool, error) {
		r := c.endpoints.indexing.UrlNotifications.Publish(n).Context(ctx)
		auth(r.Header())
		answer, err := r.Do()
		return answer != nil, err
	})
}

// Notification is what the Indexing API has received for a page. Zero times = nothing.
type Notification struct {
	UpdatedAt models.Time // of the latest URL_UPDATED
	DeletedAt models.Time // of the latest URL_DELETED
}

// Latest is when the latest notification came in; zero = none did.
func (n Notification) Latest() models.Time {
	if n.DeletedAt.After(n.UpdatedAt.Time) {
		return n.DeletedAt
	}
	return n.UpdatedAt
}

// Metadata asks the Indexing API which notifications it has received for a page. The
// zero Notification is of a page that it knows nothing of.
func (c *Client) Metadata(ctx context.Context, url string) (n Notification, err error) {
	known := call{api: indexingAPI, timeout: c.endpoints.opts.Timeout, absent: true}
	err = c.call(ctx, known, func(ctx context.Context, auth authorize) (bool, error) {
		r := c.endpoints.indexing.UrlNotifications.GetMetadata().Url(url).Context(ctx)
		auth(r.Header())
		answer, err := r.Do()
		if err != nil || answer == nil {
			return false, err
		}
		n = Notification{notifiedAt(answer.LatestUpdate), notifiedAt(answer.LatestRemove)}
		return true, nil
	})
	return n, err
}

func notifiedAt(n *indexing.UrlNotification) models.Time {
	if n == nil {
		return models.Time{}
	}
	return parseTime(n.NotifyTime)
}

// Inspect asks the Search Console what Google's index has of a page of a property.
func (c *Client) Inspect(ctx context.Context, siteURL, url string) (found sites.Inspection, err error) {
	q := &searchconsole.InspectUrlIndexRequest{InspectionUrl: url, SiteUrl: siteURL, LanguageCode: "en-US"}
	err = c.call(ctx, call{api: searchConsoleAPI, site: siteURL, timeout: c.endpoints.opts.InspectTimeout}, func(ctx context.Context, auth authorize) (bool, error) {
		r := c.endpoints.searchConsole.UrlInspection.Index.Inspect(q).Context(ctx)
		auth(r.Header())
		answer, err := r.Do()
		if err != nil || answer == nil || answer.InspectionResult == nil || answer.InspectionResult.IndexStatusResult == nil {
			return false, err
		}
		s := answer.InspectionResult.IndexStatusResult
		found = sites.Inspection{
			Verdict: word(s.Verdict), CoverageState: word(s.CoverageState), RobotsState: word(s.RobotsTxtState),
			IndexingState: word(s.IndexingState), FetchState: word(s.PageFetchState),
			GoogleCanonical: address(s.GoogleCanonical), UserCanonical: address(s.UserCanonical), LastCrawledAt: parseTime(s.LastCrawlTime),
		}
		return true, nil
	})
	return found, err
}

// SubmitSitemap tells the Search Console of a sitemap of a property.
func (c *Client) SubmitSitemap(ctx context.Context, siteURL, feedURL string) error {
	return c.call(ctx, call{api: searchConsoleAPI, site: siteURL, timeout: c.endpoints.opts.Timeout}, func(ctx context.Context, auth authorize) (bool, error) {
		r := c.endpoints.searchConsole.Sitemaps.Submit(siteURL, feedURL).Context(ctx)
		auth(r.Header())
		return true, r.Do()
	})
}

// Permission is what the service account may do with a property.
type Permission string

// The permissions.
const (
	Owner          Permission = "siteOwner"
	FullUser       Permission = "siteFullUser"
	RestrictedUser Permission = "siteRestrictedUser"
	UnverifiedUser Permission = "siteUnverifiedUser"
)

// The Search Console writes permissions as above. Its description names them otherwise.
var permissions = map[string]Permission{
	"siteOwner": Owner, "siteFullUser": FullUser, "siteRestrictedUser": RestrictedUser, "siteUnverifiedUser": UnverifiedUser,
	"SITE_OWNER": Owner, "SITE_FULL_USER": FullUser, "SITE_RESTRICTED_USER": RestrictedUser, "SITE_UNVERIFIED_USER": UnverifiedUser,
}

// Site asks the Search Console for the permission on a property. One that the service
// account does not see is an error of the kind engine.NotOwner.
func (c *Client) Site(ctx context.Context, siteURL string) (p Permission, err error) {
	err = c.call(ctx, call{api: searchConsoleAPI, site: siteURL, timeout: c.endpoints.opts.Timeout}, func(ctx context.Context, auth authorize) (bool, error) {
		r := c.endpoints.searchConsole.Sites.Get(siteURL).Context(ctx)
		auth(r.Header())
		answer, err := r.Do()
		if err != nil || answer == nil {
			return false, err
		}
		p = permissions[answer.PermissionLevel]
		return p != "", nil
	})
	return p, err
}

// authorize sets the access token in the header of a request.
type authorize func(http.Header)

// call says what a request is, for its limits and the texts of its errors.
type call struct {
	api     api
	site    string // the property; "" = the request does not name it
	timeout time.Duration
	absent  bool // 404 is an answer
}

// call makes one request. do reports whether its answer has what was asked for.
func (c *Client) call(ctx context.Context, r call, do func(context.Context, authorize) (bool, error)) error {
	token, err := c.tokens.get(ctx, 0)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	asking, attempt := engine.Begin(ctx)
	ok, err := do(asking, func(h http.Header) { h.Set("Authorization", "Bearer "+token) })
	if err == nil && ok {
		return nil
	}
	failed := c.classify(ctx, r, attempt, token, err)
	if failed == nil {
		return nil
	}
	if failed.Status == http.StatusUnauthorized {
		c.tokens.drop(token)
	}
	return failed
}

const maxWord = 200 // runes

// word is a state that Google names. Its unspecified ones are unknown.
func word(s string) string {
	if s = models.Truncate(models.CleanLine(s), maxWord); unspecified[s] {
		return ""
	}
	return s
}

var unspecified = map[string]bool{
	"VERDICT_UNSPECIFIED": true, "ROBOTS_TXT_STATE_UNSPECIFIED": true, "INDEXING_STATE_UNSPECIFIED": true, "PAGE_FETCH_STATE_UNSPECIFIED": true,
}

// address is a URL that Google names; "" if it is too long to keep.
func address(s string) string {
	if s = models.CleanLine(s); len(s) > models.MaxURL {
		return ""
	}
	return s
}

// parseTime reads a time of Google; zero if it is none.
func parseTime(s string) models.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.Year() < 1970 {
		return models.Time{}
	}
	return models.At(t)
}
