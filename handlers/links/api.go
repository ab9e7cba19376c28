package links

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/links"
)

func (a API) registerLinks(r *api.API) {
	api.Register(r, api.Sorts(api.Operation(groupLinks, middleware.Viewer, "GET", "/v1/links", "list-links", "List links", "Active links, newest first."), links.Fields...), a.listLinks)
	api.Register(r, api.Creates(api.Operation(groupLinks, middleware.Editor, "POST", "/v1/links", "save-link", "Save a link",
		"The URL must respond with 200 within 4 redirects and 4 seconds. Otherwise nothing is stored and the status is 422. "+
			"With `force`, the link is stored anyway, with a health. A private address is never requested: its health is `blocked`. "+
			"If a link with the URL exists that you can see, the tags are added to it and the status is 200. It stays shared or private. "+
			"With `private`, no tags are added to a shared link. 403 if `owner` is another user and you are not an admin.",
		models.CodeTooManyTags, models.CodeUnresolvable, models.CodeBlocked), "Link"), a.addLink)
	api.Register(r, api.Item(api.Operation(groupLinks, middleware.Viewer, "GET", "/v1/link/{id}", "view-link", "Get a link", "Each request counts as a view.", models.CodeNotFound),
		"id", "url", "tags", "notes", "private", "expired"), a.getLink)
	api.Register(r, api.Operation(groupLinks, middleware.Editor, "PUT", "/v1/link/{id}", "refresh-link", "Refresh a link",
		"Fetches title and picture again. The link expires if the page responds with 404 or 410. After other failures the metadata stays as it was. "+
			"422 with Retry-After if the site limits requests.", models.CodeNotFound, models.CodeUnresolvable), a.refreshLink)
	api.Register(r, api.Operation(groupLinks, middleware.Editor, "PATCH", "/v1/link/{id}", "expire-link", "Expire or revive a link",
		"Expired links are hidden from lists and not checked.", models.CodeNotFound, models.CodeConflict), a.expireLink)
	api.Register(r, api.Operation(groupLinks, middleware.Editor, "DELETE", "/v1/link/{id}", "delete-link", "Delete a link",
		"Notes and views are deleted too.", models.CodeNotFound), a.deleteLink)
	api.Register(r, api.Operation(groupLinks, middleware.Editor, "PUT", "/v1/link/{id}/annotation", "annotate-link", "Edit a link",
		"Sets title, notes and `private`. Omitted members stay as they are. null or an empty text clears a member. A title set here replaces the fetched title. "+
			"Only the owner and admins can change `private`: others get 403. 409 if another shared link, or another private link of the owner, has the URL.",
		models.CodeNotFound, models.CodeConflict), a.editLink)
	api.Register(r, api.Operation(groupLinks, middleware.Editor, "POST", "/v1/link/{id}/move", "move-link", "Apply the new URL of a moved link",
		"409 if the link has not moved, or another link has the new URL.", models.CodeNotFound, models.CodeConflict), a.moveLink)
	api.Register(r, api.Operation(groupLinks, middleware.Viewer, "GET", "/v1/random", "random-link", "Get a random link",
		"404 if there is no active link. Does not count as a view.", models.CodeNotFound), a.randomLink)
	api.Register(r, api.Operation(groupLinks, middleware.Viewer, "GET", "/v1/popular", "popular-links", "List popular links", "Active links, most viewed first."), a.popularLinks)
	api.Register(r, api.Operation(groupLinks, middleware.Viewer, "GET", "/v1/recent", "recent-links", "List recent links", "Active links, newest first."), a.recentLinks)
	api.Register(r, api.Operation(groupLinks, middleware.Viewer, "GET", "/v1/search", "search-links", "Search links",
		"A prefix (`tag:`, `url:`, `title:`) applies to the words up to the next prefix. All parts must match. `tag:a,b` finds links with both tags, "+
			"`tag:a b` links with either. A tag word is the name of a tag, or part of a name if no tag has that name. Other words are searched "+
			"in titles, URLs and tags, and ranked in that order. `\"…\"` is a phrase. If nothing matches, similar words (within two edits) are searched instead."), a.searchLinks)
}

// ListLinksInput is the input of list-links.
type ListLinksInput struct {
	api.SortedPageParams
	FilterParams
}

func (a API) listLinks(ctx context.Context, in *ListLinksInput) (*api.Output[api.List[Link]], error) {
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	found, err := a.find(ctx, f, in.SortedPageParams)
	return api.AnswerList(found.List, toLink, err)
}

func (a API) recentLinks(ctx context.Context, in *api.PageParams) (*api.Output[api.List[Link]], error) {
	found, err := a.find(ctx, links.Filter{}, *in)
	return api.AnswerList(found.List, toLink, err)
}

func (a API) find(ctx context.Context, f links.Filter, params interface{ Parse() (models.Page, error) }) (links.Found, error) {
	p, err := params.Parse()
	if err != nil {
		return links.Found{}, err
	}
	return a.Links.List(ctx, f, p)
}

type searchInput struct {
	Query string `query:"q" example:"tag:go,devops title:\"release notes\"" doc:"Query, at most 512 bytes. If omitted, all links are listed"`
	api.PageParams
	FilterParams
}

// near maps words to similar words. In JSON it is never null, and neither are its lists.
type near map[string][]string

// Schema implements huma.SchemaProvider.
func (near) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{
		Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString},
	}}
}

// searchResult is a list of links with the similar words that were searched.
type searchResult struct {
	api.List[Link]
	Near near `json:"near" doc:"Similar words that were searched instead, by the word of the query that had no match"`
}

