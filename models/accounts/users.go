package accounts

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// maxUsers bounds the accounts: this is a program for a team.
const maxUsers = 10_000

// KeepDeleted is how long a deleted account can be restored.
const KeepDeleted = models.Day

// lockUsers is held while accounts are added, or admins become fewer.
const lockUsers models.LockKey = 7_110_913_018

// New is an account to add.
type New struct {
	Username string
	Role     Role
	Password string // "" = it can sign in only by single sign-on, a proxy, or ADMIN_PASSWORD
	// Issuer and Subject are those of an identity provider; "" = none.
	Issuer, Subject string
}

// Add adds an account. A username that is taken, also by a deleted account, is
// CodeConflict. The first account must be an admin, unless there are other ways to become one.
func (s *Store) Add(ctx context.Context, n New) (User, error) { return s.add(ctx, n, false) }

// AddFirst adds the first account, which is an admin. It is CodeConflict if there is one.
func (s *Store) AddFirst(ctx context.Context, username, password string) (User, error) {
	return s.add(ctx, New{Username: username, Role: Admin, Password: password}, true)
}

func (s *Store) add(ctx context.Context, n New, first bool) (User, error) {
	name, nameErr := cleanUsername(n.Username)
	errs := []error{nameErr, n.Role.check()}
	if n.Password != "" || n.Issuer == "" && (name != AdminName || s.opts.AdminPassword == "") {
		errs = append(errs, CheckPassword(n.Password, name))
	}
	if err := models.Invalids(errs...); err != nil {
		return User{}, err
	}
	if s.isReserved(name, n.Issuer) {
		return User{}, errTaken()
	}
	now := s.clock.Now()
	u := User{
		ID: models.NewID(models.KindUser), Username: name, Role: n.Role, OIDCIssuer: n.Issuer, OIDCSubject: n.Subject,
		CreatedAt: now, UpdatedAt: now,
	}
	if n.Password != "" {
		var err error
		if u.PasswordHash, err = s.hasher.hash(ctx, n.Password); err != nil {
			return User{}, err
		}
		u.PasswordChangedAt = now
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		u.Seq = 0
		if err := s.db.OneAtATime(tx, lockUsers); err != nil {
			return err
		}
		var have int
		if err := tx.Raw("SELECT count(*) FROM users").Scan(&have).Error; err != nil {
			return fmt.Errorf("counting accounts: %w", err)
		}
		switch {
		case first && have > 0:
			return models.Conflict("There is an account already. Sign in.")
		case have == 0 && n.Role != Admin && n.Issuer == "" && s.opts.AdminPassword == "":
			return models.Invalid("role", "must be admin for the first account")
		case have >= maxUsers:
			return models.Conflict(fmt.Sprintf("There are %d accounts, which is the most that are possible.", have))
		}
		if err := tx.Create(&u).Error; errors.Is(err, gorm.ErrDuplicatedKey) {
			return errTaken()
		} else if err != nil {
			return fmt.Errorf("storing an account: %w", err)
		}
		return audit.Add(tx, now, audit.Change{Action: "user.add", Subject: u.subject(), After: u.values()})
	})
	if err != nil {
		return User{}, err
	}
	s.inUse.Store(true)
	return u, nil
}

func errTaken() error {
	return models.Conflict("This username is taken, or belonged to a deleted account. Choose another.")
}

// isReserved reports whether a username is not for users of an identity provider, who choose theirs
// themselves: ADMIN_PASSWORD, also one that is set later, signs in AdminName. Names that a proxy sends are
// the operator's own, so they are free while there is no such password.
func (s *Store) isReserved(name, issuer string) bool {
	return name == AdminName && issuer != "" && (issuer != IssuerProxy || s.opts.AdminPassword != "")
}

// Edit changes an account. A nil member stays as it is.
type Edit struct {
	Role     *Role
	Disabled *bool
	Password *string
}

