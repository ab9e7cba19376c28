package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/linkwatch/linkwatch/models"
	"github.com/linkwatch/linkwatch/models/links"
)

func (a *API) registerLinks() {
	register(a, operation(tagLinks, "GET", "/v1/links", "list-links", "List links", "Active links, newest first."), a.listLinks)
	register(a, creates(operation(tagLinks, "POST", "/v1/links", "save-link", "Save a link",
		"The URL must answer 200 within 4 redirects and 4 seconds, else nothing is stored and the answer is 422. "+
			"With `force` it is stored all the same, with the health that the answer means: a 404 makes an expired link, "+
			"a private address one whose health is `blocked`, without a request. "+
			"A link that is there already is answered with 200, its tags and the new ones merged."), "Link"), a.saveLink)
	register(a, operation(tagLinks, "GET", "/v1/link/{id}", "view-link", "Look at a link", "Counts one view."), a.viewLink)
	register(a, operation(tagLinks, "PUT", "/v1/link/{id}", "refresh-link", "Fetch a link's metadata anew",
		"404 and 410 expire the link; after any other failure the metadata stays as it was."), a.refreshLink)
	register(a, operation(tagLinks, "PATCH", "/v1/link/{id}", "expire-link", "Expire or revive a link", ""), a.expireLink)
	register(a, operation(tagLinks, "DELETE", "/v1/link/{id}", "delete-link", "Delete a link", ""), a.deleteLink)
	register(a, operation(tagLinks, "PUT", "/v1/link/{id}/annotation", "annotate-link", "Set the owner's own title and notes",
		"A member that is left out stays; null or an empty text clears it. An own title wins over the fetched one."), a.annotateLink)
	register(a, operation(tagLinks, "POST", "/v1/link/{id}/move", "move-link", "Take the URL that a link has moved to",
		"409 unless the link's health is moved."), a.moveLink)
	register(a, operation(tagLinks, "GET", "/v1/random", "random-link", "A random active link", ""), a.randomLink)
	register(a, operation(tagLinks, "GET", "/v1/popular", "popular-links", "The links most viewed", ""), a.popularLinks)
	register(a, operation(tagLinks, "GET", "/v1/recent", "recent-links", "The links last saved", ""), a.recentLinks)
	register(a, operation(tagLinks, "GET", "/v1/search", "search-links", "Search links",
		"`tag:`, `url:` and `title:` own the words up to the next of them; they combine with AND. `tag:a,b` is both, "+
			"`tag:a b` either; each means the tag of that name, or where there is none any tag that holds it. Other words search titles, then URLs, then tags. `\"…\"` is a phrase. Words that match "+
			"nothing are searched by what is within two edits of them."), a.searchLinks)
}

// ListLinksInput asks for a page of chosen links.
type ListLinksInput struct {
	PageParams
	FilterParams
}

func (a *API) listLinks(ctx context.Context, in *ListLinksInput) (*output[List[Link]], error) {
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	found, err := a.find(ctx, f, in.PageParams)
	return answerList(found.List, toLink, err)
}

func (a *API) recentLinks(ctx context.Context, in *PageParams) (*output[List[Link]], error) {
	found, err := a.find(ctx, links.Filter{}, *in)
	return answerList(found.List, toLink, err)
}

func (a *API) find(ctx context.Context, f links.Filter, params PageParams) (links.Found, error) {
	p, err := params.page()
	if err != nil {
		return links.Found{}, err
	}
	return a.Links.List(ctx, f, p)
}

type searchInput struct {
	Query string `query:"q" example:"tag:go,devops title:\"release notes\"" doc:"What to search; nothing finds every link; at most 512 bytes"`
	ListLinksInput
}

// searchResult is a list that says which words stood in for others.
type searchResult struct {
	List[Link]
	Near map[string][]string `json:"near,omitempty" doc:"Words of the query that matched nothing, and those near them that were searched instead"`
}

func (a *API) searchLinks(ctx context.Context, in *searchInput) (*output[searchResult], error) {
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	f.Query = in.Query
	found, err := a.find(ctx, f, in.PageParams)
	if err != nil {
		return nil, err
	}
	return &output[searchResult]{searchResult{toList(found.List, toLink), found.Near}}, nil
}

