package accounts

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// TokenPrefix is the prefix of each API token. Secret scanners find leaked tokens by it.
const TokenPrefix = "lw_"

const (
	maxTokens    = 100 // per account
	maxTokenName = 100 // characters
)

// Token is an API token. Its scopes and the role of its account limit what it may do.
type Token struct {
	Seq        int64 `gorm:"primaryKey"`
	ID         string
	UserSeq    int64
	Name       string
	SecretHash []byte
	Scopes     Scopes
	CreatedAt  models.Time
	ExpiresAt  models.Time // zero = never
	LastUsedAt models.Time // to the minute; zero = never
	Username   string      `gorm:"->;-:migration"` // of the account; only in lists
}

func (t Token) subject() audit.Subject { return audit.Subject{Kind: "token", ID: t.ID, Name: t.Name} }

// NewToken is a token to add.
type NewToken struct {
	Name      string
	Scopes    []string
	ExpiresAt models.Time // zero = never
	By        Role        // maximum role of its scopes; "" = the role of the account
}

// AddToken adds a token to an account and returns its secret, of which only the hash is stored.
func (s *Store) AddToken(ctx context.Context, u User, n NewToken) (t Token, secret string, err error) {
	now := s.clock.Now()
	n.Name = models.CleanLine(n.Name)
	scopes, scopeErr := cleanScopes(n.Scopes, cmp.Or(n.By, u.Role))
	errs := []error{scopeErr}
	switch {
	case n.Name == "":
		errs = append(errs, models.Invalid("name", "must not be empty"))
	case models.Runes(n.Name) > maxTokenName:
		errs = append(errs, models.TooLong("name", maxTokenName, "characters"))
	}
	if !n.ExpiresAt.IsZero() && !n.ExpiresAt.After(now.Time) {
		errs = append(errs, models.Invalid("expires_at", "must be in the future"))
	}
	if err := models.Invalids(errs...); err != nil {
		return Token{}, "", err
	}
	secret = TokenPrefix + newSecret()
	t = Token{
		ID: models.NewID(models.KindToken), UserSeq: u.Seq, Name: n.Name, SecretHash: hashSecret(secret), Scopes: scopes,
		CreatedAt: now, ExpiresAt: n.ExpiresAt, Username: u.Username,
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		t.Seq = 0
		if _, err := lockUser(tx, u.ID, false); err != nil {
			return err
		}
		var count int
		if err := tx.Raw("SELECT count(*) FROM tokens WHERE user_seq = ?", u.Seq).Scan(&count).Error; err != nil {
			return fmt.Errorf("count tokens: %w", err)
		}
		if count >= maxTokens {
			return models.Conflict(fmt.Sprintf("The account has the maximum of %d tokens. Revoke one first.", maxTokens))
		}
		if err := tx.Create(&t).Error; err != nil {
			return fmt.Errorf("insert token: %w", err)
		}
		values := audit.Values{"name": t.Name, "scopes": t.Scopes, "expires_at": nil, "user": u.Username}
		if !t.ExpiresAt.IsZero() {
			values["expires_at"] = t.ExpiresAt
		}
		return audit.Add(tx, now, audit.Change{Action: "token.add", Subject: t.subject(), After: values})
	})
	return t, secret, err
}

// ByToken returns the account and the token of a secret. ok is false if there is no such token, if it expired (then
// expired is true), or if the account is disabled, refused or deleted. address is the client address. It makes one
// query.
func (s *Store) ByToken(ctx context.Context, secret, address string) (o Principal, ok, expired bool, err error) {
	if !strings.HasPrefix(secret, TokenPrefix) || len(secret) > 100 {
		return Principal{}, false, false, nil
	}
	var found []struct {
		User  `gorm:"embedded"`
		Token `gorm:"embedded;embeddedPrefix:t_"`
	}
	err = s.db.Read(ctx).Raw(`SELECT u.*, t.id AS t_id, t.name AS t_name, t.scopes AS t_scopes, t.user_seq AS t_user_seq,
		t.created_at AS t_created_at, t.expires_at AS t_expires_at, t.last_used_at AS t_last_used_at
		FROM tokens AS t JOIN users AS u ON u.seq = t.user_seq WHERE t.secret_hash = ?`, hashSecret(secret)).Scan(&found).Error
	if err != nil || len(found) == 0 {
		return Principal{}, false, false, wrapError("find token", err)
	}
	o = Principal{User: found[0].User, Token: found[0].Token}
	now := s.clock.Now()
	switch {
	case o.Blocked(), !o.DeletedAt.IsZero():
		return Principal{}, false, false, nil
	case !o.Token.ExpiresAt.IsZero() && !now.Before(o.Token.ExpiresAt.Time):
		return Principal{}, false, true, nil
	}
	s.usage.useToken(o.Token, now, address)
	return o, true, false, nil
}

