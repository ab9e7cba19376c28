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

const runsSize = 50 // runs on a page of a job's history

// AdminPage goes to the first of the admin's pages.
func (p Pages) AdminPage(c *gin.Context) { pages.RedirectTo(c, http.StatusFound, "/admin/jobs") }

// JobsPage is the table of scheduled jobs, which keeps itself up to date.
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

// backups is what the page says of scheduled backups; nil = there are none.
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

// JobPage is the history of one job.
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

// RunJob asks for a run now.
func (p Pages) RunJob(c *gin.Context) {
	err := p.Jobs.Request(c.Request.Context(), c.Param("id"))
	p.Done(c, err, p.Back(c, "/admin/jobs"), "asked")
}
