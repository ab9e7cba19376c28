package google

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"linkwatch/models"
)

// MaxCredentials is the maximum size of a key file in bytes.
const MaxCredentials = 64 << 10

const (
	maxField = 320     // bytes of an email address or ID
	maxKey   = 6 << 10 // bytes of a decoded key; 8,192 bits need 4.7 KiB
	howTo    = "Create a JSON key for a service account in Google Cloud: IAM & Admin > Service Accounts > Keys."
)

// Credentials are the parsed key of a service account.
type Credentials struct {
	ClientEmail  string
	ProjectID    string
	PrivateKeyID string // "" = not in the file
	key          []byte // PKCS #1
}

// Format implements fmt.Formatter. It never prints the private key.
func (c Credentials) Format(s fmt.State, _ rune) {
	_, _ = io.WriteString(s, "credentials of "+c.ClientEmail)
}

// keyFile is the JSON key file of a service account. Endpoints in the file are ignored.
type keyFile struct {
	Type           string          `json:"type"`
	ClientEmail    string          `json:"client_email"`
	ProjectID      string          `json:"project_id"`
	PrivateKeyID   string          `json:"private_key_id"`
	PrivateKey     string          `json:"private_key"`
	UniverseDomain string          `json:"universe_domain"`
	Installed      json.RawMessage `json:"installed"`
	Web            json.RawMessage `json:"web"`
}

// ParseCredentials parses a JSON key file. The error is CodeInvalid ("credentials") and never repeats the input.
func ParseCredentials(data []byte) (Credentials, error) {
	if len(data) > MaxCredentials {
		return Credentials{}, invalid("must have at most %d bytes. Paste the JSON key file of a service account.", MaxCredentials)
	}
	data = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(data), []byte("\ufeff")))
	if len(data) == 0 {
		return Credentials{}, invalid("must not be empty. Paste the JSON key file of a service account.")
	}
	if data[0] != '{' {
		return Credentials{}, notAnObject(data)
	}
	var f keyFile
	if err := json.Unmarshal(data, &f); err != nil {
		return Credentials{}, invalid("must be valid JSON. Paste the whole key file, from { to }.")
	}
	if err := f.checkType(); err != nil {
		return Credentials{}, err
	}
	if f.UniverseDomain != "" && f.UniverseDomain != "googleapis.com" {
		return Credentials{}, invalid("universe_domain must be googleapis.com. %s", howTo)
	}
	if !isEmail(f.ClientEmail) {
		return Credentials{}, invalid("has no valid client_email. Paste the whole key file of a service account.")
	}
	if !isIdentifier(f.ProjectID) {
		return Credentials{}, invalid("has no valid project_id. Paste the whole key file of a service account.")
	}
	if f.PrivateKeyID != "" && !isIdentifier(f.PrivateKeyID) {
		return Credentials{}, invalid("has no valid private_key_id. Paste the key file as downloaded from Google.")
	}
	key, err := parseKey(f.PrivateKey)
	if err != nil {
		return Credentials{}, err
	}
	return Credentials{f.ClientEmail, f.ProjectID, f.PrivateKeyID, key}, nil
}

func invalid(format string, args ...any) error {
	return models.Invalid("credentials", format, args...)
}

func notAnObject(data []byte) error {
	text := strings.Trim(string(data), `"'`)
	line := !strings.ContainsAny(text, "\r\n") && utf8.ValidString(text)
	switch {
	case strings.HasPrefix(text, "AIza") && line:
		return invalid("is an API key, not a service account. %s", howTo)
	case strings.HasPrefix(text, "-----BEGIN"):
		return invalid("is only a private key. Paste the whole JSON key file of the service account.")
	case line && (path.Ext(text) == ".json" || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") ||
		strings.HasPrefix(text, "./") || strings.HasPrefix(text, "file:") || strings.HasPrefix(text, `\\`) || len(text) > 2 && text[1:3] == `:\`):
		return invalid("is a path. Paste the content of the key file.")
	}
	return invalid("must be a JSON object. Paste the whole key file, from { to }.")
}

func (f keyFile) checkType() error {
	switch {
	case f.Type == "service_account":
		return nil
	case f.Installed != nil || f.Web != nil:
		return invalid("is an OAuth client, not a service account. %s", howTo)
	case f.Type == "authorized_user":
		return invalid("is a user login, not a service account. %s", howTo)
	case strings.HasPrefix(f.Type, "external_account"):
		return invalid("is a workload identity, not the key of a service account. %s", howTo)
	case f.Type == "impersonated_service_account":
		return invalid("impersonates a service account and has no private key. %s", howTo)
	case f.Type == "":
		return invalid("has no type. Paste the whole key file of a service account. %s", howTo)
	}
	return invalid("type must be service_account. %s", howTo)
}

func isIdentifier(s string) bool { return isPrintable(s) && len(s) <= maxField }

// isPrintable reports whether s is not empty and is printable ASCII without spaces.
func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return s != ""
}

func isEmail(s string) bool {
	user, host, ok := strings.Cut(s, "@")
	return ok && user != "" && strings.Contains(host, ".") && !strings.ContainsAny(s, `<>"'&,;`) && isIdentifier(s)
}

// parseKey parses a PEM-encoded RSA key and returns it as PKCS #1.
func parseKey(text string) ([]byte, error) {
	if strings.TrimSpace(text) == "" {
		return nil, invalid("has no private_key. Paste the whole key file of a service account.")
	}
	// Accept line breaks that were escaped twice, as by a shell or an .env file.
	block, _ := pem.Decode([]byte(strings.ReplaceAll(text, `\n`, "\n")))
	if block == nil {
		return nil, invalid("private_key must be a PEM key. Paste the key file as downloaded from Google.")
	}
	if len(block.Bytes) > maxKey {
		return nil, invalid("private_key must have at most 8192 bits. %s", howTo)
	}
	const wrong = "private_key must be an RSA key. %s"
	var parsed any
	var err error
	switch block.Type {
	case "PRIVATE KEY":
		parsed, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		parsed, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "ENCRYPTED PRIVATE KEY":
		return nil, invalid("private_key must not be encrypted. %s", howTo)
	default:
		return nil, invalid(wrong, howTo)
	}
	if err != nil {
		return nil, invalid("private_key is damaged. Paste the key file as downloaded from Google.")
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return nil, invalid(wrong, howTo)
	}
	if key.N.BitLen() < 2048 {
		return nil, invalid("private_key must have at least 2048 bits. %s", howTo)
	}
	return x509.MarshalPKCS1PrivateKey(key), nil
}
