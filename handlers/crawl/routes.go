package crawl

import (
	"linkwatch/handlers/middleware"
	"linkwatch/views/ui"
)

// Routes are the pages of crawling, its event streams and the download of logs.
func (p Pages) Routes() []middleware.Route {
	return append([]middleware.Route{}, p.streams()...)
}

// Nav is the navigation of crawling.
func Nav() ui.Nav { return ui.Nav{} }
