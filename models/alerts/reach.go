package alerts

import (
	"context"
	"fmt"
	"slices"
)

// Reach is what a rule applies to.
type Reach struct {
	Targets  int // targets that it matches
	Of       int // all targets that were given
	Channels int // channels that it can use
}

// ReachOf returns how many of the targets a rule matches, and how many enabled channels it sends to. The number of statements is constant.
func (s *Store) ReachOf(ctx context.Context, r Rule, targets []Target) (reach Reach, err error) {
	subjects := make([]subject, len(targets))
	for i, t := range targets {
		subjects[i] = t.subject()
	}
	m, err := s.newMatcher(ctx, []Scope{r.Scope}, subjects)
	if err != nil {
		return reach, fmt.Errorf("count targets of rule: %w", err)
	}
	reach.Of = len(targets)
	for i, sub := range subjects {
		if r.sendsFor(targets[i].PrivateTo) && m.matches(r.Scope, sub) {
			reach.Targets++
		}
	}
	known, err := all[Channel](s.db.Read(ctx), channels)
	for _, c := range known {
		if c.Usable() && r.canUse(c) && slices.Contains(r.Channels, c.ID) {
			reach.Channels++
		}
	}
	return reach, err
}
