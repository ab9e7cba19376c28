package links

import (
	"linkwatch/models/links"
	"linkwatch/views/ui"
)

// Hits returns links as search hits.
func Hits(ls []links.Link) []ui.Hit {
	hits := make([]ui.Hit, len(ls))
	for i, l := range ls {
		hits[i] = ui.Hit{Title: l.DisplayTitle(), Detail: ui.Host(l.URL), Path: linkPath(l.ID), Private: l.Private()}
		if l.Health != links.OK {
			hits[i].Status, hits[i].Icon = string(l.Health), healthIcon(l.Health)
		}
	}
	return hits
}
