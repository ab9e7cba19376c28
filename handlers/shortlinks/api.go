package shortlinks

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/shortlinks"
	"linkwatch/views/qr"
)

func (a API) registerShortLinks(r *api.API) {
	api.Register(r, api.Sorts(api.Operation(groupShortLinks, middleware.Viewer, "GET", "/v1/shortlinks", "list-short-links", "List short links",
		"Oldest first. Expired short links are listed until SHORT_KEEP_EXPIRED has passed, deleted ones are not."), "created_at"), a.listShortLinks)
	api.Register(r, api.Limited(api.Creates(api.Operation(groupShortLinks, middleware.Editor, "POST", "/v1/shortlinks", "add-short-link", "Shorten a URL",
		"A repeated Idempotency-Key of the same account returns 200 and the short link that its first use created. Keys are kept "+
			"for 24 hours. 409 if the short key is taken, also by an expired or deleted short link that is still kept. "+
			"429 after SHORT_CREATE_LIMIT short links per minute from a client without a login.", models.CodeConflict), "ShortLink"), a.Limit), a.addShortLink)
	api.Register(r, api.Item(api.Operation(groupShortLinks, middleware.Viewer, "GET", "/v1/shortlinks/{key}", "get-short-link", "Get a short link",
		"Also returns disabled short links, and expired ones until SHORT_KEEP_EXPIRED has passed. Does not count a visit.", models.CodeNotFound),
		"short_key", "long_url", "title", "expires_at", "max_visits", "private"), a.getShortLink)
	api.Register(r, api.Operation(groupShortLinks, middleware.Editor, "PATCH", "/v1/shortlinks/{key}", "edit-short-link", "Change a short link",
		"JSON merge patch (RFC 7396): omitted members keep their value, null clears one. Takes effect at once. "+
			"A later expiry or a higher visit limit reactivates an expired short link.", models.CodeNotFound), a.editShortLink)
	api.Register(r, api.Operation(groupShortLinks, middleware.Editor, "DELETE", "/v1/shortlinks/{key}", "delete-short-link", "Delete a short link",
		"Visitors get 410 at once. POST /v1/shortlinks/{key}/restore restores it within a day. "+
			"The key is free again after cleanup.", models.CodeNotFound), a.deleteShortLink)
	api.Register(r, api.Operation(groupShortLinks, middleware.Editor, "POST", "/v1/shortlinks/{key}/restore", "restore-short-link", "Restore a deleted short link",
		"Restores its visits too. 404 if it is not deleted, or was deleted more than a day ago.", models.CodeNotFound), a.restoreShortLink)
	api.Register(r, api.Operation(groupShortLinks, middleware.Viewer, "GET", "/v1/shortlinks/{key}/stats", "get-short-link-stats", "Get the visits of a short link",
		"Visits are stored within seconds, without data that identifies visitors.", models.CodeNotFound), a.shortLinkStats)
	picture := api.Operation(groupShortLinks, middleware.Viewer, "GET", "/v1/shortlinks/{key}/qr.svg", "get-short-link-qr", "Get the QR code of a short link",
		"Encodes short_host_url, or short_url if there is none.", models.CodeNotFound)
	picture.Responses = map[string]*huma.Response{
		"200": {Description: "QR code", Content: map[string]*huma.MediaType{svgMedia: api.Text("SVG image")}},
	}
	api.Register(r, picture, a.shortLinkQR)
}

// ShortLinkPath is the path parameter of a short link.
type ShortLinkPath struct {
	Key string `path:"key" example:"abc2XYZ" doc:"Short key. It is case-sensitive"`
}

// Caller keeps the request, to build URLs that work for its client.
type Caller struct{ request *http.Request }

// Resolve implements huma.Resolver.
func (c *Caller) Resolve(ctx huma.Context) []error {
	c.request = humagin.Unwrap(ctx).Request
	return nil
}

