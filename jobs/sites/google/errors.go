package google

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"linkwatch/jobs/sites/engine"
	"linkwatch/models/sites"
)

const oauthName = "Google's token endpoint"

type api struct {
	name, host string
}

// The APIs, with their names in Google Cloud.
var (
	indexingAPI      = api{"Web Search Indexing API", "indexing.googleapis.com"}
	searchConsoleAPI = api{"Google Search Console API", "searchconsole.googleapis.com"}
)

// classify returns the error of a failed request. It is nil if r accepts a 404 and that is the response.
func (c *Client) classify(ctx context.Context, r call, attempt *engine.Attempt, token string, err error) *engine.Error {
	g, ok := errors.AsType[*apiError](err)
	if !ok {
		return attempt.Failure(ctx, "Google", err)
	}
	status := attempt.StatusCode() // the status in the body is not used
	a := parseError(g)
	said := engine.SafeMessage(g.Message, token)
	if e := attempt.StatusError("Google", status, said); e != nil && e.Kind == engine.Unavailable {
		e.RetryAfter = max(e.RetryAfter, a.retryAfter)
		return e
	}
	e := &engine.Error{Status: status, RetryAfter: max(attempt.RetryAfter(), a.retryAfter)}
	switch {
	case a.has("accessNotConfigured", "SERVICE_DISABLED"):
		c.apiDisabled(e, r)
	case status == http.StatusTooManyRequests,
		status == http.StatusForbidden && a.has("rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded", "RATE_LIMIT_EXCEEDED"):
		quotaExceeded(e, a, said)
	case status == http.StatusUnauthorized:
		e.Kind, e.Cause = engine.Credentials, "Credentials refused"
		e.Text = engine.WithMessage("Google refused the access token of the service account.", said)
		e.Fix = "Test the credentials. If the error persists, add a new key of the service account."
	case status == http.StatusForbidden && a.has("ACCESS_TOKEN_SCOPE_INSUFFICIENT", "insufficientPermissions", "CONSUMER_INVALID", "CONSUMER_SUSPENDED", "USER_PROJECT_DENIED"):
		e.Kind, e.Cause = engine.Credentials, "Credentials refused"
		e.Text = engine.WithMessage("Google refused the service account or its project.", said)
		e.Fix = "Check in Google Cloud that the project " + c.account.ProjectID + " and the service account are active."
	case !a.json && status != http.StatusNotFound:
		return attempt.Failure(ctx, "Google", nil)
	case status == http.StatusForbidden,
		r.site != "" && a.json && (status == http.StatusNotFound || status == http.StatusBadRequest && strings.Contains(g.Message, "Search Console site URL")):
		c.notOwner(e, r, said)
	case status == http.StatusNotFound && a.json && r.notFoundOK:
		return nil
	case status == http.StatusNotFound:
		e.Kind, e.Cause = engine.NotFound, "Not found"
		e.Text = engine.WithMessage("Google responded with not found (status 404).", said)
		e.Fix = "Check the Google endpoints in the settings."
	case status < http.StatusBadRequest:
		return attempt.Failure(ctx, "Google", nil)
	default:
		e.Kind, e.Cause = engine.Refused, "Refused by Google"
		e.Text = engine.WithMessage("Google refused the request.", said)
		e.Fix = "Check the URL. Linkwatch does not retry this request."
	}
	return e
}

func (c *Client) apiDisabled(e *engine.Error, r call) {
	e.Kind, e.Cause = engine.APIDisabled, r.api.name+" not enabled"
	e.Text = "The " + r.api.name + " is not enabled in the Google project " + c.account.ProjectID + "."
	e.Fix = "Enable it and wait a few minutes: https://console.cloud.google.com/apis/library/" + r.api.host + "?project=" + c.account.ProjectID
}

func quotaExceeded(e *engine.Error, a errorDetails, said string) {
	e.Kind, e.Daily = engine.RateLimited, a.daily
	if a.daily {
		e.Cause, e.Fix = "Daily quota used up", "Linkwatch continues after the reset at midnight Pacific time."
		e.Text = engine.WithMessage("Google's daily quota is used up.", said)
		return
	}
	e.Cause, e.Fix = "Rate limited", "Linkwatch retries later."
	e.Text = engine.WithMessage("Google received too many requests.", said)
}