func (a *API) popularLinks(ctx context.Context, in *PageParams) (*output[List[Link]], error) {
	p, err := in.page()
	if err != nil {
		return nil, err
	}
	l, err := a.Links.Popular(ctx, p)
	return answerList(l, toLink, err)
}

func (a *API) randomLink(ctx context.Context, _ *struct{}) (*output[Link], error) {
	l, err := a.Links.Random(ctx)
	return answer(toLink(l), err)
}

type saveInput struct {
	Body struct {
		URL   string   `json:"url" example:"https://example.com/" doc:"http or https, at most 2048 bytes"`
		Tags  []string `json:"tags,omitempty" nullable:"false" example:"[\"Go\"]" doc:"At most 64"`
		Owner string   `json:"owner,omitempty" example:"system" doc:"Default: system"`
		Notes string   `json:"notes,omitempty" example:"for the talk"`
		Title string   `json:"title,omitempty" example:"Release notes" doc:"Your own title, at most 500 characters. It wins over the fetched one"`
		Force bool     `json:"force,omitempty" doc:"Store the link, active, even if its page cannot be fetched or does not answer 200. Without a title it gets its URL for one"`
	}
}

type saveOutput struct {
	Status   int
	Location string `header:"Location" doc:"The link's address here"`
	Body     Link
}

func (a *API) saveLink(ctx context.Context, in *saveInput) (*saveOutput, error) {
	l, created, err := a.Links.Save(ctx, links.New{
		URL: in.Body.URL, Tags: in.Body.Tags, Owner: in.Body.Owner, Notes: in.Body.Notes,
		Title: in.Body.Title, Force: in.Body.Force,
	})
	a.Metrics.LinkSaved(created, err)
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

func (a *API) viewLink(ctx context.Context, in *viewInput) (*output[Link], error) {
	if in.head {
		l, err := a.Links.Get(ctx, in.ID)
		return answer(toLink(l), err)
	}
	l, err := a.Links.View(ctx, in.ID)
	if err == nil {
		a.Metrics.LinkViewed()
	}
	return answer(toLink(l), err)
}

func (a *API) refreshLink(ctx context.Context, in *LinkPath) (*output[Link], error) {
	l, err := a.Links.Refresh(ctx, in.ID)
	return answer(toLink(l), err)
}

type expireInput struct {
	LinkPath
	Body struct {
		Expired bool `json:"expired" doc:"true expires the link by hand, false revives it"`
	}
}

func (a *API) expireLink(ctx context.Context, in *expireInput) (*output[Link], error) {
	change, err := a.Links.SetExpired(ctx, in.Body.Expired, in.ID)
	if err != nil {
		return nil, err
	}
	l, err := a.Links.Get(ctx, in.ID) // the id may name nothing, or a link that is so already: no change
	if err == nil && change.Links == 0 && l.Expired() != in.Body.Expired {
		err = models.Conflict("The link changed meanwhile. Try again.")
	}
	return answer(toLink(l), err)
}

func (a *API) deleteLink(ctx context.Context, in *LinkPath) (*struct{}, error) {
	change, err := a.Links.Delete(ctx, in.ID)
	if err == nil && change.Links == 0 {
		err = models.NotFound("link")
	}
	return nil, err
}

type annotateInput struct {
	LinkPath
	Body struct {
		Title member[string] `json:"title,omitempty" doc:"At most 500 characters"`
		Notes member[string] `json:"notes,omitempty" doc:"At most 10000 characters"`
	}
}

func (a *API) annotateLink(ctx context.Context, in *annotateInput) (*output[Link], error) {
	l, err := a.Links.Annotate(ctx, in.ID, links.Annotation{Title: in.Body.Title.pointer(), Notes: in.Body.Notes.pointer()})
	return answer(toLink(l), err)
}

func (a *API) moveLink(ctx context.Context, in *LinkPath) (*output[Link], error) {
	l, err := a.Links.ApplyMove(ctx, in.ID)
	return answer(toLink(l), err)
}
