package sites

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
	"linkwatch/views/ui"
)

const (
	pageSubmissions    = 20 // submissions shown
	pageRefreshSeconds = 5  // refresh interval without JavaScript while a request is open
)

// OnePage shows one page of a website; for htmx only the part that refreshes itself.
func (p Pages) OnePage(c *gin.Context) {
	w, page, ok := p.pageOf(c)
	if !ok {
		return
	}
	v := views.OnePage{Site: w, One: page, Priority: views.PriorityForm{Open: c.Query("edit") != ""}}
	var err error
	if v.Flash, err = p.Flash(c, views.PagePath(page)); err != nil {
		p.Fail(c, err)
		return
	}
	p.showOnePage(c, http.StatusOK, v)
}

func (p Pages) showOnePage(c *gin.Context, status int, v views.OnePage) {
	ctx := c.Request.Context()
	if !p.Read(c,
		func() error {
			list, err := p.Sites.Submissions(ctx, v.Site.ID, sites.SubmissionFilter{PageID: v.One.ID()}, models.Cursor{}, pageSubmissions)
			v.Submissions = list.Items
			return err
		},
		func() error {
			kept, err := p.OtherSystems.Related(ctx, []string{v.One.URL})
			v.Related = kept[v.One.URL]
			return err
		},
		func() error {
			known, err := p.diagnose(ctx, v.One)
			if err == nil {
				v.Evidence, v.Findings = known[0].Evidence, known[0].Findings
			}
			return err
		},
	) {
		return
	}
	v.Page = p.Page(v.One.URL, "sites", v.Flash)
	if v.Priority.Errors == nil {
		open := v.Priority.Open
		v.Priority = views.PriorityFormOf(v.One)
		v.Priority.Open = open
	}
	if v.Waiting() && v.Flash == (ui.Flash{}) && !v.Priority.Open { // a refresh would discard the message or the input
		v.Refresh = pageRefreshSeconds
	}
	p.ShowPart(c, status, views.OnePagePage(v), views.PageNow(v))
}

// SetPriority sets or resets the manual priority of a page. For htmx it returns the row of the list.
func (p Pages) SetPriority(c *gin.Context) {
	w, page, ok := p.pageOf(c)
	if !ok {
		return
	}
	typed := strings.TrimSpace(c.PostForm("manual_priority"))
	notice, priority := "page_reset", (*int)(nil)
	if typed != "" {
		n, err := strconv.Atoi(typed)
		if err != nil {
			n = 0 // SetPriority refuses it
		}
		notice, priority = "page_priority", &n
		if n == sites.MaxPriority {
			notice = "page_boosted"
		}
	}
	ctx := c.Request.Context()
	changed, err := p.Sites.SetPriority(ctx, page.ID(), priority)
	if _, ok := pages.FormErrors(err, "manual_priority", nil); ok {
		p.showOnePage(c, p.FormStatus(c, err), views.OnePage{Site: w, One: page, Priority: views.PriorityForm{
			Value: typed, Open: true,
			Errors: ui.Errors{"manual_priority": "Priority must be a whole number from 1 to 100. Leave it empty for the automatic priority."},
		}})
		return
	}
	if err == nil && pages.WantsPart(c.Request) && c.PostForm("row") != "" {
		kept, err := p.OtherSystems.Related(ctx, []string{changed.URL})
		if err != nil {
			p.Fail(c, err)
			return
		}
		pages.Say(c, notices[notice].Text)
		back := p.Back(c, views.QueuePlace{SiteID: w.ID}.Path())
		p.Show(c, http.StatusOK, views.QueueRow(changed, kept[changed.URL], back, p.Clock.Now().Time))
		return
	}
	p.Done(c, err, p.Back(c, views.PagePath(page)), notice)
}

// SubmitPage requests the submission of a page.
func (p Pages) SubmitPage(c *gin.Context) {
	p.requestPage(c, "page_submit", func(page sites.Page) error {
		_, err := p.Sites.RequestSubmission(c.Request.Context(), page.ID(), false)
		return err
	})
}

// VerifyPage requests the verification of a page.
func (p Pages) VerifyPage(c *gin.Context) {
	p.requestPage(c, "page_verify", func(page sites.Page) error {
		_, err := p.Sites.RequestVerification(c.Request.Context(), page.ID())
		return err
	})
}

// AskRemoval asks for confirmation, since Google then drops the page.
func (p Pages) AskRemoval(c *gin.Context) {
	w, page, ok := p.pageOf(c)
	if !ok {
		return
	}
	if !w.CanRemove() {
		p.Fail(c, models.Conflict("Removals need Google's Indexing API or IndexNow. Enable one of them first."))
		return
	}
	p.Show(c, http.StatusOK, views.RemovalPage(views.Removal{Page: p.Page("Submit a removal", "sites", ui.Flash{}), Site: w, One: page}))
}

// SubmitRemoval requests the removal of a page.
func (p Pages) SubmitRemoval(c *gin.Context) {
	p.requestPage(c, "page_remove", func(page sites.Page) error {
		_, err := p.Sites.RequestSubmission(c.Request.Context(), page.ID(), true)
		return err
	})
}

// requestPage calls request and redirects to the page. A conflict is shown on the page.
func (p Pages) requestPage(c *gin.Context, notice string, request func(sites.Page) error) {
	w, page, ok := p.pageOf(c)
	if !ok {
		return
	}
	err := request(page)
	if m, is := errors.AsType[*models.Error](err); is && m.Code == models.CodeConflict {
		p.showOnePage(c, p.FormStatus(c, err), views.OnePage{Site: w, One: page, Problem: m.Detail})
		return
	}
	p.Done(c, err, views.PagePath(page), notice)
}