// ShortLink is a short link in the API.
type ShortLink struct {
	ShortKey      string     `json:"short_key" example:"abc2XYZ" doc:"Short key. It is case-sensitive"`
	ShortURL      string     `json:"short_url" example:"https://links.example/s/abc2XYZ" doc:"Short URL, at PUBLIC_URL or the host of the request"`
	ShortHostURL  *string    `json:"short_host_url" example:"https://go.example/abc2XYZ" doc:"Short URL at SHORT_HOST. null if it is not set"`
	LongURL       string     `json:"long_url" example:"https://example.com/spring?campaign=7" doc:"Destination"`
	Title         string     `json:"title" example:"Spring campaign" doc:"Title. Empty if it has none"`
	CreatedAt     time.Time  `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When the short link was created"`
	UpdatedAt     time.Time  `json:"updated_at" example:"2025-03-24T14:02:00Z" doc:"When its settings were last changed"`
	ExpiresAt     *time.Time `json:"expires_at" example:"2025-04-24T12:00:00Z" doc:"Time of expiry: visitors get 410 from then on. null if it never expires"`
	MaxVisits     *int64     `json:"max_visits" example:"100" doc:"Visit limit. null if there is none"`
	Visits        int64      `json:"visits" example:"42" doc:"Number of visits. Exact if there is a visit limit, else a few seconds old"`
	Bots          int64      `json:"bots" example:"5" doc:"Number of requests by bots, which are no visits"`
	Previews      int64      `json:"previews" example:"3" doc:"Number of HEAD requests, prefetches and link previews, which are no visits"`
	LastVisitedAt *time.Time `json:"last_visited_at" example:"2025-03-24T14:02:00Z" doc:"When it was last visited. null if never"`
	Owner         string     `json:"owner" example:"alice" doc:"Account or credential that added it. system if no one was signed in"`
	Private       bool       `json:"private" example:"false" doc:"Whether only its owner and admins see it. It redirects all visitors either way"`
	Status        string     `json:"status" enum:"active,expired,disabled" example:"active" doc:"Status. expired if the visit limit is reached as well"`
}

// Edited implements api.Edited: only a user disables a short link, while visits and time expire it.
func (l ShortLink) Edited() []any { return []any{l.Status == string(shortlinks.Disabled)} }

// toShortLink converts short links, with URLs that work for the caller.
func (a API) toShortLink(c Caller) func(shortlinks.ShortLink) ShortLink {
	base, now := middleware.Base(a.PublicURL, c.request), a.ShortLinks.Now()
	return func(l shortlinks.ShortLink) ShortLink {
		return ShortLink{
			ShortKey: l.Key, ShortURL: shortURL(base, l.Key), ShortHostURL: api.OrNull(shortHostURL(a.ShortHost, base, l.Key)),
			LongURL: l.LongURL, Title: l.Title, CreatedAt: l.CreatedAt.Time, UpdatedAt: l.UpdatedAt.Time,
			ExpiresAt: api.Time(l.ExpiresAt), MaxVisits: api.OrNull(l.MaxVisits),
			Visits: l.Visits, Bots: l.Bots, Previews: l.Previews, LastVisitedAt: api.Time(l.LastVisitedAt),
			Owner: l.Owner, Private: l.Private(), Status: string(l.Status(now)),
		}
	}
}

type listShortLinksInput struct {
	Caller
	api.SliceParams
	Status string `query:"status" enum:"active,expired,disabled" example:"active" doc:"Status: active, expired or disabled"`
	Text   string `query:"q" example:"spring" doc:"Part of the key, the title or the destination, ignoring case. At most 512 bytes"`
}

func (a API) listShortLinks(ctx context.Context, in *listShortLinksInput) (*api.Output[api.Slice[ShortLink]], error) {
	status, err := shortlinks.ParseStatus(in.Status)
	if err != nil {
		return nil, err
	}
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.ShortLinks.List(ctx, shortlinks.Filter{Status: status, Text: in.Text}, after, limit)
	return api.AnswerSlice(l, a.toShortLink(in.Caller), err)
}

// ShortLinkSettings are the optional settings of a short link.
type ShortLinkSettings struct {
	ExpiresAt api.Member[time.Time] `json:"expires_at,omitempty" example:"2027-04-24T12:00:00Z" doc:"Time of expiry, at most 100 years ahead. null: never"`
	MaxVisits api.Member[int64]     `json:"max_visits,omitempty" minimum:"1" maximum:"1000000000" example:"100" doc:"Visit limit. null removes it"`
	Title     api.Member[string]    `json:"title,omitempty" example:"Spring campaign" doc:"Title, at most 300 characters. null clears it"`
	Private   api.Member[bool]      `json:"private,omitempty" nullable:"false" doc:"true shows the short link to its owner and admins only, false to all accounts. Only its owner and admins can change it. It redirects all visitors either way"`
}

// expiry returns ExpiresAt: zero for never, nil if it was omitted.
func (s ShortLinkSettings) expiry() (*models.Time, error) {
	if !s.ExpiresAt.Given {
		return nil, nil //nolint:nilnil // nil means omitted
	}
	end := models.At(s.ExpiresAt.Value)
	if end.IsZero() && !s.ExpiresAt.Null { // year 1 is the zero time, but does not mean never
		return nil, models.Invalid("expires_at", "is in the past")
	}
	return &end, nil
}

