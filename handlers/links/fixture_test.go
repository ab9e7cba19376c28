package links_test

import (
	"linkwatch/app/apptest"
	"linkwatch/models/modelstest"
)

// hostile is text that would run or load something if a page did not escape it.
const hostile = `<script>alert(1)</script>"><img src=x onerror=alert(2)>`

// refreshOne does what the worker does with the next link of a queued refresh.
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
