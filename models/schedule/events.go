package schedule

import "linkwatch/models/event"

// EventFailed tells that a run of a scheduled job failed, until one succeeds.
const EventFailed event.Kind = "system.failed"

// Events are the kinds of events of scheduled jobs.
func Events() []event.Type {
	return []event.Type{{
		Kind: EventFailed, Severity: event.Critical, Label: "Linkwatch failing", Help: "A scheduled job failed: cleanup, backup or the check of free disk space.",
		Subject: "system", Noun: "job", Did: "failed", DidMany: "failed", Over: "works again", Default: true,
	}}
}

// failed is the event of a run that failed, or that succeeded after one that failed.
func failed(run Run) event.Event {
	at := run.StartedAt.Add(run.Duration)
	e := event.Event{Kind: EventFailed, Phase: event.Began, Severity: event.Critical, SubjectKind: "system", SubjectID: run.JobID, Name: "Job " + run.JobID, At: at, SinceAt: run.StartedAt, Detail: run.Error}
	if run.Error == "" {
		e.Phase = event.Ended
	}
	return e
}
