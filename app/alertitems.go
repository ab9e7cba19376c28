package app

import (
	"context"

	"linkwatch/models"
	"linkwatch/models/alerts"
)

// Items implements alerts.Lookup. It reads each kind with a constant number of statements.
func (f facts) Items(ctx context.Context, refs []alerts.Ref) (map[alerts.Ref]alerts.Item, error) {
	ids := map[string][]string{}
	for _, r := range refs {
		ids[r.Kind] = append(ids[r.Kind], r.ID)
	}
	found := map[alerts.Ref]alerts.Item{}
	add := func(item alerts.Item) { found[item.Ref] = item }
	if named := ids[alerts.SubjectTarget]; len(named) > 0 {
		all, err := f.targets.ByIDs(ctx, named)
		if err != nil {
			return nil, err
		}
		for _, t := range all {
			add(alerts.Item{Ref: alerts.Ref{Kind: alerts.SubjectTarget, ID: t.ID}, Name: t.DisplayTitle()})
		}
	}
	if named := append(ids[alerts.SubjectLink], ids[alerts.SubjectTag]...); len(named) > 0 {
		all, err := f.links.NamedItems(ctx, named)
		if err != nil {
			return nil, err
		}
		for _, l := range all {
			kind := alerts.SubjectLink
			if models.CheckID(models.KindTag, l.ID) == nil {
				kind = alerts.SubjectTag
			}
			add(alerts.Item{Ref: alerts.Ref{Kind: kind, ID: l.ID}, Name: l.Name})
		}
	}
	if named := ids[alerts.SubjectShortLink]; len(named) > 0 {
		all, err := f.shortlinks.ByKeys(ctx, named)
		if err != nil {
			return nil, err
		}
		for _, l := range all {
			add(alerts.Item{Ref: alerts.Ref{Kind: alerts.SubjectShortLink, ID: l.Key}, Name: l.Key, URL: l.CanonicalURL})
		}
	}
	return found, f.addCrawled(ctx, ids, add)
}

// addCrawled adds sources, jobs, websites, and pages of both.
func (f facts) addCrawled(ctx context.Context, ids map[string][]string, add func(alerts.Item)) error {
	pages := ids[alerts.SubjectPage]
	if named := append(append(ids[alerts.SubjectSource], ids[alerts.SubjectJob]...), pages...); len(named) > 0 {
		all, err := f.crawl.NamedItems(ctx, named)
		if err != nil {
			return err
		}
		for _, n := range all {
			item := alerts.Item{
				Ref: alerts.Ref{Kind: alerts.SubjectPage, ID: n.ID}, Name: n.Name,
				Parent: alerts.Ref{Kind: alerts.SubjectSource, ID: n.SourceID},
			}
			switch {
			case models.CheckID(models.KindSource, n.ID) == nil:
				item.Kind = alerts.SubjectSource
			case models.CheckID(models.KindJob, n.ID) == nil:
				item.Kind, item.URL = alerts.SubjectJob, n.URL
			}
			add(item)
		}
	}
	if named := append(ids[alerts.SubjectWebsite], pages...); len(named) > 0 {
		all, err := f.sites.NamedItems(ctx, named)
		if err != nil {
			return err
		}
		for _, n := range all {
			kind := alerts.SubjectPage
			if models.CheckID(models.KindWebsite, n.ID) == nil {
				kind = alerts.SubjectWebsite
			}
			add(alerts.Item{Ref: alerts.Ref{Kind: kind, ID: n.ID}, Name: n.Name, Parent: alerts.Ref{Kind: alerts.SubjectWebsite, ID: n.WebsiteID}})
		}
	}
	return nil
}
