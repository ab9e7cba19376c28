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
	timedOut     = "timed out" // the text of outbound.KindTimeout
	// maxDiscarded is how long a body may be that nobody looks at and that does
	// not say how long it is: longer than any page, but not endless.
	maxDiscarded = 32 << 20
)

// finding is what one attempt of a check brought.
type finding struct {
	outcome      targets.Outcome
	problem      string // "" = up
	status       int    // 0: no answer
	latency      time.Duration
	tlsExpiresAt models.Time
	retryAfter   time.Duration // the pause the host asks for; 0 = none
	transient    bool          // another attempt may find otherwise (5xx, network error, timeout)
	refused      bool          // nothing was sent: the host asked for a pause, or too many fetches are under way
	pause        bool          // of those reasons it is the first
	cut          bool          // it was cancelled, and found nothing
}

// probe makes one attempt.
func probe(ctx context.Context, client *outbound.Client, t targets.Target) finding {
	var f finding
	began := time.Now()
	res, decided, err := fetch(ctx, client, t)
	answer := targets.Response{Latency: time.Since(began)}
	if err != nil {
		answer.Error = err.Error()
		f.cut = ctx.Err() != nil
		if e, ok := errors.AsType[*outbound.Error](err); ok {
			f.transient, f.refused = transient(e.Kind), e.Kind == outbound.KindThrottled || e.Kind == outbound.KindBusy
			f.pause, f.retryAfter = e.Kind == outbound.KindThrottled, e.RetryAfter
		}
	} else {
		answer = targets.Response{
			StatusCode: res.StatusCode, Latency: res.Latency, Body: res.Body,
			Truncated: res.Truncated && !decided && res.Header.Get("Content-Length") == "",
		}
		f.tlsExpiresAt, f.retryAfter = models.At(res.TLSExpiresAt), res.RetryAfter
	}
	f.outcome, f.problem = t.Expect.Evaluate(answer)
	f.status, f.latency = answer.StatusCode, answer.Latency
	f.transient = f.transient || f.status >= http.StatusInternalServerError && f.outcome == targets.DownOutcome
	return f
}

// fetch asks for a target. Its body is read to the end, since one that breaks
// off is no good answer, but kept only if somebody looks at it. decided says
// that it was not read further because its keywords were settled.
func fetch(ctx context.Context, client *outbound.Client, t targets.Target) (res *outbound.Response, decided bool, err error) {
	r := outbound.Request{URL: models.RequestURL(t.URL), MaxRedirects: maxRedirects, Insist: true, Discard: !t.Expect.NeedsBody()}
	if r.Discard {
		r.MaxBytes = maxDiscarded
	} else {
		settled := settles(t.Expect)
		r.Until = func(body []byte) bool {
			decided = settled(body)
			return decided
		}
	}
	res, err = client.Fetch(ctx, r)
	return res, decided, err
}

// settles returns a function for outbound.Request.Until that is true once more
// of the body cannot change what is expected of its words. Only ASCII is sure to
// mean the same in the page's own charset as in UTF-8: with other keywords the
// body is read to its end.
func settles(e targets.Expect) func(body []byte) bool {
	seen := 0 // what stands before was looked at
	overlap := max(len(e.Keyword), len(e.KeywordAbsent), 1) - 1
	holds := func(part []byte, word string) bool {
		return word != "" && models.IsASCII(word) && bytes.Contains(part, []byte(word))
	}
	return func(body []byte) bool {
		part := body[max(0, seen-overlap):]
		seen = len(body)
		return holds(part, e.KeywordAbsent) || e.KeywordAbsent == "" && holds(part, e.Keyword)
	}
}

// transient says whether a failure may be over in a moment. What was refused
// by us, or leads in circles, will not.
func transient(k outbound.Kind) bool {
	switch k {
	case outbound.KindDNS, outbound.KindRefused, outbound.KindReset, outbound.KindNetwork,
		outbound.KindTLS, outbound.KindTimeout, outbound.KindProtocol:
		return true
	case outbound.KindInvalid, outbound.KindBlocked, outbound.KindBusy, outbound.KindThrottled, outbound.KindRedirects, outbound.KindCanceled:
	}
	return false
}
