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

// frontierPlaceOf parses the place in the frontier from the query.
func frontierPlaceOf(q url.Values) (views.FrontierPlace, models.Cursor, error) {
	at := views.FrontierPlace{
		EntryFilter: crawl.EntryFilter{
			SourceID: q.Get("source"), ExecutionID: q.Get("execution"), Host: models.CleanLine(q.Get("host")), Text: models.CleanLine(q.Get("q")),
		},
		Token: q.Get("page_token"),
	}
	var err error
	if at.Status, err = parseEnum("status", q.Get("status"), crawl.EntryStatuses); err != nil {
		return at, models.Cursor{}, err
	}
	after, err := models.ParseToken(at.Token)
	return at, after, err
}

// FrontierPage shows the frontier.
func (p Pages) FrontierPage(c *gin.Context) {
	p.showFrontier(c, http.StatusOK, views.EntryForm{URL: models.CleanLine(c.Query("url"))})
}

// showFrontier shows the frontier with a filled-in form.
func (p Pages) showFrontier(c *gin.Context, status int, typed views.EntryForm) {
	ctx := c.Request.Context()
	v := views.Frontier{Add: typed}
	var after models.Cursor
	var flash ui.Flash
	if !p.Read(c,
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
			v.Query, err = pages.FilterError(err, "host")
			return err
		},
	) {
		return
	}
	v.Page = p.Page("Frontier", "crawl", flash)
	v.Search = true
	pages.ReplaceURL(c, v.Place.Path())
	p.ShowList(c, status, v.Query, views.FrontierPage(v), views.FrontierResults(v))
}

// AddEntry adds the URL in the form to the frontier.
func (p Pages) AddEntry(c *gin.Context) {
	form := views.EntryForm{URL: c.PostForm("url")}
	_, created, err := p.Crawl.AddEntry(c.Request.Context(), models.RepairURL(form.URL), "")
	errs, ok := pages.FormErrors(err, "url", views.Labels)
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

// BulkEntries retries or deletes the selected entries. It asks for confirmation before it deletes.
func (p Pages) BulkEntries(c *gin.Context) {
	ctx, here := c.Request.Context(), p.Back(c, views.FrontierPlace{}.Path())
	ids, action := c.PostFormArray("id"), c.PostForm("action")
	switch {
	case len(ids) == 0:
		p.Done(c, nil, here, "none_selected")
	case action == actionRetry:
		n, err := p.Crawl.RetryEntries(ctx, ids...)
		notice := "entries_retried"
		if n == 0 {
			notice = "entries_not_retried"
		}
		p.Done(c, err, here, notice)
	case action == actionDelete && c.PostForm("sure") == "":
		p.Show(c, http.StatusOK, views.FrontierDeletePage(views.FrontierDelete{
			Page: p.Page("Delete URLs", "crawl", ui.Flash{}), IDs: ids[:min(len(ids), crawl.MaxBulk)], Back: here,
		}))
	case action == actionDelete:
		_, err := p.Crawl.DeleteEntries(ctx, ids...)
		p.Done(c, err, here, "entries_deleted")
	default:
		p.Fail(c, errAction)
	}
}
