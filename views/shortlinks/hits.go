package shortlinks

import (
	"linkwatch/models"
	"linkwatch/models/shortlinks"
	"linkwatch/views/ui"
)

// Hits returns short links as results of the global search.
func Hits(ls []shortlinks.ShortLink, now models.Time) []ui.Hit {
	hits := make([]ui.Hit, len(ls))
	for i, l := range ls {
		status := l.Status(now)
		hits[i] = ui.Hit{Title: l.DisplayTitle(), Key: l.Key, Detail: l.LongURL, Path: shortPath(l.Key), Private: l.Private(), Status: string(status), Icon: statusIcon(status)}
		if l.Title != "" {
			hits[i].Detail = l.Key + " → " + l.LongURL
		}
	}
	return hits
}
