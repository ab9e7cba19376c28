package sites

import (
	"context"
	"net/http"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/sites"
)

func (a API) registerWebsites(r *api.API) {
	api.Register(r, api.Sorts(api.Operation(groupWebsites, middleware.Viewer, "GET", "/v1/websites", "list-websites", "List websites", "Oldest first."), sites.ListOrders.Fields()...), a.listWebsites)
	api.Register(r, api.Creates(api.Operation(groupWebsites, middleware.Editor, "POST", "/v1/websites", "add-website", "Add a website",
		"The call fetches nothing. "+firstRead+" 200 with the existing website, unchanged, if a shared website or one of yours has the same site_url."), "Website"), a.addWebsite)
	api.Register(r, api.Item(api.Operation(groupWebsites, middleware.Viewer, "GET", "/v1/websites/{id}", "get-website", "Get a website",
		"Includes settings, quotas and page counts.", models.CodeNotFound),
		"id", "name", "site_url", "private", "indexing_enabled", "auto_submit"), a.getWebsite)
	api.Register(r, api.Operation(groupWebsites, middleware.Editor, "PATCH", "/v1/websites/{id}", "edit-website", "Change a website",
		"Omitted members are not changed. A new indexnow_key must be checked again. "+
			"409 if private changes and another website with the same site_url exists in the new scope.", models.CodeNotFound, models.CodeConflict), a.editWebsite)
	api.Register(r, api.Operation(groupWebsites, middleware.Editor, "DELETE", "/v1/websites/{id}", "delete-website", "Delete a website",
		"Also deletes its sitemaps and pages. POST /v1/websites/{id}/restore restores them within 24 hours.", models.CodeNotFound), a.deleteWebsite)
	api.Register(r, api.Operation(groupWebsites, middleware.Editor, "POST", "/v1/websites/{id}/restore", "restore-website", "Restore a deleted website",
		"404 if the website is not deleted or was deleted more than 24 hours ago. 409 if another website has the same site_url now.", models.CodeNotFound, models.CodeConflict), a.restoreWebsite)
	refresh := api.Operation(groupWebsites, middleware.Editor, "POST", "/v1/websites/{id}/refresh", "refresh-website", "Read the sitemaps now",
		"The call does not wait for the read, which starts within seconds: reading is true until it is finished.", models.CodeNotFound)
	refresh.DefaultStatus = http.StatusAccepted
	api.Register(r, refresh, a.refreshWebsite)
}

// WebsitePath is the path parameter of a website.
type WebsitePath struct {
	ID string `path:"id" example:"w_01HZ8QK3V5W7X9YABCDEFG" doc:"ID of the website"`
}

// Website is a website in the API.
type Website struct {
	ID              string     `json:"id" example:"w_01HZ8QK3V5W7X9YABCDEFG" doc:"ID of the website. IDs sort by creation time"`
	Owner           string     `json:"owner" example:"alice" doc:"Username of the account that added it. system if it was added without an account"`
	Private         bool       `json:"private" example:"false" doc:"Whether only the owner and admins can see the website"`
	Name            string     `json:"name" example:"Shop" doc:"Name. Default: the host"`
	SiteURL         string     `json:"site_url" example:"https://example.com/" doc:"Search Console property: a URL prefix that ends in /, or sc-domain: and a domain"`
	CreatedAt       time.Time  `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the website was added"`
	UpdatedAt       time.Time  `json:"updated_at" example:"2025-03-24T12:00:00Z" doc:"When the settings were last changed"`
	IndexingEnabled bool       `json:"indexing_enabled" example:"false" doc:"Whether pages are submitted through Google's Indexing API, which is only for job postings and livestreams. If false, sitemaps are submitted"`
	AutoSubmit      bool       `json:"auto_submit" example:"true" doc:"Whether new and changed pages are submitted automatically"`
	Reading         bool       `json:"reading" example:"false" doc:"Whether the sitemaps are being read or a read was requested"`
	LastReadAt      *time.Time `json:"last_read_at" example:"2025-03-24T12:05:00Z" doc:"When the sitemaps were last read. null if never"`
	RobotsError     *string    `json:"robots_error" doc:"Why robots.txt could not be fetched at the last read. null if it could"`
	Google          Google     `json:"google" doc:"Access to Google"`
	IndexNow        IndexNow   `json:"indexnow" doc:"Submission to Bing and other search engines through IndexNow"`
	Quota           Quota      `json:"quota" doc:"Use of Google's quotas"`
	Pages           PageCounts `json:"pages" doc:"Number of pages by status"`
}

// Edited implements api.Edited: the credentials and the key.
func (w Website) Edited() []any {
	return []any{w.Google.ClientEmail, w.Google.ProjectID, w.IndexNow.Key}
}

