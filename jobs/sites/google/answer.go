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
	"google.golang.org/api/googleapi"

	"linkwatch/jobs/sites/engine"
	"linkwatch/models/sites"
)

const oauthName = "Google's token endpoint"

// api is one of Google's APIs.
type api struct {
	name, host string
}

// The APIs, with the names that they have in Google Cloud.
var (
	indexingAPI      = api{"Web Search Indexing API", "indexing.googleapis.com"}
	searchConsoleAPI = api{"Google Search Console API", "searchconsole.googleapis.com"}
)

// classify is the error of a request; nil if the answer says that there is nothing and
// that is an answer.
func (c *Client) classify(ctx context.Context, r call, attempt *engine.Attempt, token string, err error) *engine.Error {
	g, ok := errors.AsType[*googleapi.Error](err)
	if !ok {
		return attempt.Failure(ctx, "Google", err)
	}
	status := attempt.StatusCode() // what the body says of it is not asked
	a := read(g)
	said := engine.Said(g.Message, token)
	if e := attempt.Status("Google", status, said); e != nil && e.Kind == engine.Unavailable {
		e.RetryAfter = max(e.RetryAfter, a.retryAfter)
		return e
	}
	e := &engine.Error{Status: status, RetryAfter: max(attempt.RetryAfter(), a.retryAfter)}
	switch {
	case a.has("accessNotConfigured", "SERVICE_DISABLED"):
		c.disabled(e, r)
	case status == http.StatusTooManyRequests,
		status == http.StatusForbidden && a.has("rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded", "RATE_LIMIT_EXCEEDED"):
		limited(e, a, said)
	case status == http.StatusUnauthorized:
		e.Kind, e.Cause = engine.Credentials, "Credentials refused"
		e.Text = engine.With("Google refused the access token of the service account.", said)
		e.Fix = "Test the credentials. If this goes on, add a new key of the service account."
	case status == http.StatusForbidden && a.has("ACCESS_TOKEN_SCOPE_INSUFFICIENT", "insufficientPermissions", "CONSUMER_INVALID", "CONSUMER_SUSPENDED", "USER_PROJECT_DENIED"):
		e.Kind, e.Cause = engine.Credentials, "Credentials refused"
		e.Text = engine.With("Google refused the service account or its project.", said)
		e.Fix = "Check in Google Cloud that the project " + c.account.ProjectID + " and the service account are active."
	case !a.json && status != http.StatusNotFound:
		return attempt.Failure(ctx, "Google", nil)
	case status == http.StatusForbidden,
		r.site != "" && a.json && (status == http.StatusNotFound || status == http.StatusBadRequest && strings.Contains(g.Message, "Search Console site URL")):
		c.notOwner(e, r, said)
	case status == http.StatusNotFound && a.json && r.absent:
		return nil
	case status == http.StatusNotFound:
		e.Kind, e.Cause = engine.NotFound, "Not found"
		e.Text = engine.With("Google does not know what was asked for (status 404).", said)
		e.Fix = "Check the endpoints of Google in the settings."
	case status < http.StatusBadRequest:
		return attempt.Failure(ctx, "Google", nil)
	default:
		e.Kind, e.Cause = engine.Refused, "Refused by Google"
		e.Text = engine.With("Google refused the request.", said)
		e.Fix = "Check the URL. Linkwatch does not send it again as it is."
	}
	return e
}

// disabled is the error of an API that is not enabled.
func (c *Client) disabled(e *engine.Error, r call) {
	e.Kind, e.Cause = engine.APIDisabled, r.api.name+" not enabled"
	e.Text = "The " + r.api.name + " is not enabled in the Google project " + c.account.ProjectID + "."
	e.Fix = "Enable it and wait a few minutes: https://console.cloud.google.com/apis/library/" + r.api.host + "?project=" + c.account.ProjectID
}

// limited is the error of a quota that is used up.
func limited(e *engine.Error, a answer, said string) {
	e.Kind, e.Daily = engine.RateLimited, a.daily
	if a.daily {
		e.Cause, e.Fix = "Daily quota used up", "Linkwatch goes on when the quota is reset at midnight Pacific time."
		e.Text = engine.With("Google's quota of the day is used up.", said)
		return
	}
	e.Cause, e.Fix = "Rate limited", "Linkwatch tries again later."
	e.Text = engine.With("Google allows no more requests for now.", said)
}

// notOwner is the error of a service account without rights to a property.
func (c *Client) notOwner(e *engine.Error, r call, said string) {
	e.Kind, e.Cause = engine.NotOwner, "Not an owner of the property"
	if r.site == "" {
		e.Text = engine.With("Google could not verify that the service account owns this page.", said)
		e.Fix = "In Search Console, add " + c.account.ClientEmail + " as an owner of the property: Settings > Users and permissions. " +
			"A domain property (sc-domain:example.com) and a URL prefix (https://example.com/) have separate users."
		return
	}
	e.Text = engine.With("The service account has no rights to the property "+r.site+".", said)
	e.Fix = "In Search Console, add " + c.account.ClientEmail + " as an owner of " + r.site + ": Settings > Users and permissions."
	if other := otherForm(r.site); other != "" {
		e.Fix += " If Search Console has the property as " + other + ", use that one in Linkwatch: the two are separate."
	}
}

// otherForm is a property in its other form: a domain as a URL prefix, and the reverse.
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

// answer is what is read of an error that Google sent.
type answer struct {
	json       bool // it is in the format of Google's APIs
	reasons    []string
	daily      bool
	retryAfter time.Duration
}

func (a answer) has(reasons ...string) bool {
	return slices.ContainsFunc(reasons, func(reason string) bool { return slices.Contains(a.reasons, reason) })
}

// read reads the reasons of an error: those of the older format and the details of the
// newer one. Google sends either or both.
func read(g *googleapi.Error) answer {
	a := answer{json: g.Message != "" || len(g.Errors) > 0}
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
				a.retryAfter = engine.Pause(wait)
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

// noToken is the error of a token request without an answer that can be read. No quota
// is spent by it, so it is never of the kind engine.NoAnswer.
func noToken(ctx context.Context, attempt *engine.Attempt, err error) *engine.Error {
	e := attempt.Failure(ctx, oauthName, err)
	if e.Lost() {
		e.Kind, e.Text = engine.Unavailable, oauthName+" does not answer."
	}
	return e
}

// tokenRefused is the error of a token request that was answered with an error.
func tokenRefused(ctx context.Context, attempt *engine.Attempt, refused *oauth2.RetrieveError) *engine.Error {
	status := refused.Response.StatusCode
	var body struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	unread := json.Unmarshal(refused.Body, &body) != nil || body.Error == ""
	said := engine.Said(body.Description)
	if e := attempt.Status(oauthName, status, said); e != nil {
		return e
	}
	if unread {
		return noToken(ctx, attempt, nil)
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
		e.Text, e.Fix = "Google does not know the service account: it was deleted.", "Add the key of another service account."
	case about("timeframe", "short-lived", "iat", "expired"):
		e.Text, e.Fix = "Google refused the request because the clock of this server is wrong.", "Set the clock of this server, for example by NTP."
	case body.Error == "invalid_grant" && about("signature"):
		e.Text, e.Fix = "Google does not know the key of the service account: it was deleted or replaced.", newKey
	case body.Error == "invalid_grant":
		e.Text, e.Fix = "Google refused the key of the service account.", "Check the clock of this server. If it is right, the key was deleted: add a new JSON key."
	default:
		e.Text, e.Fix = "Google refused the service account.", newKey
	}
	e.Text = engine.With(e.Text, said)
	return e
}
