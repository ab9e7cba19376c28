package app

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/outbound"
)

// Fetcher is the links.Fetcher that asks the internet. It joins two packages
// that do not know each other: models/links says what it needs of a page, and
// outbound fetches it.
type Fetcher struct{ client *outbound.Client }

// NewFetcher makes a Fetcher of a client, which stays the caller's to close.
func NewFetcher(client *outbound.Client) Fetcher { return Fetcher{client} }

var _ links.Fetcher = Fetcher{}

// Fetch implements links.Fetcher. It reads of a page what the metadata needs,
// and of anything that is not text only enough to see that.
func (f Fetcher) Fetch(ctx context.Context, url string) (links.Page, error) {
	headEnd := outbound.NewHeadEnd()
	res, err := f.client.Fetch(ctx, outbound.Request{
		URL: models.RequestURL(url), MaxRedirects: links.FetchRedirects, Timeout: links.FetchTimeout,
		Until: func(body []byte) bool { return len(body) >= sniffed && !isText(body) || headEnd(body) },
		// Somebody waits for this page: a pause that only we imposed on its host does not keep it from them.
		Insist: true,
	})
	if err != nil {
		return links.Page{}, fetchError(err)
	}
	p := page(res)
	if isText(res.Body) { // a PDF may hold a <title> that is not its own
		m := outbound.ParseMetadata(res.Body, res.URL)
		p.Title, p.OpenGraph = m.Title, links.OpenGraph(m.OG)
	}
	return p, nil
}

// Probe implements links.Fetcher. A page is gone (404, 410) only if HEAD and
// GET agree: servers that mishandle HEAD are common. Otherwise
// the answer to GET is the one that counts.
func (f Fetcher) Probe(ctx context.Context, url string) (links.Page, error) {
	head, headErr := f.ask(ctx, http.MethodHead, url, nil)
	switch {
	case headErr == nil && head.StatusCode == http.StatusOK:
		return page(head), nil
	case headErr != nil && !aboutMethod(headErr):
		return links.Page{}, fetchError(headErr)
	}
	get, err := f.ask(ctx, http.MethodGet, url, func([]byte) bool { return true })
	switch {
	case err != nil && headErr == nil && kind(err) == outbound.KindThrottled:
		return page(head), nil // the answer to HEAD was a wish for a pause
	case err != nil:
		return links.Page{}, fetchError(err)
	case links.Gone(get.StatusCode) && (headErr != nil || !links.Gone(head.StatusCode)):
		return links.Page{}, &links.FetchError{Reason: "HEAD and GET disagree on whether it is gone"}
	}
	return page(get), nil
}

func (f Fetcher) ask(ctx context.Context, method, url string, until func([]byte) bool) (*outbound.Response, error) {
	return f.client.Fetch(ctx, outbound.Request{
		Method: method, URL: models.RequestURL(url), MaxRedirects: links.FetchRedirects, Timeout: links.FetchTimeout, Until: until,
	})
}

func page(res *outbound.Response) links.Page {
	return links.Page{Status: res.StatusCode, URL: res.URL, Permanent: res.Permanent()}
}

const sniffed = 512 // bytes that http.DetectContentType looks at

// isText says whether a body may be HTML or other text by what it looks like:
// what servers call their content is wrong too often.
func isText(body []byte) bool { return strings.HasPrefix(http.DetectContentType(body), "text/") }

// fetchError is an outbound error in the words of models/links.
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

// aboutMethod says whether a request that failed so may do better by GET.
func aboutMethod(err error) bool {
	switch kind(err) {
	case outbound.KindReset, outbound.KindProtocol, outbound.KindTimeout, outbound.KindRedirects:
		return true
	}
	return false
}
