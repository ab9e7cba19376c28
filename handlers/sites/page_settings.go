package sites

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
	"linkwatch/views/ui"
)

// fieldErrors returns the errors that the user can fix in the form; nil = none. A conflict is shown at the field.
func fieldErrors(err error, field string) ui.Errors {
	if m, ok := errors.AsType[*models.Error](err); ok && m.Code == models.CodeConflict {
		return ui.Errors{field: m.Detail}
	}
	errs, _ := pages.FormErrors(err, field, views.Labels)
	return errs
}

// repairProperty completes a typed property, such as "example.com".
func repairProperty(typed string) string {
	if typed = strings.TrimSpace(typed); strings.HasPrefix(strings.ToLower(typed), "sc-domain:") {
		return typed
	}
	return models.RepairURL(typed)
}

// Edit saves the settings of a website.
func (p Pages) Edit(c *gin.Context) {
	form := views.EditForm{Name: c.PostForm("name"), IndexingEnabled: c.PostForm("indexing_enabled") != "", AutoSubmit: c.PostForm("auto_submit") != "", Private: c.PostForm("private") != ""}
	ctx := p.Edited(c, views.SitePath(c.Param("id")), func(ctx context.Context) (ui.Edited, error) {
		w, err := p.Sites.Get(ctx, c.Param("id"))
		return views.Edited(w), err
	})
	_, err := p.Sites.Edit(ctx, c.Param("id"), sites.Edit{Name: &form.Name, IndexingEnabled: &form.IndexingEnabled, AutoSubmit: &form.AutoSubmit, Private: pages.Private(c)})
	if form.Errors = fieldErrors(err, "name"); form.Errors != nil {
		form.Open = true
		p.showSite(c, p.FormStatus(c, err), views.Site{Edit: form})
		return
	}
	p.Done(c, err, views.SitePath(c.Param("id")), "edited")
}

// SetCredentials stores the key of a service account: the uploaded file, else the pasted text. It never shows the key.
func (p Pages) SetCredentials(c *gin.Context) {
	ctx, id := c.Request.Context(), c.Param("id")
	key, err := credentialsOf(c)
	var account sites.Account
	if err == nil {
		account, err = p.Services.Account(key)
	}
	if err == nil {
		_, err = p.Sites.SetCredentials(ctx, id, key, account)
	}
	if errs := fieldErrors(err, "credentials"); errs != nil {
		p.showSite(c, p.FormStatus(c, err), views.Site{CredentialsError: errs["credentials"]})
		return
	}
	p.Done(c, err, views.SitePath(id), "credentials_saved")
}

const maxCredentials = 64 << 10 // bytes; key files have about 2,400

// credentialsOf reads the credentials from a form. They are never written to disk.
func credentialsOf(c *gin.Context) ([]byte, error) {
	key := []byte(c.PostForm("credentials"))
	if kind, _, _ := mime.ParseMediaType(c.ContentType()); kind == "multipart/form-data" {
		file, _, err := c.Request.FormFile("file")
		switch {
		case errors.Is(err, http.ErrMissingFile):
		case err != nil:
			return nil, models.Invalid("credentials", "could not be read. Paste the JSON key instead")
		default:
			defer file.Close()
			uploaded, err := io.ReadAll(io.LimitReader(file, maxCredentials+1))
			if err != nil {
				return nil, models.Invalid("credentials", "could not be read. Paste the JSON key instead")
			}
			if len(uploaded) > 0 {
				key = uploaded
			}
		}
	}
	switch {
	case len(strings.TrimSpace(string(key))) == 0:
		return nil, models.Invalid("credentials", "must not be empty. Paste the JSON key of a service account, or upload its file")
	case len(key) > maxCredentials:
		return nil, models.Invalid("credentials", "must have at most %d KiB", maxCredentials>>10)
	}
	return key, nil
}

