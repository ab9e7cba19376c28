package standin

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"sync"
)

// The service account of the fake services.
const (
	ClientEmail = "robot@linkwatch-test.iam.gserviceaccount.com"
	ProjectID   = "linkwatch-test"
)

// key is generated once, since that is slow.
var key = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

// Credentials returns the JSON key file of the service account. Its token_uri does not exist.
func Credentials() []byte {
	der, err := x509.MarshalPKCS8PrivateKey(key())
	if err != nil {
		panic(err)
	}
	return CredentialsWith(ClientEmail, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
}

// CredentialsWith returns a key file with another account or key.
func CredentialsWith(email, privateKey string) []byte {
	b, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": ProjectID, "private_key_id": "0123456789abcdef", "private_key": privateKey,
		"client_email": email, "client_id": "123456789", "universe_domain": "googleapis.com",
		"auth_uri": "https://accounts.google.com/o/oauth2/auth", "token_uri": "https://token.invalid/token",
	})
	if err != nil {
		panic(err)
	}
	return b
}
