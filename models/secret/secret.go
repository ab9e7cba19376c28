// Package secret encrypts what is stored and must not be read from a copy of the
// database, such as credentials.
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

// ErrKey is the error of a value that was sealed with another key, that belongs to
// something else, or that was changed.
var ErrKey = errors.New("stored with another key")

const (
	// version is the first byte of a sealed value: AES-256-GCM with a nonce of 12 bytes
	// before the ciphertext.
	version = 1

	info     = "linkwatch stored secrets" // keeps the key apart from other uses of the same text
	signInfo = "linkwatch signatures"
	keyLen   = 32
)

// Box seals values and opens them, and signs texts, with keys that are made of one text. It
// is safe for concurrent use.
type Box struct {
	aead cipher.AEAD
	sign []byte
}

// FromText makes a box with a key that is derived from a text. The text must be hard to
// guess: 16 random bytes or more. It must not be empty.
func FromText(text string) (*Box, error) {
	if text == "" {
		return nil, errors.New("the text of a secret key is empty")
	}
	key, err := hkdf.Key(sha256.New, []byte(text), nil, info, keyLen)
	if err != nil {
		return nil, fmt.Errorf("deriving a key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("using a key: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("using a key: %w", err)
	}
	sign, err := hkdf.Key(sha256.New, []byte(text), nil, signInfo, keyLen)
	if err != nil {
		return nil, fmt.Errorf("deriving a key: %w", err)
	}
	return &Box{aead, sign}, nil
}

// Seal encrypts a value. of names what it belongs to, such as the id of a row: Open
// needs the same, so a sealed value cannot be moved to another row. The same value is
// sealed differently each time.
func (b *Box) Seal(plain []byte, of string) ([]byte, error) {
	return b.aead.Seal([]byte{version}, nil, plain, []byte(of)), nil //nolint:gosec // the first argument is not the nonce, which is random
}

// Open decrypts what Seal returned. The error is ErrKey.
func (b *Box) Open(sealed []byte, of string) ([]byte, error) {
	if len(sealed) == 0 || sealed[0] != version {
		return nil, ErrKey
	}
	plain, err := b.aead.Open(nil, nil, sealed[1:], []byte(of))
	if err != nil {
		return nil, ErrKey
	}
	return plain, nil
}

// Sign returns a signature of a text that can stand in a URL: HMAC-SHA-256 in Base64. Only a
// box of the same key makes the same one.
func (b *Box) Sign(text string) string {
	mac := hmac.New(sha256.New, b.sign)
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
