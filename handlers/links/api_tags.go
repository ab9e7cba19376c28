package links

import (
	"context"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/links"
)

func (a API) registerTags(r *api.API) {
	api.Register(r, api.Operation(groupTags, middleware.Viewer, "GET", "/v1/link/{id}/tags", "list-link-tags", "List the tags of a link", "In the order in which the tags were added.", models.CodeNotFound), a.linkTags)
	api.Register(r, api.Operation(groupTags, middleware.Editor, "POST", "/v1/link/{id}/tags", "add-link-tags", "Add tags to a link",
		"A link can have at most 64 tags. If the limit is exceeded, no tag is added.", models.CodeNotFound, models.CodeTooManyTags), a.addLinkTags)
	api.Register(r, api.Item(api.Operation(groupTags, middleware.Viewer, "GET", "/v1/link/{id}/tag/{tag_id}", "get-link-tag", "Get a tag of a link", "404 if the link does not have the tag.", models.CodeNotFound),
		"id", "name"), a.linkTag)
	api.Register(r, api.Operation(groupTags, middleware.Editor, "PUT", "/v1/link/{id}/tag/{tag_id}", "swap-link-tag", "Replace a tag of a link",
		"Other links keep the tag.", models.CodeNotFound), a.swapLinkTag)
	api.Register(r, api.Operation(groupTags, middleware.Editor, "DELETE", "/v1/link/{id}/tag/{tag_id}", "remove-link-tag", "Remove a tag from a link",
		"A tag without links is deleted.", models.CodeNotFound), a.removeLinkTag)
	api.Register(r, api.Sorts(api.Operation(groupTags, middleware.Viewer, "GET", "/v1/tags", "list-tags", "List tags", "Sorted by name."), links.TagFields...), a.listTags)
	api.Register(r, api.Item(api.Operation(groupTags, middleware.Viewer, "GET", "/v1/tag/{tag_id}", "get-tag", "Get a tag", "404 if you can see no link with the tag.", models.CodeNotFound),
		"id", "name"), a.tag)
	api.Register(r, api.Operation(groupTags, middleware.Editor, "PATCH", "/v1/tag/{tag_id}", "rename-tag", "Rename a tag",
		"Renames it on all links that you can see. 409 if another tag has the name, unless merge is true. Then both become one tag, which has the id and the spelling of the other. A merge cannot be undone.",
		models.CodeNotFound, models.CodeConflict), a.renameTag)
	api.Register(r, api.Operation(groupTags, middleware.Viewer, "GET", "/v1/popular-tags", "popular-tags", "List popular tags", "Tags with the most active links first."), a.tagsBy(links.TagsByCount))
	api.Register(r, api.Operation(groupTags, middleware.Viewer, "GET", "/v1/recent-tags", "recent-tags", "List recent tags", "Most recently used tags first."), a.tagsBy(links.TagsByLastUse))
	api.Register(r, api.Operation(groupTags, middleware.Viewer, "GET", "/v1/tag/{tag_id}/links", "list-tag-links", "List the links of a tag", "Newest first.", models.CodeNotFound), a.tagLinks)
	api.Register(r, api.Item(api.Operation(groupTags, middleware.Viewer, "GET", "/v1/tag/{tag_id}/link/{link_id}", "get-tag-link", "Get a link of a tag",
		"404 if the link does not have the tag. Does not count as a view.", models.CodeNotFound),
		"id", "url", "tags", "notes", "private", "expired"), a.tagLink)
}

// tagList is the tags of one link.
type tagList struct {
	Results []Tag `json:"results" nullable:"false" doc:"Tags of the link"`
}

func (a API) linkTags(ctx context.Context, in *LinkPath) (*api.Output[tagList], error) {
	tags, err := a.Links.TagsOf(ctx, in.ID)
	return api.Answer(tagList{api.All(tags, toTag)}, err)
}

type addTagsInput struct {
	LinkPath
	Body struct {
		Tags []string `json:"tags" nullable:"false" example:"[\"Go\",\"DevOps\"]" doc:"Names of the tags to add"`
	}
}

