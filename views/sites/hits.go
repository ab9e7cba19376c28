package sites

import (
	"linkwatch/models/sites"
	"linkwatch/views/ui"
)

// Hits returns websites as hits of the global search.
func Hits(ws []sites.Website) []ui.Hit {
	hits := make([]ui.Hit, len(ws))
	for i, w := range ws {
		hits[i] = ui.Hit{Title: w.Name, Detail: w.SiteURL, Path: SitePath(w.ID), Private: w.Private()}
		if w.GoogleState().Error != "" {
			hits[i].Status, hits[i].Icon = "failed", siteIcon("failed")
		}
	}
	return hits
}
