package crawl

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/crawl"
	views "linkwatch/views/crawl"
	"linkwatch/views/ui"
)

// frontierPlaceOf reads where in the frontier a request is.
func frontierPlaceOf(q url.Values) (views.FrontierPlace, models.Cursor, error) {
	at := views.FrontierPlace{
		EntryFilter: crawl.EntryFilter{SourceID: q.Get("source"), ExecutionID: q.Get("execution")}, Token: q.Get("page_token"),
	}
	var err error
	if at.Status, err = oneOf("status", q.Get("status"), crawl.EntryStatuses); err != nil {
		return at, models.Cursor{}, err
	}
	after, err := models.ParseToken(at.Token)
	return at, after, err
}

// FrontierPage is a page of the frontier.
func (p Pages) FrontierPage(c *gin.Context) {
	p.showFrontier(c, http.StatusOK, views.EntryForm{URL: models.CleanLine(c.Query("url"))})
}

// showFrontier shows the frontier at the place of a request, with what was typed.
func (p Pages) showFrontier(c *gin.Context, status int, typed views.EntryForm) {
	ctx := c.Request.Context()
	v := views.Frontier{Add: typed}
	var after models.Cursor
	var flash ui.Flash
	for _, read := range []func() error{
		func() (err error) { v.Place, after, err = frontierPlaceOf(c.Request.URL.Query()); return },
		func() (err error) { flash, err = p.Flash(c, v.Place.Path()); return },
		func() (err error) { v.Source, err = p.sourceName(ctx, v.Place.SourceID); return },
		func() (err error) {
			if v.Place.ExecutionID != "" {
				v.Run, err = p.Crawl.Execution(ctx, v.Place.ExecutionID)
			}
			return err
		},
		func() (err error) {
			v.Entries, err = p.Crawl.Frontier(ctx, v.Place.EntryFilter, after, listSize)
			return
		},
	} {
		if err := read(); err != nil {
			p.Fail(c, err)
			return
		}
	}
	v.Page = p.Page("Frontier", "crawl", flash)
	p.Show(c, status, views.FrontierPage(v))
}

// AddEntry puts the URL that the form holds into the frontier.
func (p Pages) AddEntry(c *gin.Context) {
	form := views.EntryForm{URL: c.PostForm("url")}
	_, created, err := p.Crawl.AddEntry(c.Request.Context(), models.RepairURL(form.URL), "")
	errs, ok := pages.FormErrors(err, "url", "url")
	if m, is := errors.AsType[*models.Error](err); is && m.Code == models.CodeConflict { // the source is disabled
		errs, ok = ui.Errors{"url": m.Detail}, true
	}
	if ok {
		form.Errors = errs
		p.showFrontier(c, p.FormStatus(c, err), form)
		return
	}
	at, _, placeErr := frontierPlaceOf(c.Request.URL.Query())
	if err == nil {
		err = placeErr
	}
	notice := "entry_known"
	if created {
		notice = "entry_added"
	}
	p.Done(c, err, at.Path(), notice)
}

// DeleteEntry removes an entry from the frontier.
func (p Pages) DeleteEntry(c *gin.Context) {
	err := p.Crawl.DeleteEntry(c.Request.Context(), c.Param("id"))
	p.Done(c, err, p.Back(c, views.FrontierPlace{}.Path()), "entry_deleted")
}
