package crawl

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	views "linkwatch/views/crawl"
	"linkwatch/views/ui"
)

// MaxSaved is the maximum number of URLs in one call of a Saver.
const MaxSaved = 100

// FoundURL is a URL that a crawl found, to be saved by another system.
type FoundURL struct {
	URL     string
	Private bool   // found in a private source: the link or target is private too
	Name    string // name of the target; "" = none. Links get their titles from their pages.
}

// SaveResult counts the results of saving URLs.
type SaveResult struct {
	Added    int // URLs that were new
	Existing int // URLs that existed already and were not changed
	Rejected int // URLs that are not valid
}

// Saver saves found URLs in other systems. Its methods accept up to MaxSaved URLs, and their number
// of queries does not depend on the number of URLs. They do not fetch the URLs: links and
// targets do that in the background.
type Saver interface {
	Save(ctx context.Context, urls []FoundURL) (SaveResult, error)  // as links
	Watch(ctx context.Context, urls []FoundURL) (SaveResult, error) // as targets
	// Existing returns the link and target of each URL, keyed by the URL as passed. URLs with
	// neither are missing.
	Existing(ctx context.Context, urls []string) (map[string]views.Saved, error)
}

// The actions on selected rows.
const (
	actionSave   = "save"
	actionWatch  = "watch"
	actionDelete = "delete"
	actionRetry  = "retry"
)

// errAction is the error of an unknown action.
var errAction = models.Invalid("action", "is not an action of this page")

// saveURLs saves or watches URLs, and redirects to a page that reports the result.
func (p Pages) saveURLs(c *gin.Context, action string, urls []FoundURL, back string) {
	save := p.Saver.Save
	if action == actionWatch {
		save = p.Saver.Watch
	}
	o, err := save(c.Request.Context(), urls)
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.SeeOther(c, pages.With(back, paramSaved, fmt.Sprintf("%s.%d.%d.%d", action, o.Added, o.Existing, o.Rejected)))
}

// savedRows returns the links and targets of the URLs of rows.
func savedRows[T any](ctx context.Context, saver Saver, rows []T, urlOf func(T) string) (map[string]views.Saved, error) {
	urls := make([]string, len(rows))
	for i, row := range rows {
		urls[i] = urlOf(row)
	}
	return saver.Existing(ctx, urls)
}

// restore undoes the deletion at the time in the form. The page then shows notice, or emptyNotice if
// there was nothing to restore.
func (p Pages) restore(c *gin.Context, restore func(context.Context, models.Time) (int, error), list, notice, emptyNotice string) {
	us, err := strconv.ParseInt(c.PostForm("deleted_at"), 10, 64)
	if err != nil {
		p.Fail(c, models.Invalid("deleted_at", "must be a time in microseconds"))
		return
	}
	n, err := restore(c.Request.Context(), models.At(time.UnixMicro(us)))
	if n == 0 {
		notice = emptyNotice
	}
	p.Done(c, err, p.Back(c, list), notice)
}

// savedFlash reports the result of saving URLs from the parameter that saveURLs set; ok is false
// if the parameter is invalid.
func savedFlash(value string) (f ui.Flash, ok bool) {
	var o SaveResult
	action, rest, _ := strings.Cut(value, ".")
	if _, err := fmt.Sscanf(rest, "%d.%d.%d", &o.Added, &o.Existing, &o.Rejected); err != nil || max(o.Added, o.Existing, o.Rejected) > MaxSaved || min(o.Added, o.Existing, o.Rejected) < 0 {
		return ui.Flash{}, false
	}
	noun, done, soon := "link", "saved", " Titles are fetched in a few seconds."
	switch action {
	case actionSave:
	case actionWatch:
		noun, done, soon = "target", "watched", " The first checks run in a few seconds."
	default:
		return ui.Flash{}, false
	}
	if o.Added > 0 {
		f.Text = ui.Plural(o.Added, noun) + " added." + soon
	}
	if o.Existing > 0 {
		f.Text += fmt.Sprintf(" %s already %s.", ui.Plural(o.Existing, "URL"), done)
	}
	if o.Rejected > 0 {
		f.Text += fmt.Sprintf(" %s cannot be %s.", ui.Plural(o.Rejected, "URL"), done)
	}
	f.Text, f.Bad = strings.TrimSpace(f.Text), o.Added == 0 && o.Existing == 0
	if f.Text == "" {
		f.Text = "Nothing was saved: the selected rows no longer exist."
	}
	return f, true
}
