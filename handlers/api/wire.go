package api

import (
	"time"

	"github.com/linkwatch/linkwatch/models"
	"github.com/linkwatch/linkwatch/models/links"
)

// Link is a saved link on the wire (contract §3).
type Link struct {
	ID            string     `json:"id" example:"l_01HZ8QK3V5W7X9YABCDEFG" doc:"Opaque; ids of newer links sort after those of older ones"`
	URL           string     `json:"url" example:"https://example.com/" doc:"As it was given"`
	CanonicalURL  string     `json:"canonical_url" example:"https://example.com" doc:"The form by which duplicates are found"`
	Title         string     `json:"title" example:"Example Site" doc:"The owner's own title, else the page's: OpenGraph, Twitter card, <title>"`
	Tags          []string   `json:"tags" nullable:"false" example:"[\"Go\",\"DevOps\"]" doc:"In the order they were added, in their stored casing"`
	OpenGraph     OpenGraph  `json:"opengraph"`
	Owner         string     `json:"owner" example:"system"`
	Notes         string     `json:"notes" example:"for the talk" doc:"The owner's own words"`
	CreatedAt     time.Time  `json:"created_at" example:"2025-03-24T12:00:00Z"`
	UpdatedAt     time.Time  `json:"updated_at" example:"2025-03-24T14:02:00Z" doc:"Views, and checks that change nothing, leave it"`
	Expired       bool       `json:"expired" example:"false" doc:"Hidden from the lists"`
	ExpiredAt     *time.Time `json:"expired_at" doc:"null: not expired"`
	ViewCount     int64      `json:"view_count" example:"14" doc:"How often GET /v1/link/{id} was answered"`
	LastCheckedAt *time.Time `json:"last_checked_at" doc:"null: never"`
	Health        string     `json:"health" enum:"ok,moved,blocked,suspect,dead,unchecked" example:"ok"`
	LastStatus    *int       `json:"last_status_code" example:"200" doc:"null: no answer"`
	LastError     *string    `json:"last_error" example:"host not found" doc:"Why the last check had no answer; null: it had one"`
	MovedTo       *string    `json:"moved_to" example:"https://example.org/" doc:"While health is moved: where to. POST /v1/link/{id}/move applies it"`
}

// OpenGraph is what the page says of itself; what it does not say is "".
type OpenGraph struct {
	Title       string `json:"title" example:"OG Title"`
	Description string `json:"description" example:"OG Desc"`
	Image       string `json:"image" example:"https://example.com/image.jpg"`
	SiteName    string `json:"site_name" example:"Example"`
	Type        string `json:"type" example:"website"`
}

// Tag is a tag on the wire.
type Tag struct {
	ID         string     `json:"id" example:"g_01HZ8QK3V5W7X9YABCDEFG"`
	Name       string     `json:"name" example:"Go" doc:"In the casing first stored"`
	LinkCount  int        `json:"link_count" example:"12" doc:"Active links that carry it"`
	CreatedAt  time.Time  `json:"created_at" example:"2025-03-24T12:00:00Z"`
	LastUsedAt *time.Time `json:"last_used_at" example:"2025-03-24T14:02:00Z" doc:"When it was last put on a link"`
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
	Items         []T    `json:"items" nullable:"false"`
	NextPageToken string `json:"next_page_token" doc:"For page_token; empty: the end"`
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