type addShortLinkInput struct {
	Caller
	IdempotencyKey string `header:"Idempotency-Key" example:"8e03978e-40d5-43dd-bc93-6894a57f9324" doc:"Unique key of this request, 1 to 255 visible ASCII characters. Makes it safe to repeat"`
	Body           struct {
		LongURL    string             `json:"long_url" example:"https://example.com/spring?campaign=7" doc:"Destination, http or https, at most 2048 bytes"`
		ShortKey   api.Member[string] `json:"short_key,omitempty" pattern:"^[0-9A-Za-z_-]{4,64}$" patternDescription:"4 to 64 characters: a-z, A-Z, digits, _ and -" example:"spring-27" doc:"Short key: 4 to 64 letters a-z and A-Z, digits, _ and -. Some words are reserved. Generated, with 7 characters, if null or omitted"`
		TTLSeconds api.Member[int64]  `json:"ttl_seconds,omitempty" minimum:"1" maximum:"3153600000" example:"86400" doc:"Time until it expires, instead of expires_at"`
		ShortLinkSettings
	}
}

type addShortLinkOutput struct {
	Status   int
	Location string `header:"Location" doc:"Path of the short link in this API"`
	Body     ShortLink
}

func (a API) addShortLink(ctx context.Context, in *addShortLinkInput) (*addShortLinkOutput, error) {
	if in.Body.Private.Null {
		return nil, errPrivate
	}
	end, err := in.Body.expiry()
	if err != nil {
		return nil, err
	}
	n := shortlinks.New{
		LongURL: in.Body.LongURL, Key: in.Body.ShortKey.Value, TTL: time.Duration(in.Body.TTLSeconds.Value) * time.Second,
		MaxVisits: in.Body.MaxVisits.Value, Title: in.Body.Title.Value, IdempotencyKey: in.IdempotencyKey,
		Private: in.Body.Private.Value,
	}
	if end != nil {
		n.ExpiresAt = *end
	}
	l, created, err := a.ShortLinks.Add(ctx, n)
	if err != nil {
		return nil, err
	}
	out := &addShortLinkOutput{Status: http.StatusOK, Location: "/v1/shortlinks/" + l.Key, Body: a.toShortLink(in.Caller)(l)}
	if created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

type shortLinkInput struct {
	Caller
	ShortLinkPath
}

func (a API) getShortLink(ctx context.Context, in *shortLinkInput) (*api.Output[ShortLink], error) {
	l, err := a.ShortLinks.Get(ctx, in.Key)
	return api.Answer(a.toShortLink(in.Caller)(l), err)
}

var errPrivate = models.Invalid("private", "must be true or false")

type editShortLinkInput struct {
	Caller
	ShortLinkPath
	Body struct {
		LongURL api.Member[string] `json:"long_url,omitempty" nullable:"false" example:"https://example.com/summer" doc:"Destination, http or https, at most 2048 bytes"`
		ShortLinkSettings
		Disabled api.Member[bool] `json:"disabled,omitempty" nullable:"false" doc:"true disables the short link: visitors get 410. false enables it"`
	}
}

func (a API) editShortLink(ctx context.Context, in *editShortLinkInput) (*api.Output[ShortLink], error) {
	switch {
	case in.Body.LongURL.Null:
		return nil, models.Invalid("long_url", "must be a URL such as https://example.com/page")
	case in.Body.Disabled.Null:
		return nil, models.Invalid("disabled", "must be true or false")
	case in.Body.Private.Null:
		return nil, errPrivate
	}
	end, err := in.Body.expiry()
	if err != nil {
		return nil, err
	}
	l, err := a.ShortLinks.Edit(ctx, in.Key, shortlinks.Edit{
		LongURL: in.Body.LongURL.Pointer(), ExpiresAt: end, MaxVisits: in.Body.MaxVisits.Pointer(),
		Title: in.Body.Title.Pointer(), Disabled: in.Body.Disabled.Pointer(),
		Private: in.Body.Private.Pointer(),
	})
	return api.Answer(a.toShortLink(in.Caller)(l), err)
}

func (a API) deleteShortLink(ctx context.Context, in *ShortLinkPath) (*struct{}, error) {
	return nil, a.ShortLinks.Delete(ctx, in.Key)
}

func (a API) restoreShortLink(ctx context.Context, in *shortLinkInput) (*api.Output[ShortLink], error) {
	l, err := a.ShortLinks.Restore(ctx, in.Key)
	return api.Answer(a.toShortLink(in.Caller)(l), err)
}

const svgMedia = "image/svg+xml"

type pictureOutput struct {
	ContentType string `header:"Content-Type" doc:"Always image/svg+xml"`
	Body        []byte
}

func (a API) shortLinkQR(ctx context.Context, in *shortLinkInput) (*pictureOutput, error) {
	l, err := a.ShortLinks.Get(ctx, in.Key)
	if err != nil {
		return nil, err
	}
	base := middleware.Base(a.PublicURL, in.request)
	svg, err := qr.SVG(cmp.Or(shortHostURL(a.ShortHost, base, l.Key), shortURL(base, l.Key)))
	if err != nil {
		return nil, err
	}
	return &pictureOutput{ContentType: svgMedia, Body: svg}, nil
}