func (a API) addLinkTags(ctx context.Context, in *addTagsInput) (*api.Output[tagList], error) {
	tags, err := a.Links.AddTags(ctx, in.ID, in.Body.Tags)
	return api.Answer(tagList{api.All(tags, toTag)}, err)
}

func (a API) tag(ctx context.Context, in *TagPath) (*api.Output[Tag], error) {
	t, err := a.Links.Tag(ctx, in.TagID)
	return api.Answer(toTag(t), err)
}

type renameTagInput struct {
	TagPath
	Body struct {
		Name  string `json:"name" example:"golang" doc:"New name"`
		Merge bool   `json:"merge,omitempty" example:"false" doc:"Whether to merge the tag into the tag that has the name. Default: false"`
	}
}

func (a API) renameTag(ctx context.Context, in *renameTagInput) (*api.Output[Tag], error) {
	if !in.Body.Merge {
		into, _, err := a.Links.MergeTarget(ctx, in.TagID, in.Body.Name)
		if err != nil {
			return nil, err
		}
		if into.Seq != 0 {
			return nil, models.Conflict("Another tag has this name. Set merge to true to merge the two.")
		}
	}
	t, _, err := a.Links.RenameTag(ctx, in.TagID, in.Body.Name)
	return api.Answer(toTag(t), err)
}

func (a API) linkTag(ctx context.Context, in *LinkTagPath) (*api.Output[Tag], error) {
	t, err := a.Links.TagOf(ctx, in.ID, in.TagID)
	return api.Answer(toTag(t), err)
}

type swapTagInput struct {
	LinkTagPath
	Body struct {
		Name string `json:"name" example:"golang" doc:"Name of the new tag"`
	}
}

func (a API) swapLinkTag(ctx context.Context, in *swapTagInput) (*api.Output[Tag], error) {
	t, err := a.Links.SwapTag(ctx, in.ID, in.TagID, in.Body.Name)
	return api.Answer(toTag(t), err)
}

func (a API) removeLinkTag(ctx context.Context, in *LinkTagPath) (*struct{}, error) {
	return nil, a.Links.RemoveTag(ctx, in.ID, in.TagID)
}

type listTagsInput struct {
	Match string `query:"q" example:"go" doc:"Part of the name, ignoring case. At most 512 bytes"`
	api.SortedPageParams
}

func (a API) listTags(ctx context.Context, in *listTagsInput) (*api.Output[api.List[Tag]], error) {
	order := links.TagOrder(in.Sort)
	if order == "" {
		order = links.TagsByName
	}
	return a.tags(ctx, in.Match, order, in.SortedPageParams)
}

func (a API) tagsBy(order links.TagOrder) func(context.Context, *api.PageParams) (*api.Output[api.List[Tag]], error) {
	return func(ctx context.Context, in *api.PageParams) (*api.Output[api.List[Tag]], error) {
		return a.tags(ctx, "", order, *in)
	}
}

func (a API) tags(ctx context.Context, match string, o links.TagOrder, params interface{ Parse() (models.Page, error) }) (*api.Output[api.List[Tag]], error) {
	p, err := params.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Links.Tags(ctx, match, o, p)
	return api.AnswerList(l, toTag, err)
}

type tagLinksInput struct {
	TagPath
	api.PageParams
	ShownParam
}

func (a API) tagLinks(ctx context.Context, in *tagLinksInput) (*api.Output[api.List[Link]], error) {
	shown, err := links.ParseShown(in.Expired)
	if err != nil {
		return nil, err
	}
	tag, err := a.Links.Tag(ctx, in.TagID)
	if err != nil {
		return nil, err
	}
	found, err := a.find(ctx, links.Filter{Tag: tag.Name, Shown: shown}, in.PageParams)
	return api.AnswerList(found.List, toLink, err)
}

type tagLinkInput struct {
	TagPath
	LinkID string `path:"link_id" example:"l_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the link"`
}

func (a API) tagLink(ctx context.Context, in *tagLinkInput) (*api.Output[Link], error) {
	if _, err := a.Links.TagOf(ctx, in.LinkID, in.TagID); err != nil {
		return nil, err
	}
	l, err := a.Links.Get(ctx, in.LinkID)
	return api.Answer(toLink(l), err)
}
