package apptest

import (
	"slices"
	"time"

	"linkwatch/models/targets"
)

// Watch adds a target and records check results, a minute apart. name may be empty.
func (a *App) Watch(address, name string, found ...targets.Result) targets.Target {
	a.Helper()
	t, created, err := a.Targets.Add(a.Context(), targets.New{URL: address, Name: name})
	if err != nil || !created {
		a.Fatal(created, err)
	}
	for _, r := range found {
		a.Record(t, r)
	}
	return t
}

// Record advances the clock by a minute, requests a check of a target and records its result.
func (a *App) Record(t targets.Target, r targets.Result) {
	a.Helper()
	a.Clock.Advance(time.Minute)
	a.Must(a.Targets.RequestCheck(a.Context(), t.ID))
	a.Finish(t.ID, targets.Checked{Result: r})
}

// Finish records the check of a target that is due.
func (a *App) Finish(id string, c targets.Checked) {
	a.Helper()
	holder := a.Holder()
	due, _, err := a.Targets.Claim(a.Context(), holder, 100)
	a.Must(err)
	i := slices.IndexFunc(due, func(t targets.Target) bool { return t.ID == id })
	if i < 0 {
		a.Fatalf("%s is not due", id)
	}
	c.Target, c.Result.CheckedAt = due[i], a.Targets.Now()
	a.Must(a.Targets.Record(a.Context(), c))
	a.Must(a.Targets.ReleaseOthers(a.Context(), holder))
}

// CheckDue records the result of find for each due target. Then it advances the clock until
// targets with the shortest interval are due again.
func (a *App) CheckDue(find func(targets.Target) targets.Checked) {
	a.Helper()
	ts, _, err := a.Targets.Claim(a.Context(), a.Holder(), 500)
	var done []targets.Checked
	for _, t := range ts {
		c := find(t)
		c.Target, c.Result.CheckedAt, c.Result.Attempts = t, a.Targets.Now(), 1
		done = append(done, c)
	}
	if err == nil {
		err = a.Targets.Record(a.Context(), done...)
	}
	if err != nil {
		a.Fatal(err)
	}
	a.Clock.Advance(25 * time.Second)
}
