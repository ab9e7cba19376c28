package alerts

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/event"
)

// The kinds of subjects that a Scope can name.
const (
	SubjectTarget = "target"
	SubjectLink   = "link"
)

// subject is what a scope is matched with.
type subject struct{ kind, id, url string }

func subjectOf(e event.Event) subject { return subject{e.SubjectKind, e.SubjectID, e.URL} }

// matcher matches scopes with subjects, of which it has asked Facts what the scopes need.
type matcher struct {
	tags        map[string][]string // folded, by URL
	statusPages map[string][]string // by target
}

// newMatcher asks for the facts of subjects that some scopes need: two batches at most.
func (s *Store) newMatcher(ctx context.Context, scopes []Scope, subjects []subject) (m matcher, err error) {
	uses := func(list func(Scope) List) bool {
		return slices.ContainsFunc(scopes, func(s Scope) bool { return len(list(s)) > 0 })
	}
	var urls, targets []string
	for _, sub := range subjects {
		if sub.url != "" && (sub.kind == SubjectTarget || sub.kind == SubjectLink) {
			urls = append(urls, sub.url)
		}
		if sub.kind == SubjectTarget {
			targets = append(targets, sub.id)
		}
	}
	if s.facts == nil {
		return m, nil
	}
	if len(urls) > 0 && uses(func(s Scope) List { return s.Tags }) {
		if m.tags, err = s.facts.Tags(ctx, urls); err != nil {
			return m, err
		}
	}
	if len(targets) > 0 && uses(func(s Scope) List { return s.StatusPages }) {
		m.statusPages, err = s.facts.StatusPages(ctx, targets)
	}
	return m, err
}

// has reports whether a subject is in a scope.
func (m matcher) has(sc Scope, sub subject) bool {
	if sc.All() {
		return true
	}
	if sub.kind == SubjectTarget {
		if slices.Contains(sc.Targets, sub.id) {
			return true
		}
		for _, p := range m.statusPages[sub.id] {
			if slices.Contains(sc.StatusPages, p) {
				return true
			}
		}
	}
	if sub.kind != SubjectTarget && sub.kind != SubjectLink {
		return false
	}
	for _, tag := range m.tags[sub.url] {
		if slices.ContainsFunc(sc.Tags, func(want string) bool { return models.FoldName(want) == tag }) {
			return true
		}
	}
	return false
}

// settings are the rules and maintenance windows by which events are judged.
type settings struct {
	rules   []Rule // usable ones
	windows []activeWindow
}

// activeWindow is a maintenance window that a time is in.
type activeWindow struct {
	Maintenance
	ends models.Time
}

func (s *Store) settings(tx *gorm.DB, now models.Time) (set settings, err error) {
	found, err := all[Rule](tx)
	if err != nil {
		return set, err
	}
	for _, r := range found {
		if r.usable() {
			set.rules = append(set.rules, r)
		}
	}
	set.windows, err = s.active(tx, now)
	return set, err
}

// active are the maintenance windows that a time is in.
func (s *Store) active(tx *gorm.DB, now models.Time) (active []activeWindow, err error) {
	found, err := all[Maintenance](tx)
	if err != nil {
		return nil, err
	}
	for _, m := range found {
		if _, to, ok := m.Around(now); ok {
			active = append(active, activeWindow{m, to})
		}
	}
	return active, nil
}

func (set settings) scopes() (scopes []Scope) {
	for _, r := range set.rules {
		scopes = append(scopes, r.Scope)
	}
	for _, w := range set.windows {
		scopes = append(scopes, w.Scope)
	}
	return scopes
}

// maintained returns when the maintenance of a subject ends; zero = there is none.
func (set settings) maintained(m matcher, sub subject) (until models.Time) {
	for _, w := range set.windows {
		if w.ends.After(until.Time) && m.has(w.Scope, sub) {
			until = w.ends
		}
	}
	return until
}

// Target is a target as maintenance windows know it.
type Target struct{ ID, CanonicalURL string }

// InMaintenance reports which of some targets are in maintenance, by their ids. Without an active window it takes one query.
func (s *Store) InMaintenance(ctx context.Context, targets []Target) (map[string]bool, error) {
	now := s.clock.Now()
	active, err := s.active(s.db.Read(ctx), now)
	if err != nil || len(active) == 0 {
		return nil, err
	}
	set := settings{windows: active}
	subjects := make([]subject, len(targets))
	for i, t := range targets {
		subjects[i] = subject{SubjectTarget, t.ID, t.CanonicalURL}
	}
	m, err := s.newMatcher(ctx, set.scopes(), subjects)
	if err != nil {
		return nil, fmt.Errorf("looking for targets in maintenance: %w", err)
	}
	in := map[string]bool{}
	for _, sub := range subjects {
		if !set.maintained(m, sub).IsZero() {
			in[sub.id] = true
		}
	}
	return in, nil
}
