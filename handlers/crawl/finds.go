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

// MaxFinds is how many URLs one call of Finds takes.
const MaxFinds = 100

// Find is a URL that a crawl found, for another system to keep.
type Find struct {
	URL     string
	Private bool   // found by the crawl of a private source: what is kept of it is private too
	Name    string // of a target; "" = none. A link gets its title from its page.
}

// Outcome is what became of finds.
type Outcome struct {
	Added   int // were not there before
	Known   int // were there, and stay as they are
	Refused int // are not URLs that the other system takes
}

// Finds is what other systems do with what crawls find. Its methods take up to MaxFinds
// URLs, and their number of queries does not depend on how many. They fetch nothing:
// links and targets learn about their pages in the background.
type Finds interface {
	Save(ctx context.Context, finds []Find) (Outcome, error)  // as links
	Watch(ctx context.Context, finds []Find) (Outcome, error) // as targets
	// Kept returns what there is of each URL, by the URL as it was given. URLs of
	// which there is nothing are missing.
	Kept(ctx context.Context, urls []string) (map[string]views.Kept, error)
}

// The actions on what crawls find.
const (
	actionSave   = "save"
	actionWatch  = "watch"
	actionDelete = "delete"
	actionRetry  = "retry"
)

// errAction is the error of an action that a page does not have.
var errAction = models.Invalid("action", "is not an action of this page")

// keep saves or watches finds, and goes back to a page that says what became of them.
func (p Pages) keep(c *gin.Context, action string, finds []Find, back string) {
	keep := p.Finds.Save
	if action == actionWatch {
		keep = p.Finds.Watch
	}
	o, err := keep(c.Request.Context(), finds)
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.SeeOther(c, pages.With(back, paramFinds, fmt.Sprintf("%s.%d.%d.%d", action, o.Added, o.Known, o.Refused)))
}

// kept is what other systems keep of the URLs of rows.
func kept[T any](ctx context.Context, finds Finds, rows []T, urlOf func(T) string) (map[string]views.Kept, error) {
	urls := make([]string, len(rows))
	for i, row := range rows {
		urls[i] = urlOf(row)
	}
	return finds.Kept(ctx, urls)
}

// restore undoes the deletion that was made at the time that the form has. notice is
// what the page then says, and none what it says if there was nothing to restore.
func (p Pages) restore(c *gin.Context, restore func(context.Context, models.Time) (int, error), list, notice, none string) {
	us, err := strconv.ParseInt(c.PostForm("deleted_at"), 10, 64)
	if err != nil {
		p.Fail(c, models.Invalid("deleted_at", "must be a time in microseconds"))
		return
	}
	n, err := restore(c.Request.Context(), models.At(time.UnixMicro(us)))
	if n == 0 {
		notice = none
	}
	p.Done(c, err, p.Back(c, list), notice)
}

// keptFlash says what became of finds, from the parameter that keep set; ok is false if
// it did not.
func keptFlash(value string) (f ui.Flash, ok bool) {
	var o Outcome
	action, rest, _ := strings.Cut(value, ".")
	if _, err := fmt.Sscanf(rest, "%d.%d.%d", &o.Added, &o.Known, &o.Refused); err != nil || max(o.Added, o.Known, o.Refused) > MaxFinds || min(o.Added, o.Known, o.Refused) < 0 {
		return ui.Flash{}, false
	}
	noun, done, soon := "link", "saved", " Titles are fetched within moments."
	switch action {
	case actionSave:
	case actionWatch:
		noun, done, soon = "target", "watched", " The first checks run within moments."
	default:
		return ui.Flash{}, false
	}
	if o.Added > 0 {
		f.Text = ui.Plural(o.Added, noun) + " added." + soon
	}
	if o.Known > 0 {
		f.Text += fmt.Sprintf(" %s already %s.", ui.Plural(o.Known, "URL"), done)
	}
	if o.Refused > 0 {
		f.Text += fmt.Sprintf(" %s cannot be %s.", ui.Plural(o.Refused, "URL"), done)
	}
	f.Text, f.Bad = strings.TrimSpace(f.Text), o.Added == 0 && o.Known == 0
	if f.Text == "" {
		f.Text = "Nothing to do: the selected links are gone."
	}
	return f, true
}