func (a API) searchLinks(ctx context.Context, in *searchInput) (*api.Output[searchResult], error) {
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	f.Query = in.Query
	found, err := a.find(ctx, f, in.PageParams)
	if err != nil {
		return nil, err
	}
	out := searchResult{api.ToList(found.List, toLink), found.Near}
	if out.Near == nil {
		out.Near = near{}
	}
	return &api.Output[searchResult]{Body: out}, nil
}

func (a API) popularLinks(ctx context.Context, in *api.PageParams) (*api.Output[api.List[Link]], error) {
	p, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Links.Popular(ctx, p)
	return api.AnswerList(l, toLink, err)
}

func (a API) randomLink(ctx context.Context, _ *struct{}) (*api.Output[Link], error) {
	l, err := a.Links.Random(ctx)
	return api.Answer(toLink(l), err)
}

type saveInput struct {
	Body struct {
		URL     string   `json:"url" example:"https://example.com/" doc:"URL, http or https, at most 2048 bytes"`
		Tags    []string `json:"tags,omitempty" nullable:"false" example:"[\"Go\"]" doc:"Tag names, at most 64"`
		Owner   string   `json:"owner,omitempty" example:"system" doc:"Owner of the link. Default: the account of the request, or system if there are no accounts. Only admins can set another owner"`
		Notes   string   `json:"notes,omitempty" example:"for the talk" doc:"Notes, at most 10,000 characters"`
		Title   string   `json:"title,omitempty" example:"Release notes" doc:"Title, at most 500 characters. Replaces the fetched title"`
		Private bool     `json:"private,omitempty" doc:"Whether only the owner and admins can see the link. Default: false"`
		Force   bool     `json:"force,omitempty" doc:"Store the link even if the page cannot be fetched or does not respond with 200. The title is then the URL, unless one is set"`
	}
}

type saveOutput struct {
	Status   int
	Location string `header:"Location" doc:"Path of the link in this API"`
	Body     Link
}

func (a API) addLink(ctx context.Context, in *saveInput) (*saveOutput, error) {
	l, created, err := a.Links.Add(ctx, links.New{
		URL: in.Body.URL, Tags: in.Body.Tags, Owner: in.Body.Owner, Notes: in.Body.Notes,
		Title: in.Body.Title, Private: in.Body.Private, Force: in.Body.Force,
	})
	a.Metrics.added(created, err)
	if err != nil {
		return nil, err
	}
	out := &saveOutput{Status: http.StatusOK, Location: "/v1/link/" + l.ID, Body: toLink(l)}
	if created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

// viewInput records whether the method is HEAD, which does not count as a view.
type viewInput struct {
	LinkPath
	head bool
}

// Resolve implements huma.Resolver.
func (in *viewInput) Resolve(ctx huma.Context) []error {
	in.head = ctx.Method() == http.MethodHead
	return nil
}

func (a API) getLink(ctx context.Context, in *viewInput) (*api.Output[Link], error) {
	if in.head {
		l, err := a.Links.Get(ctx, in.ID)
		return api.Answer(toLink(l), err)
	}
	l, err := a.Links.View(ctx, in.ID)
	if err == nil {
		a.Metrics.viewed()
	}
	return api.Answer(toLink(l), err)
}

func (a API) refreshLink(ctx context.Context, in *LinkPath) (*api.Output[Link], error) {
	l, err := a.Links.Refresh(ctx, in.ID)
	return api.Answer(toLink(l), err)
}

type expireInput struct {
	LinkPath
	Body struct {
		Expired bool `json:"expired" doc:"true expires the link, false revives it"`
	}
}

func (a API) expireLink(ctx context.Context, in *expireInput) (*api.Output[Link], error) {
	change, err := a.Links.SetExpired(ctx, in.Body.Expired, in.ID)
	if err != nil {
		return nil, err
	}
	l, err := a.Links.Get(ctx, in.ID) // no change: the link does not exist, or has the state already
	if err == nil && change.Links == 0 && l.Expired() != in.Body.Expired {
		err = models.Conflict("The link was changed at the same time. Try again.")
	}
	return api.Answer(toLink(l), err)
}

func (a API) deleteLink(ctx context.Context, in *LinkPath) (*struct{}, error) {
	change, err := a.Links.Delete(ctx, in.ID)
	if err == nil && change.Links == 0 {
		err = models.NotFound("link")
	}
	return nil, err
}

type annotateInput struct {
	LinkPath
	Body struct {
		Title   api.Member[string] `json:"title,omitempty" example:"Release notes" doc:"Title, at most 500 characters. null restores the fetched title"`
		Notes   api.Member[string] `json:"notes,omitempty" example:"for the talk" doc:"Notes, at most 10,000 characters. null clears them"`
		Private api.Member[bool]   `json:"private,omitempty" nullable:"false" doc:"Whether only the owner and admins can see the link"`
	}
}

func (a API) editLink(ctx context.Context, in *annotateInput) (*api.Output[Link], error) {
	if in.Body.Private.Null {
		return nil, models.Invalid("private", "must be true or false")
	}
	l, err := a.Links.Edit(ctx, in.ID, links.Edit{Title: in.Body.Title.Pointer(), Notes: in.Body.Notes.Pointer(), Private: in.Body.Private.Pointer()})
	return api.Answer(toLink(l), err)
}

func (a API) moveLink(ctx context.Context, in *LinkPath) (*api.Output[Link], error) {
	l, err := a.Links.ApplyMove(ctx, in.ID)
	return api.Answer(toLink(l), err)
}
