package sites

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/maypok86/otter/v2"

	"linkwatch/jobs/sites/engine"
	"linkwatch/jobs/sites/google"
	"linkwatch/models"
	"linkwatch/models/sites"
)

const maxAccounts = 1000 // cached clients

// accounts caches clients for Google by encrypted credentials.
type accounts struct {
	store     *sites.Store
	endpoints *google.Endpoints
	cache     models.Cache[string, *google.Client]
}

func newAccounts(store *sites.Store, endpoints *google.Endpoints) *accounts {
	return &accounts{store, endpoints, otter.Must(&otter.Options[string, *google.Client]{MaximumSize: maxAccounts})}
}

// clientFor returns the client of a website. The error says why its credentials cannot be used.
func (a *accounts) clientFor(w sites.Website) (*google.Client, error) {
	sealed := string(w.Credentials) // unique per stored key
	if c, ok := a.cache.GetIfPresent(sealed); ok {
		return c, nil
	}
	key, err := a.store.Key(w)
	if err != nil {
		return nil, err
	}
	credentials, err := google.ParseCredentials(key)
	if err != nil {
		return nil, err
	}
	c := google.NewClient(a.endpoints, credentials)
	a.cache.Set(sealed, c)
	return c, nil
}

// client returns an authorized client for the website of the task. If there is none, it records why and returns nil.
func (t *task) client(service sites.Service) (*google.Client, error) {
	c, err := t.accounts.clientFor(t.site)
	if err == nil {
		err = c.Authorize(t.ctx)
	}
	if err == nil || t.ctx.Err() != nil {
		return c, t.ctx.Err()
	}
	t.stoppedEarly.Store(true)
	return nil, t.Store.RecordServiceOutcome(t.ctx, t.site, service, forWebsite(outcome(err)))
}

func outcome(err error) sites.Outcome {
	if err == nil {
		return sites.Outcome{Status: sites.Accepted, StatusCode: http.StatusOK}
	}
	e, ok := errors.AsType[*engine.Error](err)
	if !ok {
		a := sites.Outcome{Status: sites.Refused, Error: err.Error(), Cause: sites.CauseCredentials, Sitewide: true}
		if m, ok := errors.AsType[*models.Error](err); ok {
			a.Error = m.Detail
		}
		return a
	}
	a := sites.Outcome{Status: sites.Refused, StatusCode: e.Status, Error: e.Advice(), Summary: e.Text, Cause: sites.CauseRefused, RetryAfter: e.RetryAfter}
	switch e.Kind {
	case engine.Canceled:
		return sites.Outcome{Status: sites.Unsent, Error: a.Error}
	case engine.RateLimited:
		a.Status, a.RateLimited, a.Daily, a.Cause = sites.Retried, true, e.Daily, sites.CauseRateLimited
	case engine.NotOwner:
		a.Sitewide, a.Cause = true, sites.CauseNotOwner
	case engine.APIDisabled:
		a.Sitewide, a.Cause = true, sites.CauseAPIDisabled
	case engine.Credentials:
		a.Sitewide, a.Cause = true, sites.CauseCredentials
	case engine.NotFound: // wrong endpoint
		a.Sitewide = true
	case engine.Protocol:
		a.Status, a.Sitewide, a.Cause = sites.Retried, true, sites.CauseNoAnswer
	case engine.Unavailable: // a 5xx status may concern the page only
		a.Status, a.Sitewide, a.Cause = sites.Retried, e.Status == 0, sites.CauseNoAnswer
	case engine.NoAnswer:
		a.Status, a.Cause = sites.Sent, sites.CauseNoAnswer
	case engine.Refused:
	}
	return a
}

// forWebsite converts an outcome of a request that concerns the whole website. A failure that is retried pauses the service
// and is not a failure of a page.
func forWebsite(a sites.Outcome) sites.Outcome {
	if a.Status == sites.Retried || a.Status == sites.Sent {
		a.RateLimited = true
	}
	return a
}

// errStop ends a run on a website without failing the job: a quota is used up or a service refuses requests.
var errStop = errors.New("stopped early")

// sendTime is how long after Acquire a request may be sent. The rest of sites.MaxDelay is for network latency and clock
// differences.
const sendTime = sites.MaxDelay / 2

// acquire acquires a permit and waits while the website has too many requests in flight. The request must be sent with the
// returned context, which cancels it if it is not sent in time. Callers call done after the request. The error is errStop if
// a quota is used up.
func (t *task) acquire(call sites.Call) (send context.Context, done func(), err error) {
	for {
		start := time.Now()
		p, err := t.Store.Acquire(t.ctx, t.holder, t.site, call)
		refused, ok := errors.AsType[*sites.QuotaError](err)
		switch {
		case err == nil:
			return engine.SendBefore(t.ctx, start.Add(t.sendTime)), func() { t.releasePermit(p) }, nil
		case errors.Is(err, sites.ErrNoProject):
			return nil, nil, errStop
		case !ok:
			return nil, nil, err
		case refused.Limit != sites.LimitConcurrency || refused.RetryAt.IsZero():
			t.Log.Debug("quota used up", "website_id", t.site.ID, "call", call, "limit", refused.Limit, "retry_at", refused.RetryAt)
			return nil, nil, errStop
		}
		select {
		case <-t.intake.Done():
			return nil, nil, errStop
		case <-time.After(refused.RetryAt.Sub(t.Store.Now().Time)):
		}
	}
}

// releasePermit releases a permit even if the context of the task has ended.
func (t *task) releasePermit(p sites.Permit) {
	if err := t.record(func(ctx context.Context) error { return t.Store.ReleasePermit(ctx, p) }); err != nil {
		t.Log.Warn("permit not released", "website_id", t.site.ID, "error", err) // it counts as in flight for an hour
	}
}
