package crawl

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/crawl"
	views "linkwatch/views/crawl"
	"linkwatch/views/ui"
)

const listSize = 100 // rows on a page of any list

// parseEnum parses a query parameter that is empty or one of the values all.
func parseEnum[T ~string](name, typed string, all []T) (T, error) {
	if typed == "" || slices.Contains(all, T(typed)) {
		return T(typed), nil
	}
	words := make([]string, len(all))
	for i, v := range all {
		words[i] = string(v)
	}
	return "", models.Invalid("query."+name, "must be one of %s", strings.Join(words, ", "))
}

// placeOf parses the place in the list of jobs from the query.
func placeOf(q url.Values) (views.Place, models.Cursor, error) {
	at := views.Place{JobFilter: crawl.JobFilter{Text: models.CleanLine(q.Get("q"))}, Token: q.Get("page_token")}
	var err error
	if at.Status, err = parseEnum("status", q.Get("status"), crawl.Statuses); err != nil {
		return at, models.Cursor{}, err
	}
	after, err := models.ParseToken(at.Token)
	return at, after, err
}

// ListPage shows the jobs. For htmx it returns only the results.
func (p Pages) ListPage(c *gin.Context) {
	v := views.List{Add: views.NewAddForm(models.CleanLine(c.Query("url")))}
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

// showList loads the list at a place and shows it; v has filled-in forms.
func (p Pages) showList(c *gin.Context, status int, v views.List, at views.Place, after models.Cursor) {
	ctx := c.Request.Context()
	v.Page, v.Place = p.Page("Crawl", "crawl", v.Flash), at
	v.Search = true
	var err error
	v.Jobs, err = p.Crawl.Jobs(ctx, at.JobFilter, after, listSize)
	v.Query, err = pages.FilterError(err)
	if err == nil {
		v.Last, err = p.Crawl.LastExecutions(ctx, v.Jobs.Items)
	}
	if err == nil {
		v.Counts, err = p.Crawl.StatusCounts(ctx)
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.ShowList(c, status, v.Query, views.ListPage(v), views.ListResults(v))
}

func sourceFormOf(c *gin.Context) views.SourceForm {
	return views.SourceForm{
		Name: c.PostForm("name"), Depth: c.PostForm("max_depth"), RateLimit: c.PostForm("rate_limit_ms"),
		Domains: c.PostForm("allowed_domains"), Enabled: c.PostForm("enabled") != "", Private: c.PostForm("private") != "",
	}
}

// rateLimit returns the delay in the form; nil if it is empty.
func rateLimit(f views.SourceForm) *int {
	if strings.TrimSpace(f.RateLimit) == "" {
		return nil
	}
	return new(pages.Number(f.RateLimit))
}

// domainsOf returns the domains in the form, separated by commas or spaces.
func domainsOf(f views.SourceForm) []string {
	return strings.FieldsFunc(f.Domains, func(r rune) bool { return r == ',' || r <= ' ' })
}

// Add adds the job in the form. If the site has a source already, it first asks what to do. If the user then chooses another job,
// the name in the form is that of the job.
func (p Pages) Add(c *gin.Context) {
	ctx := c.Request.Context()
	form := views.AddForm{
		URL: c.PostForm("url"), SourceForm: sourceFormOf(c), RetryNextRun: c.PostForm("retry_next_run") != "",
		Schedule: c.DefaultPostForm("schedule", views.NewAddForm("").Schedule), RunNow: c.PostForm("now") != "",
	}
	another := c.PostForm("existing") == "add"
	n := crawl.NewJob{
		URL: models.RepairURL(form.URL), RunNow: form.RunNow, RetryNextRun: form.RetryNextRun, OnlyNew: !another, Distinct: another,
		Source: crawl.NewSource{
			Name: form.Name, MaxDepth: pages.Number(form.Depth), AllowedDomains: domainsOf(form.SourceForm), RateLimitMS: rateLimit(form.SourceForm), Private: form.Private,
		},
	}
	if another {
		n.Name = form.Name
	}
	var j crawl.Job
	var err error
	if n.Interval, err = views.ParseSchedule(form.Schedule); err == nil {
		j, err = p.Crawl.AddJob(ctx, n)
	}
	errs, ok := pages.FormErrors(err, "url", views.Labels)
	form.Errors = errs
	switch {
	case models.CodeOf(err) == models.CodeConflict, ok && another:
		p.showAnother(c, p.FormStatus(c, err), form)
	case ok:
		p.showList(c, p.FormStatus(c, err), views.List{Add: form}, views.Place{}, models.Cursor{})
	case err != nil:
		p.Fail(c, err)
	default:
		p.SeeOther(c, pages.With("/crawl", paramAdded, j.ID))
	}
}

// showAnother asks what to do with the URL of a form whose site has a source.
func (p Pages) showAnother(c *gin.Context, status int, form views.AddForm) {
	v := views.Another{Page: p.Page("Add a job", "crawl", ui.Flash{}), Add: form}
	var ok bool
	var err error
	v.Source, v.Jobs, ok, err = p.Crawl.Existing(c.Request.Context(), models.RepairURL(form.URL), form.Private)
	switch {
	case err != nil:
		p.Fail(c, err)
	case !ok: // it was deleted meanwhile
		p.showList(c, status, views.List{Add: form}, views.Place{}, models.Cursor{})
	default:
		p.Show(c, status, views.AnotherPage(v))
	}
}

// Act applies the action in the last part of the path: pause, resume, retry, force-run, stop or cancel.
// If the job's status no longer allows the action, the page says so.
func (p Pages) Act(c *gin.Context) {
	e := crawl.Event(path.Base(c.FullPath()))
	here := p.Back(c, jobPath(c))
	_, err := p.Crawl.Act(c.Request.Context(), c.Param("id"), e)
	if models.CodeOf(err) == models.CodeConflict {
		p.SeeOther(c, pages.With(here, paramRefused, c.Param("id")))
		return
	}
	p.Done(c, err, here, "job_"+string(e))
}

// RunAgain adds a job with the settings of a finished one, and runs it.
func (p Pages) RunAgain(c *gin.Context) {
	j, err := p.Crawl.RunAgain(c.Request.Context(), c.Param("id"))
	if models.CodeOf(err) == models.CodeConflict {
		p.SeeOther(c, pages.With(p.Back(c, jobPath(c)), paramRefused, c.Param("id")))
		return
	}
	p.Done(c, err, p.Back(c, views.JobPlace{ID: j.ID}.Path()), "job_"+string(crawl.RunAgain))
}
