package crawl

import "linkwatch/models/crawl"

// action is what a user can do with a job.
type action struct {
	event       crawl.Event
	label, icon string
	key         string // the attribute by which static/app.js finds its button; "" = none
}

// actions are all of them, in the order in which they are shown.
var actions = []action{
	{crawl.ForceRun, "Run now", "refresh", "data-check"},
	{crawl.Retry, "Retry", "refresh", "data-check"},
	{crawl.Pause, "Pause", "pause", "data-pause"},
	{crawl.Resume, "Resume", "play", "data-pause"},
	{crawl.Cancel, "Cancel", "x", ""},
}

// allowed are the actions that the status of a job allows.
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

// asks reports whether there is a question before the action, since it cannot be undone.
func (a action) asks() bool { return a.event == crawl.Cancel }

// path is where a button of the action leads.
func (a action) path(j crawl.Job) string { return actPath(j.ID, string(a.event)) }
