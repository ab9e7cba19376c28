package sites

import "linkwatch/models/sites"

// SitesPath is the path of the list of websites.
const SitesPath = "/sites"

// SitePath is the path of a website.
func SitePath(id string) string { return SitesPath + "/" + id }

// pageWords are the statuses of pages in words.
var pageWords = map[sites.Status]string{
	sites.Pending: "pending", sites.Submitted: "submitted", sites.Indexed: "indexed", sites.NotIndexed: "not indexed", sites.Failed: "failed",
}

// pageIcon is the shape of the status of a page.
func pageIcon(s sites.Status) string {
	switch s {
	case sites.Submitted:
		return "moved"
	case sites.Indexed:
		return "check"
	case sites.NotIndexed:
		return "blocked"
	case sites.Failed:
		return "dead"
	case sites.Pending:
	}
	return "unchecked"
}
