package admin

import (
	"net/http"

	"github.com/gin-gonic/gin"

	views "linkwatch/views/admin"
	"linkwatch/views/ui"
)

// SettingsPage shows all settings with their current values.
func (p Pages) SettingsPage(c *gin.Context) {
	p.Show(c, http.StatusOK, views.SettingsPage(views.Settings{Page: p.Page("Settings", "admin", ui.Flash{}), Settings: p.Settings}))
}
