package shortlinks

import (
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/shortlinks"
	views "linkwatch/views/shortlinks"
)

// Beside shows on pages of other systems the short link that leads to their URL,
// or the button that makes one.
func (p Pages) Beside(c *gin.Context, s pages.Subject) (pages.Shown, error) {
	l, ok, err := p.ShortLinks.ByURL(c.Request.Context(), s.CanonicalURL)
	switch {
	case err != nil:
		return pages.Shown{}, err
	case ok:
		return pages.Shown{Section: views.Shortened(p.shortPrefix(c), l, p.Clock.Now().Time)}, nil
	}
	return pages.Shown{Action: views.ShortenButton(s.Path + "/shorten")}, nil
}

// AddFor makes a short link for a record of another system, unless an active one
// leads to its URL already. The record's page then shows it. It is private if the record is.
func (p Pages) AddFor(c *gin.Context) {
	ctx := c.Request.Context()
	s, err := p.Source(ctx, c.Param("id"))
	var known bool
	if err == nil {
		_, known, err = p.ShortLinks.ByURL(ctx, s.CanonicalURL)
	}
	if err == nil && !known {
		_, _, err = p.ShortLinks.Add(ctx, shortlinks.New{
			LongURL: s.URL, Title: models.Truncate(s.Title, shortlinks.MaxTitle), Private: s.PrivateTo != "",
		})
	}
	p.Done(c, err, s.Path, "shortened")
}

// subject is a short link as other systems see it: by its destination.
func subject(l shortlinks.ShortLink) pages.Subject {
	return pages.Subject{URL: l.LongURL, CanonicalURL: l.CanonicalURL, Title: l.Title, Path: "/short/" + l.Key, PrivateTo: l.PrivateTo}
}
