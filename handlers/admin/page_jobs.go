package admin

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	views "linkwatch/views/admin"
	"linkwatch/views/ui"
)

const runsSize = 50 // runs per page

// AdminPage redirects to the jobs page.
func (p Pages) AdminPage(c *gin.Context) { pages.RedirectTo(c, http.StatusFound, "/admin/jobs") }

// JobsPage shows the scheduled jobs. It updates itself.
func (p Pages) JobsPage(c *gin.Context) {
	ctx := c.Request.Context()
	v := views.Jobs{Page: p.Page("Jobs", "admin", p.Notice(c))}
	var err error
	if v.Jobs, err = p.Jobs.Jobs(ctx); err != nil {
		p.Fail(c, err)
		return
	}
	cleaned, err := p.Cleanup.Totals(ctx)
	if err != nil {
		p.Fail(c, err)
		return
	}
	for _, t := range cleaned {
		v.Cleaned += t.Cleaned
	}
	v.Backups, v.Disks = p.backups(), p.Disks()
	p.ShowPart(c, http.StatusOK, views.JobsPage(v), views.JobsTable(v))
}

// backups returns the state of the scheduled backups; nil = none are scheduled.
func (p Pages) backups() *views.Backups {
	if p.Backups == nil {
		return nil
	}
	now := p.Clock.Now().Time
	newest, ok, err := p.Backups.Newest(now)
	future, futureErr := p.Backups.Future(now)
	return &views.Backups{
		Newest: newest, Late: ok && p.Backups.Late(newest, now), Failed: errors.Join(err, futureErr) != nil, Future: future, Keep: p.Backups.Keep,
	}
}

// JobPage shows the runs of a job.
func (p Pages) JobPage(c *gin.Context) {
	ctx := c.Request.Context()
	after, err := models.ParseToken(c.Query("page_token"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	job, err := p.Jobs.Job(ctx, c.Param("id"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	v := views.Job{Page: p.Page("Job "+job.ID, "admin", ui.Flash{}), Job: job, Older: after != (models.Cursor{})}
	if v.Runs, err = p.Jobs.Runs(ctx, v.Job.ID, after, runsSize); err != nil {
		p.Fail(c, err)
		return
	}
	p.Show(c, http.StatusOK, views.JobPage(v))
}

// RunJob requests a run of a job.
func (p Pages) RunJob(c *gin.Context) {
	err := p.Jobs.Request(c.Request.Context(), c.Param("id"))
	p.Done(c, err, p.Back(c, "/admin/jobs"), "run_requested")
}
