package links

import (
	"context"
	"time"

	"github.com/linkwatch/linkwatch/models"
)

type Store struct{}

// Options of a store: CheckInterval is LINK_CHECK_INTERVAL.
func NewStore(db *models.DB, clock models.Clock, fetch Fetcher, opts Options) *Store { panic("stub") }

type Options struct{ CheckInterval time.Duration }

// Reading.
func (s *Store) Get(ctx context.Context, id string) (Link, error)  { panic("stub") }
func (s *Store) View(ctx context.Context, id string) (Link, error) { panic("stub") } // view count +1, atomically
func (s *Store) Random(ctx context.Context) (Link, error)          { panic("stub") }
func (s *Store) List(ctx context.Context, f Filter, p models.Page) (Found, error) {
	panic("stub")
}
func (s *Store) Popular(ctx context.Context, p models.Page) (models.List[Link], error) {
	panic("stub")
}
func (s *Store) Counts(ctx context.Context) (Counts, error) { panic("stub") }

// NeedAttention: the newest links whose health turned dead, suspect or moved.
func (s *Store) NeedAttention(ctx context.Context, limit int) ([]Link, error) { panic("stub") }

// Found is a page of links. Near holds the words that stood in for those of the query
// that nothing matched: {"exmaple": ["example"]}.
type Found struct {
	models.List[Link]
	Near map[string][]string
}

// Tags.
type TagOrder string

const (
	TagsByName    TagOrder = "name"
	TagsByCount   TagOrder = "count"
	TagsByLastUse TagOrder = "recent"
)

func (s *Store) Tags(ctx context.Context, match string, o TagOrder, p models.Page) (models.List[Tag], error) {
	panic("stub")
}
func (s *Store) CompleteTags(ctx context.Context, prefix string, limit int) ([]Tag, error) {
	panic("stub")
}
func (s *Store) Tag(ctx context.Context, tagID string) (Tag, error)       { panic("stub") }
func (s *Store) TagsOf(ctx context.Context, id string) ([]Tag, error)     { panic("stub") }
func (s *Store) TagOf(ctx context.Context, id, tagID string) (Tag, error) { panic("stub") } // 404 unless on the link
func (s *Store) RenameTag(ctx context.Context, tagID, name string) (t Tag, merged bool, err error) {
	panic("stub")
} // into an existing name: merges
func (s *Store) AddTags(ctx context.Context, id string, names []string) ([]Tag, error) {
	panic("stub")
}
func (s *Store) RemoveTag(ctx context.Context, id, tagID string) error { panic("stub") }
func (s *Store) SwapTag(ctx context.Context, id, tagID, name string) (Tag, error) {
	panic("stub")
}

// Writing.
func (s *Store) Save(ctx context.Context, n New) (l Link, created bool, err error) { panic("stub") }
func (s *Store) Import(ctx context.Context, ns []New) (stored int, err error)      { panic("stub") } // without fetching
func (s *Store) Preview(ctx context.Context, url string) (Page, error)             { panic("stub") }
func (s *Store) Refresh(ctx context.Context, id string) (Link, error)              { panic("stub") }
func (s *Store) Annotate(ctx context.Context, id string, a Annotation) (Link, error) {
	panic("stub")
}
func (s *Store) ApplyMove(ctx context.Context, id string) (Link, error) { panic("stub") } // take MovedTo as the URL

// Bulk, each up to MaxBulk ids, each with undo. Unknown ids are passed over.
func (s *Store) Delete(ctx context.Context, ids ...string) (Change, error) { panic("stub") }
func (s *Store) SetExpired(ctx context.Context, expired bool, ids ...string) (Change, error) {
	panic("stub")
}
func (s *Store) TagAll(ctx context.Context, names []string, ids ...string) (Change, error) {
	panic("stub")
}
func (s *Store) Undo(ctx context.Context, changeID string) (Change, error) { panic("stub") } // Links: how many came back

// Background refresh of many links.
func (s *Store) StartRefresh(ctx context.Context, ids ...string) (Refresh, error) { panic("stub") }
func (s *Store) RefreshOf(ctx context.Context, refreshID string) (Refresh, error) { panic("stub") }

// RefreshNext claims one queued link, fetches it and counts it; false when the queue is empty.
func (s *Store) RefreshNext(ctx context.Context) (bool, error) { panic("stub") }

// RefreshWanted is a channel that gets a value when StartRefresh has queued work in this process.
func (s *Store) RefreshWanted() <-chan struct{} { panic("stub") }

// Revalidation. ClaimDue takes up to n links whose check is due and leases them to the caller for 10 min.
func (s *Store) ClaimDue(ctx context.Context, n int) ([]Link, error) { panic("stub") }

// Check probes one claimed link and records what it found. It decides the health.
func (s *Store) Check(ctx context.Context, l Link) (Link, error) { panic("stub") }

// ChangeOf is a change by its id, for the page that offers to undo it; 404 once it is undone or too old.
func (s *Store) ChangeOf(ctx context.Context, changeID string) (Change, error) { panic("stub") }

// Purge drops what is only kept for a while: old changes and finished refreshes.
func (s *Store) Purge(ctx context.Context) error { panic("stub") }
