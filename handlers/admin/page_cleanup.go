package admin

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"linkwatch/models/cleanup"
	views "linkwatch/views/admin"
	"linkwatch/views/ui"
)

// refreshRunning is the refresh interval without JavaScript during a run, in seconds.
const refreshRunning = 5

// CleanupPage shows the state and the runs of the reaper. It updates itself.
func (p Pages) CleanupPage(c *gin.Context) {
	v, err := p.cleanup(c)
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.ShowPart(c, http.StatusOK, views.CleanupPage(v), views.CleanupFigures(v))
}

func (p Pages) cleanup(c *gin.Context) (v views.Cleanup, err error) {
	ctx := c.Request.Context()
	// The job is read first, because the figures of a run are written before it ends.
	if v.Job, err = p.Jobs.Job(ctx, cleanup.Job); err != nil {
		return v, err
	}
	v.Kinds, v.Main = p.Cleanup.Kinds(), p.Cleanup.Main()
	if v.Totals, err = p.Cleanup.Totals(ctx); err != nil {
		return v, err
	}
	if v.Runs, err = p.Cleanup.Runs(ctx); err != nil {
		return v, err
	}
	if v.Waiting, err = p.Cleanup.Waiting(ctx); err != nil {
		return v, err
	}
	notice := p.Notice(c)
	if v.Job.Running() {
		notice = ui.Flash{} // the notice said that the job would start
	}
	v.Page = p.Page("Cleanup", "admin", notice)
	if v.Job.Running() || !v.Job.RequestedAt.IsZero() {
		v.Refresh = refreshRunning
	}
	return v, nil
}

// RunCleanup requests a run of the reaper.
func (p Pages) RunCleanup(c *gin.Context) {
	err := p.Jobs.RequestAs(c.Request.Context(), cleanup.Job, cleanup.ActionRun)
	p.Done(c, err, "/admin/cleanup", "run_requested")
}
