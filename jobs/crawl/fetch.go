package crawl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/outbound"
)

type fetched struct {
	crawl.Result
	delay      time.Duration // between two requests to the host
	retryAfter time.Duration // from Retry-After
	wait       time.Duration // no request was sent; the host may be requested after this time
	timedOut   bool
	Refused    bool // robots.txt disallows the URL; no request was sent
	cut        bool // it was cancelled without a result
	noRobots   bool // robots.txt is unavailable; no request for the URL was sent
}

// label returns the outcome for the metrics.
func (f fetched) label() string {
	switch {
	case f.Refused:
		return "refused"
	case f.Status == crawl.EntryFailed:
		return "failed"
	case f.Status == crawl.EntryPending && f.RedirectTo == "":
		return "retried"
	case f.RedirectTo != "":
		return "redirected"
	}
	return "done"
}

// fetch fetches an entry. A panic while parsing the page fails the entry and the execution.
func (q *queue) fetch(ctx context.Context, e crawl.Entry) (f fetched) {
	f.Result = crawl.Result{Entry: e, Status: crawl.EntryDone}
	f.delay = e.Crawl.RateLimit
	defer func() {
		if p := recover(); p != nil {
			f.Status, f.Reason, f.Stack = crawl.EntryFailed, fmt.Sprint("panic: ", p), string(debug.Stack())
			q.log.Error("parse page panicked", "panic", p, "stack", f.Stack)
		}
	}()
	if q.robots != nil {
		v, err := q.robots.Check(ctx, e.URL)
		if err != nil {
			f.cut = true
			return f
		}
		f.delay = max(f.delay, v.Delay)
		if !v.Allowed {
			f.refuse(v, q.now())
			return f
		}
		if v.Fetched && f.delay > 0 {
			f.wait = f.delay
			return f
		}
	}
	started := time.Now()
	res, err := q.client.Fetch(ctx, q.request(e))
	if err != nil {
		f.failed(ctx, err, q.now())
		return f
	}
	f.retryAfter = res.RetryAfter
	q.read(ctx, &f, res, time.Since(started))
	return f
}

func (q *queue) now() models.Time { return q.store.Now() }

// request returns the request for an entry. It is conditional if the page is known.
func (q *queue) request(e crawl.Entry) outbound.Request {
	r := outbound.Request{URL: e.URL, Until: binary, IfNoneMatch: e.ETag, IfModifiedSince: e.LastModified, Cookies: e.Cookies}
	if q.opts.RandomUserAgent {
		r.UserAgent = outbound.RandomUserAgent()
	}
	return r
}

const sniffed = 512 // bytes that http.DetectContentType looks at

// binary stops reading a body that is not text, regardless of its Content-Type.
func binary(body []byte) bool { return len(body) >= sniffed && !isText(body) }

func isText(body []byte) bool { return strings.HasPrefix(http.DetectContentType(body), "text/") }

// refuse records that robots.txt disallows an entry.
func (f *fetched) refuse(v outbound.Verdict, now models.Time) {
	f.Refused, f.Reason, f.Status = true, v.Reason, crawl.EntryFailed
	if v.Temporary { // after several failures the other URLs of the host fail too
		f.noRobots, f.Unreachable, f.retryAfter = true, !v.Responded, time.Minute
		f.retry(v.Reason)
	}
	f.LogLine = crawl.FormatLogLine(now, "warn", "not fetched", "error", v.Reason, "url", lastURL(f.Entry.URL))
}

// retry requeues the entry, up to maxAttempts. Start pages are not requeued, because the whole job
// is retried.
func (f *fetched) retry(reason string) {
	f.Status, f.Reason = crawl.EntryPending, reason
	if f.Entry.IsStartPage() || f.Entry.Attempts+1 >= maxAttempts {
		f.Status = crawl.EntryFailed
	}
}

// failed handles a request without a response.
func (f *fetched) failed(ctx context.Context, err error, now models.Time) {
	e, ok := errors.AsType[*outbound.Error](err)
	switch {
	case ctx.Err() != nil:
		f.cut = true
		return
	case !ok:
		f.Status, f.Reason = crawl.EntryFailed, "request failed"
	case e.Kind == outbound.KindThrottled || e.Kind == outbound.KindBusy:
		f.wait = max(e.RetryAfter, failPause)
		return
	case e.Kind == outbound.KindBlocked || e.Kind == outbound.KindInvalid || e.Kind == outbound.KindProtocol:
		f.Status, f.Reason = crawl.EntryFailed, e.Error()
	default:
		f.Unreachable, f.timedOut, f.Broken = true, e.Kind == outbound.KindTimeout, true
		f.retry(e.Error())
	}
	f.LogLine = crawl.FormatLogLine(now, "warn", "not fetched", "error", f.Reason, "attempt", f.Entry.Attempts+1, "url", lastURL(f.Entry.URL))
}

