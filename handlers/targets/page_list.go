package targets

import (
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/targets"
	views "linkwatch/views/targets"
)

const listSize = 100 // targets on a page of the list

// placeOf parses the filters and the page of the list from query parameters.
func placeOf(q url.Values) (views.Place, models.Cursor, error) {
	at := views.Place{Filter: targets.Filter{Text: models.CleanLine(q.Get("q")), Host: models.CleanLine(q.Get("host"))}}
	var err error
	if at.Status, err = targets.ParseStatus(q.Get("status")); err != nil {
		return at, models.Cursor{}, err
	}
	if at.Certificate, err = targets.ParseCertificate(q.Get("certificate")); err != nil {
		return at, models.Cursor{}, err
	}
	at.Token = q.Get("page_token")
	after, err := models.ParseToken(at.Token)
	return at, after, err
}

// ListPage shows the list of targets. htmx gets only the rows.
func (p Pages) ListPage(c *gin.Context) {
	v := views.List{Add: views.Form{URL: models.CleanLine(c.Query("url"))}}
	at, after, err := placeOf(c.Request.URL.Query())
	if err == nil {
		v.Flash, err = p.Flash(c, at.Path())
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	pages.ReplaceURL(c, at.Path())
	if pages.WantsPart(c.Request) {
		pages.Say(c, v.Flash.Text)
	}
	p.showList(c, http.StatusOK, v, at, after)
}

// showList loads the targets at a place and shows the list. v has the form values.
func (p Pages) showList(c *gin.Context, status int, v views.List, at views.Place, after models.Cursor) {
	ctx := c.Request.Context()
	v.Page, v.Place = p.Page("Watch", "targets", v.Flash), at
	v.Search = true
	v.Interval = p.Targets.Options().CheckInterval
	v.Intervals = views.Intervals(v.Interval, 0)
	var err error
	v.Targets, err = p.Targets.List(ctx, at.Filter, after, listSize)
	v.Query, err = pages.FilterError(err, "host")
	if err == nil {
		v.Counts, err = p.Targets.Counts(ctx)
	}
	if err == nil {
		v.InMaintenance, err = p.Targets.InMaintenance(ctx, v.Targets.Items)
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.ShowList(c, status, v.Query, views.ListPage(v), views.ListResults(v))
}

// formOf parses the form of a target.
func formOf(c *gin.Context) views.Form {
	return views.Form{
		URL: c.PostForm("url"), Name: c.PostForm("name"), Interval: c.PostForm("interval_seconds"),
		Status: c.PostForm("status"), Keyword: c.PostForm("keyword"), Absent: c.PostForm("keyword_absent"),
		Latency: c.PostForm("max_latency_ms"), Private: c.PostForm("private") != "",
	}
}

func expectOf(f views.Form) targets.Expect {
	return targets.Expect{Status: f.Status, Keyword: f.Keyword, KeywordAbsent: f.Absent, MaxLatencyMS: pages.Number(f.Latency)}
}

// Add adds a target, from the form on the list or the button on other pages.
func (p Pages) Add(c *gin.Context) {
	form, private := formOf(c), pages.Private(c)
	t, created, err := p.Targets.Add(c.Request.Context(), targets.New{
		URL: models.RepairURL(form.URL), Name: form.Name, IntervalSeconds: pages.Number(form.Interval), Expect: expectOf(form),
		Private: private != nil && *private,
	})
	if errs, ok := pages.FormErrors(err, "url", views.Labels); ok {
		form.Errors = errs
		status := p.FormStatus(c, err)
		p.showList(c, status, views.List{Add: form}, views.Place{}, models.Cursor{})
		return
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	param := paramKnown
	if created {
		param = paramAdded
	}
	p.SeeOther(c, pages.With(p.Back(c, "/watch"), param, t.ID))
}
