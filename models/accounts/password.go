package accounts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
	"github.com/trustelem/zxcvbn/frequency"
	"golang.org/x/time/rate"

	"linkwatch/models"
)

// Limits of passwords. The minimum length and the check for common passwords follow NIST SP 800-63B, 5.1.1.2. There are
// no rules about character classes.
const (
	MinPassword = 8   // characters
	MaxPassword = 256 // bytes
)

// argonParams are the argon2id parameters that OWASP recommends for servers with little memory. A hash takes about 20 ms.
var argonParams = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// Budget for password hashes on this instance: one at a time, and hashesPerSecond on average. It limits hashing to about
// a tenth of one core, however many logins arrive.
const (
	hashesPerSecond = 5
	hashBurst       = 10
	hashTimeout     = 2 * time.Second // how long a login waits to be hashed
)

// hasher limits the cost of password hashing. It is safe for concurrent use.
type hasher struct {
	slot   chan struct{} // holds a value while a hash is computed
	budget *rate.Limiter
}

func newHasher() *hasher {
	return &hasher{slot: make(chan struct{}, 1), budget: rate.NewLimiter(hashesPerSecond, hashBurst)}
}

// dummyHash is the hash of a discarded random password. Logins to accounts without a password are compared with it.
const dummyHash = "$argon2id$v=19$m=19456,t=2,p=1$xs7ZST1UtZleMWb8DLXOsA$C3hjWq1bGgz5HSosr7v7SFQpH/Pde2RvsmS21h6asDs" // not a credential: the password is unknown

// errBusy is the error of a login that exceeds the hashing budget.
func errBusy() error {
	return &models.Error{Code: models.CodeUnavailable, Detail: "Too many logins. Try again in a few seconds.", RetryAfter: hashTimeout}
}

// run calls hash within the budget, or returns errBusy.
func (h *hasher) run(ctx context.Context, hash func() error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, hashTimeout, errBusy())
	defer cancel()
	if err := h.budget.Wait(ctx); err != nil { // fails at once if the wait would exceed hashTimeout
		return errBusy()
	}
	select {
	case h.slot <- struct{}{}:
	case <-ctx.Done():
		return errBusy()
	}
	defer func() { <-h.slot }()
	return hash()
}

// matches compares a password with a stored hash. An empty hash never matches. It is compared with dummyHash, so that
// the time does not reveal that the account has no password.
func (h *hasher) matches(ctx context.Context, password, stored string) (ok bool, err error) {
	reference := stored
	if reference == "" {
		reference = dummyHash
	}
	err = h.run(ctx, func() (err error) {
		ok, err = argon2id.ComparePasswordAndHash(password, reference)
		return err
	})
	if errors.Is(err, argon2id.ErrInvalidHash) || errors.Is(err, argon2id.ErrIncompatibleVariant) || errors.Is(err, argon2id.ErrIncompatibleVersion) {
		return false, fmt.Errorf("parse stored password hash: %w", err)
	}
	return ok && stored != "", err
}

func (h *hasher) hash(ctx context.Context, password string) (stored string, err error) {
	err = h.run(ctx, func() (err error) {
		stored, err = argon2id.CreateHash(password, argonParams)
		return err
	})
	return stored, err
}

// commonPasswords holds the most common passwords of at least MinPassword characters, in lower case.
var commonPasswords = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, p := range frequency.FrequencyLists["passwords"] {
		if len(p) >= MinPassword {
			all[p] = true
		}
	}
	return all
})

// CheckPassword returns CodeInvalid if a password is too short, too long, one of the most common passwords, one repeated
// character, or the username.
func CheckPassword(password, username string) error {
	lower := strings.ToLower(password)
	switch {
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		return models.Invalid("password", "must be valid UTF-8")
	case models.Runes(password) < MinPassword:
		return models.Invalid("password", "must have at least %d characters", MinPassword)
	case len(password) > MaxPassword:
		return models.TooLong("password", MaxPassword, "bytes")
	case commonPasswords()[lower], lower == username, strings.Trim(lower, lower[:1]) == "":
		return models.Invalid("password", "is too easy to guess: it is the username or one of the most common passwords. Choose another one")
	}
	return nil
}
