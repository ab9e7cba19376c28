package app

import (
	"context"
	"errors"
	"slices"

	alerthandlers "linkwatch/handlers/alerts"
	"linkwatch/models"
	"linkwatch/models/alerts"
	alertviews "linkwatch/views/alerts"
)

// alertSubjects implements alerthandlers.Subjects.
type alertSubjects struct{ facts }

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

// Newest implements alerthandlers.Subjects.
func (s alertSubjects) Newest(ctx context.Context, n int) ([]alerts.Target, error) {
	newest, err := s.targets.Newest(ctx, n)
	all := make([]alerts.Target, len(newest))
	for i, t := range newest {
		all[i] = alerts.Target{ID: t.ID, CanonicalURL: t.CanonicalURL, PrivateTo: t.PrivateTo}
	}
	return all, err
}

// FindItems implements alerthandlers.Subjects.
func (s alertSubjects) FindItems(ctx context.Context, text string, n int) (found []alerts.Item, err error) {
	add := func(kind, id, name string) {
		item := alerts.Item{Ref: alerts.Ref{Kind: kind, ID: id}, Name: name}
		if !slices.Contains(found, item) {
			found = append(found, item)
		}
	}
	jobs, err := s.crawl.Find(ctx, text, n)
	for _, j := range jobs {
		add(alerts.SubjectSource, j.SourceID, j.SourceName)
	}
	websites, more := s.sites.Find(ctx, text, n)
	for _, w := range websites {
		add(alerts.SubjectWebsite, w.ID, w.Name)
	}
	err = errors.Join(err, more)
	short, more := s.shortlinks.Find(ctx, text, n)
	for _, l := range short {
		add(alerts.SubjectShortLink, l.Key, "/"+l.Key)
	}
	if err = errors.Join(err, more); models.CodeOf(err) == models.CodeInvalid {
		return nil, nil
	}
	return found, err
}