// AskRemoveCredentials asks for confirmation, since removing credentials cannot be undone.
func (p Pages) AskRemoveCredentials(c *gin.Context) {
	w, err := p.Sites.Get(c.Request.Context(), c.Param("id"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.Show(c, http.StatusOK, views.CredentialsRemovePage(views.CredentialsRemove{Page: p.Page("Remove credentials", "sites", ui.Flash{}), Site: w}))
}

// RemoveCredentials removes the credentials of a website.
func (p Pages) RemoveCredentials(c *gin.Context) {
	_, err := p.Sites.RemoveCredentials(c.Request.Context(), c.Param("id"))
	p.Done(c, err, views.SitePath(c.Param("id")), "credentials_removed")
}

// Test tests the credentials of a website and shows the result.
func (p Pages) Test(c *gin.Context) {
	ctx := c.Request.Context()
	w, err := p.Sites.Get(ctx, c.Param("id"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	if !w.UsesGoogle() {
		p.Done(c, nil, views.SitePath(w.ID), "credentials_untested")
		return
	}
	checks, err := p.Services.Test(ctx, w)
	if m, ok := errors.AsType[*models.Error](err); ok {
		checks = append(checks, views.Check{Name: "Test", Text: m.Detail})
	} else if err != nil {
		p.Fail(c, err)
		return
	}
	v := views.Site{Site: w, Checks: checks}
	if pages.WantsPart(c.Request) {
		p.Show(c, http.StatusOK, views.TestResult(checks))
		return
	}
	p.showSite(c, http.StatusOK, v)
}

// SetIndexNow generates an IndexNow key, sets a given one, or disables IndexNow.
func (p Pages) SetIndexNow(c *gin.Context) {
	ctx, id := c.Request.Context(), c.Param("id")
	key, notice, typed := strings.TrimSpace(c.PostForm("indexnow_key")), "indexnow_key", true
	switch c.PostForm("action") {
	case "make":
		key, typed = p.Services.NewKey(), false
	case "stop":
		key, notice, typed = "", "indexnow_stopped", false
	}
	var err error
	if typed && key == "" { // an empty key disables IndexNow
		err = models.Invalid("indexnow_key", "must not be empty")
	} else {
		_, err = p.Sites.Edit(ctx, id, sites.Edit{IndexNowKey: &key})
	}
	if errs := fieldErrors(err, "indexnow_key"); errs != nil && typed {
		p.showSite(c, p.FormStatus(c, err), views.Site{IndexNow: views.IndexNowForm{Key: key, Error: errs["indexnow_key"]}})
		return
	}
	p.Done(c, err, views.SitePath(id), notice)
}

// DownloadKey sends the IndexNow key file for the root of the website.
func (p Pages) DownloadKey(c *gin.Context) {
	w, err := p.Sites.Get(c.Request.Context(), c.Param("id"))
	if err == nil && !w.UsesIndexNow() {
		err = models.NotFound("IndexNow key")
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	c.Header("Content-Disposition", `attachment; filename="`+w.IndexNowKey+`.txt"`)
	c.Data(http.StatusOK, "text/plain; charset=utf-8", []byte(w.IndexNowKey))
}

// CheckKey checks whether the key file is on the website.
func (p Pages) CheckKey(c *gin.Context) {
	ctx := c.Request.Context()
	var w sites.Website
	var problem string
	if !p.Read(c,
		func() (err error) { w, err = p.Sites.Get(ctx, c.Param("id")); return },
		func() (err error) {
			if !w.UsesIndexNow() {
				return models.Conflict("The website has no IndexNow key. Generate one first.")
			}
			problem, err = p.Services.CheckKey(ctx, w)
			return err
		},
		func() error { return p.Sites.KeyChecked(ctx, w, problem) },
	) {
		return
	}
	notice := "indexnow_found"
	if problem != "" {
		notice = "indexnow_not_found"
	}
	p.Done(c, nil, views.SitePath(w.ID), notice)
}

// AddSitemap adds the sitemap of the submitted form.
func (p Pages) AddSitemap(c *gin.Context) {
	id, typed := c.Param("id"), c.PostForm("url")
	_, created, err := p.Sites.AddSitemap(c.Request.Context(), id, models.RepairURL(typed))
	if errs := fieldErrors(err, "url"); errs != nil {
		p.showSite(c, p.FormStatus(c, err), views.Site{Add: views.SitemapForm{URL: typed, Error: errs["url"]}})
		return
	}
	notice := "sitemap_known"
	if created {
		notice = "sitemap_added"
	}
	p.Done(c, err, views.SitePath(id), notice)
}

// AskDeleteSitemap asks for confirmation.
func (p Pages) AskDeleteSitemap(c *gin.Context) {
	ctx := c.Request.Context()
	v := views.SitemapDelete{Page: p.Page("Delete a sitemap", "sites", ui.Flash{})}
	if p.Read(c,
		func() (err error) { v.Site, err = p.Sites.Get(ctx, c.Param("id")); return },
		func() (err error) { v.Sitemap, err = p.Sites.Sitemap(ctx, v.Site.ID, c.Param("sitemap")); return },
	) {
		p.Show(c, http.StatusOK, views.SitemapDeletePage(v))
	}
}

// DeleteSitemap deletes a sitemap.
func (p Pages) DeleteSitemap(c *gin.Context) {
	err := p.Sites.DeleteSitemap(c.Request.Context(), c.Param("id"), c.Param("sitemap"))
	p.Done(c, err, views.SitePath(c.Param("id")), "sitemap_deleted")
}
