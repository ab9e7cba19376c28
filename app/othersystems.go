package app

import (
	"context"

	crawlhandlers "linkwatch/handlers/crawl"
	sitehandlers "linkwatch/handlers/sites"
	"linkwatch/models/crawl"
	"linkwatch/models/links"
	"linkwatch/models/sites"
	"linkwatch/models/targets"
	siteviews "linkwatch/views/sites"
)

// otherSystems implements sitehandlers.OtherSystems with links, targets and crawls.
type otherSystems struct {
	crawlSaver
	crawl *crawl.Store
}

// Save implements sitehandlers.OtherSystems.
func (e otherSystems) Save(ctx context.Context, urls []string, private bool) (sitehandlers.Outcome, error) {
	o, err := e.crawlSaver.Save(ctx, foundURLs(urls, private))
	return sitehandlers.Outcome{Added: o.Added, Known: o.Existing, Refused: o.Rejected}, err
}

// Watch implements sitehandlers.OtherSystems.
func (e otherSystems) Watch(ctx context.Context, urls []string, private bool) (sitehandlers.Outcome, error) {
	o, err := e.crawlSaver.Watch(ctx, foundURLs(urls, private))
	return sitehandlers.Outcome{Added: o.Added, Known: o.Existing, Refused: o.Rejected}, err
}

func foundURLs(urls []string, private bool) []crawlhandlers.FoundURL {
	all := make([]crawlhandlers.FoundURL, len(urls))
	for i, u := range urls {
		all[i].URL, all[i].Private = u, private
	}
	return all
}

// Related implements sitehandlers.OtherSystems.
func (e otherSystems) Related(ctx context.Context, urls []string) (map[string]siteviews.Related, error) {
	found, err := e.Existing(ctx, urls)
	if err != nil {
		return nil, err
	}
	facts, err := e.crawl.FactsOf(ctx, urls)
	if err != nil {
		return nil, err
	}
	related := make(map[string]siteviews.Related, len(found))
	for url, k := range found {
		related[url] = siteviews.Related{Link: k.Link, Target: k.Target}
	}
	for url, f := range facts {
		if f.PageID != "" {
			k := related[url]
			k.Crawled = crawledPath(f)
			related[url] = k
		}
	}
	return related, nil
}

func crawledPath(f crawl.PageFacts) string {
	if f.PageID == "" {
		return ""
	}
	return "/crawl/pages/" + f.PageID
}

// Evidence implements sitehandlers.OtherSystems.
func (e otherSystems) Evidence(ctx context.Context, urls []string) (map[string]sites.Evidence, error) {
	crawled, err := e.crawl.FactsOf(ctx, urls)
	if err != nil {
		return nil, err
	}
	urlsByGiven := canonical(urls)
	addresses := make([]string, 0, len(urlsByGiven))
	for _, address := range urlsByGiven {
		addresses = append(addresses, address)
	}
	checked, err := e.targets.StatusOf(ctx, addresses)
	if err != nil {
		return nil, err
	}
	saved, err := e.links.HealthOf(ctx, addresses)
	if err != nil {
		return nil, err
	}
	all := make(map[string]sites.Evidence)
	for given, address := range urlsByGiven {
		var k sites.Evidence
		if f, ok := crawled[given]; ok {
			k.Crawled = crawledOf(f)
		}
		if t, ok := checked[address]; ok {
			k.Checked = checkedOf(t)
		}
		if l, ok := saved[address]; ok {
			k.Saved = savedOf(l)
		}
		if k != (sites.Evidence{}) {
			all[given] = k
		}
	}
	return all, nil
}

func crawledOf(f crawl.PageFacts) *sites.Crawled {
	return &sites.Crawled{
		FetchedAt: f.FetchedAt, StatusCode: f.StatusCode, NoIndex: f.NoIndex, Canonical: f.Canonical, OtherCanonical: f.OtherCanonical, Words: f.Words,
		Robots: f.Robots, Redirects: f.Redirects, RedirectsTo: f.RedirectsTo, Unlinked: f.Unlinked, Error: f.Error, Link: crawledPath(f),
	}
}

func checkedOf(t targets.Target) *sites.Checked {
	return &sites.Checked{
		Status: sites.CheckStatus(t.Status()), StatusCode: t.LastStatusCode, CheckedAt: t.LastCheckedAt, Error: t.LastError, Link: "/watch/" + t.ID,
	}
}

func savedOf(l links.Link) *sites.Saved {
	return &sites.Saved{
		Health: string(l.Health), StatusCode: l.LastStatusCode, CheckedAt: l.LastCheckedAt, MovedTo: l.MovedTo, Error: l.LastError, Link: "/links/" + l.ID,
	}
}

// Crawl implements sitehandlers.OtherSystems. The crawl starts at the URL prefix of the website, or at the root of its domain.
// A private website gets a private source.
func (e otherSystems) Crawl(ctx context.Context, w sites.Website, urls []string) (path string, err error) {
	property := w.Property()
	n := crawl.NewJob{URL: property.SiteURL, Source: crawl.NewSource{Name: w.Name, Private: w.Private()}}
	if property.Domain() {
		n.URL, n.Source.AllowedDomains = property.Root(), []string{property.Host()}
	}
	j, err := e.crawl.CrawlSite(ctx, n, urls)
	if err != nil {
		return "", err
	}
	return "/crawl/jobs/" + j.ID, nil
}
