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

// pageRoutes are the pages of a website's pages.
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

// The parameters that make a page say what was just done to pages.
const (
	paramBoosted   = "pages_boosted" // a bulk change of priorities, see boosted
	paramPagesKept = "pages_kept"    // what became of pages that were saved or watched, see keep
	paramWanted    = "pages_wanted"  // how many submissions or verifications were just asked for: "submit.3"
)

// pageParams are all of them.
var pageParams = []string{paramBoosted, paramPagesKept, paramWanted}

// pageFlash is what a page says about the last action on pages, if its address names one.
func (p Pages) pageFlash(c *gin.Context, here string) (f ui.Flash, found bool) {
	if us, n, more, ok := parseBoosted(c.Query(paramBoosted)); ok {
		return boostedFlash(c.Param("id"), us, n, more, here), true
	}
	if f, ok := keptFlash(c.Query(paramPagesKept)); ok {
		return f, true
	}
	what, count, _ := strings.Cut(c.Query(paramWanted), ".")
	if n, err := strconv.Atoi(count); err == nil && n >= 0 && n <= sites.MaxBulk && (what == actionSubmit || what == actionVerify) {
		return wantedFlash(what, n), true
	}
	return ui.Flash{}, false
}

// boosted leads back to a page that says how many priorities a bulk change changed, and offers to undo it.
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
		return ui.Flash{Text: "Nothing was changed: the pages have this priority already."}
	}
	f := ui.Flash{
		Text:   "The priority of " + ui.Plural(n, "page") + " is changed.",
		Action: ui.Action{Label: "Undo", Path: views.UndoPath(site), Name: "boosted_at", Value: strconv.FormatInt(us, 10), Back: here},
	}
	if more {
		f.Text += " More pages match: repeat this to change the next ones."
	}
	return f
}

func wantedFlash(what string, n int) ui.Flash {
	switch {
	case what == actionVerify && n == 1:
		return ui.Flash{Text: "Google is asked about 1 page within moments."}
	case what == actionVerify:
		return ui.Flash{Text: "Google is asked about " + ui.Plural(n, "page") + ", as far as the quota allows."}
	case n == 0:
		return ui.Flash{Text: "Nothing is submitted: no sitemap has these pages any more.", Bad: true}
	case n == 1:
		return ui.Flash{Text: "1 page is submitted within moments."}
	}
	return ui.Flash{Text: ui.Plural(n, "page") + " are submitted, as far as the quota allows."}
}

// keptFlash says what became of pages that were saved or watched, from the parameter that keep set; ok is false if it did
// not.
func keptFlash(value string) (f ui.Flash, ok bool) {
	var o Outcome
	action, rest, _ := strings.Cut(value, ".")
	if _, err := fmt.Sscanf(rest, "%d.%d.%d", &o.Added, &o.Known, &o.Refused); err != nil || max(o.Added, o.Known, o.Refused) > MaxFinds || min(o.Added, o.Known, o.Refused) < 0 {
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
		said = append(said, ui.Plural(o.Refused, "page")+" cannot be "+done+".")
	}
	if len(said) == 0 {
		said = []string{"Nothing to do: the selected pages are gone."}
	}
	return ui.Flash{Text: strings.Join(said, " "), Bad: o.Added == 0 && o.Known == 0}, true
}

// UndoBoost undoes the bulk change of priorities that was made at the time that the form has.
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

// pageOf is the website and the page that the path of a request names. The page of another website is not found: the
// answer is made if ok is false.
func (p Pages) pageOf(c *gin.Context) (w sites.Website, page sites.Page, ok bool) {
	ctx := c.Request.Context()
	ok = p.Read(c,
		func() (err error) { w, err = p.Sites.Get(ctx, c.Param("id")); return },
		func() (err error) { page, err = p.Sites.Page(ctx, c.Param("page")); return },
		func() error {
			if page.WebsiteSeq != w.Seq {
				return models.NotFound("page")
			}
			return nil
		},
	)
	return w, page, ok
}