func (q *queue) read(ctx context.Context, f *fetched, res *outbound.Response, duration time.Duration) {
	e, status := f.Entry, res.StatusCode
	switch {
	case status == http.StatusNotModified:
		q.unchanged(ctx, f)
	case isRedirect(status) && q.opts.FollowRedirects:
		q.redirect(ctx, f, res)
	case status == http.StatusTooManyRequests || status >= http.StatusInternalServerError:
		f.retry(fmt.Sprintf("status %d", status))
		f.Broken = status != http.StatusTooManyRequests
		if f.Status == crawl.EntryFailed {
			f.Page = q.page(e, res)
		}
	case status >= http.StatusBadRequest:
		f.Status, f.Reason, f.Page = crawl.EntryFailed, fmt.Sprintf("status %d", status), q.page(e, res)
		f.Broken = status != http.StatusUnauthorized && status != http.StatusForbidden // they may exist for other users
	default:
		f.Page = q.page(e, res)
		if status < http.StatusMultipleChoices {
			q.content(ctx, f, res)
		}
	}
	level, what := "info", "fetched"
	facts := []any{"status", status, "depth", e.Depth, "links", len(f.Links), "ms", int(duration.Milliseconds())}
	if f.RedirectTo != "" {
		facts = append(facts, "to", lastURL(f.RedirectTo))
	}
	if f.Reason != "" {
		level = "warn"
		facts = append(facts, "error", f.Reason)
	}
	f.LogLine = crawl.FormatLogLine(q.now(), level, what, append(facts, "url", lastURL(e.URL))...)
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// redirect requeues the entry with another URL, which is fetched when its host is claimed and by its
// robots.txt. After a permanent redirect the old page is gone.
func (q *queue) redirect(ctx context.Context, f *fetched, res *outbound.Response) {
	e := f.Entry
	to, ok := crawl.Normalize(res.Location)
	_, err := models.ParseURL("url", to)
	switch {
	case res.Location == "" || !ok || err != nil:
		f.Status, f.Broken, f.Reason = crawl.EntryFailed, true, fmt.Sprintf("status %d without a valid Location", res.StatusCode)
		return
	case e.Redirects >= q.opts.MaxRedirects, to == e.URL && res.Cookies() == e.Cookies:
		f.Status, f.Broken, f.Reason = crawl.EntryFailed, true, crawl.ReasonRedirects
		return
	case !e.Crawl.Allows(to):
		f.Status, f.Reason = crawl.EntryFailed, crawl.ReasonOutside
		f.Discovered = append(f.Discovered, crawl.DiscoveredLink{SourceSeq: e.Crawl.Source, URL: to, FoundOn: e.URL})
	default:
		f.Status, f.RedirectTo, f.Cookies = crawl.EntryPending, to, res.Cookies()
	}
	if to == e.URL { // the page requires a cookie
		return
	}
	if res.StatusCode == http.StatusMovedPermanently || res.StatusCode == http.StatusPermanentRedirect {
		f.MovedStatus = res.StatusCode
		return
	}
	q.redirectedTemporarily(ctx, f)
}

// refresh handles a page that a browser leaves for another URL like a temporary redirect.
func (q *queue) refresh(ctx context.Context, f *fetched, res *outbound.Response, to string) {
	redirect := *res
	redirect.StatusCode, redirect.Location = http.StatusFound, to
	f.Page = nil
	q.redirect(ctx, f, &redirect)
}

// redirectedTemporarily follows the stored links of a page after a temporary redirect. Otherwise
// pages that only this page links to would count as gone.
func (q *queue) redirectedTemporarily(ctx context.Context, f *fetched) {
	p, ok, err := q.store.StoredPage(ctx, f.Entry.Crawl.Source, f.Entry.URL)
	if err != nil {
		f.RedirectTo = ""
		f.retry("stored page could not be read")
		return
	}
	f.TemporaryRedirect = true
	if ok && p.GoneAt.IsZero() && p.DeletedAt.IsZero() {
		q.followStored(f, p)
	}
}

// unchanged handles status 304. It follows the stored links of the page and its canonical URL.
func (q *queue) unchanged(ctx context.Context, f *fetched) {
	e := f.Entry
	p, ok, err := q.store.StoredPage(ctx, e.Crawl.Source, e.URL)
	if err != nil || !ok { // the page was deleted
		f.retry("status 304 for an unknown page")
		return
	}
	p.CrawlSeq, p.FetchedAt = e.CrawlSeq, q.now()
	f.Page, f.Unchanged, f.TextHash = &p, true, p.ContentHash
	q.followStored(f, p)
}

func (q *queue) followStored(f *fetched, p crawl.Page) {
	q.followCanonical(f, p)
	if f.Entry.Depth >= f.Entry.Crawl.MaxDepth {
		return
	}
	for l, err := range p.EachLink() {
		if err != nil {
			q.log.Error("read stored links failed", "error", err)
			return
		}
		q.follow(f, l.URL, f.Entry.Depth+1)
	}
}

// page returns the page of a response, without content.
func (q *queue) page(e crawl.Entry, res *outbound.Response) *crawl.Page {
	media, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	return &crawl.Page{
		SourceSeq: e.Crawl.Source, CrawlSeq: e.CrawlSeq, URL: e.URL, StatusCode: res.StatusCode, FetchedAt: q.now(),
		ContentType: models.Truncate(models.CleanLine(strings.ToLower(strings.TrimSpace(media))), 100),
	}
}
