package schedule

import (
	"linkwatch/models"
	"linkwatch/models/event"
)

// EventFailed is the event of a run of a scheduled job that failed. It ends when one succeeds.
const EventFailed event.Kind = "system.failed"

// Events are the kinds of events of scheduled jobs.
func Events() []event.Type {
	return []event.Type{{
		Kind: EventFailed, Severity: event.Critical, Label: "Scheduled job failed", Help: "A scheduled job failed: cleanup, backup or the disk space check.",
		Subject: "system", Noun: "job", Did: "failed", DidMany: "failed", Over: "works again", Default: true,
	}}
}

// failed is the event of a run that failed, or that succeeded after one that failed.
func failed(run Run) event.Event {
	e := of(run.JobID, event.Began, event.Critical, run.StartedAt.Add(run.Duration))
	e.SinceAt, e.Detail = run.StartedAt, run.Error
	if run.Error == "" {
		e.Phase = event.Ended
	}
	return e
}

// closed is the event of a job that is no longer scheduled.
func closed(jobID string, now models.Time) event.Event {
	return of(jobID, event.Closed, event.Info, now)
}

func of(jobID string, p event.Phase, severity event.Severity, at models.Time) event.Event {
	return event.Event{Kind: EventFailed, Phase: p, Severity: severity, SubjectKind: "system", SubjectID: jobID, Name: "Job " + jobID, At: at}
}
