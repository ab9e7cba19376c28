package targets

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/targets"
	views "linkwatch/views/targets"
	"linkwatch/views/ui"
)

const (
	resultsSize = 25              // checks on the page of a target
	outagesSize = 10              // outages on it
	checkWait   = 4 * time.Second // how long Check waits for the result
)

// TargetPage shows a target with its history. htmx gets only the part that changes.
func (p Pages) TargetPage(c *gin.Context) {
	v := views.Target{Edit: views.Form{Open: c.Query("edit") != ""}}
	var err error
	if v.Flash, err = p.Flash(c, targetPath(c)); err != nil {
		p.Fail(c, err)
		return
	}
	p.showTarget(c, http.StatusOK, v)
}

func targetPath(c *gin.Context) string { return "/watch/" + c.Param("id") }

// showTarget loads the target and shows it. v has the form values.
func (p Pages) showTarget(c *gin.Context, status int, v views.Target) {
	ctx := c.Request.Context()
	t, err := p.Targets.Get(ctx, c.Param("id"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	v.Place = views.TargetPlace{
		ID: t.ID, Failed: c.Query("failed") == "true", Token: c.Query("page_token"), Outages: c.Query("outages"),
	}
	var after, afterOutage models.Cursor
	if !p.Read(c,
		func() (err error) { v.Place.Range, err = targets.ParseRange("query.range", c.Query("range")); return },
		func() (err error) { after, err = models.ParseToken(v.Place.Token); return },
		func() (err error) { afterOutage, err = models.ParseToken(v.Place.Outages); return },
		func() (err error) { v.History, err = p.Targets.History(ctx, t, v.Place.Range); return },
		func() (err error) {
			year := v.History
			if v.Place.Range != targets.Last365d {
				year, err = p.Targets.History(ctx, t, targets.Last365d)
			}
			v.Year = year.Share
			return err
		},
		func() (err error) { v.Outages, err = p.Targets.Outages(ctx, t.ID, afterOutage, outagesSize); return },
		func() (err error) {
			v.Results, err = p.Targets.Results(ctx, targets.ResultFilter{TargetID: t.ID, Failed: v.Place.Failed}, after, resultsSize)
			return
		},
		func() (err error) { _, v.Aside, err = pages.ShowRelated(c, subject(t), p.Others); return },
	) {
		return
	}
	v.Page, v.Target = p.Page(t.DisplayTitle(), "targets", v.Flash), t
	v.Check, v.Interval = p.Targets.Options().CheckInterval, p.Targets.Interval(t)
	v.Intervals = views.Intervals(v.Check, t.IntervalSeconds)
	if v.Edit.Errors == nil {
		open := v.Edit.Open
		v.Edit = views.FormOf(t)
		v.Edit.Open = open
	}
	pages.ReplaceURL(c, v.Place.Path())
	p.ShowPart(c, status, views.TargetPage(v), views.TargetNow(v))
}

// Edit stores the settings of a target.
func (p Pages) Edit(c *gin.Context) {
	form := formOf(c)
	interval := pages.Number(form.Interval)
	ctx := p.Edited(c, targetPath(c), func(ctx context.Context) (ui.Edited, error) {
		t, err := p.Targets.Get(ctx, c.Param("id"))
		return views.Edited(t), err
	})
	t, err := p.Targets.Edit(ctx, c.Param("id"), targets.Edit{
		Name: &form.Name, IntervalSeconds: &interval, Private: pages.Private(c),
		Expect: func(targets.Expect) targets.Expect { return expectOf(form) },
	})
	if errs, ok := pages.FormErrors(err, "name", views.Labels); ok {
		form.Errors, form.Open = errs, true
		p.showTarget(c, p.FormStatus(c, err), views.Target{Edit: form})
		return
	}
	notice := "edited" // only the name changed, or the target is paused
	if due := t.NextCheckAt; !due.IsZero() && !due.After(p.Targets.Now().Time) {
		notice = "rechecked"
	}
	p.Done(c, err, targetPath(c), notice)
}

// Pause pauses or resumes a target.
func (p Pages) Pause(c *gin.Context) {
	paused, notice := true, "stopped"
	if c.PostForm("paused") == "false" {
		paused, notice = false, "resumed"
	}
	_, err := p.Targets.Edit(c.Request.Context(), c.Param("id"), targets.Edit{Paused: &paused})
	p.Done(c, err, p.Back(c, targetPath(c)), notice)
}

// Check checks a target now and waits up to checkWait for the result. If a
// Retry-After has not ended, it shows a message.
func (p Pages) Check(c *gin.Context) {
	here := p.Back(c, targetPath(c))
	_, done, err := p.Targets.CheckNow(c.Request.Context(), c.Param("id"), checkWait)
	if m, ok := errors.AsType[*models.Error](err); ok && m.RetryAfter > 0 {
		p.SeeOther(c, pages.With(here, paramResting, c.Param("id")))
		return
	}
	if err != nil || !done {
		p.Done(c, err, here, "checking")
		return
	}
	p.SeeOther(c, pages.With(here, paramChecked, c.Param("id")))
}

// Delete deletes a target. The list then shows Undo.
func (p Pages) Delete(c *gin.Context) {
	if err := p.Targets.Delete(c.Request.Context(), c.Param("id")); err != nil {
		p.Fail(c, err)
		return
	}
	p.SeeOther(c, pages.With("/watch", paramDeleted, c.Param("id")))
}

// Restore restores a deleted target.
func (p Pages) Restore(c *gin.Context) {
	t, err := p.Targets.Restore(c.Request.Context(), c.Param("id"))
	p.Done(c, err, "/watch/"+t.ID, "restored")
}
