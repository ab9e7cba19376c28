package accounts

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// maxUsers limits the number of accounts, including deleted ones.
const maxUsers = 10_000

// KeepDeleted is how long a deleted account can be restored with its password and second factor.
const KeepDeleted = models.Day

// lockUsers is the lock for adding accounts and for changes that may remove the last admin.
const lockUsers models.LockKey = 7_110_913_018

// NewUser is an account to add.
type NewUser struct {
	Username string
	Role     Role
	Password string // "" = sign in only by single sign-on, a reverse proxy or ADMIN_PASSWORD
	// Issuer and Subject identify a user of an identity provider; "" = none.
	Issuer, Subject string
}

// Add adds an account. The error is CodeConflict if the username is taken, even by a deleted account. The first account
// must be an admin, unless ADMIN_PASSWORD or an identity provider can sign in an admin. An actor without a credential can
// add only the first account, like AddFirst.
func (s *Store) Add(ctx context.Context, n NewUser) (User, error) { return s.add(ctx, n, false) }

// AddFirst adds the first account, with the role admin. The error is CodeConflict if there is already an account.
func (s *Store) AddFirst(ctx context.Context, username, password string) (User, error) {
	return s.add(ctx, NewUser{Username: username, Role: Admin, Password: password}, true)
}

func (s *Store) add(ctx context.Context, n NewUser, first bool) (User, error) {
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
	if first = first || isOpen(ctx); first {
		s.first.Lock() // the others wait, and do not hash their passwords
		defer s.first.Unlock()
		if err := s.RefreshInUse(ctx); err != nil {
			return User{}, err
		}
		if s.InUse() {
			return User{}, errInUse()
		}
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
		var count int
		if err := tx.Raw("SELECT count(*) FROM users").Scan(&count).Error; err != nil {
			return fmt.Errorf("count accounts: %w", err)
		}
		switch {
		case first && count > 0:
			return errInUse()
		case count == 0 && n.Role != Admin && n.Issuer == "" && s.opts.AdminPassword == "":
			return models.Invalid("role", "must be admin for the first account")
		case count >= maxUsers:
			return models.Conflict(fmt.Sprintf("The maximum of %d accounts is reached.", maxUsers))
		}
		if err := tx.Create(&u).Error; errors.Is(err, gorm.ErrDuplicatedKey) {
			return errTaken()
		} else if err != nil {
			return fmt.Errorf("insert account: %w", err)
		}
		return audit.Add(tx, now, audit.Change{Action: "user.add", Subject: u.subject(), After: u.values()})
	})
	if err != nil {
		return User{}, err
	}
	s.inUse.Store(true)
	return u, nil
}

// isOpen reports whether the actor of ctx was let in because there was no account. There may be one by now.
func isOpen(ctx context.Context) bool {
	actor, ok := models.ActorOf(ctx)
	return ok && actor.Via == "" && actor.Name == models.SystemOwner
}

func errInUse() error { return models.Conflict("There is already an account. Sign in.") }

func errTaken() error {
	return models.Conflict("This username is taken, or belonged to a deleted account. Choose another one.")
}

// isReserved reports whether a user of an identity provider cannot have a username. AdminName is reserved, because
// ADMIN_PASSWORD signs it in, and users of a provider choose their own names. A reverse proxy may send it, because its
// names come from the operator, unless ADMIN_PASSWORD is set.
func (s *Store) isReserved(name, issuer string) bool {
	return name == AdminName && issuer != "" && (issuer != IssuerProxy || s.opts.AdminPassword != "")
}

// Edit is a change of an account. Nil fields do not change.
type Edit struct {
	Role     *Role
	Disabled *bool
	Password *string

	RevokeTokens bool // also deletes all tokens
	ByProvider   bool // the identity provider makes the change
}

// Edit changes an account. A new password and disabling the account end its sessions. Its tokens are rejected while
// it is disabled. Enabling it also lets in a user whom the identity provider refused. The error is CodeConflict if no
// active admin would remain, or if the identity provider decides the role.
func (s *Store) Edit(ctx context.Context, id string, e Edit) (User, error) {
	u, err := s.Get(ctx, id)
	if err != nil {
		return User{}, err
	}
	hash, err := s.hashNewPassword(ctx, u, e)
	if err != nil {
		return User{}, err
	}
	now := s.clock.Now()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockUsers); err != nil {
			return err
		}
		if u, err = lockUser(tx, id, false); err != nil {
			return err
		}
		before := u
		models.Set(&u.Role, e.Role)
		models.Set(&u.Disabled, e.Disabled)
		if u.Role != before.Role && !e.ByProvider && s.HasProviderRole(u) {
			return models.Conflict("The identity provider decides the role of this account. " +
				"Change the role there, or set OIDC_ROLE_SYNC=first.")
		}
		if e.Disabled != nil && !u.Disabled {
			u.RefusedAt = models.Time{}
		}
		u.UpdatedAt = now
		oldValues, newValues := before.values(), u.values()
		if hash != "" {
			u.PasswordHash, u.PasswordChangedAt = hash, now
			newValues["password"] = "changed"
		}
		if err := saveUser(tx, u, "role", "disabled", "refused_at", "password_hash", "password_changed_at", "updated_at"); err != nil {
			return err
		}
		if before.isActiveAdmin() && !u.isActiveAdmin() {
			if err := requireAdmin(tx); err != nil {
				return err
			}
		}
		if hash != "" || u.Disabled && !before.Disabled {
			if err := endSessions(tx, u.Seq, ""); err != nil {
				return err
			}
		}
		if e.RevokeTokens {
			n, err := revokeTokens(tx, u)
			if err != nil {
				return err
			}
			newValues["tokens_revoked"] = n
		}
		return audit.Add(tx, now, audit.Change{Action: "user.edit", Subject: u.subject(), Before: oldValues, After: newValues})
	})
	return u, err
}

