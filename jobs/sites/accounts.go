package sites

import (
	"context"
	"errors"
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
	sealed := string(w.Credentials) // a new key is sealed anew
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
	t.did.add(func(d *did) { d.stopped++ })
	return nil, t.Store.Note(t.ctx, t.site, service, answer(err))
}

// answer is what an error of a service means for a submission or verification.
func answer(err error) sites.Answer {
	if err == nil {
		return sites.Answer{Status: sites.Accepted, StatusCode: 200}
	}
	e, ok := errors.AsType[*engine.Error](err)
	if !ok {
		a := sites.Answer{Status: sites.Refused, Error: err.Error(), Cause: string(engine.Credentials), Sitewide: true}
		if m, ok := errors.AsType[*models.Error](err); ok {
			a.Error = m.Detail
		}
		return a
	}
	a := sites.Answer{Status: sites.Refused, StatusCode: e.Status, Error: e.Text, Cause: string(e.Kind), RetryAfter: e.RetryAfter}
	if e.Fix != "" {
		a.Error += " " + e.Fix
	}
	switch e.Kind {
	case engine.RateLimited:
		a.Status, a.Limited = sites.Retried, true
	case engine.NotOwner, engine.APIDisabled, engine.Credentials:
		a.Sitewide = true
	case engine.Unavailable, engine.Protocol:
		a.Status = sites.Retried
	case engine.NoAnswer, engine.Canceled:
		a.Status = sites.Sent
	}
	return a
}

// errStop ends a run on a website without being a failure of the job: its quota is used
// up, or a service refused it.
var errStop = errors.New("the website is done for now")

// permit takes a unit of a quota. It waits while the website has as many requests under
// way as it may. errStop: a quota is used up.
func (t *task) permit(call sites.Call) (sites.Permit, error) {
	for {
		p, err := t.Store.Acquire(t.ctx, t.holder, t.site, call)
		refused, ok := errors.AsType[*sites.QuotaError](err)
		switch {
		case errors.Is(err, sites.ErrNoProject):
			return p, errStop
		case !ok:
			return p, err
		case refused.Bound != sites.BoundConcurrency || refused.RetryAt.IsZero():
			t.Log.Debug("quota used up", "website_id", t.site.ID, "call", call, "bound", refused.Bound, "retry_at", refused.RetryAt)
			return p, errStop
		}
		select {
		case <-t.more.Done():
			return p, errStop
		case <-time.After(refused.RetryAt.Sub(t.Store.Now().Time)):
		}
	}
}

// done ends a permit, whatever has become of the task's context.
func (t *task) done(p sites.Permit) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), recordTime)
	defer cancel()
	if err := t.Store.Done(ctx, p); err != nil {
		t.Log.Warn("request to Google not ended", "website_id", t.site.ID, "error", err) // it counts as under way for an hour
	}
}
