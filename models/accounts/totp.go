package accounts

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"
	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

const (
	totpIssuer = "Linkwatch"
	totpPeriod = 30 // seconds
	totpSkew   = 1  // accepted periods before and after the current one, because clocks differ

	totpSetup = 10 * time.Minute // how long a new key can be confirmed

	recoveryCodes = 10
	recoveryLen   = 16 // characters of base32: 80 bits
)

// Setup is the key of a second factor, for an authenticator app. It is shown once.
type Setup struct {
	Secret string // base32, for typing
	URL    string // otpauth://, for a QR code
}

// PrepareTOTP generates a second-factor key for an account. ConfirmTOTP turns it on within totpSetup. The error is
// CodeConflict if the second factor is already on.
func (s *Store) PrepareTOTP(ctx context.Context, u User) (Setup, error) {
	key, err := totp.Generate(totp.GenerateOpts{Issuer: totpIssuer, AccountName: u.Username, Period: totpPeriod})
	if err != nil {
		return Setup{}, fmt.Errorf("generate TOTP key: %w", err)
	}
	sealed, err := s.opts.Seal([]byte(key.Secret()), totpOwner(u))
	if err != nil {
		return Setup{}, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		u, err := lockUser(tx, u.ID, false)
		if err != nil {
			return err
		}
		if u.HasTOTP() {
			return models.Conflict("Two-factor authentication is already on.")
		}
		u.TOTPSecret, u.TOTPPreparedAt = sealed, s.clock.Now()
		return saveUser(tx, u, "totp_secret", "totp_prepared_at")
	})
	return Setup{Secret: key.Secret(), URL: key.URL()}, err
}

// ConfirmTOTP turns on the second factor of an account if a code of the new key is right. It returns the recovery codes,
// of which only hashes are stored. The error is CodeInvalid if the code is wrong, and CodeConflict if there is no key to
// confirm or it has expired.
func (s *Store) ConfirmTOTP(ctx context.Context, u User, code string) (codes []string, err error) {
	now := s.clock.Now()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		u, err := lockUser(tx, u.ID, false)
		if err != nil {
			return err
		}
		if u.HasTOTP() || u.TOTPSecret == nil {
			return models.Conflict("There is no key to confirm. Set up two-factor authentication again.")
		}
		if !now.Before(u.TOTPPreparedAt.Add(totpSetup).Time) {
			return models.Conflict("The key has expired. Set up two-factor authentication again.")
		}
		step, err := s.timeStep(u, cleanCode(code), now.Time)
		if err != nil {
			return err
		}
		if step == 0 {
			return models.Invalid("code", "is wrong. Check the clock of your device")
		}
		u.TOTPStep, u.TOTPConfirmedAt, u.UpdatedAt = step, now, now
		if err := saveUser(tx, u, "totp_step", "totp_confirmed_at", "updated_at"); err != nil {
			return err
		}
		if codes, err = s.newRecoveryCodes(tx, u); err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "user.two_factor_on", Subject: u.subject()})
	})
	return codes, err
}

// RemoveTOTP turns off the second factor of the user's own account. It requires the password.
func (s *Store) RemoveTOTP(ctx context.Context, u User, password string) error {
	if err := s.CheckOwnPassword(ctx, u, password); err != nil {
		return err
	}
	return s.clearTOTP(ctx, u)
}

// ClearTOTP turns off the second factor of another user, who has lost it.
func (s *Store) ClearTOTP(ctx context.Context, id string) error {
	u, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	return s.clearTOTP(ctx, u)
}

func (s *Store) clearTOTP(ctx context.Context, u User) error {
	now := s.clock.Now()
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		u, err := lockUser(tx, u.ID, false)
		if err != nil {
			return err
		}
		wasOn := u.HasTOTP()
		u.TOTPSecret, u.TOTPConfirmedAt, u.UpdatedAt = nil, models.Time{}, now
		if err := saveUser(tx, u, "totp_secret", "totp_confirmed_at", "updated_at"); err != nil {
			return err
		}
		if err := tx.Exec("DELETE FROM recovery_codes WHERE user_seq = ?", u.Seq).Error; err != nil {
			return fmt.Errorf("delete recovery codes: %w", err)
		}
		if !wasOn {
			return nil
		}
		return audit.Add(tx, now, audit.Change{Action: "user.two_factor_off", Subject: u.subject()})
	})
}

