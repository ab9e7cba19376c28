// Package web is the face for people: pages as HTML, whole or, where htmx asks,
// the part that changes. Every action is also a plain form, so that it works
// without JavaScript: POST, then a redirect to a page that says what happened.
package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"linkwatch/config"
	"linkwatch/handlers/middleware"
	"linkwatch/models/cleanup"
	"linkwatch/models/links"
	"linkwatch/models/schedule"
	"linkwatch/models/shortlinks"
	"linkwatch/models/targets"
	views "linkwatch/views/problems"
	"linkwatch/views/ui"
)

// Deps is what the pages need.
type Deps struct {
	Links      *links.Store
	Targets    *targets.Store
	ShortLinks *shortlinks.Store
	Cleanup    *cleanup.Store
	Schedule   *schedule.Store
	Settings   []config.Setting // in force, secrets masked
	Version    string
	Addresses  middleware.Addresses
	Errors     *middleware.Errors
	Metrics    *middleware.Metrics
}

// Pages are the handlers of all pages.
type Pages struct{ Deps }

// New makes the pages. Problem is to be set as d.Errors.Page.
func New(d Deps) *Pages { return &Pages{d} }

// nav is what the systems put into the frame of every page.
var nav = &ui.Nav{
	Sections: []ui.Section{
		{ID: "overview", Label: "Overview", Path: "/", Key: "o"},
		{ID: "links", Label: "Links", Path: "/links", Key: "l"},
		{ID: "tags", Label: "Tags", Path: "/tags", Key: "t"},
		{ID: "watch", Label: "Watch", Path: "/watch", Key: "w"},
		{ID: "short", Label: "Short", Path: "/short", Key: "s"},
		{ID: "admin", Label: "Admin", Path: "/admin/jobs", Key: "a"},
	},
	Admin: []ui.Section{
		{ID: "checks", Label: "Checks", Path: "/admin/checks"},
		{ID: "cleanup", Label: "Cleanup", Path: "/admin/cleanup"},
		{ID: "jobs", Label: "Jobs", Path: "/admin/jobs"},
		{ID: "settings", Label: "Settings", Path: "/admin/settings"},
	},
	Search: &ui.SearchBox{Label: "Search links", Path: "/links"},
	New:    &ui.Link{Label: "New", Path: "/links#url"},
	Keys: []ui.Key{
		{Keys: []string{"p"}, What: "Pause or resume a target"},
		{Keys: []string{"p"}, What: "Disable or enable a short link"},
		{Keys: []string{"c"}, What: "Check a target now"},
		{Keys: []string{"y"}, What: "Copy a short link's address"},
	},
}

// page is what the frame of a page shows.
func (p *Pages) page(title, section string, flash ui.Flash) ui.Page {
	return ui.Page{Title: title, Section: section, Nav: nav, Version: p.Version, Now: p.Schedule.Now().Time, Flash: flash}
}

// fail answers with the page of an error.
func (p *Pages) fail(c *gin.Context, err error) { p.Errors.Write(c, err) }

// formStatus is the status of a page that shows err beside its form. It sets
// Retry-After if it is known.
func (p *Pages) formStatus(c *gin.Context, err error) int {
	problem := p.Errors.Problem(c.Request.Context(), err)
	for name, values := range problem.GetHeaders() {
		c.Writer.Header()[name] = values
	}
	return problem.Status
}

// show answers with a whole page, which is for its reader alone.
func (p *Pages) show(c *gin.Context, status int, page templ.Component) {
	p.showKept(c, status, "private, no-cache", page)
}

// showKept is show with a Cache-Control of the page's own.
func (p *Pages) showKept(c *gin.Context, status int, keep string, page templ.Component) {
	// The same address answers htmx with a part of the page: caches must not mix them up.
	c.Writer.Header().Add("Vary", "HX-Request")
	c.Header("Cache-Control", keep)
	var b bytes.Buffer // rendered whole before the status is sent, for rendering may fail
	// Not so because the reader left: the page that says so is rendered here too.
	if err := page.Render(context.WithoutCancel(c.Request.Context()), &b); err != nil {
		p.fail(c, fmt.Errorf("rendering a page: %w", err))
		return
	}
	// What is shown as it was sent need not be UTF-8, but the page says that it is.
	c.Data(status, "text/html; charset=utf-8", bytes.ToValidUTF8(b.Bytes(), []byte("\uFFFD")))
}

// showPart answers htmx with the part that changes, and others with the page.
func (p *Pages) showPart(c *gin.Context, status int, page, part templ.Component) {
	if wantsPart(c.Request) {
		page = part
	}
	p.show(c, status, page)
}

// wantsPart says whether htmx asks, and not to restore a whole page from the
// browser's history.
func wantsPart(r *http.Request) bool {
	return r.Header.Get("HX-Request") == "true" && r.Header.Get("HX-History-Restore-Request") != "true"
}

// next is what to do about a problem, by its status.
var next = map[int]string{
	http.StatusBadRequest:          "Go back and change what you entered; nothing was stored.",
	http.StatusForbidden:           "Open this page by its own address and try again.",
	http.StatusNotFound:            "It may have been deleted, or the address has a slip in it.",
	http.StatusConflict:            "Reload the page to see how things stand, then try again.",
	http.StatusUnprocessableEntity: "Nothing was changed. Try again later, or with another address.",
}

// Problem shows a problem to a person.
func (p *Pages) Problem(c *gin.Context, problem *middleware.Problem) {
	if publicPage(c.FullPath()) { // first: one of them is at SHORT_HOST too
		p.publicProblem(c, problem)
		return
	}
	if p.isRedirect(c.Request) {
		p.redirectProblem(c, problem)
		return
	}
	v := views.Error{
		Page:    p.page(problem.Title, "", ui.Flash{}),
		Heading: problem.Title,
		Detail:  problem.Detail,
		Next:    next[problem.Status],
	}
	if problem.Status >= http.StatusInternalServerError {
		v.Next = "Try again. If it stays, look in the log for this request."
	}
	v.RequestID = middleware.RequestID(c.Request.Context())
	c.Header("HX-Reswap", "none") // no place of a page is meant for this
	p.show(c, problem.Status, views.ErrorPage(v))
}
