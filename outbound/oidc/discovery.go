package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// metadata holds the fields of the discovery document that this package uses.
type metadata struct {
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Keys          string   `json:"jwks_uri"`
	UserInfo      string   `json:"userinfo_endpoint"` // "" = none
	Methods       []string `json:"token_endpoint_auth_methods_supported"`
	EndSession    string   `json:"end_session_endpoint"`                           // "" = none (RP-Initiated Logout 1.0)
	SendsIssuer   bool     `json:"authorization_response_iss_parameter_supported"` // RFC 9207
}

// discover fetches the discovery document. The library checks that its issuer is Options.Issuer.
func (p *Provider) discover(ctx context.Context) (metadata, error) {
	found, err := gooidc.NewProvider(p.clientContext(ctx), p.opts.Issuer)
	if err != nil {
		return metadata{}, p.fail(ctx, discoveryKind(err), "discovery", err)
	}
	var m metadata
	if err := found.Claims(&m); err != nil {
		return metadata{}, p.fail(ctx, KindSettings, "discovery", err)
	}
	if err := m.check(p.opts.Issuer); err != nil {
		return metadata{}, p.fail(ctx, KindSettings, "discovery", err)
	}
	return m, nil
}

// discoveryKind returns the kind of an error of NewProvider. If another document is at the URL, or none, the issuer is
// wrong. The library has no types for these errors: one starts with the status line.
func discoveryKind(err error) Kind {
	status, _, _ := strings.Cut(err.Error(), " ")
	code, _ := strconv.Atoi(status)
	_, mismatch := errors.AsType[*gooidc.IssuerMismatchError](err)
	passes := code == http.StatusRequestTimeout || code == http.StatusTooManyRequests
	if mismatch || code >= 400 && code < 500 && !passes || strings.Contains(err.Error(), "failed to decode provider") {
		return KindSettings
	}
	return requestKind(err)
}

// check returns an error for endpoints that are not https URLs. If the issuer is an http URL, http on this machine is
// allowed too. An invalid end_session_endpoint counts as none, because signing in does not need it.
func (m *metadata) check(issuer string) error {
	if !validEndpoint(m.EndSession, issuer) {
		m.EndSession = ""
	}
	for name, endpoint := range map[string]string{
		"authorization_endpoint": m.Authorization, "token_endpoint": m.Token, "jwks_uri": m.Keys, "userinfo_endpoint": m.UserInfo,
	} {
		if endpoint == "" && name == "userinfo_endpoint" {
			continue
		}
		if !validEndpoint(endpoint, issuer) {
			return fmt.Errorf("%s is missing or not an https:// URL", name)
		}
	}
	return nil
}

func validEndpoint(endpoint, issuer string) bool {
	u, err := url.Parse(endpoint)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && strings.HasPrefix(issuer, "http://") && isLoopback(u.Hostname())
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}

// endpoint returns the endpoints and how the client authenticates: with HTTP Basic, or in the body if the provider supports
// only that. Otherwise oauth2 would try both, but a code can be used only once.
func (m metadata) endpoint(secret string) oauth2.Endpoint {
	authStyle := oauth2.AuthStyleInHeader
	inBody := slices.Contains(m.Methods, "client_secret_post") && !slices.Contains(m.Methods, "client_secret_basic")
	if secret == "" || inBody {
		authStyle = oauth2.AuthStyleInParams
	}
	return oauth2.Endpoint{AuthURL: m.Authorization, TokenURL: m.Token, AuthStyle: authStyle}
}
