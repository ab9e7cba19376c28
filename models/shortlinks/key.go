package shortlinks

import (
	"crypto/rand"
	"strings"

	"linkwatch/models"
)

const (
	keySigns = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-"
	// madeSigns are the characters of generated keys. None of them is mistaken for
	// another on paper or on the phone (0 O o, 1 l I i).
	madeSigns = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz"
	madeKey   = 7 // characters: 1.5 · 10¹² keys
)

// reserved are keys that no short link gets: paths that browsers and robots request
// by themselves, paths that the program may serve one day, and names by which a
// stranger would seem to speak for the operator. Store.Reserve adds the paths that
// the program serves. Letter case does not count.
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

// Reserve makes words reserved as keys, in any letter case: the first parts of the
// program's own paths. It must be called before the store is used.
func (s *Store) Reserve(words ...string) {
	for _, word := range words {
		s.own[strings.ToLower(word)] = true
	}
}

// Reserved reports whether no short link may have a key.
func (s *Store) Reserved(key string) bool {
	key = strings.ToLower(key)
	return reserved[key] || s.own[key]
}

// IsKey reports whether a text could be a key. All others are unknown without a query.
func IsKey(s string) bool {
	return len(s) >= MinKey && len(s) <= MaxKey && strings.Trim(s, keySigns) == ""
}

// checkKey returns why a key cannot be chosen.
func (s *Store) checkKey(key string) error {
	if !IsKey(key) {
		return models.Invalid("short_key", "must be %d to %d of the letters a-z and A-Z, digits, _ and -", MinKey, MaxKey)
	}
	if s.Reserved(key) {
		return models.Invalid("short_key", "is reserved; choose another one")
	}
	return nil
}

// makeKey generates a key that cannot be guessed: its characters are drawn evenly
// from the system's source of randomness.
func makeKey() string {
	const even = 256 / len(madeSigns) * len(madeSigns) // a byte from here on would prefer the first characters
	key := make([]byte, 0, madeKey)
	var draw [2 * madeKey]byte
	for {
		_, _ = rand.Read(draw[:]) // never fails: it ends the program instead
		for _, b := range draw {
			if int(b) >= even {
				continue
			}
			if key = append(key, madeSigns[int(b)%len(madeSigns)]); len(key) == madeKey {
				return string(key)
			}
		}
	}
}
