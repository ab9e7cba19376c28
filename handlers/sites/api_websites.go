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
	api.Register(r, api.Operation(groupWebsites, middleware.Viewer, "GET", "/v1/websites", "list-websites", "List websites", "Oldest first."), a.listWebsites)
	add := api.Operation(groupWebsites, middleware.Editor, "POST", "/v1/websites", "add-website", "Add a website",
		"Within moments, the sitemaps that its robots.txt names are read. 409 if there is a website with this site_url, shared or yours.", models.CodeConflict)
	add.DefaultStatus = http.StatusCreated
	api.Register(r, add, a.addWebsite)
	api.Register(r, api.Operation(groupWebsites, middleware.Viewer, "GET", "/v1/websites/{id}", "get-website", "Get a website",
		"With its settings, its quotas and the number of its pages.", models.CodeNotFound), a.getWebsite)
	api.Register(r, api.Operation(groupWebsites, middleware.Editor, "PATCH", "/v1/websites/{id}", "edit-website", "Change a website",
		"A member that is left out stays as it is. A new indexnow_key has to be checked again. "+
			"409 if it becomes private or shared, and another website is there with its site_url.", models.CodeNotFound, models.CodeConflict), a.editWebsite)
	api.Register(r, api.Operation(groupWebsites, middleware.Editor, "DELETE", "/v1/websites/{id}", "delete-website", "Delete a website",
		"With its sitemaps and pages. POST /v1/websites/{id}/restore restores it within a day.", models.CodeNotFound), a.deleteWebsite)
	api.Register(r, api.Operation(groupWebsites, middleware.Editor, "POST", "/v1/websites/{id}/restore", "restore-website", "Restore a deleted website",
		"404 if it was not deleted, or more than a day ago. 409 if another website has its site_url now.", models.CodeNotFound, models.CodeConflict), a.restoreWebsite)
	refresh := api.Operation(groupWebsites, middleware.Editor, "POST", "/v1/websites/{id}/refresh", "refresh-website", "Read the sitemaps now",
		"The answer does not wait for them: reading is true until they are read.", models.CodeNotFound)
	refresh.DefaultStatus = http.StatusAccepted
	api.Register(r, refresh, a.refreshWebsite)
}

// WebsitePath names a website.
type WebsitePath struct {
	ID string `path:"id" example:"w_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the website"`
}

// Website is a site whose pages are submitted to search engines on the wire.
type Website struct {
	ID              string     `json:"id" example:"w_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the website. Ids sort by creation time"`
	Owner           string     `json:"owner" example:"alice" doc:"Name of the account that added it. system if nobody had to sign in"`
	Private         bool       `json:"private" example:"false" doc:"Whether only its owner and admins see it, with its sitemaps and pages"`
	Name            string     `json:"name" example:"Shop" doc:"Name. The host if none was given"`
	SiteURL         string     `json:"site_url" example:"https://example.com/" doc:"Property of Google Search Console: a URL prefix that ends in /, or sc-domain: and a domain"`
	CreatedAt       time.Time  `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the website was added"`
	UpdatedAt       time.Time  `json:"updated_at" example:"2025-03-24T12:00:00Z" doc:"When its settings were last changed"`
	IndexingEnabled bool       `json:"indexing_enabled" example:"false" doc:"Whether pages are submitted by Google's Indexing API, which Google offers for job postings and livestreams only. If not, sitemaps are submitted"`
	AutoSubmit      bool       `json:"auto_submit" example:"true" doc:"Whether new and changed pages are submitted by themselves"`
	Reading         bool       `json:"reading" example:"false" doc:"Whether its sitemaps are being read, or will be within moments"`
	LastReadAt      *time.Time `json:"last_read_at" example:"2025-03-24T12:05:00Z" doc:"When its sitemaps were last read. null if they never were"`
	RobotsError     *string    `json:"robots_error" doc:"Why robots.txt could not be fetched when it was last asked for sitemaps. null if it could"`
	Google          Google     `json:"google" doc:"Access to Google"`
	IndexNow        IndexNow   `json:"indexnow" doc:"Submission by IndexNow, to Bing and other search engines"`
	Quota           Quota      `json:"quota" doc:"Use of Google's quotas"`
	Pages           PageCounts `json:"pages" doc:"Number of pages by status"`
}

// Google is the access of a website to Google on the wire.
type Google struct {
	Configured  bool       `json:"configured" example:"true" doc:"Whether the website has credentials"`
	ClientEmail *string    `json:"client_email" example:"robot@project.iam.gserviceaccount.com" doc:"E-mail address of the service account, which must be an owner of the property. null without credentials"`
	ProjectID   *string    `json:"project_id" example:"project" doc:"Id of the Google project, whose quotas its websites share. null without credentials"`
	LastError   *string    `json:"last_error" doc:"Why Google refused all requests of the website last. null if it did not"`
	RetryAt     *time.Time `json:"retry_at" doc:"When Google is asked again. null if there is no pause"`
}

// IndexNow is the use of IndexNow by a website on the wire.
type IndexNow struct {
	Key        *string    `json:"key" example:"0123456789abcdef" doc:"Key, which is no secret. null if IndexNow is not used"`
	KeyURL     *string    `json:"key_url" example:"https://example.com/0123456789abcdef.txt" doc:"URL of the key file, a text file that holds the key. null without a key"`
	Configured bool       `json:"configured" example:"true" doc:"Whether the website has a key"`
	VerifiedAt *time.Time `json:"verified_at" example:"2025-03-24T12:05:00Z" doc:"When the key file was last found. null if it never was, or not by the last check"`
	LastError  *string    `json:"last_error" doc:"Why the last check or batch failed. null if it did not"`
	RetryAt    *time.Time `json:"retry_at" doc:"When the next batch is sent. null if there is no pause"`
}

