package targets

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/targets"
	views "linkwatch/views/targets"
	"linkwatch/views/ui"
)

const choiceSize = 50 // targets to choose from, in addition to the selected ones

// StatusPagesPage lists the status pages.
func (p Pages) StatusPagesPage(c *gin.Context) {
	all, err := p.Targets.Pages(c.Request.Context())
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.Show(c, http.StatusOK, views.StatusPagesPage(views.StatusPages{
		Page: p.Page("Status pages", "targets", p.Notice(c)), Pages: all,
	}))
}

// NewStatusPage is the form for a status page.
func (p Pages) NewStatusPage(c *gin.Context) {
	p.showStatusForm(c, http.StatusOK, targets.StatusPage{}, views.StatusForm{}, nil)
}

// AddStatusPage creates a status page, or changes the selection on its form.
func (p Pages) AddStatusPage(c *gin.Context) {
	p.saveStatusPage(c, targets.StatusPage{}, p.Targets.AddPage)
}

// EditStatusPage is the form of a status page.
func (p Pages) EditStatusPage(c *gin.Context) {
	page, err := p.Targets.PageBySlug(c.Request.Context(), c.Param("slug"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	form := views.StatusForm{Title: page.Title, Slug: page.Slug, Description: page.Description}
	p.showStatusForm(c, http.StatusOK, page, form, idsOf(page.Targets))
}

// SaveStatusPage stores a status page, or changes the selection on its form.
func (p Pages) SaveStatusPage(c *gin.Context) {
	page, err := p.Targets.PageBySlug(c.Request.Context(), c.Param("slug"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	ctx := p.Edited(c, views.StatusEditPath(page.Slug), func(ctx context.Context) (ui.Edited, error) {
		stored, err := p.Targets.Page(ctx, page.ID)
		return views.EditedPage(stored), err
	})
	p.saveStatusPage(c, page, func(_ context.Context, e targets.PageSettings) (targets.StatusPage, error) {
		return p.Targets.EditPage(ctx, page.ID, e)
	})
}

// saveStatusPage handles the buttons of the form. Enter in a field saves the page, or
// searches if the search field is not empty.
func (p Pages) saveStatusPage(c *gin.Context, page targets.StatusPage, save func(context.Context, targets.PageSettings) (targets.StatusPage, error)) {
	form := views.StatusForm{
		Title: c.PostForm("title"), Slug: strings.TrimSpace(c.PostForm("slug")), Description: c.PostForm("description"),
		Find: strings.TrimSpace(c.PostForm("find")),
	}
	chosen := c.PostFormArray("target")
	chosen = chosen[:min(len(chosen), targets.MaxPageTargets+1)] // one too many makes the store return an error
	if c.PostForm("save") == "" && (c.PostForm("enter") == "" || form.Find != "") {
		move(chosen, c.PostForm("up"), -1)
		move(chosen, c.PostForm("down"), +1)
		p.showStatusForm(c, http.StatusOK, page, form, chosen)
		return
	}
	if form.Slug == "" {
		form.Slug = slugOf(form.Title)
	}
	saved, err := save(c.Request.Context(), targets.PageSettings{
		Slug: form.Slug, Title: form.Title, Description: form.Description, TargetIDs: chosen,
	})
	if err == nil {
		p.SeeOther(c, pages.With(views.StatusEditPath(saved.Slug), pages.ParamDone, "published"))
		return
	}
	var ok bool
	if form.Errors, ok = statusErrors(err); !ok {
		p.Fail(c, err)
		return
	}
	p.showStatusForm(c, p.Errors.Problem(c.Request.Context(), err).Status, page, form, chosen)
}

// statusErrors returns the messages of an error for the fields of the form.
func statusErrors(err error) (e ui.Errors, ok bool) {
	m, is := errors.AsType[*models.Error](err)
	switch {
	case is && m.Code == models.CodeConflict:
		return ui.Errors{"slug": m.Detail}, true
	case is && len(m.Fields) > 0 && strings.HasPrefix(m.Fields[0].Location, "targets["):
		return ui.Errors{"targets": "A selected target was deleted. It was removed from the list."}, true
	}
	return pages.FormErrors(err, "title", map[string]string{
		"title": "Title", "slug": "Slug", "description": "Description", "targets": "Page",
	})
}

// showStatusForm shows the form of a status page. htmx gets only the lists of targets.
func (p Pages) showStatusForm(c *gin.Context, status int, page targets.StatusPage, form views.StatusForm, chosen []string) {
	ctx := c.Request.Context()
	// The result may include all the selected targets.
	found, more, err := p.Targets.Matching(ctx, form.Find, choiceSize+len(chosen))
	problem, err := pages.FilterError(err)
	if problem != "" {
		if form.Errors == nil {
			form.Errors = ui.Errors{}
		}
		form.Errors["find"], status = problem, http.StatusBadRequest
	}
	if err == nil {
		form.Chosen, err = p.Targets.ByIDs(ctx, chosen)
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	form.More = more
	for _, t := range found {
		if !slices.Contains(chosen, t.ID) {
			form.Found = append(form.Found, t)
		}
	}
	flash := p.Notice(c)
	if flash.Text != "" && page.ID != "" {
		flash.Link = ui.Link{Label: "Open", Path: views.StatusPath(page.Slug)}
	}
	title := "Add status page"
	if page.ID != "" {
		title = "Edit " + page.Title
	}
	v := views.StatusEdit{Page: p.Page(title, "targets", flash), Saved: page, Form: form, BaseURL: p.Base(c)}
	p.ShowPart(c, status, views.StatusEditPage(v), views.StatusChoices(v))
}

// AskDeleteStatusPage asks for confirmation before a status page is deleted.
func (p Pages) AskDeleteStatusPage(c *gin.Context) {
	page, err := p.Targets.PageBySlug(c.Request.Context(), c.Param("slug"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.Show(c, http.StatusOK, views.StatusDeletePage(views.StatusDelete{
		Page: p.Page("Delete "+page.Title, "targets", ui.Flash{}), Status: page,
	}))
}

// DeleteStatusPage deletes a status page.
func (p Pages) DeleteStatusPage(c *gin.Context) {
	ctx := c.Request.Context()
	page, err := p.Targets.PageBySlug(ctx, c.Param("slug"))
	if err == nil {
		err = p.Targets.DeletePage(ctx, page.ID)
	}
	p.Done(c, err, "/status", "withdrawn")
}

func idsOf(ts []targets.Target) []string {
	ids := make([]string, len(ts))
	for i, t := range ts {
		ids[i] = t.ID
	}
	return ids
}

// move swaps id with the id at the distance by. It ignores unknown ids.
func move(ids []string, id string, by int) {
	from := slices.Index(ids, id)
	if to := from + by; from >= 0 && to >= 0 && to < len(ids) {
		ids[from], ids[to] = ids[to], ids[from]
	}
}

// slugOf makes a slug from a title: "our-apis-zurich" from "Our APIs, Zürich". It
// returns "" for a title without Latin letters and digits.
func slugOf(title string) string {
	words := strings.FieldsFunc(models.Fold(title), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	slug := strings.Join(words, "-")
	return strings.Trim(slug[:min(len(slug), targets.MaxSlug)], "-")
}
