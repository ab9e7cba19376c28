package crawl

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/crawl/archive"
)

// Archive reads the bodies of archived pages.
type Archive interface {
	Get(ctx context.Context, at crawl.BodyLocation, h crawl.BodyHash) ([]byte, error)
}

// archivedCSP disables everything that an archived page could do: no scripts, no forms, no
// requests except data: images, and an opaque origin.
const archivedCSP = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// ArchivedCopy returns an archived copy of a page as it was fetched. Its headers isolate the
// copy from Linkwatch.
func (p Pages) ArchivedCopy(c *gin.Context) {
	ctx := c.Request.Context()
	found, err := p.Crawl.ArchivedCopy(ctx, c.Param("id"), c.Param("hash"))
	if err == nil && p.Archive == nil {
		err = &models.Error{Code: models.CodeUnavailable, Detail: "Archived copies are not available. Set CRAWLER_ARCHIVE_URL."}
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	body, err := p.Archive.Get(ctx, found.Location, found.Hash)
	switch {
	case errors.Is(err, archive.ErrMissing), errors.Is(err, archive.ErrDamaged):
		p.Errors.Log.WarnContext(ctx, "archived copy cannot be read", "hash", found.Hash.String(), "error", err)
		if err := p.Crawl.MarkBodiesLost(ctx, found.Location.Key, found.Hash); err != nil {
			p.Fail(c, err)
			return
		}
		p.Fail(c, models.NotFound("archived copy"))
		return
	case err != nil:
		p.Fail(c, &models.Error{Code: models.CodeUnavailable, Detail: "The archive is unavailable. Try again later.", Err: err})
		return
	}
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", archivedCSP)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	c.Data(http.StatusOK, "text/html; charset=utf-8", body)
}
