// Package alerts is the store of alerts: channels, rules that
// say what is sent where, maintenance windows, the alerts themselves, and the outbox
// of their messages.
//
// Systems store events (package event). Take makes alerts of them, or adds them to alerts
// that are open; Send puts the messages that are due into the outbox; and one instance at
// a time sends those of a channel. Each step is one transaction that ends with what the
// next one begins with, so a crash loses nothing.
package alerts

import (
	"context"
	"fmt"
	"slices"
	"time"

	"linkwatch/models"
	"linkwatch/models/event"
)

// Limits of what users make. They bound the memory and the time of each step.
const (
	MaxChannels = 200
	MaxRules    = 200
	MaxWindows  = 200 // of maintenance
	maxName     = 200 // characters
	maxList     = 500 // ids or tags in a list of a rule
	maxTag      = 64  // characters of a tag, as of those of links
)

// How long things are kept.
const (
	KeepDeleted = models.Day      // a deleted channel, rule or maintenance window can be restored
	KeepAlerts  = 90 * models.Day // resolved ones
)

// Facts are what rules and maintenance windows ask of subjects. Both methods take a batch,
// and take a constant number of queries.
type Facts interface {
	// Tags returns the names of the tags of saved links by canonical URL, each as models.FoldName has it.
	Tags(ctx context.Context, urls []string) (map[string][]string, error)
	// StatusPages returns the ids of the status pages that show targets, by the id of a target.
	StatusPages(ctx context.Context, targets []string) (map[string][]string, error)
}

// Options are what the store needs of others.
type Options struct {
	// Types are the kinds of events of all systems, in the order in which they are shown.
	Types []event.Type
	// Seal encrypts what a channel is reached by, and Open decrypts it. of is the id of the channel. Open fails for what was sealed with another
	// key, or is another's.
	Seal func(plain []byte, of string) ([]byte, error)
	Open func(sealed []byte, of string) ([]byte, error)
	// Base is the base URL of links in messages; "" = messages have none.
	Base string
	// Sign signs a link of a message, so that its reader needs no login.
	Sign func(text string) string
}

// Store keeps alerts and what they are made by. It is safe for concurrent use.
type Store struct {
	db    *models.DB
	clock models.Clock
	opts  Options
	types map[event.Kind]event.Type
	facts Facts
}

// NewStore makes the store over an open, migrated database.
func NewStore(db *models.DB, clock models.Clock, opts Options) *Store {
	s := &Store{db: db, clock: clock, opts: opts, types: map[event.Kind]event.Type{}}
	for _, t := range opts.Types {
		s.types[t.Kind] = t
	}
	return s
}

// Use sets where facts come from, before anything runs.
func (s *Store) Use(f Facts) { s.facts = f }

// Now is the time by the store's clock.
func (s *Store) Now() models.Time { return s.clock.Now() }

// Types are the kinds of events, in the order in which they are shown.
func (s *Store) Types() []event.Type { return s.opts.Types }

// Type is what is known of a kind of events. An alert of a kind that no system has any
// more is still shown.
func (s *Store) Type(k event.Kind) event.Type {
	t, ok := s.types[k]
	if !ok {
		t = event.Type{Kind: k, Label: string(k), Noun: "subject", Did: "has an event", DidMany: "have events"}
	}
	return t
}

// Lock keys of transactions that run one at a time on all instances.
const (
	lockAlerts   models.LockKey = 7_110_913_500 // that make and change alerts
	lockSettings models.LockKey = 7_110_913_501 // that count channels, rules or windows
)

// Every is how often events and messages that are due are looked for, at most.
const Every = 250 * time.Millisecond

// cleanName tidies and checks a name. A blank one becomes fallback. CodeInvalid ("name").
func cleanName(name *string, fallback string) error {
	if *name = models.CleanLine(*name); *name == "" {
		*name = fallback
	}
	if *name == "" {
		return models.Invalid("name", "must not be empty")
	}
	if models.Runes(*name) > maxName {
		return models.Invalid("name", "must have at most %d characters", maxName)
	}
	return nil
}

// checkList is cleanList for a list of which each entry must be ok. The error names the first that is not, with a message.
func checkList(location string, list *List, ok func(string) bool, message string) error {
	for i, v := range *list {
		if i < maxList && !ok(v) {
			return models.Invalid(fmt.Sprintf("%s[%d]", location, i), "%s", message)
		}
	}
	return cleanList(location, list)
}

// cleanList checks the length, and sorts out what occurs twice or is empty.
func cleanList(location string, list *List) error {
	if len(*list) > maxList {
		return models.Invalid(location, "must have at most %d entries", maxList)
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
