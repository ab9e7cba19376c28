package app

import (
	"context"

	crawlhandlers "linkwatch/handlers/crawl"
	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/targets"
	crawlviews "linkwatch/views/crawl"
)

// finds saves URLs from crawls as links or targets.
type finds struct {
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

// addDistinct calls add with the finds that have a valid URL, without duplicates, and counts the outcomes.
func addDistinct(all []crawlhandlers.Find, add func([]crawlhandlers.Find) (added int, err error)) (o crawlhandlers.Outcome, err error) {
	if len(all) > crawlhandlers.MaxFinds {
		return o, models.Invalid("id", "must be at most %d URLs", crawlhandlers.MaxFinds)
	}
	var pages []crawlhandlers.Find
	seen := map[string]bool{}
	for _, f := range all {
		u, err := models.ParseURL("url", f.URL)
		switch {
		case err != nil:
			o.Refused++
		case !seen[u.Canonical]:
			seen[u.Canonical] = true
			pages = append(pages, f)
		}
	}
	if o.Added, err = add(pages); err != nil {
		return crawlhandlers.Outcome{}, err
	}
	o.Known = len(pages) - o.Added
	return o, nil
}

// Save implements crawlhandlers.Finds.
func (f finds) Save(ctx context.Context, all []crawlhandlers.Find) (crawlhandlers.Outcome, error) {
	return addDistinct(all, func(pages []crawlhandlers.Find) (int, error) {
		ns := make([]links.New, len(pages))
		for i, p := range pages {
			ns[i] = links.New{URL: p.URL, Private: p.Private}
		}
		return f.links.AddAll(ctx, ns)
	})
}

// Watch implements crawlhandlers.Finds.
func (f finds) Watch(ctx context.Context, all []crawlhandlers.Find) (crawlhandlers.Outcome, error) {
	return addDistinct(all, func(pages []crawlhandlers.Find) (int, error) {
		ns := make([]targets.New, len(pages))
		for i, p := range pages {
			ns[i] = targets.New{URL: p.URL, Name: models.Truncate(p.Name, targets.MaxName), Private: p.Private}
		}
		return f.targets.AddAll(ctx, ns)
	})
}

// Kept implements crawlhandlers.Finds.
func (f finds) Kept(ctx context.Context, urls []string) (map[string]crawlviews.Kept, error) {
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
	kept := make(map[string]crawlviews.Kept)
	for given, address := range canonicals {
		var k crawlviews.Kept
		if id := saved[address]; id != "" {
			k.Link = "/links/" + id
		}
		if id := watched[address]; id != "" {
			k.Target = "/watch/" + id
		}
		if k != (crawlviews.Kept{}) {
			kept[given] = k
		}
	}
	return kept, nil
}
