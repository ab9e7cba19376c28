package web

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	views "linkwatch/views/admin"
	"linkwatch/views/ui"
)

const runsSize = 50 // runs on a page of a job's history

// AdminPage goes to the first of the admin's pages.
func (p *Pages) AdminPage(c *gin.Context) { RedirectTo(c, http.StatusFound, "/admin/jobs") }

// JobsPage is the table of scheduled jobs, which keeps itself up to date.
func (p *Pages) JobsPage(c *gin.Context) {
	ctx := c.Request.Context()
	v := views.Jobs{Page: p.page("Jobs", "admin", notices[c.Query(paramDone)])}
	var err error
	if v.Jobs, err = p.Schedule.Jobs(ctx); err != nil {
		p.fail(c, err)
		return
	}
	cleaned, err := p.Cleanup.Totals(ctx)
	if err != nil {
		p.fail(c, err)
		return
	}
	for _, t := range cleaned {
		v.Cleaned += t.Cleaned
	}
	p.showPart(c, http.StatusOK, views.JobsPage(v), views.JobsTable(v))
}

// JobPage is the history of one job.
func (p *Pages) JobPage(c *gin.Context) {
	ctx := c.Request.Context()
	after, err := models.ParseToken(c.Query("page_token"))
	if err != nil {
		p.fail(c, err)
		return
	}
	job, err := p.Schedule.Job(ctx, c.Param("id"))
	if err != nil {
		p.fail(c, err)
		return
	}
	v := views.Job{Page: p.page("Job "+job.ID, "admin", ui.Flash{}), Job: job, Older: after != (models.Cursor{})}
	if v.Runs, err = p.Schedule.Runs(ctx, v.Job.ID, after, runsSize); err != nil {
		p.fail(c, err)
		return
	}
	p.show(c, http.StatusOK, views.JobPage(v))
}

// RunJob asks for a run now.
func (p *Pages) RunJob(c *gin.Context) {
	err := p.Schedule.Request(c.Request.Context(), c.Param("id"))
	p.done(c, err, "/admin/jobs", "asked")
}

// SettingsPage lists the settings in force.
func (p *Pages) SettingsPage(c *gin.Context) {
	v := views.Settings{Page: p.page("Settings", "admin", ui.Flash{})}
	for _, s := range p.Settings {
		v.Settings = append(v.Settings, views.Setting(s))
	}
	p.show(c, http.StatusOK, views.SettingsPage(v))
}
