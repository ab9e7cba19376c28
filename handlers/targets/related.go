package targets

import (
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models/targets"
	views "linkwatch/views/targets"
)

// Related adds to pages of other systems the status of the target with the same URL, or
// a button that adds it.
func (p Pages) Related(c *gin.Context, s pages.Subject) (pages.RelatedView, error) {
	t, ok, err := p.Targets.ByURL(c.Request.Context(), s.CanonicalURL)
	switch {
	case err != nil:
		return pages.RelatedView{}, err
	case ok:
		return pages.RelatedView{Section: views.Watched(t, p.Clock.Now().Time)}, nil
	}
	return pages.RelatedView{Action: views.WatchButton(s.URL, s.Title, s.Path, s.PrivateTo != "")}, nil
}

// subject describes a target to other systems.
func subject(t targets.Target) pages.Subject {
	return pages.Subject{URL: t.URL, CanonicalURL: t.CanonicalURL, Title: t.Name, Path: "/watch/" + t.ID, PrivateTo: t.PrivateTo}
}
