package links

import (
	"time"

	"linkwatch/handlers/api"
	"linkwatch/models/links"
)

// Link is a saved link in the API.
type Link struct {
	ID            string     `json:"id" example:"l_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the link. Ids sort by creation time"`
	URL           string     `json:"url" example:"https://example.com/" doc:"URL as it was entered"`
	CanonicalURL  string     `json:"canonical_url" example:"https://example.com" doc:"Canonical URL. Unique among shared links, and among the private links of each owner"`
	Title         string     `json:"title" example:"Example Site" doc:"Title that was set, else the title of the page (OpenGraph, Twitter card or title element)"`
	Tags          []string   `json:"tags" nullable:"false" example:"[\"Go\",\"DevOps\"]" doc:"Tag names, in the order in which they were added"`
	OpenGraph     OpenGraph  `json:"opengraph" doc:"OpenGraph data of the page"`
	Owner         string     `json:"owner" example:"system" doc:"User who added the link"`
	Private       bool       `json:"private" example:"false" doc:"Whether only the owner and admins can see the link"`
	Notes         string     `json:"notes" example:"for the talk" doc:"Notes. Empty if none"`
	CreatedAt     time.Time  `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the link was saved"`
	UpdatedAt     time.Time  `json:"updated_at" example:"2025-03-24T14:02:00Z" doc:"When the link was last changed. Views are not changes"`
	Expired       bool       `json:"expired" example:"false" doc:"Whether the link has expired. Expired links are hidden from lists"`
	ExpiredAt     *time.Time `json:"expired_at" example:"2025-03-24T14:02:00Z" doc:"When the link expired. null if it has not"`
	ViewCount     int64      `json:"view_count" example:"14" doc:"Number of views: GET /v1/link/{id} adds one"`
	LastCheckedAt *time.Time `json:"last_checked_at" example:"2025-03-24T14:02:00Z" doc:"When the link was last checked. null if never"`
	Health        string     `json:"health" enum:"ok,moved,blocked,suspect,dead,unchecked" example:"ok" doc:"Result of the last check"`
	LastStatus    *int       `json:"last_status_code" example:"200" doc:"HTTP status of the last check. null if there was no response"`
	LastError     *string    `json:"last_error" example:"host not found" doc:"Error of the last check. null if the check succeeded"`
	MovedTo       *string    `json:"moved_to" example:"https://example.org/" doc:"New URL if health is moved: POST /v1/link/{id}/move applies it. null otherwise"`

	ownTitle string
}

// Edited implements api.Edited: a refresh may change Title, but not the title that a user has set.
func (l Link) Edited() []any { return []any{l.ownTitle} }

// OpenGraph is the OpenGraph metadata of a page; "" = missing.
type OpenGraph struct {
	Title       string `json:"title" example:"OG Title" doc:"og:title"`
	Description string `json:"description" example:"OG Desc" doc:"og:description"`
	Image       string `json:"image" example:"https://example.com/image.jpg" doc:"og:image"`
	SiteName    string `json:"site_name" example:"Example" doc:"og:site_name"`
	Type        string `json:"type" example:"website" doc:"og:type"`
}

// Tag is a tag in the API.
type Tag struct {
	ID         string     `json:"id" example:"g_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the tag"`
	Name       string     `json:"name" example:"Go" doc:"Name, in the case of its first use"`
	LinkCount  int        `json:"link_count" example:"12" doc:"Number of active links with the tag that you can see"`
	CreatedAt  time.Time  `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the tag was created"`
	LastUsedAt *time.Time `json:"last_used_at" example:"2025-03-24T14:02:00Z" doc:"When the tag was last added to a link. null if unknown"`
}

func toLink(l links.Link) Link {
	tags := l.Tags
	if tags == nil {
		tags = []string{}
	}
	return Link{
		ID: l.ID, URL: l.URL, CanonicalURL: l.CanonicalURL, Title: l.Title,
		Tags: tags, OpenGraph: OpenGraph(l.OpenGraph), Owner: l.Owner, Private: l.Private(), Notes: l.Notes,
		CreatedAt: l.CreatedAt.Time, UpdatedAt: l.UpdatedAt.Time,
		Expired: l.Expired(), ExpiredAt: api.Time(l.ExpiredAt),
		ViewCount: l.ViewCount, LastCheckedAt: api.Time(l.LastCheckedAt),
		Health: string(l.Health), LastStatus: api.OrNull(l.LastStatusCode),
		LastError: api.OrNull(l.LastError), MovedTo: api.OrNull(l.MovedTo), ownTitle: l.OwnTitle,
	}
}

func toTag(t links.Tag) Tag {
	return Tag{
		ID: t.ID, Name: t.Name, LinkCount: t.LinkCount,
		CreatedAt: t.CreatedAt.Time, LastUsedAt: api.Time(t.LastUsedAt),
	}
}
