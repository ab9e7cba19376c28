package alerts

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/event"
)

// The subject kinds that a Scope can match.
const (
	SubjectTarget = "target"
	SubjectLink   = "link"
)

// subject is what a scope is matched against.
type subject struct {
	kind, id, url string
	privateTo     string // "" if shared
}

func subjectOf(e event.Event) subject {
	return subject{e.SubjectKind, e.SubjectID, e.URL, e.PrivateTo}
}

// matcher matches subjects against scopes. It holds the facts that the scopes need.
type matcher struct {
	tags        map[lookupKey][]string // folded tag names by URL
	statusPages map[lookupKey][]string // IDs by target
	items       map[itemKey]Item
}

// lookupKey is the key of a fact: a URL or target ID, of shared subjects ("") or of the private subjects of an owner.
type lookupKey struct{ privateTo, key string }

// newMatcher loads the facts of subjects that the scopes need: at most two batches for shared subjects and two for each owner of private
// ones. It reads them with the permissions of the subjects' readers, so a private tag cannot affect a shared subject.
func (s *Store) newMatcher(ctx context.Context, scopes []Scope, subjects []subject) (m matcher, err error) {
	uses := func(list func(Scope) List) bool {
		return slices.ContainsFunc(scopes, func(s Scope) bool { return len(list(s)) > 0 })
	}
	namesTag := slices.ContainsFunc(scopes, func(s Scope) bool {
		return slices.ContainsFunc(s.Subjects, func(r Ref) bool { return r.Kind == SubjectTag })
	})
	urls, targets := map[string][]string{}, map[string][]string{} // by owner
	for _, sub := range subjects {
		if sub.url != "" && (sub.kind == SubjectTarget || sub.kind == SubjectLink) {
			urls[sub.privateTo] = append(urls[sub.privateTo], sub.url)
		}
		if sub.kind == SubjectTarget {
			targets[sub.privateTo] = append(targets[sub.privateTo], sub.id)
		}
	}
	if s.lookup == nil {
		return m, nil
	}
	if namesTag || uses(func(s Scope) List { return s.Tags }) {
		if m.tags, err = lookUp(ctx, urls, s.lookup.Tags); err != nil {
			return m, err
		}
	}
	if uses(func(s Scope) List { return s.StatusPages }) {
		if m.statusPages, err = lookUp(ctx, targets, s.lookup.StatusPages); err != nil {
			return m, err
		}
	}
	m.items, err = s.loadItems(ctx, scopes, subjects)
	return m, err
}

// lookUp loads facts with the permissions of each owner.
func lookUp(ctx context.Context, keysByOwner map[string][]string, facts func(context.Context, []string) (map[string][]string, error)) (map[lookupKey][]string, error) {
	all := map[lookupKey][]string{}
	for owner, keys := range keysByOwner {
		found, err := facts(models.WithActor(ctx, models.Actor{Name: owner}), keys)
		if err != nil {
			return nil, err
		}
		for key, values := range found {
			all[lookupKey{owner, key}] = values
		}
	}
	return all, nil
}

func (m matcher) matches(sc Scope, sub subject) bool {
	if sc.All() || m.namesSubject(sc, sub) {
		return true
	}
	if sub.kind == SubjectTarget {
		if slices.Contains(sc.Targets, sub.id) {
			return true
		}
		for _, p := range m.statusPages[lookupKey{sub.privateTo, sub.id}] {
			if slices.Contains(sc.StatusPages, p) {
				return true
			}
		}
	}
	if sub.kind != SubjectTarget && sub.kind != SubjectLink {
		return false
	}
	for _, tag := range m.tags[lookupKey{sub.privateTo, sub.url}] {
		if slices.ContainsFunc(sc.Tags, func(want string) bool { return models.FoldName(want) == tag }) {
			return true
		}
	}
	return false
}

// settings are the enabled rules and the active maintenance windows.
type settings struct {
	rules   []Rule
	windows []activeWindow
}

// activeWindow is a maintenance window with the end of its current occurrence.
type activeWindow struct {
	Maintenance
	ends models.Time
}

func (s *Store) settings(tx *gorm.DB, now models.Time) (set settings, err error) {
	found, err := all[Rule](tx, rules)
	if err != nil {
		return set, err
	}
	for _, r := range found {
		if r.active() {
			set.rules = append(set.rules, r)
		}
	}
	set.windows, err = s.active(tx, now)
	return set, err
}

func (s *Store) active(tx *gorm.DB, now models.Time) (active []activeWindow, err error) {
	found, err := all[Maintenance](tx, windows)
	if err != nil {
		return nil, err
	}
	for _, m := range found {
		if _, to, ok := m.OccurrenceAt(now); ok {
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

// maintenanceEnd returns the end of the maintenance of a subject, or zero if it is not in maintenance.
func (set settings) maintenanceEnd(m matcher, sub subject) (until models.Time) {
	for _, w := range set.windows {
		if w.ends.After(until.Time) && m.matches(w.Scope, sub) {
			until = w.ends
		}
	}
	return until
}

// Target is the part of a target that rules and maintenance windows match.
type Target struct {
	ID, CanonicalURL string
	PrivateTo        string // owner of a private target; "" if shared
}

func (t Target) subject() subject {
	return subject{SubjectTarget, t.ID, t.CanonicalURL, t.PrivateTo}
}

// InMaintenance reports which targets are in maintenance, by ID. Without an active window it runs one query.
func (s *Store) InMaintenance(ctx context.Context, targets []Target) (map[string]bool, error) {
	now := s.clock.Now()
	active, err := s.active(s.db.Read(ctx), now)
	if err != nil || len(active) == 0 {
		return nil, err
	}
	set := settings{windows: active}
	subjects := make([]subject, len(targets))
	for i, t := range targets {
		subjects[i] = t.subject()
	}
	m, err := s.newMatcher(ctx, set.scopes(), subjects)
	if err != nil {
		return nil, fmt.Errorf("find targets in maintenance: %w", err)
	}
	in := map[string]bool{}
	for _, sub := range subjects {
		if !set.maintenanceEnd(m, sub).IsZero() {
			in[sub.id] = true
		}
	}
	return in, nil
}
