package crawl

import (
	"context"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/crawl"
	views "linkwatch/views/crawl"
	"linkwatch/views/ui"
)

// EditSource saves the settings of a source. Its form is on the page of a job.
func (p Pages) EditSource(c *gin.Context) {
	form, job := sourceFormOf(c), c.PostForm("job")
	ctx := p.Edited(c, views.JobPlace{ID: job}.Path(), func(ctx context.Context) (ui.Edited, error) {
		s, err := p.Crawl.Source(ctx, c.Param("id"))
		return views.EditedSource(s), err
	})
	_, err := p.Crawl.EditSource(ctx, c.Param("id"), crawl.SourceEdit{
		Name: &form.Name, Enabled: &form.Enabled, MaxDepth: new(pages.Number(form.Depth)),
		AllowedDomains: new(domainsOf(form)), RateLimitMS: rateLimit(form), Private: pages.Private(c),
	})
	if errs, ok := pages.FormErrors(err, "name", views.Labels); ok {
		form.Errors, form.Open = errs, true
		p.showJob(c, p.FormStatus(c, err), job, views.Job{Settings: form})
		return
	}
	back := "/crawl"
	if models.CheckID(models.KindJob, job) == nil {
		back = views.JobPlace{ID: job}.Path()
	}
	p.Done(c, err, back, "source_saved")
}

// DeleteSource deletes a source with its jobs and redirects to the list, which offers to undo it.
func (p Pages) DeleteSource(c *gin.Context) {
	if err := p.Crawl.DeleteSource(c.Request.Context(), c.Param("id")); err != nil {
		p.Fail(c, err)
		return
	}
	p.SeeOther(c, pages.With("/crawl", paramSourceDeleted, c.Param("id")))
}

// RestoreSource restores a deleted source with its jobs.
func (p Pages) RestoreSource(c *gin.Context) {
	_, err := p.Crawl.RestoreSource(c.Request.Context(), c.Param("id"))
	p.Done(c, err, "/crawl", "source_restored")
}