// Edit changes an account. A new password ends the sessions of the account, and disabling it
// ends its sessions too; its tokens open nothing while it is disabled. What would leave no
// admin is CodeConflict.
func (s *Store) Edit(ctx context.Context, id string, e Edit) (User, error) {
	u, err := s.Get(ctx, id)
	if err != nil {
		return User{}, err
	}
	hash, err := s.newHash(ctx, u, e)
	if err != nil {
		return User{}, err
	}
	now := s.clock.Now()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockUsers); err != nil {
			return err
		}
		if u, err = lock(tx, id, false); err != nil {
			return err
		}
		before := u
		models.Set(&u.Role, e.Role)
		models.Set(&u.Disabled, e.Disabled)
		u.UpdatedAt = now
		was, is := before.values(), u.values()
		if hash != "" {
			u.PasswordHash, u.PasswordChangedAt = hash, now
			is["password"] = "changed"
		}
		if err := save(tx, u, "role", "disabled", "password_hash", "password_changed_at", "updated_at"); err != nil {
			return err
		}
		if before.isActiveAdmin() && !u.isActiveAdmin() {
			if err := leavesAdmin(tx); err != nil {
				return err
			}
		}
		if hash != "" || u.Disabled && !before.Disabled {
			if err := endSessions(tx, u.Seq, ""); err != nil {
				return err
			}
		}
		return audit.Add(tx, now, audit.Change{Action: "user.edit", Subject: u.subject(), Before: was, After: is})
	})
	return u, err
}

// newHash checks an edit and hashes its password.
func (s *Store) newHash(ctx context.Context, u User, e Edit) (string, error) {
	var errs []error
	if e.Role != nil {
		errs = append(errs, e.Role.check())
	}
	if e.Password != nil {
		errs = append(errs, CheckPassword(*e.Password, u.Username))
	}
	if err := models.Invalids(errs...); err != nil || e.Password == nil {
		return "", err
	}
	return s.hasher.hash(ctx, *e.Password)
}

func (u User) isActiveAdmin() bool { return u.Role == Admin && !u.Disabled && u.DeletedAt.IsZero() }

// leavesAdmin is CodeConflict if no admin is left.
func leavesAdmin(tx *gorm.DB) error {
	var left bool
	err := tx.Raw("SELECT EXISTS (SELECT 1 FROM users WHERE role = 'admin' AND NOT disabled AND deleted_at IS NULL)").Scan(&left).Error
	if err != nil {
		return fmt.Errorf("looking for admins: %w", err)
	}
	if !left {
		return models.Conflict("This is the only admin. Make another account an admin first.")
	}
	return nil
}

// Delete deletes an account with its sessions and tokens. It can be restored for
// KeepDeleted, without these. What it owns stays; admins see what is private.
func (s *Store) Delete(ctx context.Context, id string) error {
	now := s.clock.Now()
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockUsers); err != nil {
			return err
		}
		u, err := lock(tx, id, false)
		if err != nil {
			return err
		}
		was := u
		u.DeletedAt, u.UpdatedAt = now, now
		if err := save(tx, u, "deleted_at", "updated_at"); err != nil {
			return err
		}
		if was.isActiveAdmin() {
			if err := leavesAdmin(tx); err != nil {
				return err
			}
		}
		if err := endSessions(tx, u.Seq, ""); err != nil {
			return err
		}
		if err := tx.Exec("DELETE FROM tokens WHERE user_seq = ?", u.Seq).Error; err != nil {
			return fmt.Errorf("revoking tokens: %w", err)
		}
		return audit.Add(tx, now, audit.Change{Action: "user.delete", Subject: u.subject(), Before: was.values()})
	})
}

// Restore takes a deletion back.
func (s *Store) Restore(ctx context.Context, id string) (User, error) {
	var u User
	now := s.clock.Now()
	err := s.db.Write(ctx, func(tx *gorm.DB) (err error) {
		if u, err = lock(tx, id, true); err != nil {
			return err
		}
		if !u.DeletedAt.After(now.Add(-KeepDeleted).Time) {
			return models.NotFound("account")
		}
		u.DeletedAt, u.UpdatedAt = models.Time{}, now
		if err := save(tx, u, "deleted_at", "updated_at"); err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "user.restore", Subject: u.subject(), After: u.values()})
	})
	return u, err
}

// ReapUsers forgets the secrets of up to limit accounts that can no longer be restored. Their
// rows stay, so that the username cannot be used again for the items of the account.
func (s *Store) ReapUsers(tx *gorm.DB, limit int) (int64, error) {
	res := tx.Exec(`UPDATE users SET password_hash = '', totp_secret = NULL, totp_confirmed_at = NULL, oidc_issuer = '', oidc_subject = ''
		WHERE seq IN (SELECT seq FROM users WHERE deleted_at <= ? AND (password_hash <> '' OR totp_secret IS NOT NULL OR oidc_issuer <> '') LIMIT ?)`,
		s.clock.Now().Add(-KeepDeleted), limit)
	return res.RowsAffected, res.Error
}
