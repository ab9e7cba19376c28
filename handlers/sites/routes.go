package sites

import (
	"linkwatch/handlers/middleware"
	"linkwatch/views/ui"
)

// Routes are the pages of websites. The operations are in the files api*.go.
func (p Pages) Routes() []middleware.Route { return p.pageRoutes() }

// Nav is the navigation of websites.
func Nav() ui.Nav {
	return ui.Nav{Sections: []ui.Section{{ID: "sites", Label: "Sites", Path: "/sites", Key: "i"}}}
}
