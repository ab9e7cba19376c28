package crawl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"linkwatch/jobs/crawl/content"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/outbound"
)

// fetched is what one request came to.
type fetched struct {
	crawl.Result
	delay       time.Duration // between two requests to the host
	retryAfter  time.Duration // the pause that the host asked for
	wait        time.Duration // nothing was sent: the host asked for a pause that lasts this long
	unreachable bool          // no response came
	timedOut    bool
	Refused     bool // by robots.txt: nothing was sent
	cut         bool // it was cancelled, and found nothing
}

// label is the outcome for the metrics.
func (f fetched) label() string {
	switch {
	case f.Refused:
		return "refused"
	case f.Status == crawl.EntryFailed:
		return "failed"
	case f.Status == crawl.EntryPending && f.To == "":
		return "retried"
	case f.To != "":
		return "redirected"
	}
	return "done"
}

// fetch fetches an entry. A panic while its page is read fails the entry, and with it
// the execution.
func (q *queue) fetch(ctx context.Context, e crawl.Entry) (f fetched) {
	f.Result = crawl.Result{Entry: e, Status: crawl.EntryDone}
	f.delay = e.Crawl.RateLimit
	defer func() {
		if p := recover(); p != nil {
			f.Status, f.Reason, f.Stack = crawl.EntryFailed, fmt.Sprint("panic: ", p), string(debug.Stack())
			q.log.Error("reading a page panicked", "panic", p, "stack", f.Stack)
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
		if v.Asked && f.delay > 0 {
			f.wait = f.delay
			return f
		}
	}
	began := time.Now()
	res, err := q.client.Fetch(ctx, q.request(e))
	if err != nil {
		f.failed(ctx, err, q.now())
		return f
	}
	f.retryAfter = res.RetryAfter
	q.read(ctx, &f, res, time.Since(began))
	return f
}

func (q *queue) now() models.Time { return q.store.Now() }

// request is the request for an entry. One that may not be changed is asked for
// conditionally.
func (q *queue) request(e crawl.Entry) outbound.Request {
	r := outbound.Request{URL: e.URL, Until: binary, IfNoneMatch: e.ETag, IfModifiedSince: e.LastModified}
	if q.opts.RandomUserAgent {
		r.UserAgent = outbound.RandomUserAgent()
	}
	return r
}

const sniffed = 512 // bytes that http.DetectContentType looks at

// binary ends the reading of a body that is not text, whatever the server calls it.
func binary(body []byte) bool { return len(body) >= sniffed && !isText(body) }

func isText(body []byte) bool { return strings.HasPrefix(http.DetectContentType(body), "text/") }

// refuse is what robots.txt says about an entry.
func (f *fetched) refuse(v outbound.Verdict, now models.Time) {
	f.Refused, f.Reason, f.Status = true, v.Reason, crawl.EntryFailed
	if v.Temporary { // after some failures in a row the rest of the host's URLs fail as well
		f.unreachable, f.retryAfter = true, time.Minute
		f.again(v.Reason)
	}
	f.Line = crawl.LogLine(now, "warn", "not fetched", "error", v.Reason, "url", lastURL(f.Entry.URL))
}

// again makes the entry be tried again, unless it was tried often enough. A start
// page is not: its job is tried again as a whole.
func (f *fetched) again(reason string) {
	f.Status, f.Reason = crawl.EntryPending, reason
	if f.Entry.Start() || f.Entry.Attempts+1 >= maxAttempts {
		f.Status = crawl.EntryFailed
	}
}

// failed is a fetch without a response.
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
		f.unreachable, f.timedOut, f.Broken = true, e.Kind == outbound.KindTimeout, true
		f.again(e.Error())
	}
	f.Line = crawl.LogLine(now, "warn", "not fetched", "error", f.Reason, "attempt", f.Entry.Attempts+1, "url", lastURL(f.Entry.URL))
}

