package sites

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
	"linkwatch/views/ui"
)

func (p Pages) pageRoutes() []middleware.Route {
	const viewer, editor = middleware.Viewer, middleware.Editor
	return []middleware.Route{
		{Method: "GET", Path: "/sites/:id/pages", Needs: viewer, Handler: p.QueuePage},
		{Method: "POST", Path: "/sites/:id/pages/bulk", Needs: editor, Handler: p.BulkPages},
		{Method: "POST", Path: "/sites/:id/pages/boost", Needs: editor, Handler: p.BoostPages},
		{Method: "POST", Path: "/sites/:id/pages/undo", Needs: editor, Handler: p.UndoBoost},
		{Method: "GET", Path: "/sites/:id/pages/:page", Needs: viewer, Handler: p.OnePage},
		{Method: "POST", Path: "/sites/:id/pages/:page/priority", Needs: editor, Handler: p.SetPriority},
		{Method: "POST", Path: "/sites/:id/pages/:page/submit", Needs: editor, Handler: p.SubmitPage},
		{Method: "POST", Path: "/sites/:id/pages/:page/verify", Needs: editor, Handler: p.VerifyPage},
		{Method: "GET", Path: "/sites/:id/pages/:page/remove", Needs: editor, Handler: p.AskRemoval},
		{Method: "POST", Path: "/sites/:id/pages/:page/remove", Needs: editor, Handler: p.SubmitRemoval},
		{Method: "GET", Path: "/sites/:id/submissions", Needs: viewer, Handler: p.SubmissionsPage},
		{Method: "GET", Path: "/sites/:id/not-indexed", Needs: viewer, Handler: p.UnindexedPage},
		{Method: "GET", Path: "/sites/:id/not-indexed.csv", Needs: viewer, Handler: p.DownloadUnindexed},
	}
}

// Query parameters with the result of the last action on pages.
const (
	paramBoosted        = "pages_boosted"   // a bulk change of priorities; see boosted
	paramPagesAdded     = "pages_added"     // pages added to links or targets; see addToSystem
	paramPagesRequested = "pages_requested" // requested submissions or verifications, such as "submit.3"
)

var pageParams = []string{paramBoosted, paramPagesAdded, paramPagesRequested}

// pageFlash returns the message about the last action on pages, if the URL has one of pageParams.
func (p Pages) pageFlash(c *gin.Context, here string) (f ui.Flash, found bool) {
	if us, n, more, ok := parseBoosted(c.Query(paramBoosted)); ok {
		return boostedFlash(c.Param("id"), us, n, more, here), true
	}
	if f, ok := addedFlash(c.Query(paramPagesAdded)); ok {
		return f, true
	}
	what, count, _ := strings.Cut(c.Query(paramPagesRequested), ".")
	if n, err := strconv.Atoi(count); err == nil && n >= 0 && n <= sites.MaxBulk && (what == actionSubmit || what == actionVerify) {
		return requestedFlash(what, n), true
	}
	return ui.Flash{}, false
}

// boosted redirects back with the number of changed priorities and the offer to undo the change.
func (p Pages) boosted(c *gin.Context, b sites.Boost, back string) {
	p.SeeOther(c, pages.With(back, paramBoosted, fmt.Sprintf("%d.%d.%t", b.At.UnixMicro(), b.N, b.More)))
}

func parseBoosted(value string) (us int64, n int, more, ok bool) {
	if _, err := fmt.Sscanf(value, "%d.%d.%t", &us, &n, &more); err != nil || n < 0 || n > sites.MaxBoost {
		return 0, 0, false, false
	}
	return us, n, more, true
}

func boostedFlash(site string, us int64, n int, more bool, here string) ui.Flash {
	if n == 0 {
		return ui.Flash{Text: "Nothing changed: the pages already have this priority."}
	}
	f := ui.Flash{
		Text:   "Priority of " + ui.Plural(n, "page") + " changed.",
		Action: ui.Action{Label: "Undo", Path: views.UndoPath(site), Name: "boosted_at", Value: strconv.FormatInt(us, 10), Back: here},
	}
	if more {
		f.Text += " More pages match: repeat the action to change them."
	}
	return f
}

func requestedFlash(what string, n int) ui.Flash {
	switch {
	case what == actionVerify:
		return ui.Flash{Text: "Verification of " + ui.Plural(n, "page") + " requested."}
	case n == 0:
		return ui.Flash{Text: "Nothing requested: these pages are in no sitemap any more.", Bad: true}
	}
	return ui.Flash{Text: "Submission of " + ui.Plural(n, "page") + " requested."}
}

// addedFlash returns the message about pages added to links or targets. ok is false if value was not set by addToSystem.
func addedFlash(value string) (f ui.Flash, ok bool) {
	var o Outcome
	action, rest, _ := strings.Cut(value, ".")
	if _, err := fmt.Sscanf(rest, "%d.%d.%d", &o.Added, &o.Known, &o.Refused); err != nil || max(o.Added, o.Known, o.Refused) > MaxBulkAdd || min(o.Added, o.Known, o.Refused) < 0 {
		return ui.Flash{}, false
	}
	noun, done := "link", "saved"
	switch action {
	case actionSave:
	case actionWatch:
		noun, done = "target", "watched"
	default:
		return ui.Flash{}, false
	}
	var said []string
	if o.Added > 0 {
		said = append(said, ui.Plural(o.Added, noun)+" added.")
	}
	if o.Known > 0 {
		said = append(said, ui.Plural(o.Known, "page")+" already "+done+".")
	}
	if o.Refused > 0 {
		said = append(said, ui.Plural(o.Refused, "page")+" could not be "+done+".")
	}
	if len(said) == 0 {
		said = []string{"Nothing added: the selected pages no longer exist."}
	}
	return ui.Flash{Text: strings.Join(said, " "), Bad: o.Added == 0 && o.Known == 0}, true
}

// UndoBoost undoes the bulk change of priorities with the time of the form.
func (p Pages) UndoBoost(c *gin.Context) {
	us, err := strconv.ParseInt(c.PostForm("boosted_at"), 10, 64)
	if err != nil {
		p.Fail(c, models.Invalid("boosted_at", "must be a time in microseconds"))
		return
	}
	n, err := p.Sites.UndoPriorities(c.Request.Context(), c.Param("id"), models.At(time.UnixMicro(us)))
	notice := "pages_undone"
	if n == 0 {
		notice = "pages_not_undone"
	}
	p.Done(c, err, p.Back(c, views.QueuePlace{SiteID: c.Param("id")}.Path()), notice)
}

// pageOf loads the website and page of the request path. If ok is false, the error response was sent, such as 404 for a
// page of another website.
func (p Pages) pageOf(c *gin.Context) (w sites.Website, page sites.Page, ok bool) {
	ctx := c.Request.Context()
	ok = p.Read(c,
		func() (err error) { w, err = p.Sites.Get(ctx, c.Param("id")); return },
		func() (err error) { page, err = p.Sites.Page(ctx, c.Param("page")); return },
		func() error {
			if page.WebsiteSeq != w.Seq {
				return models.NotFound("website page")
			}
			return nil
		},
	)
	return w, page, ok
}
