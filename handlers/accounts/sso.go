package accounts

import "context"

// SSO is an identity provider (OpenID Connect).
type SSO interface {
	// Begin returns the URL at which the user signs in, and what Finish needs.
	Begin(ctx context.Context, redirectURL string) (url string, state SSOState, err error)
	// Finish exchanges the code that the provider sent with the user for who that is.
	Finish(ctx context.Context, state SSOState, query map[string][]string, redirectURL string) (Identity, error)
}

// SSOState is kept by the browser while the user signs in elsewhere.
type SSOState struct{ State, Nonce, Verifier string }

// Identity is who an identity provider says that somebody is, with the role by the settings.
type Identity struct {
	Issuer, Subject, Username string
	Role                      string
}