// PageCounts are the pages of a website by status on the wire.
type PageCounts struct {
	Total      int `json:"total" example:"120" doc:"Pages that a sitemap has"`
	Pending    int `json:"pending" example:"20" doc:"Pages that were not submitted yet"`
	Submitted  int `json:"submitted" example:"30" doc:"Pages that were submitted and not verified since"`
	Indexed    int `json:"indexed" example:"60" doc:"Pages that Google has indexed"`
	NotIndexed int `json:"not_indexed" example:"9" doc:"Pages that Google has not indexed"`
	Failed     int `json:"failed" example:"1" doc:"Pages whose submission failed"`
	Gone       int `json:"gone" example:"4" doc:"Pages that no sitemap has any more. They are not in total"`
}

// websites turns websites into those of the wire, with a constant number of queries.
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
		Reading: !w.SitemapsWantedAt.IsZero() || w.SitemapsBy != "", LastReadAt: api.Time(w.SitemapsReadAt), RobotsError: api.OrNull(w.RobotsError),
		Google: Google{
			Configured: w.Google(), ClientEmail: api.OrNull(w.ClientEmail), ProjectID: api.OrNull(w.ProjectID),
			LastError: api.OrNull(w.GoogleState().Error), RetryAt: api.Time(w.GoogleState().RetryAt),
		},
		IndexNow: IndexNow{
			Key: api.OrNull(w.IndexNowKey), Configured: w.IndexNow(), VerifiedAt: api.Time(w.IndexNowVerifiedAt),
			LastError: api.OrNull(w.IndexNowState.Error), RetryAt: api.Time(w.IndexNowState.RetryAt),
		},
		Quota: toQuota(q),
		Pages: PageCounts{
			Total: c.Total, Pending: c.ByStatus[sites.Pending], Submitted: c.ByStatus[sites.Submitted], Indexed: c.ByStatus[sites.Indexed],
			NotIndexed: c.ByStatus[sites.NotIndexed], Failed: c.ByStatus[sites.Failed], Gone: c.Gone,
		},
	}
	if w.IndexNow() {
		out.IndexNow.KeyURL = api.OrNull(w.KeyFile())
	}
	return out
}

// answerWebsite is api.Answer for a website.
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
	return api.Answer(api.Slice[Website]{Items: items, NextPageToken: l.Next.Token()}, err)
}

// WebsiteSettings are what the owner of a website sets.
type WebsiteSettings struct {
	Name            api.Member[string] `json:"name,omitempty" example:"Shop" doc:"Name, at most 200 characters. null uses the host"`
	IndexingEnabled api.Member[bool]   `json:"indexing_enabled,omitempty" nullable:"false" example:"false" doc:"Whether its pages qualify for Google's Indexing API: job postings and livestreams. false if left out at first"`
	AutoSubmit      api.Member[bool]   `json:"auto_submit,omitempty" nullable:"false" example:"true" doc:"Whether new and changed pages are submitted by themselves. true if left out at first"`
	Private         api.Member[bool]   `json:"private,omitempty" nullable:"false" example:"false" doc:"Whether only its owner and admins see it. false if left out at first. Only they may change it"`
	IndexNowKey     api.Member[string] `json:"indexnow_key,omitempty" example:"0123456789abcdef" doc:"IndexNow key, 8 to 128 letters, digits and hyphens. null ends the use of IndexNow. POST /v1/websites/{id}/indexnow makes a key"`
}

// check refuses null where a member has no empty value, and an empty key.
func (s WebsiteSettings) check() error {
	switch {
	case s.IndexingEnabled.Null:
		return models.Invalid("indexing_enabled", "must be true or false")
	case s.AutoSubmit.Null:
		return models.Invalid("auto_submit", "must be true or false")
	case s.Private.Null:
		return models.Invalid("private", "must be true or false")
	case s.IndexNowKey.Given && !s.IndexNowKey.Null && s.IndexNowKey.Value == "":
		return models.Invalid("indexnow_key", "must not be empty; null ends the use of IndexNow")
	}
	return nil
}

type addWebsiteInput struct {
	Body struct {
		SiteURL string `json:"site_url" example:"https://example.com/" doc:"Property of Google Search Console: a URL prefix, http or https, at most 2048 bytes, or sc-domain: and a domain"`
		WebsiteSettings
	}
}

type addWebsiteOutput struct {
	Location string `header:"Location" doc:"Path of the website in this API"`
	Body     Website
}

func (a API) addWebsite(ctx context.Context, in *addWebsiteInput) (*addWebsiteOutput, error) {
	b := in.Body
	if err := b.check(); err != nil {
		return nil, err
	}
	w, err := a.Sites.Add(ctx, sites.NewWebsite{
		SiteURL: b.SiteURL, Name: b.Name.Value, IndexingEnabled: b.IndexingEnabled.Value, ManualSubmit: b.AutoSubmit.Given && !b.AutoSubmit.Value,
		IndexNowKey: b.IndexNowKey.Value, Private: b.Private.Value,
	})
	out, err := a.answerWebsite(ctx, w, err)
	if err != nil {
		return nil, err
	}
	return &addWebsiteOutput{"/v1/websites/" + w.ID, out.Body}, nil
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
	w, err := a.Sites.Want(ctx, in.ID, sites.Reading)
	return a.answerWebsite(ctx, w, err)
}
