package sites

import (
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/views/ui"
)

// PageFlash is what pages say after actions on pages.
func (p Pages) PageFlash() pages.Flash {
	return pages.Flash{Params: pageParams, Notices: pageNotices, Read: func(c *gin.Context, here string) (ui.Flash, bool, error) {
		f, found := p.pageFlash(c, here)
		return f, found, nil
	}}
}
