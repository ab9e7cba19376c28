package sites

import (
	"context"
	"net/http"
	"strings"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/sites"
)

// firstRead says when a sitemap is read first.
const firstRead = "The first read starts within seconds, without waiting for the job sitemaps."

func (a API) registerSitemaps(r *api.API) {
	api.Register(r, api.Sorts(api.Operation(groupWebsites, middleware.Viewer, "GET", "/v1/websites/{id}/sitemaps", "list-sitemaps", "List sitemaps",
		"Oldest first, including sitemaps listed in robots.txt and in sitemap indexes.", models.CodeNotFound), "created_at"), a.listSitemaps)
	api.Register(r, api.Item(api.Operation(groupWebsites, middleware.Viewer, "GET", "/v1/websites/{id}/sitemaps/{sitemap_id}", "get-sitemap", "Get a sitemap",
		"Returns the result of its last read.", models.CodeNotFound), "id", "url"), a.getSitemap)
	api.Register(r, api.Creates(api.Operation(groupWebsites, middleware.Editor, "POST", "/v1/websites/{id}/sitemaps", "add-sitemap", "Add a sitemap",
		"The call fetches nothing. "+firstRead+" If that fails, last_error has the reason. "+
			"200 with the existing sitemap if the website already has it. 409 if the website has 1,000 sitemaps.",
		models.CodeNotFound, models.CodeConflict), "Sitemap"), a.addSitemap)
	api.Register(r, api.Operation(groupWebsites, middleware.Editor, "DELETE", "/v1/websites/{id}/sitemaps/{sitemap_id}", "delete-sitemap", "Delete a sitemap",
		"Deleting an index also deletes the sitemaps that it lists. Pages in no other sitemap are marked as gone within seconds. "+
			"A sitemap that an index lists is added again at the next read. 409 if robots.txt lists it.", models.CodeNotFound, models.CodeConflict), a.deleteSitemap)
}

// Sitemap is a sitemap of a website in the API.
type Sitemap struct {
	ID             string     `json:"id" example:"m_01HZ8QK3V5W7X9YABCDEFG" doc:"ID of the sitemap. IDs sort by creation time"`
	WebsiteID      string     `json:"website_id" example:"w_01HZ8QK3V5W7X9YABCDEFG" doc:"ID of the website"`
	URL            string     `json:"url" example:"https://example.com/sitemap.xml" doc:"URL of the sitemap"`
	Origin         string     `json:"origin" enum:"given,robots,index" example:"given" doc:"Where it comes from: given (added by a user), robots (listed in robots.txt) or index (listed in a sitemap index)"`
	Kind           *string    `json:"kind" example:"sitemap" doc:"Format: sitemap, index (a sitemap index), text (a URL on each line) or feed (RSS or Atom). null if not read yet"`
	Pages          int        `json:"pages" example:"120" doc:"Number of pages at the last read. For an index, number of sitemaps"`
	Skipped        int        `json:"skipped" example:"2" doc:"Number of invalid entries skipped at the last read"`
	SkippedReasons []string   `json:"skipped_reasons" nullable:"false" doc:"Reasons for the first skipped entries"`
	CreatedAt      time.Time  `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the sitemap was added"`
	LastReadAt     *time.Time `json:"last_read_at" example:"2025-03-24T12:05:00Z" doc:"Last attempt to read it. null before the first read"`
	ChangedAt      *time.Time `json:"changed_at" example:"2025-03-24T12:05:00Z" doc:"When its content last changed. null if not read yet"`
	LastError      *string    `json:"last_error" example:"status 404" doc:"Why the last read failed or was incomplete. null if it succeeded"`
	SubmittedAt    *time.Time `json:"submitted_at" example:"2025-03-24T12:06:00Z" doc:"Last submission to Google. null if never"`
	SubmitError    *string    `json:"submit_error" doc:"Why the last submission to Google failed. null if it succeeded"`
}

func toSitemap(m sites.Sitemap) Sitemap {
	out := Sitemap{
		ID: m.ID(), WebsiteID: m.WebsiteID, URL: m.URL, Origin: string(m.Origin), Kind: api.OrNull(string(m.Kind)), Pages: m.Pages, Skipped: m.Skipped,
		SkippedReasons: []string{}, CreatedAt: m.CreatedAt.Time, LastReadAt: api.Time(m.LastReadAt), ChangedAt: api.Time(m.ChangedAt),
		LastError: api.OrNull(m.LastError), SubmittedAt: api.Time(m.SubmittedAt), SubmitError: api.OrNull(m.SubmitError),
	}
	if m.SkippedReasons != "" {
		out.SkippedReasons = strings.Split(m.SkippedReasons, "\n")
	}
	return out
}

type listSitemapsInput struct {
	WebsitePath
	api.SliceParams
}

func (a API) listSitemaps(ctx context.Context, in *listSitemapsInput) (*api.Output[api.Slice[Sitemap]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Sites.SitemapsOf(ctx, in.ID, after, limit)
	return api.AnswerSlice(l, toSitemap, err)
}

type addSitemapInput struct {
	WebsitePath
	Body struct {
		URL string `json:"url" example:"https://example.com/sitemap.xml" doc:"URL of a sitemap, sitemap index, text file or feed, http or https, at most 2048 bytes"`
	}
}

type addSitemapOutput struct {
	Status   int
	Location string `header:"Location" doc:"Path of the list of sitemaps"`
	Body     Sitemap
}

func (a API) addSitemap(ctx context.Context, in *addSitemapInput) (*addSitemapOutput, error) {
	m, created, err := a.Sites.AddSitemap(ctx, in.ID, in.Body.URL)
	if err != nil {
		return nil, err
	}
	out := &addSitemapOutput{http.StatusOK, "/v1/websites/" + m.WebsiteID + "/sitemaps", toSitemap(m)}
	if created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

type sitemapPath struct {
	WebsitePath
	SitemapID string `path:"sitemap_id" example:"m_01HZ8QK3V5W7X9YABCDEFG" doc:"ID of the sitemap"`
}

func (a API) getSitemap(ctx context.Context, in *sitemapPath) (*api.Output[Sitemap], error) {
	m, err := a.Sites.Sitemap(ctx, in.ID, in.SitemapID)
	if err != nil {
		return nil, err
	}
	return api.Answer(toSitemap(m), nil)
}

func (a API) deleteSitemap(ctx context.Context, in *sitemapPath) (*struct{}, error) {
	return nil, a.Sites.DeleteSitemap(ctx, in.ID, in.SitemapID)
}