var tokenOrders = models.Orders[Token]{
	Field: "created_at", Time: "tokens.created_at", ID: "tokens.id", Kind: models.KindToken,
	At: func(t Token) models.Cursor { return models.Cursor{CreatedAt: t.CreatedAt, ID: t.ID} },
}

// Tokens lists the tokens of an account after a cursor, oldest first. If u is nil, it lists those of all accounts.
func (s *Store) Tokens(ctx context.Context, u *User, after models.Cursor, limit int) (models.Slice[Token], error) {
	tx := s.db.Read(ctx)
	q := models.ListQuery{Table: "tokens"}
	if u != nil {
		q.And("tokens.user_seq = ?", u.Seq)
	}
	return tokenOrders.List(tx, q, after, limit, func(p models.ListPart) (found []Token, err error) {
		err = p.Of(tx.Table("tokens").Select("tokens.*, users.username").Joins("JOIN users ON users.seq = tokens.user_seq")).Find(&found).Error
		if err != nil {
			err = fmt.Errorf("list tokens: %w", err)
		}
		return found, err
	})
}

// Token returns a token of an account, or of any account if u is nil. The error is CodeNotFound if there is none.
func (s *Store) Token(ctx context.Context, u *User, id string) (t Token, err error) {
	if models.CheckID(models.KindToken, id) != nil {
		return t, models.NotFound("token")
	}
	q := s.db.Read(ctx).Table("tokens").Select("tokens.*, users.username").Joins("JOIN users ON users.seq = tokens.user_seq").Where("tokens.id = ?", id)
	if u != nil {
		q = q.Where("user_seq = ?", u.Seq)
	}
	var found []Token
	if err := q.Find(&found).Error; err != nil {
		return t, fmt.Errorf("load token: %w", err)
	}
	if len(found) == 0 {
		return t, models.NotFound("token")
	}
	return found[0], nil
}

// Revoke deletes a token of an account, or of any account if u is nil. The error is CodeNotFound if there is none.
func (s *Store) Revoke(ctx context.Context, u *User, id string) error {
	if models.CheckID(models.KindToken, id) != nil {
		return models.NotFound("token")
	}
	now := s.clock.Now()
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		q := tx.Where("id = ?", id)
		if u != nil {
			q = q.Where("user_seq = ?", u.Seq)
		}
		var found []Token
		if err := q.Select("seq, id, name, scopes").Find(&found).Error; err != nil {
			return fmt.Errorf("find token: %w", err)
		}
		if len(found) == 0 {
			return models.NotFound("token")
		}
		if err := tx.Exec("DELETE FROM tokens WHERE seq = ?", found[0].Seq).Error; err != nil {
			return fmt.Errorf("delete token: %w", err)
		}
		return audit.Add(tx, now, audit.Change{Action: "token.revoke", Subject: found[0].subject(), Before: audit.Values{"name": found[0].Name, "scopes": found[0].Scopes}})
	})
}

// revokeTokens deletes all tokens of an account and returns their number.
func revokeTokens(tx *gorm.DB, u User) (int64, error) {
	res := tx.Exec("DELETE FROM tokens WHERE user_seq = ?", u.Seq)
	return res.RowsAffected, wrapError("delete tokens", res.Error)
}

// keepExpired is how long an expired token is listed.
const keepExpired = 30 * models.Day

// ReapTokens deletes up to limit tokens that expired more than keepExpired ago.
func (s *Store) ReapTokens(tx *gorm.DB, limit int) (int64, error) {
	return s.db.DeleteBatch(tx, limit, "tokens", "seq", "expires_at <= ? ORDER BY expires_at", s.clock.Now().Add(-keepExpired))
}
