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

// Finder searches one kind of items for the global search.
type Finder struct {
	Kind string // plural: "Short links"
	// Find returns up to limit items that match a text of at most models.MaxFilter bytes, best
	// first. Its cost must not depend on the number of items. An error with CodeInvalid means
	// that this kind cannot be searched for the text; it counts as no results.
	Find func(ctx context.Context, text string, limit int) ([]ui.Hit, error)
	// All returns the path of the list of all matches; nil = no such list.
	All func(text string) string
}

const (
	maxHits   = 5               // hits shown per kind
	maxFound  = 50              // hits sorted per kind
	findLimit = 2 * time.Second // timeout per kind
)

// SearchPage is the global search. htmx gets the results, or those for the command palette.
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
		part := search.Results(v)
		if c.Query("for") == "palette" {
			part = search.Palette(v)
		} else {
			ReplaceURL(c, search.Path(v.Text))
		}
		f.ShowPart(c, status, search.Page(v), part)
	}
}

// asURL returns the text as a URL, repaired like form input; "" = not a URL.
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

// findAll runs all finders concurrently, each with its own timeout, so that a failed or slow one
// does not affect the others.
func (f *Frame) findAll(ctx context.Context, text string, finders []Finder) []search.Group {
	groups := make([]search.Group, len(finders))
	var running sync.WaitGroup
	for i, finder := range finders {
		running.Go(func() {
			groups[i].Kind = finder.Kind
			if finder.All != nil {
				groups[i].All = finder.All(text)
			}
			var err error
			groups[i].Hits, err = finder.find(ctx, text)
			switch {
			case err != nil:
				groups[i].Hits, groups[i].Problem = nil, f.Errors.Problem(ctx, err).Detail
			case len(groups[i].Hits) <= maxHits:
				groups[i].All = "" // all hits are shown
			default:
				groups[i].Hits = groups[i].Hits[:maxHits]
			}
		})
	}
	running.Wait()
	return groups
}

// find calls Find with a timeout and sorts the hits. It converts a panic to an error, because a panic
// in a goroutine would end the program.
func (f Finder) find(ctx context.Context, text string) (hits []ui.Hit, err error) {
	ctx, cancel := context.WithTimeout(ctx, findLimit)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("search %s: panic: %v\n%s", f.Kind, p, debug.Stack())
		}
	}()
	folded := models.Fold(text)
	if folded == "" { // every text contains it
		return nil, nil
	}
	hits, err = f.Find(ctx, text, maxFound)
	if models.CodeOf(err) == models.CodeInvalid {
		return nil, nil
	}
	if err != nil && ctx.Err() != nil {
		err = errors.Join(context.DeadlineExceeded, err) // database drivers have their own timeout errors
	}
	slices.SortStableFunc(hits, func(a, b ui.Hit) int { return rank(a, folded) - rank(b, folded) })
	return hits, err
}

// rank is 0 if the title or key of a hit equals the text, 1 if the title starts with it, else 2.
func rank(h ui.Hit, folded string) int {
	title := models.Fold(h.Title)
	switch {
	case title == folded || h.Key != "" && models.Fold(h.Key) == folded:
		return 0
	case strings.HasPrefix(title, folded):
		return 1
	}
	return 2
}
