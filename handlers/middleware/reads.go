package middleware

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
)

// RecordReads tells Accounts which items an admin reads, because admins see private items of other users. The item of a
// request is the last one in its path. A list that the query limits to an item counts too. In the API, writes count as well,
// because they answer with the item, even if they change nothing.
func (a *Access) RecordReads(c *gin.Context) {
	method := c.Request.Method
	actor, _ := models.ActorOf(c.Request.Context())
	reads := method == http.MethodGet || method == http.MethodHead || isCall(c.Request.URL.Path)
	if !actor.SeesAll || actor.Via == "" || !reads {
		return
	}
	if !a.routes.Of(c).Stream { // a stream is recorded when it starts
		c.Next()
		if status := c.Writer.Status(); status >= http.StatusBadRequest || status == http.StatusFound { // nothing was shown
			return
		}
	}
	for _, p := range slices.Backward(c.Params) {
		if a.Accounts.Read(actor, p.Key, p.Value) {
			break
		}
	}
	for _, values := range c.Request.URL.Query() {
		for _, value := range values {
			a.Accounts.Read(actor, "", value)
		}
	}
}