// hashNewPassword validates an edit and hashes its password; "" = no new password.
func (s *Store) hashNewPassword(ctx context.Context, u User, e Edit) (string, error) {
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

func (u User) isActiveAdmin() bool { return u.Role == Admin && !u.Blocked() && u.DeletedAt.IsZero() }

// requireAdmin returns CodeConflict if there is no active admin.
func requireAdmin(tx *gorm.DB) error {
	var ok bool
	err := tx.Raw(`SELECT EXISTS (SELECT 1 FROM users
		WHERE role = 'admin' AND NOT disabled AND refused_at IS NULL AND deleted_at IS NULL)`).Scan(&ok).Error
	if err != nil {
		return fmt.Errorf("find admins: %w", err)
	}
	if !ok {
		return models.Conflict("This is the only admin. Make another account an admin first.")
	}
	return nil
}

// Delete deletes an account with its sessions and tokens. Its user cannot sign in until an admin restores it. Its items remain, and admins see the private ones.
func (s *Store) Delete(ctx context.Context, id string) error {
	now := s.clock.Now()
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockUsers); err != nil {
			return err
		}
		u, err := lockUser(tx, id, false)
		if err != nil {
			return err
		}
		before := u
		u.DeletedAt, u.UpdatedAt = now, now
		if err := saveUser(tx, u, "deleted_at", "updated_at"); err != nil {
			return err
		}
		if before.isActiveAdmin() {
			if err := requireAdmin(tx); err != nil {
				return err
			}
		}
		if err := endSessions(tx, u.Seq, ""); err != nil {
			return err
		}
		if _, err := revokeTokens(tx, u); err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "user.delete", Subject: u.subject(), Before: before.values()})
	})
}

// Restore undoes the deletion of an account, without its sessions and tokens. After KeepDeleted, the account has no
// password and no second factor any more: a user of an identity provider or a reverse proxy can sign in again, any other
// user when an admin sets a password.
func (s *Store) Restore(ctx context.Context, id string) (User, error) {
	var u User
	now := s.clock.Now()
	err := s.db.Write(ctx, func(tx *gorm.DB) (err error) {
		if u, err = lockUser(tx, id, true); err != nil {
			return err
		}
		if !u.DeletedAt.After(now.Add(-KeepDeleted).Time) { // the reaper may not have run yet
			u.PasswordHash, u.TOTPSecret, u.TOTPConfirmedAt = "", nil, models.Time{}
		}
		u.DeletedAt, u.UpdatedAt = models.Time{}, now
		if err := saveUser(tx, u, "deleted_at", "updated_at", "password_hash", "totp_secret", "totp_confirmed_at"); err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "user.restore", Subject: u.subject(), After: u.values()})
	})
	return u, err
}

// ReapUsers removes the secrets of up to limit accounts that were deleted more than KeepDeleted ago. Their rows remain, so
// that no new account with the same username gets their items, and no user of a deleted account gets a new one: of the
// subject at an identity provider, the hash remains.
func (s *Store) ReapUsers(tx *gorm.DB, limit int) (int64, error) {
	hash := "sha256(oidc_subject)"
	if s.db.Engine == models.Postgres {
		hash = "sha256(convert_to(oidc_subject, 'UTF8'))"
	}
	res := tx.Exec(`UPDATE users SET password_hash = '', totp_secret = NULL, totp_confirmed_at = NULL, oidc_subject = '',
			oidc_subject_hash = CASE WHEN oidc_subject = '' THEN oidc_subject_hash ELSE `+hash+` END
		WHERE seq IN (SELECT seq FROM users WHERE deleted_at <= ? AND (password_hash <> '' OR totp_secret IS NOT NULL OR oidc_subject <> '') LIMIT ?)`,
		s.clock.Now().Add(-KeepDeleted), limit)
	return res.RowsAffected, res.Error
}
