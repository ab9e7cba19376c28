package api

import (
	"time"

	"linkwatch/models"
	"linkwatch/models/links"
)

// Link is a saved link on the wire (contract §3).
type Link struct {
	ID            string     `json:"id" example:"l_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the link. Ids sort by creation time"`
	URL           string     `json:"url" example:"https://example.com/" doc:"URL as it was given"`
	CanonicalURL  string     `json:"canonical_url" example:"https://example.com" doc:"Canonical form of the URL, which is unique"`
	Title         string     `json:"title" example:"Example Site" doc:"Title that was set, else that of the page: OpenGraph, Twitter card or title element"`
	Tags          []string   `json:"tags" nullable:"false" example:"[\"Go\",\"DevOps\"]" doc:"Names of its tags, in the order in which they were added"`
	OpenGraph     OpenGraph  `json:"opengraph" doc:"OpenGraph data of the page"`
	Owner         string     `json:"owner" example:"system" doc:"Owner of the link"`
	Notes         string     `json:"notes" example:"for the talk" doc:"Notes. Empty if there are none"`
	CreatedAt     time.Time  `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the link was saved"`
	UpdatedAt     time.Time  `json:"updated_at" example:"2025-03-24T14:02:00Z" doc:"When the link last changed. Views do not count as changes"`
	Expired       bool       `json:"expired" example:"false" doc:"Whether the link has expired. Expired links are hidden from lists"`
	ExpiredAt     *time.Time `json:"expired_at" example:"2025-03-24T14:02:00Z" doc:"When the link expired. null if it has not"`
	ViewCount     int64      `json:"view_count" example:"14" doc:"Number of views: GET /v1/link/{id} counts one"`
	LastCheckedAt *time.Time `json:"last_checked_at" example:"2025-03-24T14:02:00Z" doc:"When the link was last checked. null if never"`
	Health        string     `json:"health" enum:"ok,moved,blocked,suspect,dead,unchecked" example:"ok" doc:"Health by the last check"`
	LastStatus    *int       `json:"last_status_code" example:"200" doc:"HTTP status of the last check. null if there was no response"`
	LastError     *string    `json:"last_error" example:"host not found" doc:"Why the last check got no response. null if it got one"`
	MovedTo       *string    `json:"moved_to" example:"https://example.org/" doc:"New URL if health is moved, which POST /v1/link/{id}/move applies. null otherwise"`
}

// OpenGraph is what the page says of itself; what it does not say is "".
type OpenGraph struct {
	Title       string `json:"title" example:"OG Title" doc:"og:title"`
	Description string `json:"description" example:"OG Desc" doc:"og:description"`
	Image       string `json:"image" example:"https://example.com/image.jpg" doc:"og:image"`
	SiteName    string `json:"site_name" example:"Example" doc:"og:site_name"`
	Type        string `json:"type" example:"website" doc:"og:type"`
}

// Tag is a tag on the wire.
type Tag struct {
	ID         string     `json:"id" example:"g_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the tag"`
	Name       string     `json:"name" example:"Go" doc:"Name, in the case in which it was first used"`
	LinkCount  int        `json:"link_count" example:"12" doc:"Number of active links with the tag"`
	CreatedAt  time.Time  `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the tag was created"`
	LastUsedAt *time.Time `json:"last_used_at" example:"2025-03-24T14:02:00Z" doc:"When the tag was last added to a link. null if not known"`
}

// List is one page of a list of the links family (contract §1).
type List[T any] struct {
	Page              int  `json:"page" example:"1" doc:"Number of this page, from 1"`
	PerPage           int  `json:"per_page" example:"30" doc:"Maximum number of results on a page"`
	TotalResults      int  `json:"total_results" example:"92" doc:"Number of results on all pages. A search counts up to 10,000"`
	TotalIsLowerBound bool `json:"total_is_lower_bound" example:"false" doc:"Whether there are more results than total_results. Pages after total_pages have results then"`
	TotalPages        int  `json:"total_pages" example:"4" doc:"Number of pages that total_results take"`
	Results           []T  `json:"results" nullable:"false" doc:"Results on this page"`
}

// Slice is one page of a list that is read by token (contract §1).
type Slice[T any] struct {
	Items         []T    `json:"items" nullable:"false" doc:"Items on this page"`
	NextPageToken string `json:"next_page_token" doc:"page_token of the next page. Empty on the last page"`
}

// output is an answer that is only a body.
type output[T any] struct{ Body T }

func answer[T any](v T, err error) (*output[T], error) {
	if err != nil {
		return nil, err
	}
	return &output[T]{v}, nil
}

// answerList is answer for a page of a list. (Without a page there is nothing
// to count, so an error is looked at first.)
func answerList[M, T any](l models.List[M], wire func(M) T, err error) (*output[List[T]], error) {
	if err != nil {
		return nil, err
	}
	return &output[List[T]]{toList(l, wire)}, nil
}

// answerSlice is answer for a page of a list that is read by token.
func answerSlice[M, T any](l models.Slice[M], wire func(M) T, err error) (*output[Slice[T]], error) {
	return answer(Slice[T]{toAll(l.Items, wire), l.Next.Token()}, err)
}

// toList turns a page of the store into one of the wire.
func toList[M, T any](l models.List[M], wire func(M) T) List[T] {
	return List[T]{
		Page: l.Number, PerPage: l.Size,
		TotalResults: l.Total, TotalIsLowerBound: l.TotalIsLowerBound, TotalPages: l.Pages(),
		Results: toAll(l.Items, wire),
	}
}

// toAll never gives null for an empty list.
func toAll[M, T any](items []M, wire func(M) T) []T {
	out := make([]T, 0, len(items))
	for _, item := range items {
		out = append(out, wire(item))
	}
	return out
}

func toLink(l links.Link) Link {
	tags := l.Tags
	if tags == nil {
		tags = []string{}
	}
	return Link{
		ID: l.ID, URL: l.URL, CanonicalURL: l.CanonicalURL, Title: l.Title,
		Tags: tags, OpenGraph: OpenGraph(l.OpenGraph), Owner: l.Owner, Notes: l.Notes,
		CreatedAt: l.CreatedAt.Time, UpdatedAt: l.UpdatedAt.Time,
		Expired: l.Expired(), ExpiredAt: toTime(l.ExpiredAt),
		ViewCount: l.ViewCount, LastCheckedAt: toTime(l.LastCheckedAt),
		Health: string(l.Health), LastStatus: orNull(l.LastStatusCode),
		LastError: orNull(l.LastError), MovedTo: orNull(l.MovedTo),
	}
}

func toTag(t links.Tag) Tag {
	return Tag{
		ID: t.ID, Name: t.Name, LinkCount: t.LinkCount,
		CreatedAt: t.CreatedAt.Time, LastUsedAt: toTime(t.LastUsedAt),
	}
}

// toTime is null for "never".
func toTime(t models.Time) *time.Time { return orNull(t.Time) }

// orNull is null for what was never set.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