// Google is the access of a website to Google in the API.
type Google struct {
	Configured  bool       `json:"configured" example:"true" doc:"Whether the website has credentials"`
	ClientEmail *string    `json:"client_email" example:"robot@project.iam.gserviceaccount.com" doc:"Email address of the service account. It must be an owner of the property. null without credentials"`
	ProjectID   *string    `json:"project_id" example:"project" doc:"ID of the Google Cloud project, which quotas apply to. null without credentials"`
	LastError   *string    `json:"last_error" doc:"Why Google refuses requests of the website. null if it does not"`
	RetryAt     *time.Time `json:"retry_at" doc:"When requests to Google resume. null if they are not paused"`
}

// IndexNow is the use of IndexNow by a website in the API.
type IndexNow struct {
	Key        *string    `json:"key" example:"0123456789abcdef" doc:"Key, which is public. null if IndexNow is not used"`
	KeyURL     *string    `json:"key_url" example:"https://example.com/0123456789abcdef.txt" doc:"URL of the key file, a text file with the key. null without a key"`
	Configured bool       `json:"configured" example:"true" doc:"Whether the website has a key"`
	VerifiedAt *time.Time `json:"verified_at" example:"2025-03-24T12:05:00Z" doc:"When the key file was last found. null if never, or if the last check failed"`
	LastError  *string    `json:"last_error" doc:"Why the last check or submission failed. null if it succeeded"`
	RetryAt    *time.Time `json:"retry_at" doc:"When submissions resume. null if they are not paused"`
}

// PageCounts are the page counts of a website in the API.
type PageCounts struct {
	Total      int `json:"total" example:"120" doc:"Pages in a sitemap"`
	Pending    int `json:"pending" example:"20" doc:"Pages not submitted yet"`
	Submitted  int `json:"submitted" example:"30" doc:"Pages submitted and not verified since"`
	Indexed    int `json:"indexed" example:"60" doc:"Pages indexed by Google"`
	NotIndexed int `json:"not_indexed" example:"9" doc:"Pages not indexed by Google"`
	Failed     int `json:"failed" example:"1" doc:"Pages whose submission failed"`
	Gone       int `json:"gone" example:"4" doc:"Pages that are in no sitemap any more. Not included in total"`
}

// websites converts websites with a constant number of queries.
func (a API) websites(ctx context.Context, ws ...sites.Website) ([]Website, error) {
	counts, err := a.Sites.CountsOf(ctx, ws)
	if err != nil {
		return nil, err
	}
	quotas, err := a.Sites.Quotas(ctx, ws)
	if err != nil {
		return nil, err
	}
	out := make([]Website, 0, len(ws))
	for i, w := range ws {
		out = append(out, toWebsite(w, counts[w.Seq], quotas[i]))
	}
	return out, nil
}

func toWebsite(w sites.Website, c sites.Counts, q sites.Quota) Website {
	out := Website{
		ID: w.ID, Owner: w.Owner, Private: w.Private(), Name: w.Name, SiteURL: w.SiteURL, CreatedAt: w.CreatedAt.Time, UpdatedAt: w.UpdatedAt.Time, IndexingEnabled: w.IndexingEnabled, AutoSubmit: w.AutoSubmit,
		Reading: !w.SitemapsRequestedAt.IsZero() || w.SitemapsClaimedBy != "", LastReadAt: api.Time(w.SitemapsReadAt), RobotsError: api.OrNull(w.RobotsError),
		Google: Google{
			Configured: w.UsesGoogle(), ClientEmail: api.OrNull(w.ClientEmail), ProjectID: api.OrNull(w.ProjectID),
			LastError: api.OrNull(w.GoogleState().Error), RetryAt: api.Time(w.GoogleState().RetryAt),
		},
		IndexNow: IndexNow{
			Key: api.OrNull(w.IndexNowKey), Configured: w.UsesIndexNow(), VerifiedAt: api.Time(w.IndexNowVerifiedAt),
			LastError: api.OrNull(w.IndexNowState.Error), RetryAt: api.Time(w.IndexNowState.RetryAt),
		},
		Quota: toQuota(q),
		Pages: PageCounts{
			Total: c.Total, Pending: c.ByStatus[sites.Pending], Submitted: c.ByStatus[sites.Submitted], Indexed: c.ByStatus[sites.Indexed],
			NotIndexed: c.ByStatus[sites.NotIndexed], Failed: c.ByStatus[sites.Failed], Gone: c.Gone,
		},
	}
	if w.UsesIndexNow() {
		out.IndexNow.KeyURL = api.OrNull(w.KeyFileURL())
	}
	return out
}

func (a API) answerWebsite(ctx context.Context, w sites.Website, err error) (*api.Output[Website], error) {
	if err != nil {
		return nil, err
	}
	out, err := a.websites(ctx, w)
	if err != nil {
		return nil, err
	}
	return &api.Output[Website]{Body: out[0]}, nil
}

