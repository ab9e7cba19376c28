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
	for _, url := range urls {
		if u, err := models.ParseURL("url", url); err == nil {
			forms[url] = u.Canonical
		}
	}
	return forms
}

// addDistinct calls add with the valid URLs, without duplicates, and counts the results.
func addDistinct(all []crawlhandlers.FoundURL, add func([]crawlhandlers.FoundURL) (added int, err error)) (o crawlhandlers.SaveResult, err error) {
	if len(all) > crawlhandlers.MaxSaved {
		return o, models.Invalid("id", "must be at most %d URLs", crawlhandlers.MaxSaved)
	}
	var distinct []crawlhandlers.FoundURL
	seen := map[string]bool{}
	for _, f := range all {
		u, err := models.ParseURL("url", f.URL)
		switch {
		case err != nil:
			o.Rejected++
		case !seen[u.Canonical]:
			seen[u.Canonical] = true
			distinct = append(distinct, f)
		}
	}
	if o.Added, err = add(distinct); err != nil {
		return crawlhandlers.SaveResult{}, err
	}
	o.Existing = len(distinct) - o.Added
	return o, nil
}

// Save implements crawlhandlers.Saver.
func (s crawlSaver) Save(ctx context.Context, all []crawlhandlers.FoundURL) (crawlhandlers.SaveResult, error) {
	return addDistinct(all, func(urls []crawlhandlers.FoundURL) (int, error) {
		ns := make([]links.New, len(urls))
		for i, u := range urls {
			ns[i] = links.New{URL: u.URL, Private: u.Private}
		}
		return s.links.AddAll(ctx, ns)
	})
}

// Watch implements crawlhandlers.Saver.
func (s crawlSaver) Watch(ctx context.Context, all []crawlhandlers.FoundURL) (crawlhandlers.SaveResult, error) {
	return addDistinct(all, func(urls []crawlhandlers.FoundURL) (int, error) {
		ns := make([]targets.New, len(urls))
		for i, u := range urls {
			ns[i] = targets.New{URL: u.URL, Name: models.Truncate(u.Name, targets.MaxName), Private: u.Private}
		}
		return s.targets.AddAll(ctx, ns)
	})
}

// Existing implements crawlhandlers.Saver.
func (s crawlSaver) Existing(ctx context.Context, urls []string) (map[string]crawlviews.Saved, error) {
	canonicals := canonical(urls)
	all := make([]string, 0, len(canonicals))
	for _, c := range canonicals {
		all = append(all, c)
	}
	saved, err := s.links.ByURLs(ctx, all)
	if err != nil {
		return nil, err
	}
	watched, err := s.targets.ByURLs(ctx, all)
	if err != nil {
		return nil, err
	}
	existing := make(map[string]crawlviews.Saved)
	for url, c := range canonicals {
		var found crawlviews.Saved
		if id := saved[c]; id != "" {
			found.Link = "/links/" + id
		}
		if id := watched[c]; id != "" {
			found.Target = "/watch/" + id
		}
		if found != (crawlviews.Saved{}) {
			existing[url] = found
		}
	}
	return existing, nil
}
