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

// placeOf reads the filter and the page token of the list.
func placeOf(q url.Values) (views.Place, models.Cursor, error) {
	at := views.Place{Text: models.CleanLine(q.Get("q")), Token: q.Get("page_token")}
	var err error
	if at.Status, err = shortlinks.ParseStatus(q.Get("status")); err != nil {
		return at, models.Cursor{}, err
	}
	after, err := models.ParseToken(at.Token)
	return at, after, err
}

// shortPrefix returns the prefix of short URLs on pages: at SHORT_HOST if it is set.
func (p Pages) shortPrefix(c *gin.Context) string {
	base := p.Base(c)
	if at := shortHostURL(p.ShortHost, base, ""); at != "" {
		return at
	}
	return shortURL(base, "")
}

// ListPage renders the list of short links, or its rows for htmx.
func (p Pages) ListPage(c *gin.Context) {
	v := views.List{Add: views.Form{LongURL: models.CleanLine(c.Query("url"))}}
	at, after, err := placeOf(c.Request.URL.Query())
	if err == nil {
		v.Flash, err = p.Flash(c, at.Path())
	}
	if key := c.Query(paramAdded); err == nil && key != "" && !pages.WantsPart(c.Request) {
		v.Created, err = p.ShortLinks.Get(c.Request.Context(), key)
		if models.CodeOf(err) == models.CodeNotFound { // deleted since
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

// showList renders the list. v has the input of the form.
func (p Pages) showList(c *gin.Context, status int, v views.List, at views.Place, after models.Cursor) {
	ctx := c.Request.Context()
	v.Page, v.Place, v.Prefix = p.Page("Short links", "shortlinks", v.Flash), at, p.shortPrefix(c)
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

func formOf(c *gin.Context) views.Form {
	return views.Form{
		LongURL: c.PostForm("long_url"), Key: strings.TrimSpace(c.PostForm("short_key")), Title: c.PostForm("title"),
		MaxVisits: c.PostForm("max_visits"), Expiry: c.PostForm("expires"), ExpiresAt: c.PostForm("expires_at"),
		Private: c.PostForm("private") != "",
	}
}

// formErrors returns the field errors of err. ok is false if it has none.
func formErrors(err error) (e ui.Errors, ok bool) {
	if m, is := errors.AsType[*models.Error](err); is && m.Code == models.CodeConflict {
		return ui.Errors{"short_key": m.Detail}, true
	}
	return pages.FormErrors(err, "long_url", views.Labels)
}

// timeLayouts are the formats that browsers send.
var timeLayouts = []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04"}

// expiryOf returns the expiry of a form. The zero time means never.
func expiryOf(f views.Form, now models.Time) (models.Time, error) {
	switch f.Expiry {
	case views.ExpiryNever:
		return models.Time{}, nil
	case views.ExpiryAt:
		for _, layout := range timeLayouts {
			if t, err := time.ParseInLocation(layout, strings.TrimSpace(f.ExpiresAt), time.UTC); err == nil {
				return models.At(t), nil
			}
		}
		return models.Time{}, models.Invalid("expires_at", "must be a date and time such as %s", now.Add(models.Day).Format("2006-01-02 15:04"))
	}
	after, err := time.ParseDuration(f.Expiry)
	if err != nil || after <= 0 {
		return models.Time{}, models.Invalid("expires_at", "must be one of the choices")
	}
	return now.Add(after), nil
}

// Add adds a short link from the form on the list.
func (p Pages) Add(c *gin.Context) {
	form, private := formOf(c), pages.Private(c)
	end, err := expiryOf(form, p.ShortLinks.Now())
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
