package crawl

import (
	"context"

	"linkwatch/models"
)

// MaxFinds is how many URLs one call of Finds takes.
const MaxFinds = 100

// Find is a URL that a crawl found, for another system to keep.
type Find struct {
	URL  string
	Name string // of a target; "" = none. A link gets its title from its page.
}

// Outcome is what became of finds.
type Outcome struct {
	Added   int // were not there before
	Known   int // were there, and stay as they are
	Refused int // are not URLs that the other system takes
}

// Kept is what other systems have of a URL: the paths of their pages, "" = nothing.
type Kept struct{ Link, Target string }

// Finds is what other systems do with what crawls find. Its methods take up to MaxFinds
// URLs, and their number of queries does not depend on how many. They fetch nothing:
// links and targets learn about their pages in the background.
type Finds interface {
	Save(ctx context.Context, finds []Find) (Outcome, error)  // as links
	Watch(ctx context.Context, finds []Find) (Outcome, error) // as targets
	// Kept returns what there is of each URL, by the URL as it was given. URLs of
	// which there is nothing are missing.
	Kept(ctx context.Context, urls []string) (map[string]Kept, error)
}

// The actions on finds.
const (
	actionSave   = "save"
	actionWatch  = "watch"
	actionDelete = "delete"
	actionRetry  = "retry"
)

// errAction is the error of an action that a page does not have.
var errAction = models.Invalid("action", "is not an action of this page")

// keep saves or watches finds, in batches.
func (p Pages) keep(ctx context.Context, action string, finds []Find) (Outcome, error) {
	if action == actionWatch {
		return p.Finds.Watch(ctx, finds)
	}
	return p.Finds.Save(ctx, finds)
}
