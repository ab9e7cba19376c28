package sites

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
)

const queueSize = 100 // rows per page of the lists of pages and submissions

// The actions on selected pages.
const (
	actionBoost  = "boost"
	actionReset  = "reset"
	actionSubmit = "submit"
	actionVerify = "verify"
	actionSave   = "save"
	actionWatch  = "watch"
)

var errPageAction = models.Invalid("action", "must be an action of this list")

func queueFilter(get func(string) string) sites.Filter {
	return sites.Filter{
		Status: sites.Status(get("status")), Cause: models.CleanLine(get("cause")), Queued: get("queued") == "true", Gone: get("gone") == "true",
		Match: models.CleanLine(get("q")),
	}
}

func queuePlaceOf(site string, q url.Values) (views.QueuePlace, models.Cursor, error) {
	at := views.QueuePlace{SiteID: site, Filter: queueFilter(q.Get), Token: q.Get("page_token")}
	after, err := models.ParseToken(at.Token)
	return at, after, err
}

// QueuePage shows the pages of a website in queue order; for htmx only the results.
func (p Pages) QueuePage(c *gin.Context) {
	ctx := c.Request.Context()
	var v views.Queue
	var after models.Cursor
	if !p.Read(c,
		func() (err error) { v.Place, after, err = queuePlaceOf(c.Param("id"), c.Request.URL.Query()); return },
		func() (err error) { v.Flash, err = p.Flash(c, v.Place.Path()); return },
		func() (err error) { v.Site, err = p.Sites.Get(ctx, c.Param("id")); return },
		func() (err error) { v.Counts, err = p.Sites.Counts(ctx, v.Site); return },
		func() (err error) {
			v.List, err = p.Sites.Pages(ctx, v.Site.ID, v.Place.Filter, after, queueSize)
			v.Query, err = pages.FilterError(err, "cause")
			return err
		},
		func() (err error) { v.Related, err = p.OtherSystems.Related(ctx, urlsOf(v.List.Items)); return },
	) {
		return
	}
	v.Page = p.Page("Pages · "+v.Site.Name, "sites", v.Flash)
	v.Search = true
	pages.ReplaceURL(c, v.Place.Path())
	p.ShowList(c, http.StatusOK, v.Query, views.QueuePage(v), views.QueueResults(v))
}

func urlsOf(list []sites.Page) []string {
	urls := make([]string, len(list))
	for i, page := range list {
		urls[i] = page.URL
	}
	return urls
}

// actionPriority returns the manual priority set by an action; nil = automatic.
func actionPriority(action string) *int {
	if action == actionReset {
		return nil
	}
	return new(sites.MaxPriority)
}

// BulkPages runs an action on the selected pages of a website.
func (p Pages) BulkPages(c *gin.Context) {
	ctx, site := c.Request.Context(), c.Param("id")
	here := p.Back(c, views.QueuePlace{SiteID: site}.Path())
	ids, action := c.PostFormArray("id"), c.PostForm("action")
	if len(ids) == 0 {
		p.Done(c, nil, here, "pages_none")
		return
	}
	switch action {
	case actionBoost, actionReset:
		b, err := p.Sites.SetPrioritiesByID(ctx, site, actionPriority(action), ids...)
		if err != nil {
			p.Fail(c, err)
			return
		}
		p.boosted(c, b, here)
	case actionSubmit:
		n, err := p.Sites.RequestSubmissions(ctx, site, ids...)
		p.requested(c, action, n, err, here, "pages_nothing")
	case actionVerify:
		n, err := p.Sites.RequestVerifications(ctx, site, ids...)
		p.requested(c, action, n, err, here, "pages_no_google")
	case actionSave, actionWatch:
		p.addToSystem(c, action, ids[:min(len(ids), MaxBulkAdd)], here)
	default:
		p.Fail(c, errPageAction)
	}
}

// requested redirects back with the number of requested submissions or verifications. On a conflict it shows the notice
// conflict.
func (p Pages) requested(c *gin.Context, action string, n int, err error, back, conflict string) {
	switch {
	case models.CodeOf(err) == models.CodeConflict:
		p.Done(c, nil, back, conflict)
	case err != nil:
		p.Fail(c, err)
	default:
		p.SeeOther(c, pages.With(back, paramPagesRequested, fmt.Sprintf("%s.%d", action, n)))
	}
}

// addToSystem adds pages to links or targets, and redirects back with the result.
func (p Pages) addToSystem(c *gin.Context, action string, ids []string, back string) {
	ctx := c.Request.Context()
	list, err := p.Sites.PagesByID(ctx, c.Param("id"), ids...)
	if err != nil {
		p.Fail(c, err)
		return
	}
	w, err := p.Sites.Get(ctx, c.Param("id"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	add := p.OtherSystems.Save
	if action == actionWatch {
		add = p.OtherSystems.Watch
	}
	o, err := add(ctx, urlsOf(list), w.Private())
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.SeeOther(c, pages.With(back, paramPagesAdded, fmt.Sprintf("%s.%d.%d.%d", action, o.Added, o.Known, o.Refused)))
}

// BoostPages changes the priorities of all pages that match a filter.
func (p Pages) BoostPages(c *gin.Context) {
	action := c.PostForm("action")
	if action != actionBoost && action != actionReset {
		p.Fail(c, errPageAction)
		return
	}
	f := queueFilter(c.PostForm)
	f.Match, f.Cause = c.PostForm("q"), c.PostForm("cause") // not cleaned: text that becomes empty must not match all pages
	b, err := p.Sites.SetPriorities(c.Request.Context(), c.Param("id"), f, actionPriority(action))
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.boosted(c, b, p.Back(c, views.QueuePlace{SiteID: c.Param("id")}.Path()))
}
