package app

import (
	"cmp"
	"context"
	"errors"
	"slices"

	alerthandlers "linkwatch/handlers/alerts"
	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/crawl"
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
		found = append(found, alertviews.Choice{ID: t.ID, Name: t.DisplayTitle(), Hint: t.HostPort()})
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
	for _, find := range []func(context.Context, string, int) ([]alerts.Item, error){
		s.findLinks, s.findCrawls, s.findCrawledPages, s.findWebsites, s.findShortLinks,
	} {
		items, more := find(ctx, text, n)
		if models.CodeOf(more) != models.CodeInvalid { // each kind has its own query language
			found, err = append(found, items...), errors.Join(err, more)
		}
	}
	return found, err
}

func newItem(kind, id, name string) alerts.Item {
	return alerts.Item{Ref: alerts.Ref{Kind: kind, ID: id}, Name: name}
}

func (s alertSubjects) findLinks(ctx context.Context, text string, n int) (items []alerts.Item, err error) {
	found, err := s.links.Find(ctx, text, n)
	for _, l := range found {
		items = append(items, newItem(alerts.SubjectLink, l.ID, cmp.Or(l.Title, l.URL)))
	}
	return items, err
}

// findCrawls finds jobs and their sources.
func (s alertSubjects) findCrawls(ctx context.Context, text string, n int) (items []alerts.Item, err error) {
	found, err := s.crawl.Find(ctx, text, n)
	var jobs []alerts.Item
	for _, j := range found {
		if source := newItem(alerts.SubjectSource, j.SourceID, j.SourceName); !slices.Contains(items, source) {
			items = append(items, source)
		}
		job := newItem(alerts.SubjectJob, j.ID, j.Title())
		job.URL = j.URL
		jobs = append(jobs, job)
	}
	return append(items, jobs...), err
}

func (s alertSubjects) findCrawledPages(ctx context.Context, text string, n int) (items []alerts.Item, err error) {
	found, err := s.crawl.Pages(ctx, crawl.PageFilter{Query: text}, models.Cursor{}, n)
	for _, p := range found.Items {
		items = append(items, newItem(alerts.SubjectPage, p.ID(), p.URL))
	}
	return items, err
}

// findWebsites finds websites and their pages.
func (s alertSubjects) findWebsites(ctx context.Context, text string, n int) (items []alerts.Item, err error) {
	websites, err := s.sites.Find(ctx, text, n)
	if err != nil {
		return nil, err
	}
	for _, w := range websites {
		items = append(items, newItem(alerts.SubjectWebsite, w.ID, w.Name))
	}
	pages, err := s.sites.FindPages(ctx, text, n)
	for _, p := range pages {
		items = append(items, newItem(alerts.SubjectPage, p.ID(), p.URL))
	}
	return items, err
}

func (s alertSubjects) findShortLinks(ctx context.Context, text string, n int) (items []alerts.Item, err error) {
	found, err := s.shortlinks.Find(ctx, text, n)
	for _, l := range found {
		items = append(items, newItem(alerts.SubjectShortLink, l.Key, l.Key))
	}
	return items, err
}
