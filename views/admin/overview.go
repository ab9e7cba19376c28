package admin

import (
	"slices"
	"time"

	"github.com/a-h/templ"

	"linkwatch/models"
	"linkwatch/models/disk"
	"linkwatch/models/schedule"
	"linkwatch/views/ui"
)

// Overview is the part of scheduled jobs and disks on the overview.
type Overview struct {
	Jobs    []schedule.Job
	Filling []disk.Space
	Now     time.Time
}

// Part returns the part. It shows all failed jobs and filling disks, because there are few.
func (v Overview) Part() ui.OverviewPart {
	p := ui.OverviewPart{
		Attention: []ui.Attention{
			{Severity: ui.Critical, Noun: "disk", After: " almost full", Path: "/admin/jobs", Rows: v.filling()},
			{Severity: ui.Warning, Noun: "failed job", Path: "/admin/jobs", Rows: v.failed()},
			{Severity: ui.Warning, Noun: "overdue job", Path: "/admin/jobs", Rows: v.overdue()},
		},
		Well: []string{"no job failed"},
	}
	p.Used = slices.ContainsFunc(p.Attention, func(a ui.Attention) bool { return len(a.Rows) > 0 }) // shown instead of the first steps
	if len(v.Jobs) > 0 {
		p.Main = []templ.Component{nextRuns(v.upcoming(), v.Now)}
	}
	return p
}

// failed returns rows for jobs whose last run failed.
func (v Overview) failed() []templ.Component {
	var rows []templ.Component
	for _, j := range v.Jobs {
		if j.LastError != "" {
			rows = append(rows, failedJob(j, v.Now))
		}
	}
	return rows
}

// overdue returns rows for jobs that should have started.
func (v Overview) overdue() []templ.Component {
	var rows []templ.Component
	for _, j := range v.Jobs {
		if j.Overdue(models.At(v.Now)) {
			rows = append(rows, overdueJob(j, v.Now))
		}
	}
	return rows
}

// filling returns rows for filling disks.
func (v Overview) filling() []templ.Component {
	rows := make([]templ.Component, len(v.Filling))
	for i, s := range v.Filling {
		rows[i] = fillingDisk(s)
	}
	return rows
}

// upcoming returns the jobs by next run.
func (v Overview) upcoming() []schedule.Job {
	return slices.SortedFunc(slices.Values(v.Jobs), func(a, b schedule.Job) int {
		return a.NextRunAt.Compare(b.NextRunAt.Time)
	})
}
