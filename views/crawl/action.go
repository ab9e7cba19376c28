package crawl

import "linkwatch/models/crawl"

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
	{crawl.Pause, "Pause", "pause", "data-pause"},
	{crawl.Resume, "Resume", "play", "data-pause"},
	{crawl.Cancel, "Cancel", "x", ""},
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

// needsConfirmation reports whether the page asks before the action, because it cannot be undone.
func (a action) needsConfirmation() bool { return a.event == crawl.Cancel }

func (a action) path(j crawl.Job) string { return actPath(j.ID, string(a.event)) }