func (a API) listWebsites(ctx context.Context, in *api.SliceParams) (*api.Output[api.Slice[Website]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Sites.List(ctx, after, limit)
	if err != nil {
		return nil, err
	}
	items, err := a.websites(ctx, l.Items...)
	return api.AnswerItems(l, items, err)
}

// WebsiteSettings are the settings of a website in the API.
type WebsiteSettings struct {
	Name            api.Member[string] `json:"name,omitempty" example:"Shop" doc:"Name, at most 200 characters. null resets it to the host"`
	IndexingEnabled api.Member[bool]   `json:"indexing_enabled,omitempty" nullable:"false" example:"false" doc:"Whether to use Google's Indexing API. The pages must qualify: job postings or livestreams. Default for a new website: false"`
	AutoSubmit      api.Member[bool]   `json:"auto_submit,omitempty" nullable:"false" example:"true" doc:"Whether new and changed pages are submitted automatically. Default for a new website: true"`
	Private         api.Member[bool]   `json:"private,omitempty" nullable:"false" example:"false" doc:"Whether only the owner and admins can see the website. Only they can change it. Default for a new website: false"`
	IndexNowKey     api.Member[string] `json:"indexnow_key,omitempty" example:"0123456789abcdef" doc:"IndexNow key, 8 to 128 letters, digits and hyphens. null disables IndexNow. POST /v1/websites/{id}/indexnow generates a key"`
}

// check rejects null for members without an empty value, and an empty key.
func (s WebsiteSettings) check() error {
	switch {
	case s.IndexingEnabled.Null:
		return models.Invalid("indexing_enabled", "must be true or false")
	case s.AutoSubmit.Null:
		return models.Invalid("auto_submit", "must be true or false")
	case s.Private.Null:
		return models.Invalid("private", "must be true or false")
	case s.IndexNowKey.Given && !s.IndexNowKey.Null && s.IndexNowKey.Value == "":
		return models.Invalid("indexnow_key", "must not be empty. Use null to disable IndexNow")
	}
	return nil
}

type addWebsiteInput struct {
	Body struct {
		SiteURL string `json:"site_url" example:"https://example.com/" doc:"Search Console property: an http or https URL prefix of at most 2048 bytes, or sc-domain: and a domain"`
		WebsiteSettings
	}
}

type addWebsiteOutput struct {
	Status   int
	Location string `header:"Location" doc:"Path of the website"`
	Body     Website
}

func (a API) addWebsite(ctx context.Context, in *addWebsiteInput) (*addWebsiteOutput, error) {
	b := in.Body
	if err := b.check(); err != nil {
		return nil, err
	}
	w, created, err := a.Sites.Ensure(ctx, sites.NewWebsite{
		SiteURL: b.SiteURL, Name: b.Name.Value, IndexingEnabled: b.IndexingEnabled.Value, ManualSubmit: b.AutoSubmit.Given && !b.AutoSubmit.Value,
		IndexNowKey: b.IndexNowKey.Value, Private: b.Private.Value,
	})
	out, err := a.answerWebsite(ctx, w, err)
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return &addWebsiteOutput{status, "/v1/websites/" + w.ID, out.Body}, nil
}

func (a API) getWebsite(ctx context.Context, in *WebsitePath) (*api.Output[Website], error) {
	w, err := a.Sites.Get(ctx, in.ID)
	return a.answerWebsite(ctx, w, err)
}

type editWebsiteInput struct {
	WebsitePath
	Body WebsiteSettings
}

func (a API) editWebsite(ctx context.Context, in *editWebsiteInput) (*api.Output[Website], error) {
	b := in.Body
	if err := b.check(); err != nil {
		return nil, err
	}
	w, err := a.Sites.Edit(ctx, in.ID, sites.Edit{
		Name: b.Name.Pointer(), IndexingEnabled: b.IndexingEnabled.Pointer(), AutoSubmit: b.AutoSubmit.Pointer(), IndexNowKey: b.IndexNowKey.Pointer(), Private: b.Private.Pointer(),
	})
	return a.answerWebsite(ctx, w, err)
}

func (a API) deleteWebsite(ctx context.Context, in *WebsitePath) (*struct{}, error) {
	return nil, a.Sites.Delete(ctx, in.ID)
}

func (a API) restoreWebsite(ctx context.Context, in *WebsitePath) (*api.Output[Website], error) {
	w, err := a.Sites.Restore(ctx, in.ID)
	return a.answerWebsite(ctx, w, err)
}

func (a API) refreshWebsite(ctx context.Context, in *WebsitePath) (*api.Output[Website], error) {
	w, err := a.Sites.Request(ctx, in.ID, sites.Reading)
	return a.answerWebsite(ctx, w, err)
}
