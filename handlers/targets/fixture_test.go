package targets_test

import (
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/targets"
)

// canary is part of every rejected value: no response may contain it.
const canary = "hunter2-canary"

// hostile is a text that runs as a script if it is not escaped.
const hostile = `<script>alert(1)</script>"><img src=x onerror=alert(2)>`

// Results of checks.
var (
	foundUp        = targets.Result{StatusCode: 200, LatencyMS: 40, Attempts: 1}
	foundDown      = targets.Result{Outcome: targets.DownOutcome, StatusCode: 404, LatencyMS: 3, Attempts: 1, Error: "unexpected status 404"}
	foundSilent    = targets.Result{Outcome: targets.DownOutcome, LatencyMS: 0, Attempts: 3, Error: "connection refused"}
	foundThrottled = targets.Result{Outcome: targets.ThrottledOutcome, StatusCode: 429, LatencyMS: 2, Attempts: 1, Error: "throttled: status 429"}
)

// isUp and isDown are results as the checker records them.
func isUp(targets.Target) targets.Checked {
	return targets.Checked{Result: targets.Result{StatusCode: 200, LatencyMS: 84}}
}

func isDown(targets.Target) targets.Checked {
	return targets.Checked{Result: targets.Result{Outcome: targets.DownOutcome, StatusCode: 503, LatencyMS: 7, Error: "unexpected status 503"}}
}

var withPassword = apptest.Set("ADMIN_PASSWORD", "correct horse")

// check records results of a target, one second apart. It makes the target due before
// each of them.
func check(s *apptest.App, id string, found ...targets.Result) {
	s.Helper()
	for _, r := range found {
		s.Clock.Advance(time.Second)
		s.Must(s.Targets.RequestCheck(s.Context(), id))
		s.Finish(id, targets.Checked{Result: r})
	}
}

func publish(s *apptest.App, slug, title string, ts ...targets.Target) targets.StatusPage {
	s.Helper()
	e := targets.PageSettings{Slug: slug, Title: title, Description: "What we run."}
	for _, t := range ts {
		e.TargetIDs = append(e.TargetIDs, t.ID)
	}
	p, err := s.Targets.AddPage(s.Context(), e)
	s.Must(err)
	return p
}
