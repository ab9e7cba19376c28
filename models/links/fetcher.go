package links

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"linkwatch/models"
)

// Limits of the request for a page.
const (
	FetchRedirects = 4
	FetchTimeout   = 4 * time.Second
)

// Page is a fetched page.
type Page struct {
	Status    int
	URL       string // after redirects, before a refresh
	Permanent bool   // there were redirects to URL, all of them permanent
	Title     string // of OpenGraph, else of the Twitter card, else <title>
	// Description is <meta name=description>, else that of OpenGraph.
	Description string
	OpenGraph   OpenGraph
}

// Fetcher requests pages.
type Fetcher interface {
	// Fetch requests a page with its metadata, within FetchRedirects and FetchTimeout. If a browser leaves the page
	// within 10 seconds, the status and the metadata are those of the next page. A response of any status is a Page.
	// The error is a *FetchError.
	Fetch(ctx context.Context, url string) (Page, error)
	// Probe requests a page without its metadata: with HEAD, then with GET if HEAD did not return 200. The error
	// is a *FetchError.
	Probe(ctx context.Context, url string) (Page, error)
}

// FetchError is the reason why a page could not be fetched.
type FetchError struct {
	Reason     string        // short fixed text without details of the network: "host not found"
	Blocked    bool          // the address is private or reserved
	Busy       bool          // no request was sent, because too many pages are being fetched
	RetryAfter time.Duration // Retry-After of the site or, if Busy, delay before a retry; 0: unknown
	Err        error         `json:"-"`
}

func (e *FetchError) Error() string { return e.Reason }

func (e *FetchError) Unwrap() error { return e.Err }

// refusal returns the error of a page that cannot be saved without Force, else nil.
func refusal(ctx context.Context, p Page, fetchErr error) error {
	switch {
	case fetchErr != nil && ctx.Err() != nil:
		return ctx.Err()
	case fetchErr != nil:
		return unresolvable(fetchErr)
	case p.Status != http.StatusOK:
		return &models.Error{
			Code:   models.CodeUnresolvable,
			Detail: "The page returned " + statusText(p.Status) + " instead of 200 OK.",
		}
	}
	return nil
}

// unresolvable converts the error of a fetch to one for the user.
func unresolvable(err error) error {
	fe, ok := errors.AsType[*FetchError](err)
	switch {
	case !ok:
		return fmt.Errorf("fetch page: %w", err)
	case fe.Blocked:
		return &models.Error{
			Code:   models.CodeBlocked,
			Detail: "URL is in a private or reserved network. The operator can allow it with OUTBOUND_ALLOW_CIDRS.",
			Err:    fe.Err,
		}
	case fe.Busy:
		return &models.Error{
			Code:       models.CodeUnavailable,
			Detail:     "Too many pages are being fetched right now. Try again in a few seconds.",
			RetryAfter: retryDelay(err),
			Err:        fe.Err,
		}
	case fe.RetryAfter > 0:
		return &models.Error{
			Code:       models.CodeUnresolvable,
			Detail:     "The site is rate limiting requests (429). Try again later.",
			RetryAfter: fe.RetryAfter,
			Err:        fe.Err,
		}
	}
	return &models.Error{
		Code:   models.CodeUnresolvable,
		Detail: "The page could not be fetched: " + fe.Reason + ".",
		Err:    fe.Err,
	}
}

func (l *Link) setMetadata(p Page) {
	l.FetchedTitle, l.FetchedDescription, l.OpenGraph = p.Title, p.Description, p.OpenGraph
	if l.Title = l.OwnTitle; l.Title == "" {
		l.Title = l.FetchedTitle
	}
}

// Limits of fetched text, in runes.
const (
	maxDescription = 1000
	maxSiteName    = 200
	maxType        = 100
)

// clean removes control characters from the text of a page and truncates it.
func (p Page) clean() Page {
	line := func(s string, limit int) string { return models.Truncate(models.CleanLine(s), limit) }
	p.Title, p.Description = line(p.Title, MaxTitle), line(p.Description, maxDescription)
	og := &p.OpenGraph
	og.Title = line(og.Title, MaxTitle)
	og.Description = line(og.Description, maxDescription)
	og.SiteName = line(og.SiteName, maxSiteName)
	og.Type = line(og.Type, maxType)
	if u, err := models.ParseURL("image", og.Image); err == nil {
		og.Image = u.Given
	} else {
		og.Image = ""
	}
	return p
}

// statusText returns a status with its name: "404 Not Found".
func statusText(code int) string {
	if t := http.StatusText(code); t != "" {
		return strconv.Itoa(code) + " " + t
	}
	return "status " + strconv.Itoa(code)
}
