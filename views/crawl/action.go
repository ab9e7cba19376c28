package crawl

import (
	"slices"

	"linkwatch/models/crawl"
)

// action is something that a user can do with a job.
type action struct {
	event       crawl.Event
	label, icon string
	key         string // the attribute by which static/app.js finds its button; "" = none
}

// actions are all actions, in the order in which pages show them.
var actions = []action{
	{crawl.ForceRun, "Run now", "refresh", "data-check"},
	{crawl.Retry, "Retry", "refresh", "data-check"},
	{crawl.RunAgain, "Run again", "copy", "data-check"},
	{crawl.Pause, "Pause", "pause", "data-pause"},
	{crawl.Resume, "Resume", "play", "data-pause"},
	{crawl.Stop, "Stop run", "stop", ""},
	{crawl.Cancel, "Cancel job", "x", ""},
}

// allowed returns the actions that the status of a job allows.
func allowed(j crawl.Job) []action {
	var all []action
	for _, a := range actions {
		for _, e := range crawl.Allowed(j.Status) {
			if a.event == e {
				all = append(all, a)
			}
		}
	}
	return all
}

// starts reports whether the action makes the job, or a new one like it, run.
func (a action) starts() bool {
	return slices.Contains([]crawl.Event{crawl.ForceRun, crawl.Retry, crawl.RunAgain, crawl.Resume}, a.event)
}

// needsConfirmation reports whether the page asks before the action, because it cannot be undone.
func (a action) needsConfirmation() bool { return a.event == crawl.Cancel }

func (a action) path(j crawl.Job) string { return actPath(j.ID, string(a.event)) }