func (c *Client) notOwner(e *engine.Error, r call, said string) {
	e.Kind, e.Cause = engine.NotOwner, "Not an owner of the property"
	if r.site == "" {
		e.Text = engine.WithMessage("Google could not verify that the service account owns this page.", said)
		e.Fix = "In Search Console, add " + c.account.ClientEmail + " as an owner of the property: Settings > Users and permissions. " +
			"A domain property (sc-domain:example.com) and a URL prefix (https://example.com/) have separate users."
		return
	}
	e.Text = engine.WithMessage("The service account has no access to the property "+r.site+".", said)
	e.Fix = "In Search Console, add " + c.account.ClientEmail + " as an owner of " + r.site + ": Settings > Users and permissions."
	if other := otherForm(r.site); other != "" {
		e.Fix += " If the property in Search Console is " + other + ", use that one in Linkwatch: they are separate properties."
	}
}

// otherForm returns a domain property as URL prefix, and a URL prefix as domain property; "" = none.
func otherForm(siteURL string) string {
	p, err := sites.ParseProperty(siteURL)
	if err != nil {
		return ""
	}
	if p.Domain() {
		return p.Root()
	}
	domain, err := sites.ParseProperty("sc-domain:" + strings.TrimPrefix(p.Host(), "www."))
	if err != nil { // an IP address or a host without a dot
		return ""
	}
	return domain.SiteURL
}

type errorDetails struct {
	json       bool // in the format of Google's APIs
	reasons    []string
	daily      bool
	retryAfter time.Duration
}

func (a errorDetails) has(reasons ...string) bool {
	return slices.ContainsFunc(reasons, func(reason string) bool { return slices.Contains(a.reasons, reason) })
}

// parseError parses the reasons of an error, in the older and newer format. Google sends either or both.
func parseError(g *apiError) errorDetails {
	a := errorDetails{json: g.Message != "" || len(g.Errors) > 0}
	for _, item := range g.Errors {
		a.reasons = append(a.reasons, item.Reason)
	}
	for _, detail := range g.Details {
		d, _ := detail.(map[string]any)
		if reason, ok := d["reason"].(string); ok {
			a.reasons = append(a.reasons, reason)
		}
		if delay, ok := d["retryDelay"].(string); ok {
			if wait, err := time.ParseDuration(delay); err == nil {
				a.retryAfter = engine.ClampRetryAfter(wait)
			}
		}
		metadata, _ := d["metadata"].(map[string]any)
		limit, _ := metadata["quota_limit"].(string) // such as PublishRequestsPerDayPerProject
		unit, _ := metadata["quota_unit"].(string)   // such as 1/d/{project}
		a.daily = a.daily || strings.Contains(limit, "PerDay") || strings.Contains(unit, "/d/")
	}
	message := strings.ToLower(g.Message)
	a.daily = a.daily || a.has("dailyLimitExceeded") || strings.Contains(message, " per day") || strings.Contains(message, "daily limit")
	return a
}

// tokenUnavailable returns the error of a token request without a usable response. It is never of the kind engine.NoAnswer,
// since a token request uses no quota.
func tokenUnavailable(ctx context.Context, attempt *engine.Attempt, err error) *engine.Error {
	e := attempt.Failure(ctx, oauthName, err)
	if e.Lost() {
		e.Kind, e.Text = engine.Unavailable, oauthName+" did not respond."
	}
	return e
}

func tokenRefused(ctx context.Context, attempt *engine.Attempt, refused *oauth2.RetrieveError) *engine.Error {
	status := refused.Response.StatusCode
	var body struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	unread := json.Unmarshal(refused.Body, &body) != nil || body.Error == ""
	said := engine.SafeMessage(body.Description)
	if e := attempt.StatusError(oauthName, status, said); e != nil {
		return e
	}
	if unread {
		return tokenUnavailable(ctx, attempt, nil)
	}
	e := &engine.Error{Kind: engine.Credentials, Status: status, Cause: "Credentials refused"}
	description := strings.ToLower(body.Description)
	about := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(description, w) })
	}
	const newKey = "Add a new JSON key of the service account."
	switch {
	case strings.Contains(body.Error, "disabled") || about("disabled"):
		e.Text, e.Fix = "The service account is disabled.", "Enable it in Google Cloud, or add the key of another one."
	case about("account not found", "deleted", "invalid email"):
		e.Text, e.Fix = "The service account does not exist any more.", "Add the key of another service account."
	case about("timeframe", "short-lived", "iat", "expired"):
		e.Text, e.Fix = "Google refused the request: the clock of this server is wrong.", "Set the clock of this server, for example by NTP."
	case body.Error == "invalid_grant" && about("signature"):
		e.Text, e.Fix = "The key of the service account does not exist any more: it was deleted or replaced.", newKey
	case body.Error == "invalid_grant":
		e.Text, e.Fix = "Google refused the key of the service account.", "Check the clock of this server. If it is right, add a new JSON key."
	default:
		e.Text, e.Fix = "Google refused the service account.", newKey
	}
	e.Text = engine.WithMessage(e.Text, said)
	return e
}
