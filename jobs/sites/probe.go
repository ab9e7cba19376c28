package sites

import (
	"context"
	"errors"

	"linkwatch/jobs/sites/engine"
	"linkwatch/jobs/sites/google"
	"linkwatch/jobs/sites/indexnow"
	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/sites"
)

// Check is one part of a test of credentials.
type Check struct {
	Name string // what was asked
	OK   bool
	Text string // what happened
	Fix  string // what to do; "" = nothing
}

// ErrNoLease is the error while this instance may not begin requests to Google, since it
// could not count them.
var ErrNoLease = &models.Error{Code: models.CodeUnavailable, Detail: "The database is not available now. Try again in some seconds."}

// Account reads the JSON key of a service account. The error is CodeInvalid
// ("credentials").
func Account(key []byte) (sites.Account, error) {
	c, err := google.ParseCredentials(key)
	return sites.Account{ClientEmail: c.ClientEmail, ProjectID: c.ProjectID}, err
}

// Test asks Google whether the credentials of a website work: whether there is an access
// token, what the account may do with the property, and whether the Indexing API is open
// to it, if the website uses that. A service that works is called again at once. Errors
// are those of the store and of ctx; CodeConflict without credentials.
func (w *Worker) Test(ctx context.Context, site sites.Website) (checks []Check, err error) {
	holder, _, ok := w.Lease.Current()
	if !ok {
		return nil, ErrNoLease
	}
	client, err := w.accounts.of(site)
	if err != nil {
		return nil, err
	}
	add := func(name, good string, err error) bool {
		c := Check{Name: name, OK: err == nil, Text: good}
		if e, ok := errors.AsType[*engine.Error](err); ok {
			c.Text, c.Fix = e.Text, e.Fix
		}
		checks = append(checks, c)
		return c.OK
	}
	err = client.Authorize(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if !add("Access token", "Google accepts the key.", err) {
		return checks, nil
	}
	p, err := client.Site(ctx, site.SiteURL)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	works := err == nil && (p == google.Owner || p == google.FullUser)
	if works && p != google.Owner && !site.IndexingEnabled {
		add("Search Console", "The service account has full access to the property. It must be an owner only for Google's Indexing API.", nil)
	} else if err == nil && p != google.Owner {
		checks = append(checks, Check{
			Name: "Search Console", Text: "The service account is not an owner of the property.",
			Fix: "In Search Console, open Settings > Users and permissions, and add " + site.ClientEmail + " as an owner.",
		})
	} else {
		add("Search Console", "The service account is an owner of the property.", err)
	}
	if works {
		if err := w.Store.Note(ctx, site, sites.SearchConsole, answer(nil)); err != nil {
			return nil, err
		}
	}
	if !site.IndexingEnabled {
		return checks, nil
	}
	t := &task{Worker: w, more: ctx, ctx: ctx, holder: holder, site: site, did: &did{}}
	send, done, err := t.permit(sites.CallMetadata)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, errStop):
		return append(checks, Check{Name: "Indexing API", Text: "It was not asked: the quota of this minute is used up.", Fix: "Try again in a minute."}), nil
	case errors.Is(err, lease.ErrLost):
		return nil, ErrNoLease
	case err != nil:
		return nil, err
	}
	defer done()
	_, err = client.Metadata(send, site.Property().Root()) //nolint:contextcheck // send is made from ctx
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if add("Indexing API", "The Indexing API is open to the service account.", err) {
		return checks, w.Store.Note(ctx, site, sites.Indexing, answer(nil))
	}
	return checks, nil
}

// CheckKey looks for the IndexNow key of a website. problem is what is wrong and what to
// do; "" = nothing.
func (w *Worker) CheckKey(ctx context.Context, site sites.Website) (problem string, err error) {
	err = indexnow.CheckKeyFile(ctx, w.Client, site.KeyFile(), site.IndexNowKey)
	if e, ok := errors.AsType[*engine.Error](err); ok {
		problem = e.Advice()
	} else if err != nil {
		return "", err
	}
	return problem, nil
}
