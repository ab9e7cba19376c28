package api

import (
	"context"

	"github.com/linkwatch/linkwatch/models/links"
)

func (a *API) registerTags() {
	register(a, operation(tagTags, "GET", "/v1/link/{id}/tags", "list-link-tags", "List a link's tags", ""), a.linkTags)
	register(a, operation(tagTags, "POST", "/v1/link/{id}/tags", "add-link-tags", "Put tags on a link",
		"More than 64 on the link are refused, and none added then."), a.addLinkTags)
	register(a, operation(tagTags, "GET", "/v1/link/{id}/tag/{tag_id}", "get-link-tag", "A tag of a link", ""), a.linkTag)
	register(a, operation(tagTags, "PUT", "/v1/link/{id}/tag/{tag_id}", "swap-link-tag", "Swap a link's tag for another",
		"Other links keep theirs."), a.swapLinkTag)
	register(a, operation(tagTags, "DELETE", "/v1/link/{id}/tag/{tag_id}", "remove-link-tag", "Take a tag off a link",
		"A tag that no link uses is gone."), a.removeLinkTag)
	register(a, operation(tagTags, "GET", "/v1/tags", "list-tags", "List tags by name", ""), a.listTags)
	register(a, operation(tagTags, "GET", "/v1/popular-tags", "popular-tags", "The tags on most links", ""), a.tagsBy(links.TagsByCount))
	register(a, operation(tagTags, "GET", "/v1/recent-tags", "recent-tags", "The tags last used", ""), a.tagsBy(links.TagsByLastUse))
	register(a, operation(tagTags, "GET", "/v1/tag/{tag_id}/links", "list-tag-links", "List the links of a tag", "Newest first."), a.tagLinks)
	register(a, operation(tagTags, "GET", "/v1/tag/{tag_id}/link/{link_id}", "get-tag-link", "A link of a tag",
		"404 unless the link carries the tag. Counts no view."), a.tagLink)
}

// tagList is every tag of one link.
type tagList struct {
	Results []Tag `json:"results" nullable:"false"`
}

func (a *API) linkTags(ctx context.Context, in *LinkPath) (*output[tagList], error) {
	tags, err := a.Links.TagsOf(ctx, in.ID)
	return answer(tagList{toAll(tags, toTag)}, err)
}

type addTagsInput struct {
	LinkPath
	Body struct {
		Tags []string `json:"tags" nullable:"false" example:"[\"Go\",\"DevOps\"]"`
	}
}

func (a *API) addLinkTags(ctx context.Context, in *addTagsInput) (*output[tagList], error) {
	tags, err := a.Links.AddTags(ctx, in.ID, in.Body.Tags)
	return answer(tagList{toAll(tags, toTag)}, err)
}

func (a *API) linkTag(ctx context.Context, in *LinkTagPath) (*output[Tag], error) {
	t, err := a.Links.TagOf(ctx, in.ID, in.TagID)
	return answer(toTag(t), err)
}

type swapTagInput struct {
	LinkTagPath
	Body struct {
		Name string `json:"name" example:"golang" doc:"The other tag; it is made if there is none"`
	}
}

func (a *API) swapLinkTag(ctx context.Context, in *swapTagInput) (*output[Tag], error) {
	t, err := a.Links.SwapTag(ctx, in.ID, in.TagID, in.Body.Name)
	return answer(toTag(t), err)
}

func (a *API) removeLinkTag(ctx context.Context, in *LinkTagPath) (*struct{}, error) {
	return nil, a.Links.RemoveTag(ctx, in.ID, in.TagID)
}

type listTagsInput struct {
	Match string `query:"q" example:"go" doc:"Part of the name, in any case; at most 512 bytes"`
	PageParams
}

func (a *API) listTags(ctx context.Context, in *listTagsInput) (*output[List[Tag]], error) {
	return a.tags(ctx, in.Match, links.TagsByName, in.PageParams)
}

func (a *API) tagsBy(order links.TagOrder) func(context.Context, *PageParams) (*output[List[Tag]], error) {
	return func(ctx context.Context, in *PageParams) (*output[List[Tag]], error) {
		return a.tags(ctx, "", order, *in)
	}
}

func (a *API) tags(ctx context.Context, match string, o links.TagOrder, params PageParams) (*output[List[Tag]], error) {
	p, err := params.page()
	if err != nil {
		return nil, err
	}
	l, err := a.Links.Tags(ctx, match, o, p)
	return answerList(l, toTag, err)
}

type tagLinksInput struct {
	TagPath
	PageParams
	ShownParam
}

func (a *API) tagLinks(ctx context.Context, in *tagLinksInput) (*output[List[Link]], error) {
	shown, err := links.ParseShown(in.Expired)
	if err != nil {
		return nil, err
	}
	tag, err := a.Links.Tag(ctx, in.TagID)
	if err != nil {
		return nil, err
	}
	found, err := a.find(ctx, links.Filter{Tag: tag.Name, Shown: shown}, in.PageParams)
	return answerList(found.List, toLink, err)
}

type tagLinkInput struct {
	TagPath
	LinkID string `path:"link_id" doc:"The link's id"`
}

func (a *API) tagLink(ctx context.Context, in *tagLinkInput) (*output[Link], error) {
	if _, err := a.Links.TagOf(ctx, in.LinkID, in.TagID); err != nil {
		return nil, err
	}
	l, err := a.Links.Get(ctx, in.LinkID)
	return answer(toLink(l), err)
}
