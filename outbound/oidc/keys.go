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

// algorithms are those that an ID token may be signed with: a signature that only the provider can make. With HS256 each
// holder of the client's secret could sign, and "none" is no signature.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.PS256, jose.ES256, jose.EdDSA}

const (
	maxKeys    = 100
	minRSABits = 2048
	maxRSABits = 8192 // a longer key takes a CPU too long
)

// keys are the public keys of the provider that sign ID tokens.
type keys []jose.JSONWebKey

// fetchKeys fetches the keys from where the discovery document says they are.
func (p *Provider) fetchKeys(ctx context.Context) (keys, error) {
	m, err := p.discovery.get(ctx, nil)
	if err != nil {
		return nil, err
	}
	body, err := p.get(ctx, m.Keys, "")
	if err != nil {
		return nil, p.fail(ctx, requestKind(err), "keys", err)
	}
	k, err := readKeys(body)
	if err != nil {
		return nil, p.fail(ctx, KindUnavailable, "keys", err)
	}
	return k, nil
}

// readKeys reads a JSON Web Key Set. It leaves out keys that are for something else, weak, or not understood.
func readKeys(body []byte) (keys, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, errors.New("the key set is not valid JSON")
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("the key set has %d keys, more than %d", len(set.Keys), maxKeys)
	}
	var out keys
	for _, raw := range set.Keys {
		var k jose.JSONWebKey
		if err := json.Unmarshal(raw, &k); err != nil || !k.Valid() || !k.IsPublic() || k.Use != "" && k.Use != "sig" {
			continue
		}
		if r, ok := k.Key.(*rsa.PublicKey); ok && (r.N.BitLen() < minRSABits || r.N.BitLen() > maxRSABits) {
			continue
		}
		// What certificates say of the key does not count.
		k.Certificates, k.CertificatesURL, k.CertificateThumbprintSHA1, k.CertificateThumbprintSHA256 = nil, &url.URL{}, nil, nil
		out = append(out, k)
	}
	if len(out) == 0 {
		return nil, errors.New("the key set has no key that can be used")
	}
	return out, nil
}

// verify returns the payload if one of the keys signed it. A token that names a key is verified by this key alone.
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

// keySet verifies one token for the library, which loses what kind of error it was.
type keySet struct {
	p   *Provider
	err error // why there are no keys; nil if there are
}

// VerifySignature implements the KeySet of go-oidc. The keys are fetched again if none of them fits: the provider may have
// new ones.
func (s *keySet) VerifySignature(ctx context.Context, raw string) ([]byte, error) {
	token, err := jose.ParseSignedCompact(raw, algorithms)
	if err != nil || len(token.Signatures) != 1 {
		return nil, errors.New("the token is not signed as it should be")
	}
	var payload []byte
	fits := func(k keys) (ok bool) {
		payload, ok = k.verify(token)
		return ok
	}
	k, err := s.p.keys.get(ctx, fits)
	if err != nil {
		s.err = err
		return nil, err
	}
	if !fits(k) {
		return nil, errors.New("no key of the provider made the signature")
	}
	return payload, nil
}
