package accounts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
	"github.com/trustelem/zxcvbn/frequency"
	"golang.org/x/time/rate"

	"linkwatch/models"
)

// The limits of passwords. The least length and the list of common passwords are those of
// NIST SP 800-63B (5.1.1.2); there are no rules about kinds of characters.
const (
	MinPassword = 8   // characters
	MaxPassword = 256 // bytes
)

// hashing are the parameters of argon2id: the first that OWASP recommends for servers of
// little memory. A hash takes about 20 ms.
var hashing = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// The budget of hashing on this instance: one hash at a time, hashesPerSecond of them on
// average. It takes about a tenth of one core, whatever is sent.
const (
	hashesPerSecond = 5
	hashBurst       = 10
	hashPatience    = 2 * time.Second // how long a login waits for its turn
)

// hasher bounds the cost of hashing passwords. It is safe for concurrent use.
type hasher struct {
	turn   chan struct{}
	budget *rate.Limiter
}

func newHasher() *hasher {
	return &hasher{turn: make(chan struct{}, 1), budget: rate.NewLimiter(hashesPerSecond, hashBurst)}
}

// noPassword is the hash of a random text that was thrown away, to compare with where an
// account has no password.
const noPassword = "$argon2id$v=19$m=19456,t=2,p=1$xs7ZST1UtZleMWb8DLXOsA$C3hjWq1bGgz5HSosr7v7SFQpH/Pde2RvsmS21h6asDs" //nolint:gosec // it is the hash of nothing that anybody knows

// errBusy is the error of a login that found no turn.
func errBusy() error {
	return &models.Error{Code: models.CodeUnavailable, Detail: "Too many logins at the moment. Try again in a few seconds.", RetryAfter: hashPatience}
}

// do runs a hash when it is its turn.
func (h *hasher) do(ctx context.Context, hash func() error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, hashPatience, errBusy())
	defer cancel()
	if err := h.budget.Wait(ctx); err != nil { // it fails at once if the turn would come too late
		return errBusy()
	}
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return errBusy()
	}
	defer func() { <-h.turn }()
	return hash()
}

// matches compares a password with a stored hash; "" is the hash of an account without a
// password, which takes the same time.
func (h *hasher) matches(ctx context.Context, password, stored string) (ok bool, err error) {
	against := stored
	if against == "" {
		against = noPassword
	}
	err = h.do(ctx, func() (err error) {
		ok, err = argon2id.ComparePasswordAndHash(password, against)
		return err
	})
	if errors.Is(err, argon2id.ErrInvalidHash) || errors.Is(err, argon2id.ErrIncompatibleVariant) || errors.Is(err, argon2id.ErrIncompatibleVersion) {
		return false, fmt.Errorf("the stored password hash of an account cannot be read: %w", err)
	}
	return ok && stored != "", err
}

// hash is the stored form of a new password.
func (h *hasher) hash(ctx context.Context, password string) (stored string, err error) {
	err = h.do(ctx, func() (err error) {
		stored, err = argon2id.CreateHash(password, hashing)
		return err
	})
	return stored, err
}

// common are the passwords that are tried first, in lower case, of those that are long enough.
var common = func() map[string]bool {
	all := map[string]bool{}
	for _, p := range frequency.FrequencyLists["passwords"] {
		if len(p) >= MinPassword {
			all[p] = true
		}
	}
	return all
}()

// CheckPassword is CodeInvalid if a password is too short, too long, one of the most
// common ones, or the username.
func CheckPassword(password, username string) error {
	lower := strings.ToLower(password)
	switch {
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		return models.Invalid("password", "must be text in UTF-8")
	case models.Runes(password) < MinPassword:
		return models.Invalid("password", "must have at least %d characters", MinPassword)
	case len(password) > MaxPassword:
		return models.Invalid("password", "must have at most %d bytes", MaxPassword)
	case common[lower], lower == username, strings.Trim(lower, lower[:1]) == "":
		return models.Invalid("password", "is one of the most common passwords or the username. Choose another")
	}
	return nil
}
