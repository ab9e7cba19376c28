// Package secret encrypts credentials, so that a copy of the database does not reveal them.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
)

// ErrKey is the error of a value that was sealed with another key or for another owner, or that was changed.
var ErrKey = errors.New("encrypted with another key")

const (
	// version is the first byte of a sealed value. Version 1 is AES-256-GCM, with the 12-byte nonce before the ciphertext.
	version = 1

	info     = "linkwatch stored secrets" // HKDF info: separates the keys that are derived from one text
	signInfo = "linkwatch signatures"
	keyLen   = 32
)

// Box encrypts and decrypts values and signs texts, with keys derived from one text. It is safe for concurrent use.
type Box struct {
	aead cipher.AEAD
	sign []byte
}

// FromText returns a Box with keys derived from a text. The text must not be empty and should contain at least 16 random
// bytes.
func FromText(text string) (*Box, error) {
	if text == "" {
		return nil, errors.New("secret key is empty")
	}
	key, err := hkdf.Key(sha256.New, []byte(text), nil, info, keyLen)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("create cipher: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("create cipher: %w", err)
	}
	sign, err := hkdf.Key(sha256.New, []byte(text), nil, signInfo, keyLen)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	return &Box{aead, sign}, nil
}

// Seal encrypts a value. owner identifies what the value belongs to, such as the ID of a row. Open requires the same
// owner, so a sealed value cannot be moved to another row. Sealing the same value again returns different bytes.
func (b *Box) Seal(plain []byte, owner string) ([]byte, error) {
	return b.aead.Seal([]byte{version}, nil, plain, []byte(owner)), nil //nolint:gosec // the first argument is the destination; the nonce is random
}

// Open decrypts a value that Seal returned for the same owner. The error is ErrKey.
func (b *Box) Open(sealed []byte, owner string) ([]byte, error) {
	if len(sealed) == 0 || sealed[0] != version {
		return nil, ErrKey
	}
	plain, err := b.aead.Open(nil, nil, sealed[1:], []byte(owner))
	if err != nil {
		return nil, ErrKey
	}
	return plain, nil
}

// Sign returns the HMAC-SHA-256 of a text, in unpadded URL-safe base64.
func (b *Box) Sign(text string) string {
	mac := hmac.New(sha256.New, b.sign)
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
