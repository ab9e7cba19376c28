package accounts

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

const (
	useResolution = time.Minute // how exact the times of last use are
	maxUses       = 10_000      // sessions, and tokens, in memory; more are not recorded
	maxFailures   = 200         // kinds of failure in memory; more are counted in one entry per action

	// failuresPerSecond limits the audit entries for failures to 86,400 per day on average, however many usernames and
	// addresses are tried.
	failuresPerSecond = 1
)

// usageBuffer collects the times at which sessions and tokens were used, failed attempts, and reads of items by admins.
// Store.Flush writes it to the database every few seconds. Requests therefore write nothing, and many failures become few
// rows. If the process is killed, the data of the last seconds is lost. It is safe for concurrent use.
type usageBuffer struct {
	mu       sync.Mutex
	sessions map[string]models.Time // by ID
	tokens   map[string]tokenUse    // by ID
	failures map[failure]*audit.Entry
	reads    map[read]*reader
	limiter  *rate.Limiter // of audit entries for failures
}

// failure identifies failed attempts that are counted in one audit entry.
type failure struct{ action, actor, address, subject, why string }

type tokenUse struct {
	at      models.Time
	address string
}

func (b *usageBuffer) useSession(session Session, now models.Time) {
	if now.Sub(session.LastSeenAt.Time) < useResolution {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sessions == nil {
		b.sessions = map[string]models.Time{}
	}
	if len(b.sessions) < maxUses {
		b.sessions[session.ID] = now
	}
}

func (b *usageBuffer) useToken(token Token, now models.Time, address string) {
	if now.Sub(token.LastUsedAt.Time) < useResolution {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tokens == nil {
		b.tokens = map[string]tokenUse{}
	}
	if len(b.tokens) < maxUses {
		b.tokens[token.ID] = tokenUse{now, address}
	}
}

// Refused records a refused attempt for the audit log. The actor is the claimed one and may be unauthenticated. Flush
// stores the entry. why has the reason, without secrets; nil = none.
func (s *Store) Refused(actor models.Actor, action string, subject audit.Subject, why audit.Values) {
	after, err := audit.Encode(why)
	if err != nil { // the attempt is still recorded
		after = ""
	}
	b := &s.usage
	b.mu.Lock()
	defer b.mu.Unlock()
	key := failure{action, actor.Name, actor.Address, subject.Name, after}
	if b.failures == nil {
		b.failures = map[failure]*audit.Entry{}
	}
	_, ok := b.failures[key]
	if !ok && (len(b.failures) >= maxFailures || !b.limiter.AllowN(s.clock.Now().Time, 1)) {
		key = failure{action: action} // too many: count them together
		actor, subject, after = models.Actor{}, audit.Subject{}, ""
	}
	if e, ok := b.failures[key]; ok {
		e.Attempts++
		return
	}
	e := audit.EntryOf(actor, s.clock.Now(), action, subject)
	e.After = after
	b.failures[key] = &e
}

// Flush writes the collected uses, failures and reads to the database, with one statement per table. It looks up each item
// that was read.
func (s *Store) Flush(ctx context.Context) error {
	b := &s.usage
	b.mu.Lock()
	sessions, tokens, failures, reads := b.sessions, b.tokens, b.failures, b.reads
	b.sessions, b.tokens, b.failures, b.reads = nil, nil, nil, nil
	b.mu.Unlock()
	if len(sessions)+len(tokens)+len(failures)+len(reads) == 0 {
		return nil
	}
	entries, readErr := s.entriesOfReads(ctx, reads)
	for _, e := range failures {
		entries = append(entries, *e)
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		rows := models.NewRows("id text, at bigint")
		for id, at := range sessions {
			rows.Add(id, at)
		}
		err := rows.Exec(tx, "UPDATE sessions SET last_seen_at = r.at FROM {rows} AS r WHERE sessions.id = r.id AND sessions.last_seen_at < r.at").Error
		if err != nil {
			return wrapError("update last use of sessions", err)
		}
		if err := updateTokenUse(tx, tokens); err != nil {
			return err
		}
		return audit.Insert(tx, entries)
	})
	return errors.Join(err, readErr)
}

// updateTokenUse stores when tokens were used. It adds an audit entry for each token that was not used in the hour before.
func updateTokenUse(tx *gorm.DB, uses map[string]tokenUse) error {
	if len(uses) == 0 {
		return nil
	}
	rows := models.NewRows("id text, at bigint, address text")
	for id, use := range uses {
		rows.Add(id, use.at, use.address)
	}
	var idle []struct {
		ID, Name, UserID, Username, Address string
		At                                  models.Time
	}
	err := rows.Raw(tx, `SELECT t.id, t.name, u.id AS user_id, u.username, r.address, r.at FROM {rows} AS r JOIN tokens AS t ON t.id = r.id JOIN users AS u ON u.seq = t.user_seq
		WHERE COALESCE(t.last_used_at, 0) <= r.at - ?`, time.Hour.Microseconds()).Scan(&idle).Error
	if err != nil {
		return wrapError("find idle tokens", err)
	}
	entries := make([]audit.Entry, len(idle))
	for i, t := range idle {
		actor := models.Actor{ID: t.UserID, Name: t.Username, Via: "token", CredentialID: t.ID, Address: t.Address}
		entries[i] = audit.EntryOf(actor, t.At, "token.use", audit.Subject{Kind: "token", ID: t.ID, Name: t.Name})
	}
	if err := audit.Insert(tx, entries); err != nil {
		return err
	}
	err = rows.Exec(tx, "UPDATE tokens SET last_used_at = r.at FROM {rows} AS r WHERE tokens.id = r.id AND COALESCE(tokens.last_used_at, 0) < r.at").Error
	return wrapError("update last use of tokens", err)
}
