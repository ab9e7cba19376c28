package sites

import (
	"bytes"
	"context"

	"github.com/danielgtaylor/huma/v2"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
)

// maxKeyFile is the maximum size of a key file in bytes. Google's have about 2,400.
const maxKeyFile = 64 << 10

func (a API) registerCredentials(r *api.API) {
	api.Register(r, api.Operation(groupWebsites, middleware.Editor, "PUT", "/v1/websites/{id}/credentials", "set-website-credentials", "Set the Google credentials",
		"The body is the JSON key file of a Google service account, at most 64 KiB. It is stored encrypted and never returned. "+
			"Requests to Google start immediately.", models.CodeNotFound), a.setCredentials)
	api.Register(r, api.Operation(groupWebsites, middleware.Editor, "DELETE", "/v1/websites/{id}/credentials", "delete-website-credentials", "Remove the Google credentials",
		"Linkwatch no longer submits the website to Google or verifies its pages.", models.CodeNotFound), a.deleteCredentials)
	api.Register(r, api.Operation(groupWebsites, middleware.Editor, "POST", "/v1/websites/{id}/credentials/test", "test-website-credentials", "Test the Google credentials",
		"Sends test requests to Google. Each check says what is wrong and how to fix it. 409 if there are no credentials or they cannot be decrypted.",
		models.CodeNotFound, models.CodeConflict), a.testCredentials)
	api.Register(r, api.Operation(groupWebsites, middleware.Editor, "POST", "/v1/websites/{id}/indexnow", "make-website-indexnow-key", "Generate an IndexNow key",
		"Replaces the current key. Upload a text file with the key to key_url, then check it.", models.CodeNotFound), a.makeKey)
	api.Register(r, api.Operation(groupWebsites, middleware.Editor, "POST", "/v1/websites/{id}/indexnow/check", "check-website-indexnow-key", "Check the IndexNow key file",
		"Fetches key_url. If the key is not there, verified_at is null and last_error has the reason. 409 if there is no key.", models.CodeNotFound, models.CodeConflict), a.checkKey)
}

type accountKey struct{ json []byte }

// UnmarshalJSON implements json.Unmarshaler.
func (k *accountKey) UnmarshalJSON(b []byte) error {
	k.json = bytes.Clone(b)
	return nil
}

// Schema implements huma.SchemaProvider. Google may add members.
func (accountKey) Schema(huma.Registry) *huma.Schema {
	text := func(description string, example any) *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Description: description, Examples: []any{example}}
	}
	return &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: true, Description: "Key file of a service account",
		Properties: map[string]*huma.Schema{
			"type":         text("Type of the key file", "service_account"),
			"project_id":   text("ID of the Google Cloud project", "project"),
			"client_email": text("Email address of the service account", "robot@project.iam.gserviceaccount.com"),
			"private_key":  text("RSA private key in PEM format", "-----BEGIN PRIVATE KEY-----"),
		},
	}
}

type setCredentialsInput struct {
	WebsitePath
	Body accountKey
}

func (a API) setCredentials(ctx context.Context, in *setCredentialsInput) (*api.Output[Website], error) {
	if _, err := a.Sites.Get(ctx, in.ID); err != nil {
		return nil, err
	}
	key := in.Body.json
	if len(key) > maxKeyFile {
		return nil, models.Invalid("credentials", "must be at most 64 KiB")
	}
	account, err := a.Services.Account(key)
	if err != nil {
		return nil, err
	}
	w, err := a.Sites.SetCredentials(ctx, in.ID, key, account)
	return a.answerWebsite(ctx, w, err)
}

func (a API) deleteCredentials(ctx context.Context, in *WebsitePath) (*struct{}, error) {
	_, err := a.Sites.RemoveCredentials(ctx, in.ID)
	return nil, err
}

// AccessTest is the result of a credentials test in the API.
type AccessTest struct {
	Checks []AccessCheck `json:"checks" nullable:"false" doc:"Checks, in order"`
}

// AccessCheck is one check of a credentials test in the API.
type AccessCheck struct {
	Name string  `json:"name" example:"Search Console" doc:"What was checked"`
	OK   bool    `json:"ok" example:"true" doc:"Whether the check succeeded"`
	Text string  `json:"text" doc:"Result of the check"`
	Fix  *string `json:"fix" doc:"How to fix the problem. null if there is none"`
}

func toCheck(c views.Check) AccessCheck {
	return AccessCheck{Name: c.Name, OK: c.OK, Text: c.Text, Fix: api.OrNull(c.Fix)}
}

func (a API) testCredentials(ctx context.Context, in *WebsitePath) (*api.Output[AccessTest], error) {
	w, err := a.Sites.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if _, err := a.Sites.Key(w); err != nil {
		return nil, err
	}
	checks, err := a.Services.Test(ctx, w)
	return api.Answer(AccessTest{api.All(checks, toCheck)}, err)
}

func (a API) makeKey(ctx context.Context, in *WebsitePath) (*api.Output[Website], error) {
	if _, err := a.Sites.Get(ctx, in.ID); err != nil {
		return nil, err
	}
	key := a.Services.NewKey()
	w, err := a.Sites.Edit(ctx, in.ID, sites.Edit{IndexNowKey: &key})
	return a.answerWebsite(ctx, w, err)
}

func (a API) checkKey(ctx context.Context, in *WebsitePath) (*api.Output[Website], error) {
	w, err := a.Sites.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if !w.UsesIndexNow() {
		return nil, models.Conflict("The website has no IndexNow key. Generate one first.")
	}
	problem, err := a.Services.CheckKey(ctx, w)
	if err == nil {
		err = a.Sites.KeyChecked(ctx, w, problem)
	}
	if err != nil {
		return nil, err
	}
	return a.getWebsite(ctx, in)
}
