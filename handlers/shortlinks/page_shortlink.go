package shortlinks

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/shortlinks"
	"linkwatch/views/qr"
	views "linkwatch/views/shortlinks"
	"linkwatch/views/ui"
)

// ShortLinkPage renders one short link, or its changing part for htmx.
func (p Pages) ShortLinkPage(c *gin.Context) {
	v := views.ShortLink{Edit: views.Form{Open: c.Query("edit") != ""}}
	var err error
	if v.Flash, err = p.Flash(c, shortLinkPath(c)); err != nil {
		p.Fail(c, err)
		return
	}
	p.showShortLink(c, http.StatusOK, v)
}

func shortLinkPath(c *gin.Context) string { return "/short/" + c.Param("key") }

// daysOf reads the range of the chart.
func daysOf(typed string) (int, error) {
	if typed == "" {
		return views.Ranges[1], nil
	}
	n, err := strconv.Atoi(typed)
	if err != nil || !slices.Contains(views.Ranges, n) {
		return 0, models.Invalid("query.days", "must be one of 7, 30, 90 and %d", shortlinks.KeepDays)
	}
	return n, nil
}

// showShortLink renders one short link. v has the input of the form.
func (p Pages) showShortLink(c *gin.Context, status int, v views.ShortLink) {
	ctx := c.Request.Context()
	v.Place.Key = c.Param("key")
	if !p.Read(c,
		func() (err error) { v.Place.Days, err = daysOf(c.Query("days")); return },
		func() (err error) { v.Short, err = p.ShortLinks.Get(ctx, v.Place.Key); return },
		func() error { v.Blocked = p.blocked(ctx, v.Short); return nil },
		func() (err error) { v.Stats, err = p.ShortLinks.Stats(ctx, v.Place.Key, shortlinks.KeepDays); return },
		func() (err error) { _, v.Aside, err = pages.ShowRelated(c, subject(v.Short), p.Others); return },
	) {
		return
	}
	opts := p.ShortLinks.Options()
	v.Prefix, v.Keep, v.NoCleanup = p.shortPrefix(c), opts.KeepExpired, opts.NoCleanup
	v.Page = p.Page(v.Short.DisplayTitle(), "shortlinks", v.Flash)
	if v.Edit.Errors == nil {
		open := v.Edit.Open
		v.Edit = views.FormOf(v.Short)
		v.Edit.Open = open
	}
	v.Edit.Current = v.Short.ExpiresAt
	pages.ReplaceURL(c, v.Place.Path())
	p.ShowPart(c, status, views.ShortLinkPage(v), views.ShortLinkNow(v))
}

// blocked returns why an active short link does not redirect, for example because its
// host was blocked later.
func (p Pages) blocked(ctx context.Context, l shortlinks.ShortLink) string {
	if l.Status(p.ShortLinks.Now()) != shortlinks.Active {
		return ""
	}
	_, err := p.ShortLinks.Preview(ctx, l.Key)
	if m, ok := errors.AsType[*models.Error](err); ok && m.Code == models.CodeGone {
		return m.Detail
	}
	return ""
}

// Edit stores the edit form.
func (p Pages) Edit(c *gin.Context) {
	form := formOf(c)
	longURL, visits := models.RepairURL(form.LongURL), int64(pages.Number(form.MaxVisits))
	edit := shortlinks.Edit{LongURL: &longURL, Title: &form.Title, MaxVisits: &visits, Private: pages.Private(c)}
	var err error
	if form.Expiry != views.ExpiryUnchanged {
		var end models.Time
		end, err = expiryOf(form, p.ShortLinks.Now())
		edit.ExpiresAt = &end
	}
	if err == nil {
		ctx := p.Edited(c, shortLinkPath(c), func(ctx context.Context) (ui.Edited, error) {
			l, err := p.ShortLinks.Get(ctx, c.Param("key"))
			return views.Edited(l), err
		})
		_, err = p.ShortLinks.Edit(ctx, c.Param("key"), edit)
	}
	if errs, ok := formErrors(err); ok {
		form.Errors, form.Open = errs, true
		p.showShortLink(c, p.FormStatus(c, err), views.ShortLink{Edit: form})
		return
	}
	p.Done(c, err, shortLinkPath(c), "edited")
}

// Extend moves the expiry by a duration, from the current expiry or, if that has passed,
// from now.
func (p Pages) Extend(c *gin.Context) {
	ctx := c.Request.Context()
	l, err := p.ShortLinks.Get(ctx, c.Param("key"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	if l.ExpiresAt.IsZero() { // it never expires
		p.Done(c, nil, shortLinkPath(c), "extended")
		return
	}
	from := p.ShortLinks.Now()
	if l.ExpiresAt.After(from.Time) {
		from = l.ExpiresAt
	}
	var end models.Time
	if by, ok := c.GetPostForm("by"); !ok || by != views.ExpiryNever { // ExpiryNever is ""
		more, err := time.ParseDuration(by)
		if err != nil || more <= 0 {
			p.Fail(c, models.Invalid("by", "must be a duration, such as 24h"))
			return
		}
		end = from.Add(more)
	}
	_, err = p.ShortLinks.Edit(ctx, l.Key, shortlinks.Edit{ExpiresAt: &end})
	p.Done(c, err, shortLinkPath(c), "extended")
}

// Disable disables or enables a short link.
func (p Pages) Disable(c *gin.Context) {
	disabled, notice := true, "disabled"
	if c.PostForm("disabled") == "false" {
		disabled, notice = false, "enabled"
	}
	_, err := p.ShortLinks.Edit(c.Request.Context(), c.Param("key"), shortlinks.Edit{Disabled: &disabled})
	p.Done(c, err, p.Back(c, shortLinkPath(c)), notice)
}

// Delete deletes a short link. The list then shows an undo.
func (p Pages) Delete(c *gin.Context) {
	if err := p.ShortLinks.Delete(c.Request.Context(), c.Param("key")); err != nil {
		p.Fail(c, err)
		return
	}
	p.SeeOther(c, pages.With("/short", paramDeleted, c.Param("key")))
}

// Restore restores a deleted short link.
func (p Pages) Restore(c *gin.Context) {
	l, err := p.ShortLinks.Restore(c.Request.Context(), c.Param("key"))
	p.Done(c, err, "/short/"+l.Key, "short-link-restored")
}

// QR renders the QR code of a short URL.
func (p Pages) QR(c *gin.Context) {
	l, err := p.ShortLinks.Get(c.Request.Context(), c.Param("key"))
	var svg []byte
	if err == nil {
		svg, err = qr.SVG(p.shortPrefix(c) + l.Key)
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	c.Data(http.StatusOK, "image/svg+xml", svg)
}
