package crawl_test

import (
	"slices"
	"strings"
	"testing"

	"linkwatch/models"
	"linkwatch/models/crawl"
)

func TestEveryStatusAndEvent(t *testing.T) {
	type from = map[crawl.Status]crawl.Status
	want := map[crawl.Event]from{
		crawl.Pause:  {crawl.Scheduled: crawl.Paused},
		crawl.Resume: {crawl.Paused: crawl.Scheduled},
		crawl.Cancel: {
			crawl.Pending: crawl.Cancelled, crawl.Scheduled: crawl.Cancelled,
			crawl.Running: crawl.Cancelled, crawl.Paused: crawl.Cancelled,
		},
		crawl.Retry:      {crawl.Failed: crawl.Pending},
		crawl.ForceRun:   {crawl.Scheduled: crawl.Scheduled},
		crawl.Stop:       {crawl.Running: crawl.Scheduled},
		crawl.RunAgain:   {crawl.Completed: crawl.Completed, crawl.Failed: crawl.Failed, crawl.Cancelled: crawl.Cancelled},
		crawl.Start:      {crawl.Pending: crawl.Running, crawl.Scheduled: crawl.Running},
		crawl.Succeed:    {crawl.Running: crawl.Completed},
		crawl.Fail:       {crawl.Running: crawl.Failed},
		crawl.Release:    {crawl.Running: crawl.Scheduled},
		crawl.Reschedule: {crawl.Completed: crawl.Scheduled},
	}
	if len(crawl.Statuses) != 7 {
		t.Errorf("got statuses %v", crawl.Statuses)
	}
	for event, next := range want {
		for _, s := range crawl.Statuses {
			got, err := crawl.Next(s, event)
			if got != next[s] || (err == nil) != (next[s] != "") {
				t.Errorf("%s of a %s job: got %q, %v, want %q", event, s, got, err, next[s])
			}
			if err == nil {
				continue
			}
			if models.CodeOf(err) != models.CodeConflict || !strings.Contains(err.Error(), "A "+string(s)+" job cannot ") {
				t.Errorf("%s of a %s job: got %v", event, s, err)
			}
			for allowed := range next {
				if !strings.Contains(err.Error(), string(allowed)) {
					t.Errorf("%s of a %s job: error %v does not name %s", event, s, err, allowed)
				}
			}
		}
	}
}

func TestErrorsOfEvents(t *testing.T) {
	for _, c := range []struct {
		status crawl.Status
		event  crawl.Event
		want   string
	}{
		{crawl.Running, crawl.Pause, "A running job cannot be paused. Only a scheduled job can."},
		{crawl.Failed, crawl.Cancel, "A failed job cannot be cancelled. Only a pending, scheduled, running or paused job can."},
		{crawl.Scheduled, crawl.Stop, "A scheduled job cannot be stopped. Only a running job can."},
		{crawl.Running, crawl.RunAgain, "A running job cannot be run again. Only a completed, failed or cancelled job can."},
		{crawl.Paused, crawl.Start, "A paused job cannot start. Only a pending or scheduled job can."},
		{crawl.Paused, "explode", "Unknown job action."},
	} {
		_, err := crawl.Next(c.status, c.event)
		if err == nil || err.Error() != "conflict: "+c.want {
			t.Errorf("%s of a %s job: got %v", c.event, c.status, err)
		}
	}
}

func TestAllowedActionsOfUsers(t *testing.T) {
	for s, want := range map[crawl.Status][]crawl.Event{
		crawl.Pending:   {crawl.Cancel},
		crawl.Scheduled: {crawl.Pause, crawl.Cancel, crawl.ForceRun},
		crawl.Running:   {crawl.Cancel, crawl.Stop},
		crawl.Paused:    {crawl.Resume, crawl.Cancel},
		crawl.Completed: {crawl.RunAgain},
		crawl.Failed:    {crawl.Retry, crawl.RunAgain},
		crawl.Cancelled: {crawl.RunAgain},
	} {
		if got := crawl.Allowed(s); !slices.Equal(got, want) {
			t.Errorf("%s job: got %v, want %v", s, got, want)
		}
	}
}
