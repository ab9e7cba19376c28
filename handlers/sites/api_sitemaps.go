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

func (a API) registerSitemaps(r *api.API) {
	api.Register(r, api.Operation(groupWebsites, middleware.Viewer, "GET", "/v1/websites/{id}/sitemaps", "list-sitemaps", "List sitemaps",
		"Oldest first, those that robots.txt and sitemap indexes name included.", models.CodeNotFound), a.listSitemaps)
	api.Register(r, api.Creates(api.Operation(groupWebsites, middleware.Editor, "POST", "/v1/websites/{id}/sitemaps", "add-sitemap", "Add a sitemap",
		"It is read within moments, not by this call: what is wrong with it shows as its last_error. "+
			"If the website has the sitemap already, the answer is 200 with it. 409 if the website has 1,000 sitemaps.",
		models.CodeNotFound, models.CodeConflict), "Sitemap"), a.addSitemap)
	api.Register(r, api.Operation(groupWebsites, middleware.Editor, "DELETE", "/v1/websites/{id}/sitemaps/{sitemap_id}", "delete-sitemap", "Delete a sitemap",
		"With those that it names, if it is an index. Pages that no other sitemap has are gone within moments. "+
			"A sitemap that an index names comes back. 409 if robots.txt names it.", models.CodeNotFound, models.CodeConflict), a.deleteSitemap)
}

// Sitemap is a list of pages of a website on the wire.
type Sitemap struct {
	ID             string     `json:"id" example:"m_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the sitemap. Ids sort by creation time"`
	WebsiteID      string     `json:"website_id" example:"w_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the website"`
	URL            string     `json:"url" example:"https://example.com/sitemap.xml" doc:"URL"`
	Origin         string     `json:"origin" enum:"given,robots,index" example:"given" doc:"Who named it: a user, robots.txt or a sitemap index"`
	Kind           *string    `json:"kind" example:"sitemap" doc:"Format: sitemap, index (a sitemap index), text (a URL on each line) or feed (RSS or Atom). null if it was not read yet"`
	Pages          int        `json:"pages" example:"120" doc:"Number of pages when it was last read. Of an index, of sitemaps"`
	Skipped        int        `json:"skipped" example:"2" doc:"Number of bad entries that were skipped then"`
	SkippedReasons []string   `json:"skipped_reasons" nullable:"false" doc:"Why the first of them were skipped"`
	CreatedAt      time.Time  `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When it was added"`
	LastReadAt     *time.Time `json:"last_read_at" example:"2025-03-24T12:05:00Z" doc:"When it was last read, successfully or not. null if it never was"`
	ChangedAt      *time.Time `json:"changed_at" example:"2025-03-24T12:05:00Z" doc:"When its entries last changed. null if it was not read yet"`
	LastError      *string    `json:"last_error" example:"status 404" doc:"Why it could not be read, or not in full. null if it could"`
	SubmittedAt    *time.Time `json:"submitted_at" example:"2025-03-24T12:06:00Z" doc:"When Google was last told of it. null if it never was"`
	SubmitError    *string    `json:"submit_error" doc:"Why Google did not accept it last. null if it did"`
}

func toSitemap(m sites.Sitemap) Sitemap {
	out := Sitemap{
		ID: m.ID(), WebsiteID: m.WebsiteID, URL: m.URL, Origin: string(m.Origin), Kind: api.OrNull(string(m.Kind)), Pages: m.Pages, Skipped: m.Skipped,
		SkippedReasons: []string{}, CreatedAt: m.CreatedAt.Time, LastReadAt: api.Time(m.LastReadAt), ChangedAt: api.Time(m.ChangedAt),
		LastError: api.OrNull(m.LastError), SubmittedAt: api.Time(m.SubmittedAt), SubmitError: api.OrNull(m.SubmitError),
	}
	if m.SkippedWhy != "" {
		out.SkippedReasons = strings.Split(m.SkippedWhy, "\n")
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
	Location string `header:"Location" doc:"Path of the sitemaps in this API"`
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
	SitemapID string `path:"sitemap_id" example:"m_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the sitemap"`
}

func (a API) deleteSitemap(ctx context.Context, in *sitemapPath) (*struct{}, error) {
	return nil, a.Sites.DeleteSitemap(ctx, in.ID, in.SitemapID)
}
