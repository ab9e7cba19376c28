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
	totpSkew   = 1  // codes before and after the present one that are accepted, for clocks that differ

	recoveryCodes = 10
	recoveryLen   = 16 // characters of base32: 80 bits
)

// Setup is the key of a second factor, to be put into an app. It is shown once.
type Setup struct {
	Secret string // to be typed
	URL    string // otpauth://, to be scanned as a QR code
}

// PrepareTOTP makes a new key for the second factor of an account. It is not in use until
// ConfirmTOTP. An account that has a second factor is CodeConflict.
func (s *Store) PrepareTOTP(ctx context.Context, u User) (Setup, error) {
	key, err := totp.Generate(totp.GenerateOpts{Issuer: totpIssuer, AccountName: u.Username, Period: totpPeriod})
	if err != nil {
		return Setup{}, fmt.Errorf("making a key: %w", err)
	}
	sealed, err := s.opts.Seal([]byte(key.Secret()), totpOf(u))
	if err != nil {
		return Setup{}, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		u, err := lock(tx, u.ID, false)
		if err != nil {
			return err
		}
		if u.HasTOTP() {
			return models.Conflict("Two-factor authentication is on already.")
		}
		u.TOTPSecret = sealed
		return save(tx, u, "totp_secret")
	})
	return Setup{Secret: key.Secret(), URL: key.URL()}, err
}

// ConfirmTOTP turns the second factor of an account on if a code of its new key is right, and
// returns the recovery codes, which are stored nowhere. A wrong code is CodeInvalid.
func (s *Store) ConfirmTOTP(ctx context.Context, u User, code string) (codes []string, err error) {
	now := s.clock.Now()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		u, err := lock(tx, u.ID, false)
		if err != nil {
			return err
		}
		if u.HasTOTP() || u.TOTPSecret == nil {
			return models.Conflict("There is no key to confirm. Start again.")
		}
		step, err := s.stepOf(u, cleanCode(code), now.Time)
		if err != nil {
			return err
		}
		if step == 0 {
			return models.Invalid("code", "is wrong. Check that the clock of your device is right")
		}
		u.TOTPStep, u.TOTPConfirmedAt, u.UpdatedAt = step, now, now
		if err := save(tx, u, "totp_step", "totp_confirmed_at", "updated_at"); err != nil {
			return err
		}
		if codes, err = s.newRecoveryCodes(tx, u); err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "user.two_factor_on", Subject: u.subject()})
	})
	return codes, err
}

// RemoveTOTP turns the second factor of an account off. It needs the password of the account.
func (s *Store) RemoveTOTP(ctx context.Context, u User, password string) error {
	if err := s.CheckOwnPassword(ctx, u, password); err != nil {
		return err
	}
	return s.clearTOTP(ctx, u)
}

// ClearTOTP turns the second factor of somebody else off, who has lost it.
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
		u, err := lock(tx, u.ID, false)
		if err != nil {
			return err
		}
		had := u.HasTOTP()
		u.TOTPSecret, u.TOTPConfirmedAt, u.UpdatedAt = nil, models.Time{}, now
		if err := save(tx, u, "totp_secret", "totp_confirmed_at", "updated_at"); err != nil {
			return err
		}
		if err := tx.Exec("DELETE FROM recovery_codes WHERE user_seq = ?", u.Seq).Error; err != nil {
			return fmt.Errorf("deleting recovery codes: %w", err)
		}
		if !had {
			return nil
		}
		return audit.Add(tx, now, audit.Change{Action: "user.two_factor_off", Subject: u.subject()})
	})
}

// RecoveryCodesLeft is how many recovery codes of an account were not used.
func (s *Store) RecoveryCodesLeft(ctx context.Context, u User) (n int, err error) {
	err = s.db.Read(ctx).Raw("SELECT count(*) FROM recovery_codes WHERE user_seq = ?", u.Seq).Scan(&n).Error
	return n, wrap("counting recovery codes", err)
}

// totpOf is what a sealed key belongs to.
func totpOf(u User) string { return "totp of " + u.ID }

// stepOf is the time step of a code, or 0 if the code is wrong or of a step that was used.
func (s *Store) stepOf(u User, code string, now time.Time) (int64, error) {
	secret, err := s.opts.Open(u.TOTPSecret, totpOf(u))
	if err != nil {
		return 0, fmt.Errorf("reading the second factor of an account: %w", err)
	}
	present := now.Unix() / totpPeriod
	for step := present - totpSkew; step <= present+totpSkew; step++ {
		want, err := hotp.GenerateCode(string(secret), uint64(step))
		if err != nil {
			return 0, fmt.Errorf("computing a code: %w", err)
		}
		if step > u.TOTPStep && subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			return step, nil
		}
	}
	return 0, nil
}

// useCode uses up a code of the second factor of an account, or a recovery code.
func (s *Store) useCode(ctx context.Context, u User, given string) (ok bool, err error) {
	code := cleanCode(given)
	now := s.clock.Now()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		ok = false
		u, err := lock(tx, u.ID, false)
		if err != nil || !u.HasTOTP() {
			return err
		}
		if len(code) == recoveryLen {
			res := tx.Exec("DELETE FROM recovery_codes WHERE user_seq = ? AND code_hash = ?", u.Seq, s.hashOfCode(u, code))
			if res.Error != nil {
				return fmt.Errorf("using a recovery code: %w", res.Error)
			}
			ok = res.RowsAffected == 1
			if !ok {
				return nil
			}
			return audit.Add(tx, now, audit.Change{Action: "user.recovery_code", Subject: u.subject()})
		}
		step, err := s.stepOf(u, code, now.Time)
		if err != nil || step == 0 {
			return err
		}
		ok, u.TOTPStep = true, step
		return save(tx, u, "totp_step")
	})
	return ok, err
}

// cleanCode drops the blanks and dashes that people read codes with.
func cleanCode(given string) string {
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return -1
		}
		return r
	}, given))
}

// newRecoveryCodes gives an account new recovery codes in place of those that it has.
func (s *Store) newRecoveryCodes(tx *gorm.DB, u User) ([]string, error) {
	if err := tx.Exec("DELETE FROM recovery_codes WHERE user_seq = ?", u.Seq).Error; err != nil {
		return nil, fmt.Errorf("deleting recovery codes: %w", err)
	}
	rows, codes := models.NewRows("user_seq bigint, code_hash bytes"), make([]string, recoveryCodes)
	for i := range codes {
		code := rand.Text()[:recoveryLen]
		rows.Add(u.Seq, s.hashOfCode(u, code))
		codes[i] = code[:4] + "-" + code[4:8] + "-" + code[8:12] + "-" + code[12:]
	}
	err := rows.Exec(tx, "INSERT INTO recovery_codes (user_seq, code_hash) SELECT user_seq, code_hash FROM {rows} AS r").Error
	return codes, wrap("storing recovery codes", err)
}

func (s *Store) hashOfCode(u User, code string) []byte {
	mac, err := base64.RawURLEncoding.DecodeString(s.opts.Sign("recovery code of " + u.ID + " " + code))
	if err != nil {
		panic(err) // Sign returns Base64
	}
	return mac
}
