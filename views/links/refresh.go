package links

import (
	"linkwatch/models/links"
	"linkwatch/views/ui"
)

// Refresh is the page of a bulk refresh.
type Refresh struct {
	ui.Page
	Refresh links.Refresh
	Back    string // path of the list to go back to
}

func refreshPath(id string) string { return "/links/refreshes/" + id }
