package links_test

import (
	"linkwatch/app/apptest"
	"linkwatch/models/modelstest"
)

// hostile is a text that runs a script or loads a file if it is not escaped.
const hostile = `<script>alert(1)</script>"><img src=x onerror=alert(2)>`

// refreshOne refreshes the next link of a queued refresh, as the worker does.
func refreshOne(a *apptest.App) {
	a.Helper()
	items, _, err := a.Links.ClaimRefreshes(a.Context(), modelstest.Lease(a.TB, a.DB, "k_test"), 1)
	if err != nil || len(items) != 1 {
		a.Fatalf("claimed %d refreshes: %v", len(items), err)
	}
	done, err := a.Links.Refetch(a.Context(), items[0])
	if err == nil {
		err = a.Links.FinishRefreshes(a.Context(), done)
	}
	if err != nil {
		a.Fatal(err)
	}
}
