package links

import (
	"linkwatch/handlers/middleware"
	"linkwatch/views/ui"
)

// Routes returns the pages of links and tags. The API is in api.go, api_tags.go and api_bulk.go.
func (p Pages) Routes() []middleware.Route {
	const viewer, editor = middleware.Viewer, middleware.Editor
	return []middleware.Route{
		{Method: "GET", Path: "/links", Needs: viewer, Handler: p.ListPage},
		{Method: "POST", Path: "/links", Needs: editor, Keeps: []string{"*"}, Handler: p.Add},
		{Method: "POST", Path: "/links/preview", Needs: editor, Handler: p.Preview},
		{Method: "POST", Path: "/links/bulk", Needs: editor, Handler: p.Bulk},
		{Method: "GET", Path: "/links/tags", Needs: viewer, Handler: p.CompleteTags},
		{Method: "GET", Path: "/links/random", Needs: viewer, Handler: p.Random},
		{Method: "GET", Path: "/links/refreshes/:id", Needs: viewer, Handler: p.RefreshPage},
		{Method: "GET", Path: "/links/:id", Needs: viewer, Handler: p.LinkPage},
		{Method: "POST", Path: "/links/:id", Needs: editor, Keeps: []string{"*"}, Handler: p.Edit},
		{Method: "POST", Path: "/links/:id/tags", Needs: editor, Keeps: []string{"*"}, Handler: p.AddTags},
		{Method: "POST", Path: "/links/:id/tags/:tag/remove", Needs: editor, Handler: p.RemoveTag},
		{Method: "POST", Path: "/links/:id/refresh", Needs: editor, Handler: p.Refresh},
		{Method: "POST", Path: "/links/:id/expired", Needs: editor, Handler: p.Expire},
		{Method: "POST", Path: "/links/:id/move", Needs: editor, Handler: p.Move},
		{Method: "POST", Path: "/links/:id/delete", Needs: editor, Handler: p.Delete},
		{Method: "POST", Path: "/changes/:id/undo", Needs: editor, Handler: p.Undo},
		{Method: "GET", Path: "/tags", Needs: viewer, Handler: p.TagsPage},
		{Method: "POST", Path: "/tags/:id", Needs: editor, Keeps: []string{"*"}, Handler: p.RenameTag},
	}
}

// Nav returns the navigation of links and tags, and the button in the page header.
func Nav() ui.Nav {
	return ui.Nav{
		Sections: []ui.Section{
			{ID: "links", Label: "Links", Path: "/links", Key: "l"},
			{ID: "tags", Label: "Tags", Path: "/tags", Key: "t"},
		},
		New:      &ui.Link{Label: "New", Path: "/links#url"},
		Commands: []ui.Command{{Label: "Add link", ForURL: "Save link", Path: "/links#url"}},
	}
}
