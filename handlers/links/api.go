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
	api.Register(r, api.Operation(groupLinks, middleware.Viewer, "GET", "/v1/links", "list-links", "List links", "Active links, newest first."), a.listLinks)
	api.Register(r, api.Creates(api.Operation(groupLinks, middleware.Editor, "POST", "/v1/links", "save-link", "Save a link",
		"The URL must answer 200 within 4 redirects and 4 seconds, else nothing is stored and the answer is 422. "+
			"With `force` it is stored all the same, with the health that the answer means; a private address is never requested and its health is `blocked`. "+
			"If you can see a link with that URL already, the new tags are added to it and the answer is 200. It stays as private or shared as it was; "+
			"with `private` nothing is added to a shared one. 403 if the owner is somebody else and you are no admin.",
		models.CodeTooManyTags, models.CodeUnresolvable, models.CodeBlocked), "Link"), a.addLink)
	api.Register(r, api.Operation(groupLinks, middleware.Viewer, "GET", "/v1/link/{id}", "view-link", "Get a link", "Counts a view.", models.CodeNotFound), a.getLink)
	api.Register(r, api.Operation(groupLinks, middleware.Editor, "PUT", "/v1/link/{id}", "refresh-link", "Refetch the metadata of a link",
		"The link expires if its page answers 404 or 410. After any other failure the metadata stays as it was. 422 if the site asked for a pause: "+
			"Retry-After says how long it lasts.", models.CodeNotFound, models.CodeUnresolvable), a.refreshLink)
	api.Register(r, api.Operation(groupLinks, middleware.Editor, "PATCH", "/v1/link/{id}", "expire-link", "Expire or revive a link",
		"An expired link is hidden from the lists.", models.CodeNotFound, models.CodeConflict), a.expireLink)
	api.Register(r, api.Operation(groupLinks, middleware.Editor, "DELETE", "/v1/link/{id}", "delete-link", "Delete a link",
		"Its view count and notes are deleted as well.", models.CodeNotFound), a.deleteLink)
	api.Register(r, api.Operation(groupLinks, middleware.Editor, "PUT", "/v1/link/{id}/annotation", "annotate-link", "Set the title and notes of a link, and who sees it",
		"A member that is left out stays as it is; null or an empty text clears it. A title set here replaces the fetched one. "+
			"Only the owner and admins can change `private`; others get 403. 409 if the change makes two shared links of one URL, or two private ones of one owner.",
		models.CodeNotFound, models.CodeConflict), a.editLink)
	api.Register(r, api.Operation(groupLinks, middleware.Editor, "POST", "/v1/link/{id}/move", "move-link", "Change a link to the URL it has moved to",
		"409 unless the health of the link is moved, or if another link has that URL.", models.CodeNotFound, models.CodeConflict), a.moveLink)
	api.Register(r, api.Operation(groupLinks, middleware.Viewer, "GET", "/v1/random", "random-link", "Get a random link",
		"404 if there is no active link. Counts no view.", models.CodeNotFound), a.randomLink)
	api.Register(r, api.Operation(groupLinks, middleware.Viewer, "GET", "/v1/popular", "popular-links", "List popular links", "Active links, most viewed first."), a.popularLinks)
	api.Register(r, api.Operation(groupLinks, middleware.Viewer, "GET", "/v1/recent", "recent-links", "List recent links", "Active links, newest first."), a.recentLinks)
	api.Register(r, api.Operation(groupLinks, middleware.Viewer, "GET", "/v1/search", "search-links", "Search links",
		"`tag:`, `url:` and `title:` apply to the words up to the next of them. All of them must match. `tag:a,b` finds links with both tags, "+
			"`tag:a b` links with either. Each word is the name of a tag, or a part of one if no tag has that name. Other words are searched "+
			"in titles, URLs and tags, and ranked in that order. `\"…\"` is a phrase. If nothing matches, words within two edits are searched instead."), a.searchLinks)
}

// ListLinksInput asks for a page of chosen links.
type ListLinksInput struct {
	api.PageParams
	FilterParams
}

func (a API) listLinks(ctx context.Context, in *ListLinksInput) (*api.Output[api.List[Link]], error) {
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	found, err := a.find(ctx, f, in.PageParams)
	return api.AnswerList(found.List, toLink, err)
}

func (a API) recentLinks(ctx context.Context, in *api.PageParams) (*api.Output[api.List[Link]], error) {
	found, err := a.find(ctx, links.Filter{}, *in)
	return api.AnswerList(found.List, toLink, err)
}

func (a API) find(ctx context.Context, f links.Filter, params api.PageParams) (links.Found, error) {
	p, err := params.Parse()
	if err != nil {
		return links.Found{}, err
	}
	return a.Links.List(ctx, f, p)
}

type searchInput struct {
	Query string `query:"q" example:"tag:go,devops title:\"release notes\"" doc:"Query. Lists all links if it is left out. At most 512 bytes"`
	ListLinksInput
}

// near is a map that is never null, and neither are its lists.
type near map[string][]string

// Schema implements huma.SchemaProvider.
func (near) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{
		Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString},
	}}
}

// searchResult is a list that says which words stood in for others.
type searchResult struct {
	api.List[Link]
	Near near `json:"near" doc:"For each word of the query that matched nothing, the similar words that were searched instead"`
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
		Tags    []string `json:"tags,omitempty" nullable:"false" example:"[\"Go\"]" doc:"Names of tags, at most 64"`
		Owner   string   `json:"owner,omitempty" example:"system" doc:"Owner of the link. If it is left out, the account that makes the request, or system if nobody has to sign in. Only admins can name somebody else"`
		Notes   string   `json:"notes,omitempty" example:"for the talk" doc:"At most 10,000 characters"`
		Title   string   `json:"title,omitempty" example:"Release notes" doc:"Title, at most 500 characters. It replaces the fetched one"`
		Private bool     `json:"private,omitempty" doc:"Whether only its owner and admins see the link. false if it is left out"`
		Force   bool     `json:"force,omitempty" doc:"Store the link even if its page cannot be fetched or does not answer 200. Without a title it then gets its URL as title"`
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

// viewInput knows whether only the head is asked for, which is no view.
type viewInput struct {
	LinkPath
	head bool
}

// Resolve sees the method, which huma keeps from the operation.
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
	l, err := a.Links.Get(ctx, in.ID) // the id may name nothing, or a link that is so already: no change
	if err == nil && change.Links == 0 && l.Expired() != in.Body.Expired {
		err = models.Conflict("The link changed meanwhile. Try again.")
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
		Title   api.Member[string] `json:"title,omitempty" example:"Release notes" doc:"Title, at most 500 characters. null clears it, so that the fetched title shows again"`
		Notes   api.Member[string] `json:"notes,omitempty" example:"for the talk" doc:"Notes, at most 10,000 characters. null clears them"`
		Private api.Member[bool]   `json:"private,omitempty" nullable:"false" doc:"Whether only its owner and admins see the link"`
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
