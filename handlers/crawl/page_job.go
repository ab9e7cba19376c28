package crawl

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/crawl"
	views "linkwatch/views/crawl"
	"linkwatch/views/ui"
)

const (
	executionsSize = 10  // executions on the page of a job
	logSize        = 200 // log lines on the page of a job
	refresh        = 5   // seconds after which a browser without JavaScript reloads the page of a running crawl
)

// JobPage shows a job with the progress and the log of an execution. For htmx it returns only the
// parts that change.
func (p Pages) JobPage(c *gin.Context) {
	v := views.Job{Edit: views.JobForm{Open: c.Query("edit") != ""}}
	var err error
	if v.Flash, err = p.Flash(c, jobPath(c)); err != nil {
		p.Fail(c, err)
		return
	}
	p.showJob(c, http.StatusOK, c.Param("id"), v)
}

func jobPath(c *gin.Context) string { return views.JobPlace{ID: c.Param("id")}.Path() }

// showJob loads a job and shows it; v has filled-in forms.
func (p Pages) showJob(c *gin.Context, status int, id string, v views.Job) {
	ctx := c.Request.Context()
	v.Place = views.JobPlace{ID: id, Execution: c.Query("execution"), Token: c.Query("page_token")}
	part := pages.WantsPart(c.Request)
	var after models.Cursor
	if !p.Read(c,
		func() (err error) { after, err = models.ParseToken(v.Place.Token); return },
		func() (err error) { v.Job, err = p.Crawl.Job(ctx, id); return },
		func() (err error) { v.Source, err = p.Crawl.Source(ctx, v.Job.SourceID); return },
		func() (err error) { v.Stats, err = p.Crawl.Stats(ctx, v.Job); return },
		func() (err error) { v.Runs, err = p.Crawl.Executions(ctx, v.Job, after, executionsSize); return },
		func() (err error) { v.Run, err = p.execution(ctx, v.Job, v.Place.Execution); return },
		func() (err error) {
			if !part { // the lines arrive as events
				v.Lines, err = p.Crawl.LogTail(ctx, v.Run, logSize)
			}
			return err
		},
		func() error {
			subject, err := subject(v.Job)
			if err == nil {
				v.Actions, v.Aside, err = pages.ShowRelated(c, subject, p.Others)
			}
			return err
		},
	) {
		return
	}
	v.Page = p.Page(v.Job.Title(), "crawl", v.Flash)
	if v.Job.Status == crawl.Running && v.Flash == (ui.Flash{}) && !v.Edit.Open && !v.Settings.Open { // a reload would discard the message or the form
		v.Refresh = refresh
	}
	if v.Edit.Errors == nil {
		open := v.Edit.Open
		v.Edit = views.JobFormOf(v.Job)
		v.Edit.Open = open
	}
	if v.Settings.Errors == nil {
		v.Settings = views.SourceFormOf(v.Source)
	}
	pages.ReplaceURL(c, v.Place.Path())
	p.ShowPart(c, status, views.JobPage(v), views.JobPart(v))
}

// execution returns an execution of a job. An empty id is the newest; the result is zero if the job
// has not run. The error is CodeNotFound if the execution does not belong to the job.
func (p Pages) execution(ctx context.Context, j crawl.Job, id string) (e crawl.Execution, err error) {
	if id == "" {
		e, _, err = p.Crawl.LastExecution(ctx, j)
		return e, err
	}
	e, err = p.Crawl.Execution(ctx, id)
	if err == nil && e.JobSeq != j.Seq {
		return crawl.Execution{}, models.NotFound("execution")
	}
	return e, err
}

// subject describes a job for other systems.
func subject(j crawl.Job) (pages.Subject, error) {
	u, err := models.ParseURL("url", j.URL)
	return pages.Subject{URL: j.URL, CanonicalURL: u.Canonical, Title: j.Title(), Path: views.JobPlace{ID: j.ID}.Path(), PrivateTo: j.PrivateTo}, err
}

// Edit saves the settings of a job.
func (p Pages) Edit(c *gin.Context) {
	form := views.JobForm{
		Name: c.PostForm("job_name"), RetryNextRun: c.PostForm("retry_next_run") != "",
		Schedule: c.PostForm("schedule"), Adaptive: c.PostForm("adaptive_scheduling") != "",
		Retries: c.PostForm("max_retries"), Backoff: c.PostForm("retry_backoff_seconds"),
	}
	interval, err := views.ParseSchedule(form.Schedule)
	if err == nil {
		ctx := p.Edited(c, jobPath(c), func(ctx context.Context) (ui.Edited, error) {
			j, err := p.Crawl.Job(ctx, c.Param("id"))
			return views.EditedJob(j), err
		})
		_, err = p.Crawl.EditJob(ctx, c.Param("id"), crawl.JobEdit{
			Name: &form.Name, Interval: &interval, AdaptiveScheduling: &form.Adaptive, RetryNextRun: &form.RetryNextRun,
			MaxRetries: new(pages.Number(form.Retries)), RetryBackoff: new(pages.Number(form.Backoff)),
		})
	}
	if errs, ok := pages.FormErrors(err, "interval_minutes", views.Labels); ok {
		form.Errors, form.Open = errs, true
		p.showJob(c, p.FormStatus(c, err), c.Param("id"), views.Job{Edit: form})
		return
	}
	p.Done(c, err, jobPath(c), "edited")
}

// AskCancel asks for confirmation before a job is cancelled, which cannot be undone.
func (p Pages) AskCancel(c *gin.Context) {
	j, err := p.Crawl.Job(c.Request.Context(), c.Param("id"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.Show(c, http.StatusOK, views.JobCancelPage(views.JobCancel{Page: p.Page("Cancel a job", "crawl", ui.Flash{}), Job: j}))
}

// Delete deletes a job and redirects to the list, which offers to undo it.
func (p Pages) Delete(c *gin.Context) {
	if err := p.Crawl.DeleteJob(c.Request.Context(), c.Param("id")); err != nil {
		p.Fail(c, err)
		return
	}
	p.SeeOther(c, pages.With("/crawl", paramDeleted, c.Param("id")))
}

// Restore restores a deleted job.
func (p Pages) Restore(c *gin.Context) {
	_, err := p.Crawl.RestoreJob(c.Request.Context(), c.Param("id"))
	p.Done(c, err, jobPath(c), "job_restored")
}
