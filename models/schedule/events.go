package schedule

import (
	"linkwatch/models"
	"linkwatch/models/event"
)

// EventFailed is the event of a scheduled job whose run failed. It ends when a run succeeds.
const EventFailed event.Kind = "system.failed"

// Events returns the types of events of scheduled jobs.
func Events() []event.Type {
	return []event.Type{{
		Kind: EventFailed, Severity: event.Critical, Label: "System job failed", Help: "A scheduled job failed: cleanup, backup or the disk space check.",
		Subject: "system", Noun: "job", Verb: "failed", PluralVerb: "failed", Over: "works again", Default: true,
	}}
}

// failed returns the event of a run that failed, or that succeeded after a failure.
func failed(run Run) event.Event {
	e := newEvent(run.JobID, event.Started, event.Critical, run.StartedAt.Add(run.Duration))
	e.SinceAt, e.Detail = run.StartedAt, run.Error
	if run.Error == "" {
		e.Phase = event.Ended
	}
	return e
}

// closed returns the event of a failed job that is no longer scheduled.
func closed(jobID string, now models.Time) event.Event {
	return newEvent(jobID, event.Closed, event.Info, now)
}

func newEvent(jobID string, p event.Phase, severity event.Severity, at models.Time) event.Event {
	return event.Event{Kind: EventFailed, Phase: p, Severity: severity, SubjectKind: "system", SubjectID: jobID, Name: "Job " + jobID, At: at}
}
