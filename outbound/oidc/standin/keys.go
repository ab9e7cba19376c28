package standin

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"sync"

	"github.com/go-jose/go-jose/v4"
)

// signingKey has one key per algorithm, all with the same ID.
type signingKey struct {
	id      string
	rsa     *rsa.PrivateKey
	ec      *ecdsa.PrivateKey
	ed25519 ed25519.PrivateKey
}

// firstKey is the initial key of all servers, because generating an RSA key is slow.
var firstKey = sync.OnceValue(newKey)

var otherKey = sync.OnceValue(newKey)

func newKey() signingKey {
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	must(err)
	e, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	_, d, err := ed25519.GenerateKey(rand.Reader)
	must(err)
	return signingKey{id: rand.Text(), rsa: r, ec: e, ed25519: d}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (k signingKey) private(algorithm string) crypto.Signer {
	switch algorithm {
	case "ES256":
		return k.ec
	case "EdDSA":
		return k.ed25519
	default:
		return k.rsa
	}
}

// public returns the key set. All keys have the same ID and differ by algorithm, as with some real providers.
func (k signingKey) public() []any {
	var all []any
	for _, alg := range []string{"RS256", "PS256", "ES256", "EdDSA"} {
		all = append(all, jose.JSONWebKey{Key: k.private(alg).Public(), KeyID: k.id, Algorithm: alg, Use: "sig"})
	}
	return all
}

func (k signingKey) sign(algorithm, id string, payload []byte) string {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(algorithm), Key: k.private(algorithm)},
		(&jose.SignerOptions{}).WithType("JWT").WithHeader("kid", id))
	must(err)
	token, err := signer.Sign(payload)
	must(err)
	raw, err := token.CompactSerialize()
	must(err)
	return raw
}

// unsafeToken returns a token without a signature, or with an HMAC if key is not nil.
func unsafeToken(algorithm, id string, payload, key []byte) string {
	header, err := json.Marshal(map[string]string{"alg": algorithm, "typ": "JWT", "kid": id})
	must(err)
	raw := base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(payload)
	if key == nil {
		return raw + "."
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(raw))
	return raw + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (k signingKey) publicBytes() []byte {
	der, err := x509.MarshalPKIXPublicKey(k.rsa.Public())
	must(err)
	return der
}

var weakKey = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 1024) // must be rejected
	must(err)
	return k
})

// badKeys returns keys that the client must not use.
func badKeys(id string) []any {
	return []any{
		jose.JSONWebKey{Key: firstKey().rsa, KeyID: id, Use: "sig"},               // a private key
		jose.JSONWebKey{Key: firstKey().rsa.Public(), KeyID: id, Use: "enc"},      // for encryption
		jose.JSONWebKey{Key: weakKey().Public(), KeyID: id, Use: "sig"},           // too short
		jose.JSONWebKey{Key: []byte(ClientSecret), KeyID: id, Algorithm: "HS256"}, // a symmetric key
		map[string]string{"kty": "OKP", "crv": "Ed448", "kid": id, "x": "AAAA"},
		map[string]string{"kty": "soup"},
		"not a key",
	}
}
