package oidc

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/go-jose/go-jose/v4"
)

// algorithms lists the accepted signature algorithms of ID tokens. Only the provider can sign with them. HS256 is excluded,
// because everyone with the client secret can sign, and "none" is not a signature.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.PS256, jose.ES256, jose.EdDSA}

const (
	maxKeys    = 100
	minRSABits = 2048
	maxRSABits = 8192 // longer keys need too much CPU
)

// keys holds the public keys that verify ID tokens of the provider.
type keys []jose.JSONWebKey

// fetchKeys fetches the keys from the jwks_uri of the discovery document.
func (p *Provider) fetchKeys(ctx context.Context) (keys, error) {
	m, err := p.discovery.get(ctx, nil)
	if err != nil {
		return nil, err
	}
	body, err := p.get(ctx, m.Keys, "")
	if err != nil {
		return nil, p.fail(ctx, requestKind(err), "keys", err)
	}
	k, err := parseKeys(body)
	if err != nil {
		return nil, p.fail(ctx, KindUnavailable, "keys", err)
	}
	return k, nil
}

// parseKeys parses a JSON Web Key Set. It skips keys for other uses, weak keys and unsupported keys.
func parseKeys(body []byte) (keys, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, errors.New("key set is not valid JSON")
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("key set has %d keys, more than %d", len(set.Keys), maxKeys)
	}
	var valid keys
	for _, raw := range set.Keys {
		var k jose.JSONWebKey
		if err := json.Unmarshal(raw, &k); err != nil || !k.Valid() || !k.IsPublic() || k.Use != "" && k.Use != "sig" {
			continue
		}
		if r, ok := k.Key.(*rsa.PublicKey); ok && (r.N.BitLen() < minRSABits || r.N.BitLen() > maxRSABits) {
			continue
		}
		// Certificates are not checked.
		k.Certificates, k.CertificatesURL, k.CertificateThumbprintSHA1, k.CertificateThumbprintSHA256 = nil, &url.URL{}, nil, nil
		valid = append(valid, k)
	}
	if len(valid) == 0 {
		return nil, errors.New("key set has no usable key")
	}
	return valid, nil
}

// verify returns the payload if one of the keys signed it. If the token has a key ID, only the key with this ID counts.
func (k keys) verify(token *jose.JSONWebSignature) ([]byte, bool) {
	header := token.Signatures[0].Header
	for i := range k {
		if header.KeyID != "" && k[i].KeyID != header.KeyID || k[i].Algorithm != "" && k[i].Algorithm != header.Algorithm {
			continue
		}
		if payload, err := token.Verify(&k[i]); err == nil {
			return payload, true
		}
	}
	return nil, false
}

// keySet verifies one token for the library. It keeps the error of fetching the keys, because the library loses its type.
type keySet struct {
	p   *Provider
	err error // error of fetching the keys
}

// VerifySignature implements KeySet of go-oidc. If no key matches, it fetches the keys again, because the provider may have
// rotated them.
func (s *keySet) VerifySignature(ctx context.Context, raw string) ([]byte, error) {
	token, err := jose.ParseSignedCompact(raw, algorithms)
	if err != nil || len(token.Signatures) != 1 {
		return nil, errors.New("token has no supported signature")
	}
	var payload []byte
	matches := func(k keys) (ok bool) {
		payload, ok = k.verify(token)
		return ok
	}
	k, err := s.p.keys.get(ctx, matches)
	if err != nil {
		s.err = err
		return nil, err
	}
	if !matches(k) {
		return nil, errors.New("no key of the provider matches the signature")
	}
	return payload, nil
}
