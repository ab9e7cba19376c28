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

// TokenPrefix begins each API token, so that scanners find one that was published.
const TokenPrefix = "lw_"

// The limits of tokens.
const (
	maxTokens    = 100 // of an account
	maxTokenName = 100 // characters
)

// Token is an API token. What it opens is bounded by its scopes and by the role of its account.
type Token struct {
	Seq        int64 `gorm:"primaryKey"`
	ID         string
	UserSeq    int64
	Name       string
	SecretHash []byte
	Scopes     Scopes
	CreatedAt  models.Time
	ExpiresAt  models.Time // zero = never
	LastUsedAt models.Time // to the minute
	Username   string      `gorm:"->;-:migration"` // of its account, in lists
}

func (t Token) subject() audit.Subject { return audit.Subject{Kind: "token", ID: t.ID, Name: t.Name} }

// NewToken is a token to add.
type NewToken struct {
	Name      string
	Scopes    []string
	ExpiresAt models.Time // zero = never
	By        Role        // of who adds it: a scope may not allow more; "" = that of the account
}

// AddToken adds a token to an account and returns its secret, which is stored nowhere.
func (s *Store) AddToken(ctx context.Context, u User, n NewToken) (t Token, secret string, err error) {
	now := s.clock.Now()
	n.Name = models.CleanLine(n.Name)
	scopes, scopeErr := cleanScopes(n.Scopes, cmp.Or(n.By, u.Role))
	errs := []error{scopeErr}
	switch {
	case n.Name == "":
		errs = append(errs, models.Invalid("name", "must not be empty"))
	case models.Runes(n.Name) > maxTokenName:
		errs = append(errs, models.Invalid("name", "is longer than %d characters", maxTokenName))
	}
	if !n.ExpiresAt.IsZero() && !n.ExpiresAt.After(now.Time) {
		errs = append(errs, models.Invalid("expires_at", "must be in the future"))
	}
	if err := models.Invalids(errs...); err != nil {
		return Token{}, "", err
	}
	secret = TokenPrefix + newSecret()
	t = Token{
		ID: models.NewID(models.KindToken), UserSeq: u.Seq, Name: n.Name, SecretHash: hashOf(secret), Scopes: scopes,
		CreatedAt: now, ExpiresAt: n.ExpiresAt, Username: u.Username,
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		t.Seq = 0
		if _, err := lock(tx, u.ID, false); err != nil {
			return err
		}
		var have int
		if err := tx.Raw("SELECT count(*) FROM tokens WHERE user_seq = ?", u.Seq).Scan(&have).Error; err != nil {
			return fmt.Errorf("counting tokens: %w", err)
		}
		if have >= maxTokens {
			return models.Conflict(fmt.Sprintf("There are %d tokens, which is the most for one account. Revoke some.", have))
		}
		if err := tx.Create(&t).Error; err != nil {
			return fmt.Errorf("storing a token: %w", err)
		}
		values := audit.Values{"name": t.Name, "scopes": t.Scopes, "expires_at": nil, "user": u.Username}
		if !t.ExpiresAt.IsZero() {
			values["expires_at"] = t.ExpiresAt
		}
		return audit.Add(tx, now, audit.Change{Action: "token.add", Subject: t.subject(), After: values})
	})
	return t, secret, err
}

// ByToken returns whose token a secret is; ok is false if it is none, or its account is
// disabled. expired is whether it was one. address is that of the client. It takes one query.
func (s *Store) ByToken(ctx context.Context, secret, address string) (o Opened, ok, expired bool, err error) {
	if !strings.HasPrefix(secret, TokenPrefix) || len(secret) > 100 {
		return Opened{}, false, false, nil
	}
	var found []struct {
		User  `gorm:"embedded"`
		Token `gorm:"embedded;embeddedPrefix:t_"`
	}
	err = s.db.Read(ctx).Raw(`SELECT u.*, t.id AS t_id, t.name AS t_name, t.scopes AS t_scopes, t.user_seq AS t_user_seq,
		t.created_at AS t_created_at, t.expires_at AS t_expires_at, t.last_used_at AS t_last_used_at
		FROM tokens AS t JOIN users AS u ON u.seq = t.user_seq WHERE t.secret_hash = ?`, hashOf(secret)).Scan(&found).Error
	if err != nil || len(found) == 0 {
		return Opened{}, false, false, wrap("looking for a token", err)
	}
	o = Opened{User: found[0].User, Token: found[0].Token}
	now := s.clock.Now()
	switch {
	case o.Disabled, !o.DeletedAt.IsZero():
		return Opened{}, false, false, nil
	case !o.Token.ExpiresAt.IsZero() && !now.Before(o.Token.ExpiresAt.Time):
		return Opened{}, false, true, nil
	}
	s.seen.token(o.Token, now, address)
	return o, true, false, nil
}

// Tokens are those of an account, or of all accounts if u is nil, after a cursor, in the order
// of their creation.
func (s *Store) Tokens(ctx context.Context, u *User, after models.Cursor, limit int) (models.Slice[Token], error) {
	var all []Token
	q := s.db.Read(ctx).Table("tokens").Select("tokens.*, users.username").Joins("JOIN users ON users.seq = tokens.user_seq").
		Order("tokens.created_at, tokens.id").Limit(limit + 1)
	if u != nil {
		q = q.Where("user_seq = ?", u.Seq)
	}
	if after.ID != "" {
		q = q.Where("(tokens.created_at, tokens.id) > (?, ?)", after.CreatedAt, after.ID)
	}
	if err := q.Find(&all).Error; err != nil {
		return models.Slice[Token]{}, fmt.Errorf("listing tokens: %w", err)
	}
	return models.NewSlice(all, limit, func(t Token) models.Cursor { return models.Cursor{CreatedAt: t.CreatedAt, ID: t.ID} }), nil
}

// Revoke deletes a token of an account, or of any account if u is nil; CodeNotFound if there is none.
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
			return fmt.Errorf("loading a token: %w", err)
		}
		if len(found) == 0 {
			return models.NotFound("token")
		}
		if err := tx.Exec("DELETE FROM tokens WHERE seq = ?", found[0].Seq).Error; err != nil {
			return fmt.Errorf("revoking a token: %w", err)
		}
		return audit.Add(tx, now, audit.Change{Action: "token.revoke", Subject: found[0].subject(), Before: audit.Values{"name": found[0].Name, "scopes": found[0].Scopes}})
	})
}

// keepExpired is how long an expired token is listed.
const keepExpired = 30 * models.Day

// ReapTokens deletes up to limit tokens that expired a while ago.
func (s *Store) ReapTokens(tx *gorm.DB, limit int) (int64, error) {
	return s.db.DeleteBatch(tx, limit, "tokens", "seq", "expires_at <= ? ORDER BY expires_at", s.clock.Now().Add(-keepExpired))
}
