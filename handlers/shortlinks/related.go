package shortlinks

import (
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/shortlinks"
	views "linkwatch/views/shortlinks"
)

// Related shows the short link to a page's URL on pages of other systems, or a button to
// add one.
func (p Pages) Related(c *gin.Context, s pages.Subject) (pages.RelatedView, error) {
	l, ok, err := p.ShortLinks.ByURL(c.Request.Context(), s.CanonicalURL)
	switch {
	case err != nil:
		return pages.RelatedView{}, err
	case ok:
		return pages.RelatedView{Section: views.Shortened(p.shortPrefix(c), l, p.Clock.Now().Time)}, nil
	}
	return pages.RelatedView{Action: views.ShortenButton(s.Path + "/shorten")}, nil
}

// AddFor adds a short link for an item of another system, unless its URL has an active
// one. It is private if the item is.
func (p Pages) AddFor(c *gin.Context) {
	ctx := c.Request.Context()
	s, err := p.Source(ctx, c.Param("id"))
	var exists bool
	if err == nil {
		_, exists, err = p.ShortLinks.ByURL(ctx, s.CanonicalURL)
	}
	if err == nil && !exists {
		_, _, err = p.ShortLinks.Add(ctx, shortlinks.New{
			LongURL: s.URL, Title: models.Truncate(s.Title, shortlinks.MaxTitle), Private: s.PrivateTo != "",
		})
	}
	p.Done(c, err, s.Path, "shortened")
}

// subject returns a short link as the subject of sections of other systems.
func subject(l shortlinks.ShortLink) pages.Subject {
	return pages.Subject{URL: l.LongURL, CanonicalURL: l.CanonicalURL, Title: l.Title, Path: "/short/" + l.Key, PrivateTo: l.PrivateTo}
}
