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
	pageSubmissions = 20 // submissions on the page of a page
	pageRefresh     = 5  // seconds after which a browser without JavaScript asks again while a page waits
)

// OnePage shows all that is known of a page, and for htmx what changes.
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

// showOnePage fills in a page and shows it; v has what was typed.
func (p Pages) showOnePage(c *gin.Context, status int, v views.OnePage) {
	ctx := c.Request.Context()
	if !p.Read(c,
		func() error {
			list, err := p.Sites.Submissions(ctx, v.Site.ID, v.One.ID(), models.Cursor{}, pageSubmissions)
			v.Submissions = list.Items
			return err
		},
		func() error {
			kept, err := p.Elsewhere.Kept(ctx, []string{v.One.URL})
			v.Kept = kept[v.One.URL]
			return err
		},
		func() error {
			known, err := p.diagnose(ctx, v.One)
			if err == nil {
				v.Known, v.Findings = known[0].Known, known[0].Findings
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
	if v.Waits() && v.Flash == (ui.Flash{}) && !v.Priority.Open { // else it would take away what is read or typed
		v.Refresh = pageRefresh
	}
	p.ShowPart(c, status, views.OnePagePage(v), views.PageNow(v))
}

// SetPriority sets the manual priority of a page, or removes it. htmx gets the page's row.
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
	if _, ok := pages.FormErrors(err, "manual_priority", "manual_priority"); ok {
		p.showOnePage(c, p.FormStatus(c, err), views.OnePage{Site: w, One: page, Priority: views.PriorityForm{
			Value: typed, Open: true,
			Errors: ui.Errors{"manual_priority": "Must be a whole number from 1 to 100. Leave it empty for the automatic priority."},
		}})
		return
	}
	if err == nil && pages.WantsPart(c.Request) && c.PostForm("row") != "" {
		kept, err := p.Elsewhere.Kept(ctx, []string{changed.URL})
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

// SubmitPage has a page submitted.
func (p Pages) SubmitPage(c *gin.Context) {
	p.wantPage(c, "page_submit", func(page sites.Page) error {
		_, err := p.Sites.WantSubmission(c.Request.Context(), page.ID(), false)
		return err
	})
}

// VerifyPage has Google asked whether a page is indexed.
func (p Pages) VerifyPage(c *gin.Context) {
	p.wantPage(c, "page_verify", func(page sites.Page) error {
		_, err := p.Sites.WantVerification(c.Request.Context(), page.ID())
		return err
	})
}

// AskRemoval asks before the removal of a page is submitted, since Google then drops it.
func (p Pages) AskRemoval(c *gin.Context) {
	w, page, ok := p.pageOf(c)
	if !ok {
		return
	}
	if !w.Removes() {
		p.Fail(c, models.Conflict("A removal can be submitted only by Google's Indexing API or IndexNow."))
		return
	}
	p.Show(c, http.StatusOK, views.RemovalPage(views.Removal{Page: p.Page("Submit a removal", "sites", ui.Flash{}), Site: w, One: page}))
}

// SubmitRemoval has the removal of a page submitted.
func (p Pages) SubmitRemoval(c *gin.Context) {
	p.wantPage(c, "page_remove", func(page sites.Page) error {
		_, err := p.Sites.WantSubmission(c.Request.Context(), page.ID(), true)
		return err
	})
}

// wantPage has something done with a page, and leads back to it. What is in the way is shown there.
func (p Pages) wantPage(c *gin.Context, notice string, want func(sites.Page) error) {
	w, page, ok := p.pageOf(c)
	if !ok {
		return
	}
	err := want(page)
	if m, is := errors.AsType[*models.Error](err); is && m.Code == models.CodeConflict {
		p.showOnePage(c, p.FormStatus(c, err), views.OnePage{Site: w, One: page, Problem: m.Detail})
		return
	}
	p.Done(c, err, views.PagePath(page), notice)
}
