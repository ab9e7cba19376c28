// Package alerts stores channels, rules, maintenance windows, alerts and the outbox of their messages.
//
// Systems store events (package event). ProcessEvents turns events into alerts or adds them to open alerts. QueueMessages writes due messages to the
// outbox. One instance at a time sends the messages of a channel. Each step is one transaction that stores the input of the next
// step, so a crash loses nothing.
package alerts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"linkwatch/models"
	"linkwatch/models/event"
)

// DefaultStormSize is the default of Options.StormSize.
const DefaultStormSize = 5

// Limits of settings. They bound the memory and the time of each step.
const (
	MaxChannels = 200
	MaxRules    = 200
	MaxWindows  = 200 // maintenance windows
	maxName     = 200 // characters
	maxList     = 500 // IDs or tags in a list of a rule
	maxTag      = 64  // characters, as for tags of links
)

// Retention periods.
const (
	KeepDeleted = models.Day      // of deleted channels, rules and maintenance windows; until then they can be restored
	KeepAlerts  = 90 * models.Day // of resolved alerts
)

// Lookup looks up properties of subjects for rules and maintenance windows. Each method works on a batch with a constant number of queries.
type Lookup interface {
	// Tags returns the tag names of saved links by canonical URL, folded by models.FoldName.
	Tags(ctx context.Context, urls []string) (map[string][]string, error)
	// StatusPages returns the IDs of the status pages that show each target, by target ID.
	StatusPages(ctx context.Context, targets []string) (map[string][]string, error)
	// Existing returns those of the targets and status pages that exist and that the actor of ctx may see, by ID.
	Existing(ctx context.Context, targets, statusPages []string) (map[string]bool, error)
	// Items returns those of the items that exist and that the actor of ctx may see.
	Items(ctx context.Context, refs []Ref) (map[Ref]Item, error)
}

// Options configure a Store.
type Options struct {
	// Types are the event types of all systems in display order.
	Types []event.Type
	// Seal encrypts the address of a channel and Open decrypts it. owner is the channel ID. Open fails if the address was sealed with
	// another key or for another channel.
	Seal func(plain []byte, owner string) ([]byte, error)
	Open func(sealed []byte, owner string) ([]byte, error)
	// Base is the base URL of links in messages. If it is empty, messages have no links.
	Base string
	// Sign signs links in messages, which then work without a login.
	Sign func(text string) string
	// StormSize is the number of alerts of a kind that may start within a minute. Further subjects are grouped into one alert. 0 means
	// DefaultStormSize.
	StormSize int
}

// Store is the store of alerts and their settings. It is safe for concurrent use.
type Store struct {
	db     *models.DB
	clock  models.Clock
	opts   Options
	types  map[event.Kind]event.Type
	lookup Lookup
}

// NewStore returns a store on an open, migrated database.
func NewStore(db *models.DB, clock models.Clock, opts Options) *Store {
	opts.StormSize = cmp.Or(opts.StormSize, DefaultStormSize)
	s := &Store{db: db, clock: clock, opts: opts, types: map[event.Kind]event.Type{}}
	for _, t := range opts.Types {
		s.types[t.Kind] = t
	}
	return s
}

// SetLookup sets the source of facts. It must be called before any other method.
func (s *Store) SetLookup(f Lookup) { s.lookup = f }

// Now returns the time of the store's clock.
func (s *Store) Now() models.Time { return s.clock.Now() }

// Types returns the event types in display order.
func (s *Store) Types() []event.Type { return s.opts.Types }

// Type returns the type of an event kind. For a kind that no system declares anymore, it returns a generic type, so old alerts can
// still be shown.
func (s *Store) Type(k event.Kind) event.Type {
	t, ok := s.types[k]
	if !ok {
		t = event.Type{Kind: k, Label: string(k), Noun: "subject", Verb: "has an event", PluralVerb: "have events"}
	}
	return t
}

// Lock keys of transactions that run one at a time across all instances.
const (
	lockAlerts   models.LockKey = 7_110_913_500 // transactions that create or change alerts
	lockSettings models.LockKey = 7_110_913_501 // transactions that count channels, rules or windows
)

// PollInterval is the poll interval for events and due messages.
const PollInterval = 250 * time.Millisecond

// cleanName normalizes and checks a name. A blank name becomes fallback. The error is CodeInvalid ("name").
func cleanName(name *string, fallback string) error {
	if *name = models.CleanLine(*name); *name == "" {
		*name = fallback
	}
	if *name == "" {
		return models.Invalid("name", "must not be empty")
	}
	if models.Runes(*name) > maxName {
		return models.TooLong("name", maxName, "characters")
	}
	return nil
}

// checkList is cleanList for a list whose entries must all satisfy ok. The error names the first entry that does not.
func checkList(location string, list *List, ok func(string) bool, message string) error {
	for i, v := range *list {
		if i < maxList && !ok(v) {
			return models.Invalid(fmt.Sprintf("%s[%d]", location, i), "%s", message)
		}
	}
	return cleanList(location, list)
}

// cleanList checks the length of a list and removes duplicate and empty entries.
func cleanList(location string, list *List) error {
	if len(*list) > maxList {
		return models.TooLong(location, maxList, "entries")
	}
	var clean List
	for _, v := range *list {
		if v = models.CleanLine(v); v != "" && !slices.Contains(clean, v) {
			clean = append(clean, v)
		}
	}
	*list = clean
	return nil
}
