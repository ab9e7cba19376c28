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

const maxAccounts = 1000 // service accounts whose access tokens are kept

// accounts are clients of Google by the credentials that they use.
type accounts struct {
	store     *sites.Store
	endpoints *google.Endpoints
	cache     *otter.Cache[string, *google.Client]
}

func newAccounts(store *sites.Store, endpoints *google.Endpoints) *accounts {
	return &accounts{store, endpoints, otter.Must(&otter.Options[string, *google.Client]{MaximumSize: maxAccounts})}
}

// of returns the client of a website. The error says why its credentials cannot be used.
func (a *accounts) of(w sites.Website) (*google.Client, error) {
	sealed := string(w.Credentials) // another key has another seal
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

// client returns the client of the task's website with a token, or records why there is
// none and returns nil.
func (t *task) client(service sites.Service) (*google.Client, error) {
	c, err := t.accounts.of(t.site)
	if err == nil {
		err = c.Authorize(t.ctx)
	}
	if err == nil || t.ctx.Err() != nil {
		return c, t.ctx.Err()
	}
	t.stopped.Store(true)
	return nil, t.Store.Note(t.ctx, t.site, service, ofAll(answer(err)))
}

// answer is what an error of a service means for a submission or verification.
func answer(err error) sites.Answer {
	if err == nil {
		return sites.Answer{Status: sites.Accepted, StatusCode: http.StatusOK}
	}
	e, ok := errors.AsType[*engine.Error](err)
	if !ok {
		a := sites.Answer{Status: sites.Refused, Error: err.Error(), Cause: sites.CauseCredentials, Sitewide: true}
		if m, ok := errors.AsType[*models.Error](err); ok {
			a.Error = m.Detail
		}
		return a
	}
	a := sites.Answer{Status: sites.Refused, StatusCode: e.Status, Error: e.Advice(), What: e.Text, Cause: sites.CauseRefused, RetryAfter: e.RetryAfter}
	switch e.Kind {
	case engine.Canceled:
		return sites.Answer{Status: sites.Unsent, Error: a.Error}
	case engine.RateLimited:
		a.Status, a.Limited, a.Daily, a.Cause = sites.Retried, true, e.Daily, sites.CauseRateLimited
	case engine.NotOwner:
		a.Sitewide, a.Cause = true, sites.CauseNotOwner
	case engine.APIDisabled:
		a.Sitewide, a.Cause = true, sites.CauseAPIDisabled
	case engine.Credentials:
		a.Sitewide, a.Cause = true, sites.CauseCredentials
	case engine.NotFound: // the endpoint is wrong
		a.Sitewide = true
	case engine.Protocol:
		a.Status, a.Sitewide, a.Cause = sites.Retried, true, sites.CauseNoAnswer
	case engine.Unavailable: // 5xx may be the page's
		a.Status, a.Sitewide, a.Cause = sites.Retried, e.Status == 0, sites.CauseNoAnswer
	case engine.NoAnswer:
		a.Status, a.Cause = sites.Sent, sites.CauseNoAnswer
	case engine.Refused:
	}
	return a
}

// ofAll is an answer that concerns all calls of a website: what is tried again pauses
// the service, and is no failure of a page.
func ofAll(a sites.Answer) sites.Answer {
	if a.Status == sites.Retried || a.Status == sites.Sent {
		a.Limited = true
	}
	return a
}

// errStop ends a run on a website without being a failure of the job: its quota is used
// up, or a service refused it.
var errStop = errors.New("the website is done for now")

// sendTime is how long after a permit was asked for its request may be sent. The rest of
// sites.MaxDelay is for the way to Google and for clocks that differ.
const sendTime = sites.MaxDelay / 2

// permit takes a unit of a quota. The request is sent with the context that it returns,
// which gives it up if that takes too long; done ends it. It waits while the website has
// as many requests under way as it may. errStop: a quota is used up.
func (t *task) permit(call sites.Call) (send context.Context, done func(), err error) {
	for {
		asked := time.Now()
		p, err := t.Store.Acquire(t.ctx, t.holder, t.site, call)
		refused, ok := errors.AsType[*sites.QuotaError](err)
		switch {
		case err == nil:
			return engine.SendBefore(t.ctx, asked.Add(t.sendTime)), func() { t.done(p) }, nil
		case errors.Is(err, sites.ErrNoProject):
			return nil, nil, errStop
		case !ok:
			return nil, nil, err
		case refused.Bound != sites.BoundConcurrency || refused.RetryAt.IsZero():
			t.Log.Debug("quota used up", "website_id", t.site.ID, "call", call, "bound", refused.Bound, "retry_at", refused.RetryAt)
			return nil, nil, errStop
		}
		select {
		case <-t.more.Done():
			return nil, nil, errStop
		case <-time.After(refused.RetryAt.Sub(t.Store.Now().Time)):
		}
	}
}

// done ends a permit, whatever has become of the task's context.
func (t *task) done(p sites.Permit) {
	if err := t.record(func(ctx context.Context) error { return t.Store.Done(ctx, p) }); err != nil {
		t.Log.Warn("request to Google not ended", "website_id", t.site.ID, "error", err) // it counts as under way for an hour
	}
}
