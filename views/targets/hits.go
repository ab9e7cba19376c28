package targets

import (
	"linkwatch/models/targets"
	"linkwatch/views/ui"
)

// Hits returns targets as results of the global search.
func Hits(ts []targets.Target) []ui.Hit {
	hits := make([]ui.Hit, len(ts))
	for i, t := range ts {
		status := string(t.Status())
		hits[i] = ui.Hit{Title: t.DisplayTitle(), Detail: t.URL, Path: targetPath(t.ID), Private: t.Private(), Status: status, Icon: statusIcon(status)}
	}
	return hits
}
