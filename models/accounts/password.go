package accounts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
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

// Budgets for password hashes on this instance. Each computes one hash at a time, and hashesPerSecond on average. Together
// they limit hashing to about a fifth of one core, however many logins arrive.
const (
	hashesPerSecond = 5
	hashBurst       = 10
	hashTimeout     = 2 * time.Second // how long a login waits to be hashed

	// The share of one payer is less than a budget, even with the hashes that it waits for.
	sharePerSecond = 2
	shareBurst     = 5
)

// payer is who a hash is counted for.
type payer struct {
	known bool   // is signed in, or has signed in before
	id    string // of the account that has the share, or the network
}

// payerOf returns who a hash is counted for that is not a login: the actor of a context, who is signed in.
func payerOf(ctx context.Context) payer {
	actor, _ := models.ActorOf(ctx)
	return payer{known: true, id: cmp.Or(actor.ID, actor.Name)}
}

// hasher limits the cost of password hashing. Known payers have their own budget, so that logins of strangers cannot use
// it up, from however many addresses they come. It is safe for concurrent use.
type hasher struct {
	known, strangers *budget
	now              func() time.Time
	sleep            func(ctx context.Context, d time.Duration) error // the error is that of ctx
}

func newHasher() *hasher {
	return &hasher{known: newBudget(), strangers: newBudget(), now: time.Now, sleep: sleep}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// budget is a rate of hashes of which no payer can use more than a share.
type budget struct {
	slot chan struct{} // holds a value while a hash is computed

	mu     sync.Mutex
	all    *rate.Limiter
	shares map[string]*rate.Limiter // of payers with recent hashes
}

func newBudget() *budget {
	return &budget{slot: make(chan struct{}, 1), all: rate.NewLimiter(hashesPerSecond, hashBurst), shares: map[string]*rate.Limiter{}}
}

// take counts a hash of a payer and returns how long the payer has to wait for it. ok is false if it would wait longer
// than hashTimeout; then nothing is counted. Only hashes within the budget add shares, and a share is removed when it is
// complete again, so there are at most about 50 of each size of network.
func (b *budget) take(payer string, now time.Time) (wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	limits := map[string]*rate.Limiter{}
	reserved := []*rate.Reservation{b.all.ReserveN(now, 1)}
	for _, id := range sharesOf(payer) {
		limits[id] = b.shares[id]
		if limits[id] == nil {
			limits[id] = rate.NewLimiter(sharePerSecond, shareBurst)
		}
		reserved = append(reserved, limits[id].ReserveN(now, 1))
	}
	for _, r := range reserved {
		wait = max(wait, r.DelayFrom(now))
	}
	if wait > hashTimeout {
		for _, r := range reserved {
			r.CancelAt(now)
		}
		return 0, false
	}
	maps.DeleteFunc(b.shares, func(_ string, l *rate.Limiter) bool { return l.TokensAt(now) >= shareBurst })
	maps.Copy(b.shares, limits)
	return wait, true
}

// sharesOf returns the shares that a hash of a payer counts for: an account, or a network and the larger networks that it
// is part of, since an attacker can have thousands of addresses of one.
func sharesOf(payer string) []string {
	shares := []string{payer}
	network, err := netip.ParsePrefix(payer)
	if err != nil {
		addr, err := netip.ParseAddr(payer)
		if err != nil {
			return shares
		}
		network = netip.PrefixFrom(addr, addr.BitLen())
	}
	larger := []int{48, 32}
	if network.Addr().Is4() {
		larger = []int{16}
	}
	for _, bits := range larger {
		if p, err := network.Addr().Prefix(bits); err == nil && bits < network.Bits() {
			shares = append(shares, p.String())
		}
	}
	return shares
}

// dummyHash is the hash of a discarded random password. Logins to accounts without a password are compared with it.
const dummyHash = "$argon2id$v=19$m=19456,t=2,p=1$xs7ZST1UtZleMWb8DLXOsA$C3hjWq1bGgz5HSosr7v7SFQpH/Pde2RvsmS21h6asDs" // not a credential: the password is unknown

// errBusy is the error of a login that exceeds the hashing budget.
func errBusy() error {
	return &models.Error{Code: models.CodeUnavailable, Detail: "Too many logins. Try again in a few seconds.", RetryAfter: hashTimeout}
}

// run calls hash within the budget of a payer, or returns errBusy.
func (h *hasher) run(ctx context.Context, by payer, hash func() error) error {
	b := h.strangers
	if by.known {
		b = h.known
	}
	wait, ok := b.take(by.id, h.now())
	if !ok {
		return errBusy()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, hashTimeout, errBusy())
	defer cancel()
	if err := h.sleep(ctx, wait); err != nil {
		return errBusy()
	}
	select {
	case b.slot <- struct{}{}:
	case <-ctx.Done():
		return errBusy()
	}
	defer func() { <-b.slot }()
	return hash()
}

// matches compares a password with a stored hash. An empty hash never matches. It is compared with dummyHash, so that
// the time does not reveal that the account has no password.
func (h *hasher) matches(ctx context.Context, by payer, password, stored string) (ok bool, err error) {
	reference := stored
	if reference == "" {
		reference = dummyHash
	}
	err = h.run(ctx, by, func() (err error) {
		ok, err = argon2id.ComparePasswordAndHash(password, reference)
		return err
	})
	if errors.Is(err, argon2id.ErrInvalidHash) || errors.Is(err, argon2id.ErrIncompatibleVariant) || errors.Is(err, argon2id.ErrIncompatibleVersion) {
		return false, fmt.Errorf("parse stored password hash: %w", err)
	}
	return ok && stored != "", err
}

func (h *hasher) hash(ctx context.Context, password string) (stored string, err error) {
	err = h.run(ctx, payerOf(ctx), func() (err error) {
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
