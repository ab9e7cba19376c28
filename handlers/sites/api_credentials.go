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

// maxAccount is how many bytes the key of a service account may have. One of Google has
// about 2,400.
const maxAccount = 64 << 10

func (a API) registerCredentials(r *api.API) {
	api.Register(r, api.Operation(groupWebsites, middleware.Editor, "PUT", "/v1/websites/{id}/credentials", "set-website-credentials", "Set the Google credentials",
		"The body is the JSON key file of a service account, as Google Cloud makes it, at most 64 KiB. It is stored encrypted and never returned. "+
			"Requests to Google begin at once.", models.CodeNotFound), a.setCredentials)
	api.Register(r, api.Operation(groupWebsites, middleware.Editor, "DELETE", "/v1/websites/{id}/credentials", "delete-website-credentials", "Remove the Google credentials",
		"Nothing is submitted to Google or verified after that.", models.CodeNotFound), a.deleteCredentials)
	api.Register(r, api.Operation(groupWebsites, middleware.Editor, "POST", "/v1/websites/{id}/credentials/test", "test-website-credentials", "Test the Google credentials",
		"Asks Google now, and says of each part what is wrong and how to fix it. 409 without credentials, or if they cannot be decrypted.",
		models.CodeNotFound, models.CodeConflict), a.testCredentials)
	api.Register(r, api.Operation(groupWebsites, middleware.Editor, "POST", "/v1/websites/{id}/indexnow", "make-website-indexnow-key", "Make an IndexNow key",
		"It replaces the key that there is. Put a text file with the key at key_url, then check it.", models.CodeNotFound), a.makeKey)
	api.Register(r, api.Operation(groupWebsites, middleware.Editor, "POST", "/v1/websites/{id}/indexnow/check", "check-website-indexnow-key", "Check the IndexNow key file",
		"Fetches key_url now. verified_at is null if the key is not there, and last_error says why. 409 without a key.", models.CodeNotFound, models.CodeConflict), a.checkKey)
}

// accountKey is the key file of a service account, as it was sent.
type accountKey struct{ json []byte }

// UnmarshalJSON implements json.Unmarshaler.
func (k *accountKey) UnmarshalJSON(b []byte) error {
	k.json = bytes.Clone(b)
	return nil
}

// Schema describes it: Google may add members.
func (accountKey) Schema(huma.Registry) *huma.Schema {
	text := func(description string, example any) *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Description: description, Examples: []any{example}}
	}
	return &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: true, Description: "Key file of a service account",
		Properties: map[string]*huma.Schema{
			"type":         text("Kind of the key file", "service_account"),
			"project_id":   text("Id of the Google project", "project"),
			"client_email": text("E-mail address of the service account", "robot@project.iam.gserviceaccount.com"),
			"private_key":  text("RSA private key, PEM", "-----BEGIN PRIVATE KEY-----"),
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
	if len(key) > maxAccount {
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

// AccessTest is what a test of credentials found on the wire.
type AccessTest struct {
	Checks []AccessCheck `json:"checks" nullable:"false" doc:"Parts of the test, in their order"`
}

// AccessCheck is one part of a test of credentials on the wire.
type AccessCheck struct {
	Name string  `json:"name" example:"Search Console" doc:"What was asked"`
	OK   bool    `json:"ok" example:"true" doc:"Whether it works"`
	Text string  `json:"text" doc:"What happened"`
	Fix  *string `json:"fix" doc:"What to do. null if there is nothing to do"`
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
	if !w.IndexNow() {
		return nil, models.Conflict("The website has no IndexNow key. Make one first.")
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
