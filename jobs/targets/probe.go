package targets

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"linkwatch/models"
	"linkwatch/models/targets"
	"linkwatch/outbound"
)

const (
	maxRedirects = 5
	timedOut     = "timed out" // the error text of outbound.KindTimeout
	// maxDiscarded is the maximum length of a body that no condition needs and that has no
	// Content-Length. It is larger than any page.
	maxDiscarded = 32 << 20
)

// finding is the result of one attempt of a check.
type finding struct {
	outcome      targets.Outcome
	problem      string // "" = up
	status       int    // 0: no response
	latency      time.Duration
	tlsExpiresAt models.Time
	retryAfter   time.Duration // Retry-After of the response; 0 = none
	transient    bool          // another attempt may succeed (5xx without Retry-After, network error, timeout)
	canceled     bool          // there is no finding
}

// probe makes one attempt.
func probe(ctx context.Context, client *outbound.Client, t targets.Target) finding {
	var f finding
	started := time.Now()
	res, keywordsFound, err := fetch(ctx, client, t)
	r := targets.Response{Latency: time.Since(started)}
	if err != nil {
		r.Error = err.Error()
		f.canceled = ctx.Err() != nil
		if e, ok := errors.AsType[*outbound.Error](err); ok {
			f.transient = transient(e.Kind)
		}
	} else {
		r = targets.Response{
			StatusCode: res.StatusCode, Latency: res.Latency, Body: res.Body,
			Truncated: res.Truncated && !keywordsFound && res.Header.Get("Content-Length") == "",
		}
		f.tlsExpiresAt, f.retryAfter = models.At(res.TLSExpiresAt), res.RetryAfter
	}
	f.outcome, f.problem = t.Expect.Evaluate(r)
	f.status, f.latency = r.StatusCode, r.Latency
	f.transient = f.transient || f.status >= http.StatusInternalServerError && f.outcome == targets.DownOutcome && f.retryAfter == 0
	return f
}

// fetch requests a target. It reads the body to its end, because an incomplete body is a
// failure, and discards it if no condition needs it. keywordsFound reports that it stopped
// early because the rest of the body cannot change the outcome.
func fetch(ctx context.Context, client *outbound.Client, t targets.Target) (res *outbound.Response, keywordsFound bool, err error) {
	r := outbound.Request{URL: models.RequestURL(t.URL), MaxRedirects: maxRedirects, IgnoreBackoff: true, Discard: !t.Expect.NeedsBody()}
	if r.Discard {
		r.MaxBytes = maxDiscarded
	} else {
		outcomeKnown := keywordFinder(t.Expect)
		r.Until = func(body []byte) bool {
			keywordsFound = outcomeKnown(body)
			return keywordsFound
		}
	}
	res, err = client.Fetch(ctx, r)
	return res, keywordsFound, err
}

// keywordFinder returns a function for outbound.Request.Until. It reports whether the rest
// of the body cannot change the outcome of the keywords. It ignores keywords that are not
// ASCII, because only ASCII has the same bytes in the charset of the page and in UTF-8.
func keywordFinder(e targets.Expect) func(body []byte) bool {
	searched := 0 // bytes of the body
	overlap := max(len(e.Keyword), len(e.KeywordAbsent), 1) - 1
	contains := func(part []byte, word string) bool {
		return word != "" && models.IsASCII(word) && bytes.Contains(part, []byte(word))
	}
	return func(body []byte) bool {
		part := body[max(0, searched-overlap):]
		searched = len(body)
		return contains(part, e.KeywordAbsent) || e.KeywordAbsent == "" && contains(part, e.Keyword)
	}
}

// transient reports whether a retry may succeed after an error. Requests that Linkwatch
// refused and redirect loops are not retried.
func transient(k outbound.Kind) bool {
	switch k {
	case outbound.KindDNS, outbound.KindRefused, outbound.KindReset, outbound.KindNetwork,
		outbound.KindTLS, outbound.KindTimeout, outbound.KindProtocol:
		return true
	case outbound.KindInvalid, outbound.KindBlocked, outbound.KindBusy, outbound.KindThrottled, outbound.KindRedirects, outbound.KindCanceled:
	}
	return false
}