// RecoveryCodesLeft returns the number of unused recovery codes of an account.
func (s *Store) RecoveryCodesLeft(ctx context.Context, u User) (n int, err error) {
	err = s.db.Read(ctx).Raw("SELECT count(*) FROM recovery_codes WHERE user_seq = ?", u.Seq).Scan(&n).Error
	return n, wrapError("count recovery codes", err)
}

// totpOwner returns the owner of a sealed key, as secret.Box needs it.
func totpOwner(u User) string { return "totp of " + u.ID }

// timeStep returns the time step of a code, or 0 if the code is wrong or was already used.
func (s *Store) timeStep(u User, code string, now time.Time) (int64, error) {
	secret, err := s.opts.Open(u.TOTPSecret, totpOwner(u))
	if err != nil {
		return 0, fmt.Errorf("decrypt TOTP key: %w", err)
	}
	current := now.Unix() / totpPeriod
	for step := current - totpSkew; step <= current+totpSkew; step++ {
		want, err := hotp.GenerateCode(string(secret), uint64(step))
		if err != nil {
			return 0, fmt.Errorf("generate TOTP code: %w", err)
		}
		if step > u.TOTPStep && subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			return step, nil
		}
	}
	return 0, nil
}

// useCode reports whether a second-factor or recovery code is right, and marks it as used.
func (s *Store) useCode(ctx context.Context, u User, code string) (ok bool, err error) {
	code = cleanCode(code)
	now := s.clock.Now()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		ok = false
		u, err := lockUser(tx, u.ID, false)
		if err != nil || !u.HasTOTP() {
			return err
		}
		if len(code) == recoveryLen {
			res := tx.Exec("DELETE FROM recovery_codes WHERE user_seq = ? AND code_hash = ?", u.Seq, s.hashRecoveryCode(u, code))
			if res.Error != nil {
				return fmt.Errorf("use recovery code: %w", res.Error)
			}
			ok = res.RowsAffected == 1
			if !ok {
				return nil
			}
			return audit.Add(tx, now, audit.Change{Action: "user.recovery_code", Subject: u.subject()})
		}
		step, err := s.timeStep(u, code, now.Time)
		if err != nil || step == 0 {
			return err
		}
		ok, u.TOTPStep = true, step
		return saveUser(tx, u, "totp_step")
	})
	return ok, err
}

// cleanCode removes the spaces and dashes that group the characters of a code, and converts it to upper case.
func cleanCode(code string) string {
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return -1
		}
		return r
	}, code))
}

// newRecoveryCodes replaces the recovery codes of an account.
func (s *Store) newRecoveryCodes(tx *gorm.DB, u User) ([]string, error) {
	if err := tx.Exec("DELETE FROM recovery_codes WHERE user_seq = ?", u.Seq).Error; err != nil {
		return nil, fmt.Errorf("delete recovery codes: %w", err)
	}
	rows, codes := models.NewRows("user_seq bigint, code_hash bytes"), make([]string, recoveryCodes)
	for i := range codes {
		code := rand.Text()[:recoveryLen]
		rows.Add(u.Seq, s.hashRecoveryCode(u, code))
		codes[i] = code[:4] + "-" + code[4:8] + "-" + code[8:12] + "-" + code[12:]
	}
	err := rows.Exec(tx, "INSERT INTO recovery_codes (user_seq, code_hash) SELECT user_seq, code_hash FROM {rows} AS r").Error
	return codes, wrapError("insert recovery codes", err)
}

func (s *Store) hashRecoveryCode(u User, code string) []byte {
	mac, err := base64.RawURLEncoding.DecodeString(s.opts.Sign("recovery code of " + u.ID + " " + code))
	if err != nil {
		panic(err) // Sign returns base64
	}
	return mac
}
