package alerts

import (
	"context"
	"fmt"
	"slices"
	"time"

	"linkwatch/models"
)

// maxAbout is the maximum number of open alerts shown for one subject. A subject has at most one for each event kind.
const maxAbout = 20

// OpenForTarget returns up to 20 open alerts of a target, newest first.
func (s *Store) OpenForTarget(ctx context.Context, target string) (as []Alert, err error) {
	tx := s.db.Read(ctx)
	visible, args := models.Visible(tx, "a")
	err = tx.Raw(`SELECT a.* FROM alert_subjects AS m JOIN alerts AS a ON a.seq = m.alert_seq
		WHERE m.subject_id = ? AND m.subject_kind = ? AND m.ended_at IS NULL AND a.resolved_at IS NULL AND a.fired_at IS NOT NULL AND `+visible+`
		ORDER BY a.created_at DESC, a.id DESC LIMIT ?`, slices.Concat([]any{target, SubjectTarget}, args, []any{maxAbout})...).Scan(&as).Error
	if err != nil {
		return nil, fmt.Errorf("load open alerts of target: %w", err)
	}
	return as, nil
}

// RulesForTarget returns the enabled rules that send events of a target, oldest first.
func (s *Store) RulesForTarget(ctx context.Context, t Target) (rules []Rule, err error) {
	set, err := s.settings(s.db.Read(ctx), s.clock.Now())
	if err != nil {
		return nil, err
	}
	sub := t.subject()
	m, err := s.newMatcher(ctx, set.scopes(), []subject{sub})
	if err != nil {
		return nil, fmt.Errorf("find rules of target: %w", err)
	}
	for _, r := range set.rules {
		if r.sendsFor(t.PrivateTo) && m.matches(r.Scope, sub) && len(s.targetEvents(r.Events)) > 0 {
			rules = append(rules, r)
		}
	}
	return rules, nil
}

// WindowsForTarget returns the maintenance windows of a target that are active or start within the given time, oldest first.
func (s *Store) WindowsForTarget(ctx context.Context, t Target, within time.Duration) (inScope []Maintenance, err error) {
	now, tx := s.clock.Now(), s.db.Read(ctx)
	found, err := all[Maintenance](tx, windows)
	if err != nil {
		return nil, err
	}
	var scopes []Scope
	for _, m := range found {
		if from, _, ok := m.NextOccurrence(now); ok && !from.After(now.Add(within).Time) {
			inScope, scopes = append(inScope, m), append(scopes, m.Scope)
		}
	}
	if len(inScope) == 0 {
		return nil, nil
	}
	sub := t.subject()
	m, err := s.newMatcher(ctx, scopes, []subject{sub})
	if err != nil {
		return nil, fmt.Errorf("find maintenance of target: %w", err)
	}
	return slices.DeleteFunc(inScope, func(w Maintenance) bool { return !m.matches(w.Scope, sub) }), nil
}

// DefaultTargetEvents returns the kinds of DefaultEvents whose subject is a target.
func (s *Store) DefaultTargetEvents() List { return s.targetEvents(s.DefaultEvents()) }

func (s *Store) targetEvents(kinds List) (events List) {
	for _, t := range s.opts.Types {
		if t.Subject == SubjectTarget && (Rule{Events: kinds}).Has(t.Kind) {
			events = append(events, string(t.Kind))
		}
	}
	return events
}
