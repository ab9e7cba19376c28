package accounts

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// The limits of what is kept in memory between two writes. What is beyond them is counted
// together.
const (
	seenEvery   = time.Minute // how exact the times of last use are
	maxSeen     = 10_000
	maxFailures = 200

	// failuresPerSecond is how many entries of failures there are in the long run, however many
	// usernames and addresses are tried: 86,400 a day.
	failuresPerSecond = 1
)

// seen gathers what requests would have to write: when sessions and tokens were used, and
// attempts that failed. A service writes it every few seconds (Store.Flush), so a request
// writes nothing, and a flood of failures is a few rows. If the program is killed, the last
// seconds of it are lost. It is safe for concurrent use.
type seen struct {
	mu       sync.Mutex
	sessions map[string]models.Time // by id
	tokens   map[string]tokenUse
	failures map[failure]*audit.Entry
	entries  *rate.Limiter // of failures
}

// failure is what attempts have in common that are one entry.
type failure struct{ action, actor, address, subject string }

// tokenUse is when a token was used, and from which address.
type tokenUse struct {
	at      models.Time
	address string
}

func (s *seen) session(one Session, now models.Time) {
	if now.Sub(one.LastSeenAt.Time) < seenEvery {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions == nil {
		s.sessions = map[string]models.Time{}
	}
	if len(s.sessions) < maxSeen {
		s.sessions[one.ID] = now
	}
}

func (s *seen) token(one Token, now models.Time, address string) {
	if now.Sub(one.LastUsedAt.Time) < seenEvery {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens == nil {
		s.tokens = map[string]tokenUse{}
	}
	if len(s.tokens) < maxSeen {
		s.tokens[one.ID] = tokenUse{now, address}
	}
}

// Refused records an attempt that was refused: by the actor of ctx, who need not have proved
// who it is. The next Flush stores it.
func (s *Store) Refused(actor models.Actor, action string, of audit.Subject) {
	s.seen.mu.Lock()
	defer s.seen.mu.Unlock()
	key := failure{action, actor.Name, actor.Address, of.Name}
	if s.seen.failures == nil {
		s.seen.failures = map[failure]*audit.Entry{}
	}
	_, ok := s.seen.failures[key]
	if !ok && (len(s.seen.failures) >= maxFailures || !s.seen.entries.AllowN(s.clock.Now().Time, 1)) {
		key = failure{action: action} // too many to tell apart
		actor, of = models.Actor{}, audit.Subject{}
	}
	if e, ok := s.seen.failures[key]; ok {
		e.Attempts++
		return
	}
	e := audit.EntryOf(actor, s.clock.Now(), action, of)
	s.seen.failures[key] = &e
}

// Flush stores what was gathered, by one statement for each table.
func (s *Store) Flush(ctx context.Context) error {
	s.seen.mu.Lock()
	sessions, tokens, failures := s.seen.sessions, s.seen.tokens, s.seen.failures
	s.seen.sessions, s.seen.tokens, s.seen.failures = nil, nil, nil
	s.seen.mu.Unlock()
	if len(sessions)+len(tokens)+len(failures) == 0 {
		return nil
	}
	entries := make([]audit.Entry, 0, len(failures))
	for _, e := range failures {
		entries = append(entries, *e)
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		rows := models.NewRows("id text, at bigint")
		for id, at := range sessions {
			rows.Add(id, at)
		}
		err := rows.Exec(tx, "UPDATE sessions SET last_seen_at = r.at FROM {rows} AS r WHERE sessions.id = r.id AND sessions.last_seen_at < r.at").Error
		if err != nil {
			return wrap("storing when sessions were used", err)
		}
		if err := useTokens(tx, tokens); err != nil {
			return err
		}
		return audit.Insert(tx, entries)
	})
}

// useTokens stores when tokens were used, with an audit entry for each that was not used for an hour.
func useTokens(tx *gorm.DB, used map[string]tokenUse) error {
	if len(used) == 0 {
		return nil
	}
	rows := models.NewRows("id text, at bigint, address text")
	for id, use := range used {
		rows.Add(id, use.at, use.address)
	}
	var rested []struct {
		ID, Name, UserID, Username, Address string
		At                                  models.Time
	}
	err := rows.Raw(tx, `SELECT t.id, t.name, u.id AS user_id, u.username, r.address, r.at FROM {rows} AS r JOIN tokens AS t ON t.id = r.id JOIN users AS u ON u.seq = t.user_seq
		WHERE COALESCE(t.last_used_at, 0) <= r.at - ?`, time.Hour.Microseconds()).Scan(&rested).Error
	if err != nil {
		return wrap("looking for tokens", err)
	}
	entries := make([]audit.Entry, len(rested))
	for i, t := range rested {
		actor := models.Actor{ID: t.UserID, Name: t.Username, Via: "token", Of: t.ID, Address: t.Address}
		entries[i] = audit.EntryOf(actor, t.At, "token.use", audit.Subject{Kind: "token", ID: t.ID, Name: t.Name})
	}
	if err := audit.Insert(tx, entries); err != nil {
		return err
	}
	err = rows.Exec(tx, "UPDATE tokens SET last_used_at = r.at FROM {rows} AS r WHERE tokens.id = r.id AND COALESCE(tokens.last_used_at, 0) < r.at").Error
	return wrap("storing when tokens were used", err)
}
