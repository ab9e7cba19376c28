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

// Check is one step of a credentials test.
type Check struct {
	Name string // what was tested
	OK   bool
	Text string // what happened
	Fix  string // what to do; "" = nothing
}

// ErrNoLease is the error while this instance has no lease and so cannot count requests to Google.
var ErrNoLease = &models.Error{Code: models.CodeUnavailable, Detail: "The database is unavailable. Try again in a few seconds."}

// Account parses the JSON key of a service account. The error is CodeInvalid ("credentials").
func Account(key []byte) (sites.Account, error) {
	c, err := google.ParseCredentials(key)
	return sites.Account{ClientEmail: c.ClientEmail, ProjectID: c.ProjectID}, err
}

// Test tests the Google credentials of a website. It checks the access token, the permission on the property, and the
// access to the Indexing API if the website uses it. It resumes paused services that work. Errors are those of the store
// and ctx, and CodeConflict without credentials.
func (w *Worker) Test(ctx context.Context, site sites.Website) (checks []Check, err error) {
	holder, _, ok := w.Lease.Current()
	if !ok {
		return nil, ErrNoLease
	}
	client, err := w.accounts.clientFor(site)
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
		return checks, w.Store.RecordServiceOutcome(ctx, site, sites.SearchConsole, outcome(err))
	}
	p, err := client.Site(ctx, site.SiteURL)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	works := err == nil && (p == google.Owner || p == google.FullUser)
	if works && p != google.Owner && !site.IndexingEnabled {
		add("Search Console", "The service account has full access to the property. Only the Indexing API needs an owner.", nil)
	} else if err == nil && p != google.Owner {
		checks = append(checks, Check{
			Name: "Search Console", Text: "The service account is not an owner of the property.",
			Fix: "In Search Console, add " + site.ClientEmail + " as an owner: Settings > Users and permissions.",
		})
	} else {
		add("Search Console", "The service account is an owner of the property.", err)
	}
	found := outcome(err)
	if err == nil && !works {
		last := checks[len(checks)-1]
		found = sites.Outcome{Status: sites.Refused, Error: last.Text + " " + last.Fix, Cause: sites.CauseNotOwner, Sitewide: true}
	}
	if err := w.Store.RecordServiceOutcome(ctx, site, sites.SearchConsole, found); err != nil {
		return nil, err
	}
	if !site.IndexingEnabled {
		return checks, nil
	}
	t := &task{Worker: w, intake: ctx, ctx: ctx, holder: holder, site: site, summary: &summary{}}
	send, done, err := t.acquire(sites.CallMetadata)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, errStop):
		return append(checks, Check{Name: "Indexing API", Text: "Not tested: the quota per minute is used up.", Fix: "Try again in a minute."}), nil
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
	if add("Indexing API", "The service account can use the Indexing API.", err) {
		return checks, w.Store.RecordServiceOutcome(ctx, site, sites.Indexing, outcome(nil))
	}
	return checks, nil
}

// CheckKey checks the IndexNow key file of a website. problem says what is wrong and how to fix it; "" = nothing.
func (w *Worker) CheckKey(ctx context.Context, site sites.Website) (problem string, err error) {
	err = indexnow.CheckKeyFile(ctx, w.Client, site.KeyFileURL(), site.IndexNowKey)
	if e, ok := errors.AsType[*engine.Error](err); ok {
		problem = e.Advice()
	} else if err != nil {
		return "", err
	}
	return problem, nil
}
