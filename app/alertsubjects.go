package app

import (
	"context"

	alerthandlers "linkwatch/handlers/alerts"
	"linkwatch/models/targets"
	alertviews "linkwatch/views/alerts"
)

// alertSubjects implements alerthandlers.Subjects.
type alertSubjects struct{ targets *targets.Store }

// Targets implements alerthandlers.Subjects.
func (s alertSubjects) Targets(ctx context.Context, ids []string) (map[string]alerthandlers.Target, error) {
	found, err := s.targets.ByIDs(ctx, ids)
	known := make(map[string]alerthandlers.Target, len(found))
	for _, t := range found {
		known[t.ID] = alerthandlers.Target{Name: t.DisplayTitle(), PrivateTo: t.PrivateTo}
	}
	return known, err
}

// FindTargets implements alerthandlers.Subjects.
func (s alertSubjects) FindTargets(ctx context.Context, text string, n int) (found []alertviews.Choice, more bool, err error) {
	matching, more, err := s.targets.Matching(ctx, text, n)
	for _, t := range matching {
		found = append(found, alertviews.Choice{ID: t.ID, Name: t.DisplayTitle(), Hint: t.Host})
	}
	return found, more, err
}

// StatusPages implements alerthandlers.Subjects.
func (s alertSubjects) StatusPages(ctx context.Context) ([]alertviews.Choice, error) {
	list, err := s.targets.PageTitles(ctx)
	all := make([]alertviews.Choice, len(list))
	for i, p := range list {
		all[i] = alertviews.Choice{ID: p.ID, Name: p.Title}
	}
	return all, err
}
