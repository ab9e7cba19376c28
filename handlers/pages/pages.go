// Package pages is the frame of all pages: it renders them whole or, where htmx
// asks, the part that changes, says what the last action did, and shows problems.
// It knows no system.
//
// Every action is also a plain form, so that it works without JavaScript: POST,
// then a redirect to a page that says what happened.
package pages

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/views/ui"
)

// Frame is what the pages of all systems share. Use sets what the systems give
// to it, before the server starts.
type Frame struct {
	Errors    *middleware.Errors
	Version   string
	PublicURL string // PUBLIC_URL, without a slash at its end; "" = the host that a request came to
	Clock     models.Clock

	nav     *ui.Nav
	flashes []Flash
	notices map[string]ui.Flash
}

// New makes the frame.
func New(errs *middleware.Errors, version, publicURL string, clock models.Clock) *Frame {
	return &Frame{Errors: errs, Version: version, PublicURL: publicURL, Clock: clock, nav: &ui.Nav{}}
}

// Use sets the navigation, and what the systems' pages say after their actions.
// It panics if two systems have a notice of the same key, or read the same parameter.
func (f *Frame) Use(nav *ui.Nav, flashes ...Flash) {
	f.nav, f.flashes, f.notices = nav, flashes, map[string]ui.Flash{"edited": {Text: "Saved."}}
	params := map[string]bool{ParamDone: true}
	for _, one := range flashes {
		for _, name := range one.Params {
			if params[name] {
				panic("two systems read the parameter " + name)
			}
			params[name] = true
		}
		for key, notice := range one.Notices {
			if _, taken := f.notices[key]; taken {
				panic("two notices have the key " + key)
			}
			f.notices[key] = notice
		}
	}
}

// Base is the base URL by which the client reaches this server.
func (f *Frame) Base(c *gin.Context) string { return middleware.Base(f.PublicURL, c.Request) }

// Page is what the frame of a page shows.
func (f *Frame) Page(title, section string, flash ui.Flash) ui.Page {
	return ui.Page{Title: title, Section: section, Version: f.Version, Now: f.Clock.Now().Time, Flash: flash, Nav: f.nav}
}

// Fail answers with the page of an error.
func (f *Frame) Fail(c *gin.Context, err error) { f.Errors.Write(c, err) }

// Read calls functions that read what a page shows, in their order. The first error is
// the answer, and ok is false then.
func (f *Frame) Read(c *gin.Context, all ...func() error) (ok bool) {
	for _, read := range all {
		if err := read(); err != nil {
			f.Fail(c, err)
			return false
		}
	}
	return true
}

// FormStatus is the status of a page that shows err beside its form. It sets
// Retry-After if it is known.
func (f *Frame) FormStatus(c *gin.Context, err error) int {
	problem := f.Errors.Problem(c.Request.Context(), err)
	for name, values := range problem.GetHeaders() {
		c.Writer.Header()[name] = values
	}
	return problem.Status
}

// Show answers with a whole page, which is for its reader alone.
func (f *Frame) Show(c *gin.Context, status int, page templ.Component) {
	f.ShowKept(c, status, "private, no-cache", page)
}

// ShowKept is Show with a Cache-Control of the page's own.
func (f *Frame) ShowKept(c *gin.Context, status int, keep string, page templ.Component) {
	// The same address answers htmx with a part of the page: caches must not mix them up.
	c.Writer.Header().Add("Vary", "HX-Request")
	c.Header("Cache-Control", keep)
	var b bytes.Buffer // rendered whole before the status is sent, for rendering may fail
	// Not so because the reader left: the page that says so is rendered here too.
	if err := page.Render(context.WithoutCancel(c.Request.Context()), &b); err != nil {
		f.Fail(c, fmt.Errorf("rendering a page: %w", err))
		return
	}
	// What is shown as it was sent need not be UTF-8, but the page says that it is.
	c.Data(status, "text/html; charset=utf-8", bytes.ToValidUTF8(b.Bytes(), []byte("\uFFFD")))
}

// ShowPart answers htmx with the part that changes, and others with the page.
func (f *Frame) ShowPart(c *gin.Context, status int, page, part templ.Component) {
	if WantsPart(c.Request) {
		page = part
	}
	f.Show(c, status, page)
}

// ShowList is ShowPart for a list. With a problem of its filter, as FilterError found it,
// the status is 400, and htmx gets only the problem.
func (f *Frame) ShowList(c *gin.Context, status int, problem string, page, part templ.Component) {
	if problem != "" {
		status, part = http.StatusBadRequest, ui.QueryError(problem)
		if WantsPart(c.Request) {
			c.Header("HX-Retarget", "#q-error")
			c.Header("HX-Reswap", "outerHTML")
		}
	}
	f.ShowPart(c, status, page, part)
}

// WantsPart says whether htmx asks, and not to restore a whole page from the
// browser's history.
func WantsPart(r *http.Request) bool {
	return r.Header.Get("HX-Request") == "true" && r.Header.Get("HX-History-Restore-Request") != "true"
}
