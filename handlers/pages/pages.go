// Package pages contains what all pages share: rendering of whole pages and of parts for htmx,
// messages after actions, forms, and error pages. It names no system.
//
// Every action is a plain form that works without JavaScript: POST, then a redirect to a page
// that shows the result.
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

// Frame holds what the pages of all systems share. Use must be called before the server starts.
type Frame struct {
	Errors    *middleware.Errors
	Version   string
	PublicURL string // PUBLIC_URL without a trailing slash; "" = the Host of each request
	Clock     models.Clock
	Serve     gin.HandlerFunc // serves another request in the same context; set by the router

	nav     *ui.Nav
	flashes []Flash
	notices map[string]ui.Flash
	params  []string // query parameters that select a message
}

// New returns a frame without systems.
func New(errs *middleware.Errors, version, publicURL string, clock models.Clock) *Frame {
	return &Frame{Errors: errs, Version: version, PublicURL: publicURL, Clock: clock, nav: &ui.Nav{}}
}

// Use sets the navigation and the messages of all systems. It panics if two systems use the same
// key of a notice or the same parameter.
func (f *Frame) Use(nav *ui.Nav, flashes ...Flash) {
	f.nav, f.flashes, f.notices, f.params = nav, flashes, map[string]ui.Flash{"edited": {Text: "Saved."}}, []string{ParamDone}
	params := map[string]bool{ParamDone: true}
	for _, one := range flashes {
		for _, name := range one.Params {
			if params[name] {
				panic("two systems read the parameter " + name)
			}
			params[name] = true
		}
		f.params = append(f.params, one.Params...)
		for key, notice := range one.Notices {
			if _, taken := f.notices[key]; taken {
				panic("two notices have the key " + key)
			}
			f.notices[key] = notice
		}
	}
}

// Base returns the base URL of this server for the client.
func (f *Frame) Base(c *gin.Context) string { return middleware.Base(f.PublicURL, c.Request) }

// Page returns the shared data of a page.
func (f *Frame) Page(title, section string, flash ui.Flash) ui.Page {
	return ui.Page{Title: title, Section: section, Version: f.Version, Now: f.Clock.Now().Time, Flash: flash, Notices: f.params, Nav: f.nav}
}

// Fail answers with an error page.
func (f *Frame) Fail(c *gin.Context, err error) { f.Errors.Write(c, err) }

// Read calls functions that load the data of a page, in order. At the first error it answers with
// the error page and returns false.
func (f *Frame) Read(c *gin.Context, all ...func() error) (ok bool) {
	for _, read := range all {
		if err := read(); err != nil {
			f.Fail(c, err)
			return false
		}
	}
	return true
}

// FormStatus returns the status of a page that shows err in a form. It sets Retry-After if known.
func (f *Frame) FormStatus(c *gin.Context, err error) int {
	problem := f.Errors.Problem(c.Request.Context(), err)
	for name, values := range problem.GetHeaders() {
		c.Writer.Header()[name] = values
	}
	return problem.Status
}

// Show sends a page that shared caches must not store, and browsers neither if that is the default of the route.
func (f *Frame) Show(c *gin.Context, status int, page templ.Component) {
	cacheControl := middleware.Private
	if c.Writer.Header().Get("Cache-Control") == middleware.NoStore {
		cacheControl = middleware.NoStore
	}
	f.ShowCached(c, status, cacheControl, page)
}

// ShowCached is Show with another Cache-Control.
func (f *Frame) ShowCached(c *gin.Context, status int, cacheControl string, page templ.Component) {
	if models.Again(c.Request.Context()) != nil && status == http.StatusBadRequest { // the answer to a login that succeeded
		status = http.StatusOK
	}
	// htmx gets only a part of the page from the same URL: caches must keep them apart.
	c.Writer.Header().Add("Vary", "HX-Request")
	c.Header("Cache-Control", cacheControl)
	// Rendering may fail, so nothing is sent before it is complete. Without cancellation: this also renders the error page of
	// a canceled request.
	html, err := ui.Render(context.WithoutCancel(c.Request.Context()), page)
	if err != nil {
		f.Fail(c, fmt.Errorf("render page: %w", err))
		return
	}
	html = middleware.LocalURLs(c.Request.Context(), html)
	// Content from requests may be invalid UTF-8.
	c.Data(status, "text/html; charset=utf-8", bytes.ToValidUTF8(html, []byte("\uFFFD")))
}

// ShowPart sends part to htmx, and page to all other clients.
func (f *Frame) ShowPart(c *gin.Context, status int, page, part templ.Component) {
	if WantsPart(c.Request) {
		page = part
	}
	f.Show(c, status, page)
}

// ShowList is ShowPart for a list. If problem (see FilterError) is set, the status is 400 and
// htmx gets only the problem.
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

// WantsPart reports whether a request is from htmx and not for a whole page of the history.
func WantsPart(r *http.Request) bool {
	return r.Header.Get("HX-Request") == "true" && r.Header.Get("HX-History-Restore-Request") != "true"
}
