package app

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/outbound"
)

// Fetcher is a links.Fetcher that fetches over HTTP. It connects models/links and outbound, which do not import each other.
type Fetcher struct{ client *outbound.Client }

// NewFetcher returns a Fetcher that uses a client. The caller closes the client.
func NewFetcher(client *outbound.Client) Fetcher { return Fetcher{client} }

var _ links.Fetcher = Fetcher{}

// Fetch implements links.Fetcher. It follows the refresh of a page, which counts as a redirect and toward the same time limit.
func (f Fetcher) Fetch(ctx context.Context, url string) (links.Page, error) {
	redirects, left := links.FetchRedirects, links.FetchTimeout
	res, err := f.get(ctx, models.RequestURL(url), "", redirects, left)
	if err != nil {
		return links.Page{}, fetchError(err)
	}
	p, m := page(res), res.Metadata()
	first := m
	for m.Refresh != "" {
		redirects -= len(res.Hops) + 1
		left -= res.Duration
		switch {
		case redirects < 0 && first.Shown: // a slideshow, or a page that reloads itself by a new URL
			p.Status, p.Title, p.Description, p.OpenGraph = http.StatusOK, first.Title, first.Description, links.OpenGraph(first.OG)
			return p, nil
		case redirects < 0:
			return links.Page{}, errTooManyRedirects
		case left <= 0:
			return links.Page{}, &links.FetchError{Reason: "timed out"}
		}
		if res, err = f.get(ctx, m.Refresh, res.Cookies(), redirects, left); err != nil {
			return links.Page{}, fetchError(err)
		}
		if redirects == 0 && res.StatusCode/100 == 3 { // the client does not count down to 0
			return links.Page{}, errTooManyRedirects
		}
		p.Status, m = res.StatusCode, res.Metadata()
	}
	p.Title, p.Description, p.OpenGraph = m.Title, m.Description, links.OpenGraph(m.OG)
	return p, nil
}

var errTooManyRedirects = &links.FetchError{Reason: "too many redirects"}

// get requests a page. It reads only the part that has its metadata, and less of a body that is not text.
func (f Fetcher) get(ctx context.Context, url, cookies string, redirects int, timeout time.Duration) (*outbound.Response, error) {
	headEnd := outbound.NewHeadEnd()
	return f.client.Fetch(ctx, outbound.Request{
		URL: url, Cookies: cookies, MaxRedirects: redirects, Timeout: timeout,
		Until:  func(body []byte) bool { return len(body) >= sniffLen && !isText(body) || headEnd(body) },
		Insist: true, // a user waits: ignore our own backoff for the host
	})
}

// Probe implements links.Fetcher. A page is gone (404, 410) only if HEAD and GET agree, because many servers handle HEAD
// wrong. Otherwise the response to GET counts.
func (f Fetcher) Probe(ctx context.Context, url string) (links.Page, error) {
	head, headErr := f.request(ctx, http.MethodHead, url, nil)
	switch {
	case headErr == nil && head.StatusCode == http.StatusOK:
		return page(head), nil
	case headErr != nil && !mayDependOnMethod(headErr):
		return links.Page{}, fetchError(headErr)
	}
	get, err := f.request(ctx, http.MethodGet, url, func([]byte) bool { return true })
	switch {
	case err != nil && headErr == nil && kind(err) == outbound.KindThrottled:
		return page(head), nil // the response to HEAD asked us to back off
	case err != nil:
		return links.Page{}, fetchError(err)
	case links.Gone(get.StatusCode) && (headErr != nil || !links.Gone(head.StatusCode)):
		return links.Page{}, &links.FetchError{Reason: "HEAD and GET disagree on whether it is gone"}
	}
	return page(get), nil
}

func (f Fetcher) request(ctx context.Context, method, url string, until func([]byte) bool) (*outbound.Response, error) {
	return f.client.Fetch(ctx, outbound.Request{
		Method: method, URL: models.RequestURL(url), MaxRedirects: links.FetchRedirects, Timeout: links.FetchTimeout, Until: until,
	})
}

func page(res *outbound.Response) links.Page {
	return links.Page{Status: res.StatusCode, URL: res.URL, Permanent: res.Permanent()}
}

const sniffLen = 512 // bytes that http.DetectContentType reads

// isText reports whether a body looks like text. The Content-Type header is often wrong.
func isText(body []byte) bool { return strings.HasPrefix(http.DetectContentType(body), "text/") }

// fetchError converts an error of outbound to one of models/links.
func fetchError(err error) *links.FetchError {
	fe := &links.FetchError{Reason: err.Error(), Err: err}
	if e, ok := errors.AsType[*outbound.Error](err); ok {
		fe.Blocked, fe.Busy, fe.RetryAfter = e.Kind == outbound.KindBlocked, e.Kind == outbound.KindBusy, e.RetryAfter
	}
	return fe
}

func kind(err error) outbound.Kind {
	if e, ok := errors.AsType[*outbound.Error](err); ok {
		return e.Kind
	}
	return ""
}

// mayDependOnMethod reports whether a request with another method may succeed after this error.
func mayDependOnMethod(err error) bool {
	switch kind(err) {
	case outbound.KindReset, outbound.KindProtocol, outbound.KindTimeout, outbound.KindRedirects:
		return true
	}
	return false
}
