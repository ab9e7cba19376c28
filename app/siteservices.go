package app

import (
	"context"

	sitejobs "linkwatch/jobs/sites"
	"linkwatch/jobs/sites/indexnow"
	"linkwatch/models/sites"
	siteviews "linkwatch/views/sites"
)

// services implements sitehandlers.Services with the worker.
type services struct{ worker *sitejobs.Worker }

// Account implements sitehandlers.Services.
func (services) Account(key []byte) (sites.Account, error) { return sitejobs.Account(key) }

// Test implements sitehandlers.Services.
func (s services) Test(ctx context.Context, w sites.Website) ([]siteviews.Check, error) {
	checks, err := s.worker.Test(ctx, w)
	shown := make([]siteviews.Check, len(checks))
	for i, c := range checks {
		shown[i] = siteviews.Check(c)
	}
	return shown, err
}

// CheckKey implements sitehandlers.Services.
func (s services) CheckKey(ctx context.Context, w sites.Website) (problem string, err error) {
	return s.worker.CheckKey(ctx, w)
}

// NewKey implements sitehandlers.Services.
func (services) NewKey() string { return indexnow.NewKey() }
