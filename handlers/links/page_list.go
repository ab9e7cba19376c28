package links

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/links"
	views "linkwatch/views/links"
	"linkwatch/views/ui"
)

const (
	cloudSize    = 24 // popular tags next to the list
	completeSize = 12 // suggestions while typing a tag
)

// placeOf parses the place in the list of links from a query.
func placeOf(q url.Values) (views.Place, models.Page, error) {
	at := views.Place{Filter: links.Filter{Query: strings.TrimSpace(q.Get("q")), Tag: q.Get("tag")}}
	page, err := pages.PageNumber(q)
	if err != nil {
		return at, page, err
	}
	at.Page = page.Number
	if at.Health, err = links.ParseHealth(q.Get("health")); err != nil {
		return at, page, err
	}
	if at.Shown, err = links.ParseShown(q.Get("expired")); err != nil {
		return at, page, err
	}
	at.Popular = q.Get("sort") == "popular" && !at.Filtered()
	return at, page, nil
}

// ListPage is the list of links, or its results for htmx.
func (p Pages) ListPage(c *gin.Context) {
	at, page, err := placeOf(c.Request.URL.Query())
	if err != nil {
		p.Fail(c, err)
		return
	}
	v := views.List{Add: views.AddForm{URL: c.Query("url")}}
	if v.Flash, err = p.Flash(c, at.Path()); err != nil {
		p.Fail(c, err)
		return
	}
	pages.ReplaceURL(c, at.Path())
	p.showList(c, http.StatusOK, v, at, page)
}

// showList loads the list at a place into v, which holds the submitted forms, and shows it.
func (p Pages) showList(c *gin.Context, status int, v views.List, at views.Place, page models.Page) {
	ctx := c.Request.Context()
	v.Page, v.Place, v.BaseURL = p.Page("Links", "links", v.Flash), at, p.Base(c)
	v.Search = true

	var err error
	if at.Popular {
		v.Found.List, err = p.Links.Popular(ctx, page)
	} else {
		v.Found, err = p.Links.ListWithHealth(ctx, at.Filter, page)
	}
	if last := v.Found.Pages(); err == nil && v.Flash.Text != "" && page.Number > last && last > 0 && !v.Found.TotalIsLowerBound {
		q := c.Request.URL.Query() // an action has emptied the page
		q.Set("page", strconv.Itoa(last))
		p.SeeOther(c, ui.WithQuery("/links", q))
		return
	}
	v.Query, err = pages.FilterError(err, "tag")
	if err == nil {
		v.Counts, err = p.Links.Counts(ctx)
	}
	if at.Popular { // all active links
		v.Found.Health = v.Counts.Health
	}
	if err == nil && !pages.WantsPart(c.Request) {
		var tags models.List[links.Tag]
		tags, err = p.Links.Tags(ctx, "", links.TagsByCount, models.Page{Number: 1, Size: cloudSize})
		v.Popular = tags.Items
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.ShowList(c, status, v.Query, views.ListPage(v), views.ListResults(v))
}

// Add saves the link of the form on the list.
func (p Pages) Add(c *gin.Context) {
	form := views.AddForm{URL: c.PostForm("url"), Tags: c.PostForm("tags"), Notes: c.PostForm("notes"), Fetched: c.PostForm("fetched")}
	models.Set(&form.Private, pages.Private(c))
	force := c.PostForm("force") == "true"
	if force { // saves what the form says about the page, without another request; Save fetches it again
		form.Fetched = cmp.Or(form.Fetched, c.PostForm("failed"))
	}
	l, created, err := p.Links.Add(c.Request.Context(), links.New{
		URL: models.RepairURL(form.URL), Tags: tagNames(form.Tags), Notes: form.Notes, Private: form.Private, Fetched: form.Fetched, Force: force,
	})
	p.Metrics.added(created, err)
	withheld := form.Private && !l.Private() // private tags and notes are not added to a shared link
	if err == nil && !created && !withheld {
		err = p.addNotes(c.Request.Context(), l, form.Notes)
	}
	if errs, ok := pages.FormErrors(err, fieldOf(err), views.Labels); ok {
		form.Errors = errs
		switch models.CodeOf(err) {
		case models.CodeUnresolvable, models.CodeBlocked, models.CodeUnavailable:
			form.CanForce = true
		}
		status := p.FormStatus(c, err)
		p.showList(c, status, views.List{Add: form}, views.Place{}, models.Page{Number: 1, Size: models.DefaultPerPage})
		return
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	param := paramExisting
	switch {
	case created:
		param = paramAdded
	case withheld:
		param = paramShared
	}
	p.SeeOther(c, pages.With("/links", param, l.ID))
}

// addNotes appends notes to those of a link that was saved already.
func (p Pages) addNotes(ctx context.Context, l links.Link, notes string) error {
	notes = strings.TrimSpace(notes)
	if notes == "" || strings.Contains(l.Notes, notes) {
		return nil
	}
	all := strings.TrimSpace(l.Notes + "\n\n" + notes)
	_, err := p.Links.Edit(ctx, l.ID, links.Edit{Notes: &all})
	return err
}

// fieldOf returns the field at which an error without a field is shown.
func fieldOf(err error) string {
	if models.CodeOf(err) == models.CodeTooManyTags {
		return "tags"
	}
	return "url"
}

// Preview fetches a pasted URL and shows its title and picture.
func (p Pages) Preview(c *gin.Context) {
	typed := c.PostForm("url")
	if !pages.WantsPart(c.Request) { // without htmx, show the preview on the list page
		p.SeeOther(c, pages.With("/links", "url", typed))
		return
	}
	if strings.TrimSpace(typed) == "" {
		p.Show(c, http.StatusOK, views.PreviewFragment(views.Preview{}))
		return
	}
	found, fetched, err := p.Links.Preview(c.Request.Context(), models.RepairURL(typed))
	if errs, ok := pages.FormErrors(err, "url", views.Labels); ok {
		status := p.FormStatus(c, err)
		p.Show(c, status, views.PreviewFragment(views.Preview{Problem: errs["url"], Fetched: fetched}))
		return
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.Show(c, http.StatusOK, views.PreviewFragment(views.Preview{Page: found, Fetched: fetched}))
}

// CompleteTags suggests tags for a tag field. It completes the part after the last comma.
func (p Pages) CompleteTags(c *gin.Context) {
	typed := c.Query("tags")
	head, last := "", typed
	if i := strings.LastIndex(typed, ","); i >= 0 {
		head, last = strings.TrimSpace(typed[:i])+", ", typed[i+1:]
	}
	tags, err := p.Links.CompleteTags(c.Request.Context(), strings.TrimSpace(last), completeSize)
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.Show(c, http.StatusOK, views.TagOptions(head, names(tags)))
}

func names(tags []links.Tag) []string {
	out := make([]string, len(tags))
	for i, t := range tags {
		out[i] = t.Name
	}
	return out
}

// Random redirects to the page of a random active link.
func (p Pages) Random(c *gin.Context) {
	l, err := p.Links.Random(c.Request.Context())
	if err != nil {
		p.Fail(c, err)
		return
	}
	c.Header("Cache-Control", "no-store")
	pages.RedirectTo(c, http.StatusFound, "/links/"+l.ID)
}
