package pages

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	"linkwatch/views/search"
	"linkwatch/views/ui"
)

// Finder is a kind of things that a system offers to the search over everything.
type Finder struct {
	Kind string // in the plural: "Short links"
	// Find returns up to limit things that match a text of at most models.MaxFilter
	// bytes, the best first. Its cost is bounded, however many things there are, and it
	// ends with ctx. CodeInvalid: the text is none that it can look for, so it finds nothing.
	Find func(ctx context.Context, text string, limit int) ([]ui.Hit, error)
	// All returns the path of the list of all that match; nil = there is no such list.
	All func(text string) string
}

const (
	maxHits   = 5               // of each kind that are shown
	maxFound  = 50              // of each kind that are put in order
	findLimit = 2 * time.Second // of each kind
)

// SearchPage is the search over everything, and for htmx what the command palette shows.
func (f *Frame) SearchPage(finders ...Finder) gin.HandlerFunc {
	return func(c *gin.Context) {
		v := search.Search{Page: f.Page("Search", ui.SearchSection, ui.Flash{}), Text: models.CleanLine(c.Query("q"))}
		status := http.StatusOK
		switch err := models.CheckFilter("query.q", v.Text); {
		case err != nil:
			v.Query, _ = FilterError(err)
			status = http.StatusBadRequest
		case v.Text != "":
			v.URL, v.Groups = asURL(v.Text), f.findAll(c.Request.Context(), v.Text, finders)
		}
		f.ShowPart(c, status, search.Page(v), search.Palette(v))
	}
}

// asURL is the URL that a text is, as the forms repair it; "" = it is none.
func asURL(text string) string {
	if strings.ContainsAny(text, " ") {
		return ""
	}
	u, err := models.ParseURL("url", models.RepairURL(text))
	if err != nil {
		return ""
	}
	return u.Given
}

// findAll asks all finders at a time, each with a time limit of its own: one that fails or
// is slow takes nothing from the others. It returns once all have ended.
func (f *Frame) findAll(ctx context.Context, text string, finders []Finder) []search.Group {
	groups := make([]search.Group, len(finders))
	var running sync.WaitGroup
	for i, of := range finders {
		running.Go(func() {
			groups[i].Kind = of.Kind
			if of.All != nil {
				groups[i].All = of.All(text)
			}
			var err error
			groups[i].Hits, err = of.find(ctx, text)
			switch {
			case err != nil:
				groups[i].Hits, groups[i].Problem = nil, f.Errors.Problem(ctx, err).Detail
			case len(groups[i].Hits) <= maxHits:
				groups[i].All = "" // they are all there
			default:
				groups[i].Hits = groups[i].Hits[:maxHits]
			}
		})
	}
	running.Wait()
	return groups
}

// find is Find within findLimit. A panic is an error, since it would end the program.
func (of Finder) find(ctx context.Context, text string) (hits []ui.Hit, err error) {
	ctx, cancel := context.WithTimeout(ctx, findLimit)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("searching %s: panic: %v\n%s", of.Kind, p, debug.Stack())
		}
	}()
	hits, err = of.Find(ctx, text, maxFound)
	if models.CodeOf(err) == models.CodeInvalid {
		return nil, nil
	}
	if err != nil && ctx.Err() != nil {
		err = errors.Join(context.DeadlineExceeded, err) // a driver may say it in its own words
	}
	wanted := models.Fold(text)
	slices.SortStableFunc(hits, func(a, b ui.Hit) int { return closeness(a, wanted) - closeness(b, wanted) })
	return hits, err
}

// closeness is the place of a hit among others: its title or its key is the wanted text, begins with it, or neither.
func closeness(h ui.Hit, wanted string) int {
	title := models.Fold(h.Title)
	switch {
	case title == wanted || h.Key != "" && models.Fold(h.Key) == wanted:
		return 0
	case strings.HasPrefix(title, wanted):
		return 1
	}
	return 2
}