// read makes a result of a response.
func (q *queue) read(ctx context.Context, f *fetched, res *outbound.Response, took time.Duration) {
	e, status := f.Entry, res.StatusCode
	switch {
	case status == http.StatusNotModified:
		q.unchanged(ctx, f)
	case isRedirect(status) && q.opts.FollowRedirects:
		f.redirect(res, q.opts.MaxRedirects)
	case status == http.StatusTooManyRequests || status >= http.StatusInternalServerError:
		f.again(fmt.Sprintf("status %d", status))
		f.Broken = status != http.StatusTooManyRequests
		if f.Status == crawl.EntryFailed {
			f.Page = q.page(e, res)
		}
	case status >= http.StatusBadRequest:
		f.Status, f.Reason, f.Page = crawl.EntryFailed, fmt.Sprintf("status %d", status), q.page(e, res)
		f.Broken = status != http.StatusUnauthorized && status != http.StatusForbidden // others may see it
	default:
		f.Page = q.page(e, res)
		if status < http.StatusMultipleChoices {
			q.content(f, res)
		}
	}
	level, what := "info", "fetched"
	facts := []any{"status", status, "depth", e.Depth, "links", len(f.Links), "ms", int(took.Milliseconds())}
	if f.To != "" {
		facts = append(facts, "to", lastURL(f.To))
	}
	if f.Reason != "" {
		level = "warn"
		facts = append(facts, "error", f.Reason)
	}
	f.Line = crawl.LogLine(q.now(), level, what, append(facts, "url", lastURL(e.URL))...)
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// redirect sends the entry to another URL. It is fetched there like any other: by
// the rules of that host, and in its turn.
func (f *fetched) redirect(res *outbound.Response, most int) {
	e := f.Entry
	to, ok := crawl.Normalize(res.Location)
	u, err := models.ParseURL("url", to)
	switch {
	case res.Location == "" || !ok || err != nil:
		f.Status, f.Broken, f.Reason = crawl.EntryFailed, true, fmt.Sprintf("status %d without a valid Location", res.StatusCode)
	case e.Redirects >= most, to == e.URL: // a page that needs a cookie, perhaps
		f.Status, f.Broken, f.Reason = crawl.EntryFailed, true, crawl.ReasonRedirects
	case !e.Crawl.Allows(u.Host):
		f.Status, f.Reason, f.Moved = crawl.EntryFailed, crawl.ReasonOutside, res.StatusCode
		f.Discovered = append(f.Discovered, crawl.Discovered{SourceSeq: e.Crawl.Source, URL: to, FoundOn: e.URL})
	default:
		f.Status, f.To, f.Moved = crawl.EntryPending, to, res.StatusCode
	}
}

// unchanged is a page that is as it was when it was fetched last. Its links are
// followed as they were then.
func (q *queue) unchanged(ctx context.Context, f *fetched) {
	e := f.Entry
	p, ok, err := q.store.Known(ctx, e.Crawl.Source, e.URL)
	if err != nil || !ok { // deleted meanwhile
		f.again("status 304 for a page that is not known")
		return
	}
	p.CrawlSeq, p.FetchedAt = e.CrawlSeq, q.now()
	f.Page, f.Unchanged, f.Hash = &p, true, p.ContentHash
	if e.Depth >= e.Crawl.MaxDepth {
		return
	}
	for l, err := range p.EachLink() {
		if err != nil {
			q.log.Error("reading the links of a stored page failed", "error", err)
			break
		}
		q.follow(f, l.URL, e.Depth+1)
	}
}

// page is a response as it is stored, without what its content says.
func (q *queue) page(e crawl.Entry, res *outbound.Response) *crawl.Page {
	media, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	return &crawl.Page{
		SourceSeq: e.Crawl.Source, CrawlSeq: e.CrawlSeq, URL: e.URL, StatusCode: res.StatusCode, FetchedAt: q.now(),
		ContentType: models.Truncate(models.CleanLine(strings.ToLower(strings.TrimSpace(media))), 100),
	}
}

// content reads the content of a page: what is kept of it, and the URLs to follow.
func (q *queue) content(f *fetched, res *outbound.Response) {
	e := f.Entry
	if !isText(res.Body) || !strings.HasPrefix(http.DetectContentType(res.Body), "text/html") && !strings.Contains(f.Page.ContentType, "html") {
		return
	}
	began := time.Now()
	defer func() { f.CPU = time.Since(began) }()
	p := content.Extract(res.Body, e.URL, res.Header, content.Options{Agent: q.opts.Agent, Readability: q.opts.Readability})
	f.Hash = p.Hash
	f.Feeds = q.feedsOf(e, p.Feeds)
	follow := e.Depth < e.Crawl.MaxDepth && !p.NoFollow
	if to, ok := crawl.Normalize(p.Canonical); p.Canonical != "" && ok && to != e.URL && !e.Start() && q.allows(e, to) {
		// The page is another URL's: that one is fetched in its place.
		f.Page, f.Moved, f.Reason = nil, res.StatusCode, "canonical is another URL"
		q.follow(f, to, e.Depth)
	} else {
		describe(f.Page, p)
		if q.opts.Archive != nil && res.StatusCode == http.StatusOK {
			q.opts.Archive(Copy{Source: e.Crawl.Source, URL: e.URL, Body: res.Body, At: f.Page.FetchedAt})
		}
	}
	q.links(f, p.Page, follow)
	if f.Page != nil && f.Page.Links != nil && !res.Truncated {
		f.Page.ETag, f.Page.LastModified = validators(res.Header)
	}
}

// describe makes a page of what its content says.
func describe(to *crawl.Page, p content.Document) {
	to.Title, to.Description, to.Language, to.NoIndex = p.Title, p.Description, p.Language, p.NoIndex
	to.OpenGraph, to.ContentHash, to.LinksFound = crawl.OpenGraph(p.OG), p.Hash, len(p.Links)
	to.Author, to.PublishedAt, to.ModifiedAt = p.Author, models.At(p.Published), models.At(p.Modified)
	to.Headings, to.JSONLD = strings.Join(p.Headings, "\n"), p.JSONLD
	to.Text, to.WordCount = crawl.Pack(p.Text), p.Words
}

// Limits of what is taken from a page, in bytes.
const (
	maxPageLinks = 1 << 20   // links that are followed: ten thousand of them unless they are very long
	maxKeptLinks = 128 << 10 // links that are kept with the page
)

// links takes the links of a page: those to follow, those that lead out of the allowed
// domains, and all within them as they are kept with the page.
func (q *queue) links(f *fetched, p outbound.Page, follow bool) {
	e, left := f.Entry, maxPageLinks
	var kept strings.Builder
	all := !p.LinksCut
	for _, l := range p.Links {
		if left -= len(l.URL) + len(l.Text); left < 0 {
			all = false
			break
		}
		to, ok := crawl.Normalize(l.URL)
		switch {
		case !ok:
			continue
		case !q.allows(e, to):
			if !q.store.InFrontier(-e.Crawl.Source, to) {
				f.Discovered = append(f.Discovered, crawl.Discovered{SourceSeq: e.Crawl.Source, URL: to, Text: l.Text, FoundOn: e.URL})
			}
			continue
		case follow:
			q.add(f, to, e.Depth+1)
		}
		if all = all && kept.Len()+len(to)+len(l.Text) < maxKeptLinks; all {
			kept.WriteString(to + "\t" + l.Text + "\n")
		}
	}
	if f.Page != nil && all {
		f.Page.Links = crawl.Pack(kept.String() + "\n")
	}
}

// validators are what a conditional request needs. They are kept only if all links of
// the page are, for a crawl that follows them although the page is unchanged.
func validators(h http.Header) (etag, modified string) {
	etag, modified = h.Get("ETag"), h.Get("Last-Modified")
	if len(etag)+len(modified) > 500 {
		return "", ""
	}
	return etag, modified
}

func (q *queue) allows(e crawl.Entry, url string) bool { return e.Crawl.Allows(hostOf(url)) }

// hostOf is the host of a URL as Normalize gives it, without port.
func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		rest = rest[:end]
	}
	if strings.HasPrefix(rest, "[") {
		host, _, _ := strings.Cut(rest[1:], "]")
		return host
	}
	host, _, _ := strings.Cut(rest, ":")
	return host
}

// follow puts a URL of a page into the frontier, if the crawl may go there.
func (q *queue) follow(f *fetched, url string, depth int) {
	if to, ok := crawl.Normalize(url); ok && q.allows(f.Entry, to) {
		q.add(f, to, depth)
	}
}

// add puts a URL that the crawl may fetch into the frontier.
func (q *queue) add(f *fetched, url string, depth int) {
	e := f.Entry
	if e.CrawlSeq == 0 || url == e.URL || q.store.InFrontier(e.CrawlSeq, url) {
		return
	}
	f.Links = append(f.Links, crawl.Found{
		Crawl: e.CrawlSeq, Source: e.Crawl.Source, URL: url, Depth: depth, Reason: crawl.TrapOf(url, q.now().Time),
	})
}
