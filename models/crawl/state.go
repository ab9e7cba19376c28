package crawl

import (
	"cmp"
	"slices"
	"strings"

	"linkwatch/models"
)

// Status is the status of a job.
type Status string

// The statuses of a job.
const (
	Pending   Status = "pending"   // new or retried: not yet scheduled
	Scheduled Status = "scheduled" // has a next run
	Running   Status = "running"
	Paused    Status = "paused"
	Completed Status = "completed"
	Failed    Status = "failed" // the last attempt failed; a user may retry it, and with RetryNextRun the scheduler does at the next planned time
	Cancelled Status = "cancelled"
)

// Statuses lists all statuses in the order of a job's life.
var Statuses = []Status{Pending, Scheduled, Running, Paused, Completed, Failed, Cancelled}

// Event is an event that changes the status of a job.
type Event string

// Actions of users.
const (
	Pause    Event = "pause"
	Resume   Event = "resume"
	Cancel   Event = "cancel"
	Retry    Event = "retry"
	ForceRun Event = "force-run"
	Stop     Event = "stop"      // ends the run, not the job
	RunAgain Event = "run-again" // adds a job with the same settings
)

// Events of the worker that runs a job.
const (
	Start      Event = "start"
	Succeed    Event = "succeed"
	Fail       Event = "fail"
	Release    Event = "release"    // the worker stops before the run ends
	Reschedule Event = "reschedule" // a recurring job gets its next run
)

// transition is one rule of the state machine.
type transition struct {
	event  Event
	from   []Status
	to     Status // "" = unchanged
	byUser bool
	verb   string // completes the error "A … job cannot …"
}

// transitions is the state machine. All other transitions are refused. A stopped one-time job then succeeds, because it has no
// next run.
var transitions = []transition{
	{Pause, []Status{Scheduled}, Paused, true, "be paused"},
	{Resume, []Status{Paused}, Scheduled, true, "be resumed"},
	{Cancel, []Status{Pending, Scheduled, Running, Paused}, Cancelled, true, "be cancelled"},
	{Retry, []Status{Failed}, Pending, true, "be retried"},
	{ForceRun, []Status{Scheduled}, Scheduled, true, "be forced to run"},
	{Stop, []Status{Running}, Scheduled, true, "be stopped"},
	{RunAgain, []Status{Completed, Failed, Cancelled}, "", true, "be run again"},
	{Start, []Status{Pending, Scheduled}, Running, false, "start"},
	{Succeed, []Status{Running}, Completed, false, "succeed"},
	{Fail, []Status{Running}, Failed, false, "fail"},
	{Release, []Status{Running}, Scheduled, false, "be released"},
	{Reschedule, []Status{Completed}, Scheduled, false, "be rescheduled"},
}

// Next returns the status of a job after an event. If the status does not allow the event, the error is CodeConflict, and
// its detail names the statuses that do.
func Next(s Status, e Event) (Status, error) {
	for _, t := range transitions {
		switch {
		case t.event != e:
		case slices.Contains(t.from, s):
			return cmp.Or(t.to, s), nil
		default:
			return "", models.Conflict("A " + string(s) + " job cannot " + t.verb + ". Only a " + either(t.from) + " job can.")
		}
	}
	return "", models.Conflict("Unknown job action.")
}

// Allowed returns the actions of users that a status allows.
func Allowed(s Status) []Event {
	var allowed []Event
	for _, t := range transitions {
		if t.byUser && slices.Contains(t.from, s) {
			allowed = append(allowed, t.event)
		}
	}
	return allowed
}

// either formats statuses for a sentence: "pending, scheduled or running".
func either(statuses []Status) string {
	var b strings.Builder
	for i, s := range statuses {
		switch {
		case i == 0:
		case i == len(statuses)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(string(s))
	}
	return b.String()
}
