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

// feedPoll is a poll of a feed on its way to be stored. Each attempt makes one request,
// since a redirect may lead to another host.
type feedPoll struct {
	crawl.Poll
	at        string // where the feed is asked for next
	moved     bool   // all redirects so far were permanent
	redirects int
	began     time.Time     // when it was first tried
	notBefore time.Time     // of the next request
	delay     time.Duration // between two requests to the host
	slow      bool          // the last request took long
}

// rest says when the hosts of a poll may be asked again.
func (p *feedPoll) rest(now models.Time) {
	for i := range p.Hosts {
		h := &p.Hosts[i]
		h.NextAt, h.DelayMS, h.TriedAt, h.Slow = now.Add(max(p.delay, p.RetryAfter)), p.delay.Milliseconds(), now, p.slow
	}
}

// pause puts the next request off.
func (p *feedPoll) pause(d time.Duration) dispatch.Outcome {
	p.notBefore = time.Now().Add(d)
	return dispatch.Outcome{Step: dispatch.Retry, After: min(d, pauseStep)}
}

func (p *feedPoll) fail(reason string) dispatch.Outcome {
	p.Outcome, p.Reason = crawl.PollFailed, reason
	return dispatch.Outcome{TimedOut: reason == timedOut}
}

// refused is a request without a response.
func (p *feedPoll) refused(ctx context.Context, err error) dispatch.Outcome {
	e, ok := errors.AsType[*outbound.Error](err)
	switch {
	case ctx.Err() != nil:
		return dispatch.Outcome{Step: dispatch.Release}
	case !ok:
		return p.fail("request failed")
	case e.Kind == outbound.KindThrottled || e.Kind == outbound.KindBusy: // nothing was sent
		return dispatch.Outcome{Step: dispatch.Release, After: max(e.RetryAfter, failPause)}
	}
	return p.fail(e.Error())
}

// read makes an outcome of a response.
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
		if res.Truncated {
			return p.fail(outbound.ErrFeedTooLong.Error())
		}
		feed, err := outbound.ParseFeed(res.Body, p.at)
		if err != nil {
			return p.fail(err.Error())
		}
		p.Outcome, p.Title, p.Entries = crawl.PollRead, feed.Title, feed.Entries
		if etag, modified := res.Header.Get("ETag"), res.Header.Get("Last-Modified"); len(etag)+len(modified) <= maxValidators {
			p.ETag, p.LastModified = strings.ToValidUTF8(etag, ""), strings.ToValidUTF8(modified, "")
		}
	}
	if p.moved && p.redirects > 0 && p.Outcome != crawl.PollGone {
		p.MovedTo = p.at
	}
	return dispatch.Outcome{}
}

// maxValidators is how many bytes of validators are kept.
const maxValidators = 500

// redirect sends the poll to another URL, which may be on any host.
func (p *feedPoll) redirect(res *outbound.Response) dispatch.Outcome {
	to, ok := crawl.Normalize(res.Location)
	if res.Location == "" || !ok {
		return p.fail(fmt.Sprintf("status %d without a valid Location", res.StatusCode))
	}
	if p.redirects++; p.redirects > feedRedirects {
		return p.fail(crawl.ReasonRedirects)
	}
	p.moved = p.moved && (res.StatusCode == http.StatusMovedPermanently || res.StatusCode == http.StatusPermanentRedirect)
	rest := time.Duration(0)
	if models.HostPort(to) == models.HostPort(p.at) {
		rest = min(p.delay, hostWait) // the host is not kept for longer
	}
	p.at = to
	return p.pause(rest)
}

// feedsOf are the feeds that the start page of a crawl names.
func (q *queue) feedsOf(e crawl.Entry, links []outbound.Link) (found []crawl.FoundFeed) {
	if !q.opts.FeedDiscovery || !e.Start() {
		return nil
	}
	for _, l := range links[:min(len(links), crawl.MaxFoundFeeds)] {
		if to, ok := crawl.Normalize(l.URL); ok {
			found = append(found, crawl.FoundFeed{Source: e.Crawl.Source, URL: to, Title: l.Text})
		}
	}
	return found
}
