package app

import (
	"context"

	crawlhandlers "linkwatch/handlers/crawl"
	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/targets"
	crawlviews "linkwatch/views/crawl"
)

// crawlSaver saves URLs from crawls as links or targets.
type crawlSaver struct {
	links   *links.Store
	targets *targets.Store
}

// canonical returns the canonical forms of URLs, keyed by the URL. It leaves out invalid URLs.
func canonical(urls []string) map[string]string {
	forms := make(map[string]string, len(urls))
	for _, given := range urls {
		if u, err := models.ParseURL("url", given); err == nil {
			forms[given] = u.Canonical
		}
	}
	return forms
}

// addDistinct calls add with the valid URLs, without duplicates, and counts the results.
func addDistinct(all []crawlhandlers.FoundURL, add func([]crawlhandlers.FoundURL) (added int, err error)) (o crawlhandlers.SaveResult, err error) {
	if len(all) > crawlhandlers.MaxSaved {
		return o, models.Invalid("id", "must be at most %d URLs", crawlhandlers.MaxSaved)
	}
	var pages []crawlhandlers.FoundURL
	seen := map[string]bool{}
	for _, f := range all {
		u, err := models.ParseURL("url", f.URL)
		switch {
		case err != nil:
			o.Rejected++
		case !seen[u.Canonical]:
			seen[u.Canonical] = true
			pages = append(pages, f)
		}
	}
	if o.Added, err = add(pages); err != nil {
		return crawlhandlers.SaveResult{}, err
	}
	o.Existing = len(pages) - o.Added
	return o, nil
}

// Save implements crawlhandlers.Saver.
func (f crawlSaver) Save(ctx context.Context, all []crawlhandlers.FoundURL) (crawlhandlers.SaveResult, error) {
	return addDistinct(all, func(pages []crawlhandlers.FoundURL) (int, error) {
		ns := make([]links.New, len(pages))
		for i, p := range pages {
			ns[i] = links.New{URL: p.URL, Private: p.Private}
		}
		return f.links.AddAll(ctx, ns)
	})
}

// Watch implements crawlhandlers.Saver.
func (f crawlSaver) Watch(ctx context.Context, all []crawlhandlers.FoundURL) (crawlhandlers.SaveResult, error) {
	return addDistinct(all, func(pages []crawlhandlers.FoundURL) (int, error) {
		ns := make([]targets.New, len(pages))
		for i, p := range pages {
			ns[i] = targets.New{URL: p.URL, Name: models.Truncate(p.Name, targets.MaxName), Private: p.Private}
		}
		return f.targets.AddAll(ctx, ns)
	})
}

// Existing implements crawlhandlers.Saver.
func (f crawlSaver) Existing(ctx context.Context, urls []string) (map[string]crawlviews.Saved, error) {
	canonicals := canonical(urls)
	addresses := make([]string, 0, len(canonicals))
	for _, address := range canonicals {
		addresses = append(addresses, address)
	}
	saved, err := f.links.ByURLs(ctx, addresses)
	if err != nil {
		return nil, err
	}
	watched, err := f.targets.ByURLs(ctx, addresses)
	if err != nil {
		return nil, err
	}
	kept := make(map[string]crawlviews.Saved)
	for given, address := range canonicals {
		var k crawlviews.Saved
		if id := saved[address]; id != "" {
			k.Link = "/links/" + id
		}
		if id := watched[address]; id != "" {
			k.Target = "/watch/" + id
		}
		if k != (crawlviews.Saved{}) {
			kept[given] = k
		}
	}
	return kept, nil
}
