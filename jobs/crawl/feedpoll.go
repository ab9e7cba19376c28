package crawl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"linkwatch/jobs/dispatch"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/outbound"
)

// feedPoll is a poll of a feed. Each attempt sends one request, because a redirect may go to another
// host.
type feedPoll struct {
	crawl.Poll
	at        string // URL of the next request
	moved     bool   // all redirects were permanent
	redirects int
	cookies   string        // that the redirects have set
	started   time.Time     // of the first attempt
	notBefore time.Time     // earliest time of the next request
	delay     time.Duration // between two requests to the host
	slow      bool          // the last request was slow
}

// setNext sets when the hosts of a poll may be requested again.
func (p *feedPoll) setNext(now models.Time) {
	for i := range p.Hosts {
		h := &p.Hosts[i]
		h.NextAt, h.DelayMS, h.LastAttemptAt, h.Slow = now.Add(max(p.delay, p.RetryAfter)), p.delay.Milliseconds(), now, p.slow
	}
}

// pause delays the next request.
func (p *feedPoll) pause(d time.Duration) dispatch.Outcome {
	p.notBefore = time.Now().Add(d)
	return dispatch.Outcome{Step: dispatch.Retry, After: min(d, pauseStep)}
}

func (p *feedPoll) fail(reason string) dispatch.Outcome {
	p.Outcome, p.Reason = crawl.PollFailed, reason
	return dispatch.Outcome{TimedOut: reason == timedOut}
}

// refused handles a request without a response.
func (p *feedPoll) refused(ctx context.Context, err error) dispatch.Outcome {
	e, ok := errors.AsType[*outbound.Error](err)
	switch {
	case ctx.Err() != nil:
		return dispatch.Outcome{Step: dispatch.Release}
	case !ok:
		return p.fail("request failed")
	case e.Kind == outbound.KindThrottled || e.Kind == outbound.KindBusy: // no request was sent
		return dispatch.Outcome{Step: dispatch.Release, After: max(e.RetryAfter, failPause)}
	}
	return p.fail(e.Error())
}

func (p *feedPoll) read(res *outbound.Response) dispatch.Outcome {
	status := res.StatusCode
	if isRedirect(status) {
		return p.redirect(res)
	}
	p.RetryAfter = res.RetryAfter
	switch {
	case status == http.StatusNotModified && p.Feed.ETag+p.Feed.LastModified != "":
		p.Outcome = crawl.PollUnchanged
	case status == http.StatusGone:
		p.Outcome, p.Reason = crawl.PollGone, "status 410"
	case status != http.StatusOK:
		return p.fail(fmt.Sprintf("status %d", status))
	default:
		feed, err := outbound.ParseFeed(res.Body, p.at, res.Truncated)
		if err != nil {
			return p.fail(err.Error())
		}
		p.Outcome, p.Title, p.Entries, p.Truncated = crawl.PollRead, feed.Title, feed.Entries, feed.Truncated
		if etag, modified := res.Header.Get("ETag"), res.Header.Get("Last-Modified"); len(etag)+len(modified) <= maxValidators {
			p.ETag, p.LastModified = strings.ToValidUTF8(etag, ""), strings.ToValidUTF8(modified, "")
		}
	}
	if p.moved && p.redirects > 0 && p.Outcome != crawl.PollGone {
		p.MovedTo = p.at
	}
	return dispatch.Outcome{}
}

// maxValidators is the maximum length of stored validators in bytes.
const maxValidators = 500

// redirect continues the poll at another URL, which may be on another host.
func (p *feedPoll) redirect(res *outbound.Response) dispatch.Outcome {
	to, ok := crawl.Normalize(res.Location)
	if res.Location == "" || !ok {
		return p.fail(fmt.Sprintf("status %d without a valid Location", res.StatusCode))
	}
	if p.redirects++; p.redirects > feedRedirects {
		return p.fail(crawl.ReasonRedirects)
	}
	p.moved = p.moved && (res.StatusCode == http.StatusMovedPermanently || res.StatusCode == http.StatusPermanentRedirect)
	wait := time.Duration(0)
	if models.HostPort(to) == models.HostPort(p.at) {
		wait = min(p.delay, hostWait) // the host is not claimed for longer
	}
	p.at, p.cookies = to, res.Cookies()
	return p.pause(wait)
}

// feedsOf returns the feeds that the start page of a crawl links to.
func (q *queue) feedsOf(e crawl.Entry, links []outbound.Link) (found []crawl.FoundFeed) {
	if !q.opts.FeedDiscovery || !e.IsStartPage() {
		return nil
	}
	for _, l := range links[:min(len(links), crawl.MaxFoundFeeds)] {
		if to, ok := crawl.Normalize(l.URL); ok {
			found = append(found, crawl.FoundFeed{Source: e.Crawl.Source, URL: to, Title: l.Text})
		}
	}
	return found
}
