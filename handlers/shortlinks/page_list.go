package shortlinks

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/shortlinks"
	views "linkwatch/views/shortlinks"
	"linkwatch/views/ui"
)

const listSize = 50 // short links on a page of the list

// placeOf reads where in the list of short links a request is.
func placeOf(q url.Values) (views.Place, models.Cursor, error) {
	at := views.Place{Text: models.CleanLine(q.Get("q")), Token: q.Get("page_token")}
	var err error
	if at.Status, err = shortlinks.ParseStatus(q.Get("status")); err != nil {
		return at, models.Cursor{}, err
	}
	after, err := models.ParseToken(at.Token)
	return at, after, err
}

// shortPrefix is what the address of a short link begins with, as pages show
// it: at SHORT_HOST, if there is one.
func (p Pages) shortPrefix(c *gin.Context) string {
	base := p.Base(c)
	if at := shortHostURL(p.ShortHost, base, ""); at != "" {
		return at
	}
	return shortURL(base, "")
}

// ListPage is the list of short links, and for htmx its rows.
func (p Pages) ListPage(c *gin.Context) {
	v := views.List{Add: views.Form{LongURL: models.CleanLine(c.Query("url"))}}
	at, after, err := placeOf(c.Request.URL.Query())
	if err == nil {
		v.Flash, err = p.Flash(c, at.Path())
	}
	if key := c.Query(paramAdded); err == nil && key != "" && !pages.WantsPart(c.Request) {
		v.Made, err = p.ShortLinks.Get(c.Request.Context(), key)
		if models.CodeOf(err) == models.CodeNotFound { // deleted meanwhile
			err = nil
		}
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

// showList fills in the list at a place and shows it; v has what was typed.
func (p Pages) showList(c *gin.Context, status int, v views.List, at views.Place, after models.Cursor) {
	ctx := c.Request.Context()
	v.Page, v.Place, v.Prefix = p.Page("Short", "shortlinks", v.Flash), at, p.shortPrefix(c)
	v.Search = true
	var err error
	v.Links, err = p.ShortLinks.List(ctx, at.Filter(), after, listSize)
	v.Query, err = pages.FilterError(err)
	if err == nil {
		if v.Any = len(v.Links.Items) > 0; !v.Any {
			v.Any, err = p.ShortLinks.Any(ctx)
		}
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.ShowList(c, status, v.Query, views.ListPage(v), views.ListResults(v))
}

// formOf reads the form of a short link.
func formOf(c *gin.Context) views.Form {
	return views.Form{
		LongURL: c.PostForm("long_url"), Key: strings.TrimSpace(c.PostForm("short_key")), Title: c.PostForm("title"),
		MaxVisits: c.PostForm("max_visits"), Ends: c.PostForm("ends"), EndsAt: c.PostForm("ends_at"),
		Private: c.PostForm("private") != "",
	}
}

// The fields of the form of a short link, by the names of the store's errors.
var formFields = []string{"long_url", "short_key", "title", "expires_at", "max_visits"}

// formErrors are the messages of an error for the form of a short link.
func formErrors(err error) (e ui.Errors, ok bool) {
	if m, is := errors.AsType[*models.Error](err); is && m.Code == models.CodeConflict {
		return ui.Errors{"short_key": m.Detail}, true
	}
	return pages.FormErrors(err, "long_url", formFields...)
}

// timeLayouts are how browsers send a time, with seconds if it has any.
var timeLayouts = []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04"}

// endOf is the end that a form chooses; the zero time is never.
func endOf(f views.Form, now models.Time) (models.Time, error) {
	switch f.Ends {
	case views.EndsNever:
		return models.Time{}, nil
	case views.EndsAt:
		for _, layout := range timeLayouts {
			if t, err := time.ParseInLocation(layout, strings.TrimSpace(f.EndsAt), time.UTC); err == nil {
				return models.At(t), nil
			}
		}
		return models.Time{}, models.Invalid("expires_at", "needs a date and a time, such as %s", now.Add(models.Day).Format("2006-01-02 15:04"))
	}
	after, err := time.ParseDuration(f.Ends)
	if err != nil || after <= 0 {
		return models.Time{}, models.Invalid("expires_at", "must be one of the choices")
	}
	return now.Add(after), nil
}

// Add makes a short link of what the form on the list holds.
func (p Pages) Add(c *gin.Context) {
	form, private := formOf(c), pages.Private(c)
	end, err := endOf(form, p.ShortLinks.Now())
	var l shortlinks.ShortLink
	if err == nil {
		l, _, err = p.ShortLinks.Add(c.Request.Context(), shortlinks.New{
			LongURL: models.RepairURL(form.LongURL), Key: form.Key, Title: form.Title, ExpiresAt: end, MaxVisits: int64(pages.Number(form.MaxVisits)),
			Private: private != nil && *private,
		})
	}
	if errs, ok := formErrors(err); ok {
		form.Errors = errs
		status := p.FormStatus(c, err)
		p.showList(c, status, views.List{Add: form}, views.Place{}, models.Cursor{})
		return
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.SeeOther(c, pages.With("/short", paramAdded, l.Key))
}
