package links_test

import (
	"linkwatch/app/apptest"
)

// hostile is text that would run or load something if a page did not escape it.
const hostile = `<script>alert(1)</script>"><img src=x onerror=alert(2)>`

// refreshOne does what the worker does with the next link of a queued refresh.
func refreshOne(a *apptest.App) {
	a.Helper()
	items, err := a.Links.ClaimRefreshes(a.Context(), 1)
	if err != nil || len(items) != 1 {
		a.Fatalf("claimed %d refreshes: %v", len(items), err)
	}
	if err := a.Links.FinishRefresh(a.Context(), items[0]); err != nil {
		a.Fatal(err)
	}
}
