package shortlinks

import (
	"crypto/rand"
	"strings"

	"linkwatch/models"
)

const (
	keyAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-"
	// generatedAlphabet has no characters that look or sound alike (0 O o, 1 l I i).
	generatedAlphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz"
	generatedLength   = 7 // 1.5 · 10¹² keys
)

// reserved are keys that no short link can have. They are paths that browsers and robots
// request on their own, paths that the program may serve later, and names that look
// official. Store.Reserve adds the paths that the program serves. Case does not matter.
var reserved = map[string]bool{}

func init() {
	for word := range strings.FieldsSeq(`
		about account accounts admin administrator apidoc apple-touch-icon assets auth badge changes crawl dashboard demo
		favicon feed feeds health healthz help home imprint index legal link linkwatch links login logout mail metrics
		null openapi password postmaster preview privacy probs profile public random readyz register robots root search security
		settings short shorten shortlink shortlinks signin signup sitemap sitemaps sites static stats status support system
		tags terms test undefined user users verify watch webmaster well-known www`) {
		reserved[word] = true
	}
}

// inKeys holds the bytes of keyAlphabet. Every visit uses it.
var inKeys = func() (is [256]bool) {
	for i := range len(keyAlphabet) {
		is[keyAlphabet[i]] = true
	}
	return is
}()

// Reserve reserves words as keys, in any case: the first path segments of the program's
// own routes. Call it before the store is used.
func (s *Store) Reserve(words ...string) {
	for _, word := range words {
		s.own[strings.ToLower(word)] = true
	}
}

// Reserved reports whether a key is reserved.
func (s *Store) Reserved(key string) bool {
	key = strings.ToLower(key)
	return reserved[key] || s.own[key]
}

// IsKey reports whether s has the form of a key. Others are unknown without a query.
func IsKey(s string) bool {
	if len(s) < MinKey || len(s) > MaxKey {
		return false
	}
	for i := range len(s) {
		if !inKeys[s[i]] {
			return false
		}
	}
	return true
}

// checkKey validates a chosen key.
func (s *Store) checkKey(key string) error {
	if !IsKey(key) {
		return models.Invalid("short_key", "must be %d to %d characters: a-z, A-Z, digits, _ and -", MinKey, MaxKey)
	}
	if s.Reserved(key) {
		return models.Invalid("short_key", "is reserved. Choose another")
	}
	return nil
}

// generateKey returns a random key. Its characters are drawn uniformly from the system's
// random source, so it cannot be guessed.
func generateKey() string {
	const even = 256 / len(generatedAlphabet) * len(generatedAlphabet) // larger bytes would favor the first characters
	key := make([]byte, 0, generatedLength)
	var draw [2 * generatedLength]byte
	for {
		_, _ = rand.Read(draw[:]) // never fails: it crashes the program instead
		for _, b := range draw {
			if int(b) >= even {
				continue
			}
			if key = append(key, generatedAlphabet[int(b)%len(generatedAlphabet)]); len(key) == generatedLength {
				return string(key)
			}
		}
	}
}
