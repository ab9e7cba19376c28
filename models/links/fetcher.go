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

// The limits within which a page must answer 200 for its link to be saved.
const (
	FetchRedirects = 4
	FetchTimeout   = 4 * time.Second
)

// Page is what a fetch of a link found.
type Page struct {
	Status    int
	URL       string // where it ended after redirects
	Permanent bool   // there were redirects, and each was a permanent one
	Title     string // the first of OpenGraph, Twitter card and <title>
	OpenGraph OpenGraph
}

// Fetcher gets pages from the web.
type Fetcher interface {
	// Fetch gets a page with its metadata, under FetchRedirects and
	// FetchTimeout. Any status is a Page; the error is a *FetchError.
	Fetch(ctx context.Context, url string) (Page, error)
	// Probe asks whether a page is there: HEAD, then GET if HEAD did not
	// answer 200. The Page has no metadata; the error is a *FetchError.
	Probe(ctx context.Context, url string) (Page, error)
}

// FetchError is why a page could not be had.
type FetchError struct {
	Reason     string        // short and stable, fit for strangers: "host not found"
	Blocked    bool          // the address may not be fetched at all
	Busy       bool          // nothing was sent, since too many pages are being fetched: it says nothing about the link
	RetryAfter time.Duration // Retry-After of the host or, with Busy, time until a retry; 0: unknown
	Err        error
}

func (e *FetchError) Error() string { return e.Reason }

func (e *FetchError) Unwrap() error { return e.Err }

// refusal is why what a fetch found cannot be saved; nil if it can.
func refusal(ctx context.Context, p Page, fetchErr error) error {
	switch {
	case fetchErr != nil && ctx.Err() != nil:
		return ctx.Err()
	case fetchErr != nil:
		return unresolvable(fetchErr)
	case p.Status != http.StatusOK:
		return &models.Error{
			Code:   models.CodeUnresolvable,
			Detail: "The page answered " + statusText(p.Status) + " instead of 200 OK.",
		}
	}
	return nil
}

// unresolvable is a failed fetch as the error of the request that asked for it.
func unresolvable(err error) error {
	fe, ok := errors.AsType[*FetchError](err)
	switch {
	case !ok:
		return fmt.Errorf("fetching a page: %w", err)
	case fe.Blocked:
		return &models.Error{
			Code:   models.CodeBlocked,
			Detail: "The address leads to a private or reserved network, which may not be fetched. The operator can allow it with OUTBOUND_ALLOW_CIDRS.",
			Err:    fe.Err,
		}
	case fe.Busy:
		return &models.Error{
			Code:       models.CodeUnavailable,
			Detail:     "Too many pages are being fetched right now. Try again in a few seconds.",
			RetryAfter: pauseOf(err),
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

// describe takes over what a page says of itself.
func (l *Link) describe(p Page) {
	l.FetchedTitle, l.OpenGraph = p.Title, p.OpenGraph
	if l.Title = l.OwnTitle; l.Title == "" {
		l.Title = l.FetchedTitle
	}
}

// The limits of fetched text, in runes.
const (
	maxDescription = 1000
	maxSiteName    = 200
	maxType        = 100
)

// clean bounds what a stranger wrote.
func (p Page) clean() Page {
	line := func(s string, limit int) string { return models.Truncate(models.CleanLine(s), limit) }
	p.Title = line(p.Title, MaxTitle)
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

// statusText is a status as people know it: "404 Not Found".
func statusText(code int) string {
	if t := http.StatusText(code); t != "" {
		return strconv.Itoa(code) + " " + t
	}
	return "status " + strconv.Itoa(code)
}
