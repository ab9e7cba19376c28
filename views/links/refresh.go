package links

import (
	"linkwatch/models/links"
	"linkwatch/views/ui"
)

// Refresh is the page of a batch of links that are being refetched.
type Refresh struct {
	ui.Page
	Refresh links.Refresh
	Back    string // the list that the links were selected in
}

func refreshPath(id string) string { return "/links/refreshes/" + id }
