package crawl

import (
	"cmp"

	"linkwatch/models/crawl"
	"linkwatch/views/ui"
)

// JobHits returns jobs as hits of the global search.
func JobHits(js []crawl.Job) []ui.Hit {
	hits := make([]ui.Hit, len(js))
	for i, j := range js {
		status := string(j.Status)
		hits[i] = ui.Hit{Title: j.Title(), Detail: j.URL, Path: jobPath(j.ID), Private: j.Private(), Status: status, Icon: statusIcon(status)}
	}
	return hits
}

// PageHits returns crawled pages as hits of the global search.
func PageHits(ps []crawl.FoundPage) []ui.Hit {
	hits := make([]ui.Hit, len(ps))
	for i, p := range ps {
		hits[i] = ui.Hit{Title: cmp.Or(p.Title, p.URL), Detail: displayURL(p.URL), Path: PagePath(p.ID())}
	}
	return hits
}
