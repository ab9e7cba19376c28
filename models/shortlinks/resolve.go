package shortlinks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"linkwatch/models"
)

const (
	// liveTTL is how long a cache keeps an entry that has a destination.
	liveTTL = time.Hour
	// unknownTTL is how long a cache remembers that a key is unknown.
	unknownTTL = 10 * time.Second
	// afterEnd is how much longer than its link a cache keeps an entry, so that the
	// visit that finds it expired leaves a tombstone without a query.
	afterEnd = time.Minute
)

// patience is how long a visit waits for the database.
var patience = 2 * time.Second

// Visit returns the destination of a key and counts a visit, which is stored later.
// Only a visit of a link with MaxVisits is claimed in the database at once, so that
// no more than these are redirected. Errors are CodeNotFound, CodeGone, and
// CodeUnavailable if the database was needed and did not respond in time.
func (s *Store) Visit(ctx context.Context, key string, v Visitor) (longURL string, err error) {
	e, at, err := s.resolve(ctx, key)
	if err == nil && e.Limited {
		e, err = s.claim(ctx, key, e)
	}
	if err != nil {
		return "", err
	}
	s.counter.Count(Visit{Link: e.Link, Visitor: v, At: at, Claimed: e.Limited})
	return e.LongURL, nil
}

// Preview returns the entry of a key without counting a visit. For a link with
// MaxVisits its LongURL is the origin alone: to see the whole URL takes a visit.
// Errors are those of Visit.
func (s *Store) Preview(ctx context.Context, key string) (Entry, error) {
	e, _, err := s.resolve(ctx, key)
	if err != nil || !e.Limited {
		return e, err
	}
	// Only the database knows whether any visits are left.
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if e, _, err = s.read(ctx, key); err != nil {
		return Entry{}, notInTime(err)
	}
	if e.IsTombstone {
		return Entry{}, gone[e.Reason]
	}
	if !e.Limited {
		return e, nil
	}
	u, err := models.ParseURL("long_url", e.LongURL)
	if err != nil {
		return Entry{}, fmt.Errorf("reading the destination of a short link: %w", err)
	}
	e.LongURL = u.Origin()
	return e, nil
}

// gone are the errors of keys without a destination.
var gone = map[Reason]error{
	ReasonUnknown:   errUnknown,
	ReasonExpired:   &models.Error{Code: models.CodeGone, Detail: "This short link has expired."},
	ReasonExhausted: &models.Error{Code: models.CodeGone, Detail: "This short link has been used as often as it may be."},
	ReasonDisabled:  &models.Error{Code: models.CodeGone, Detail: "This short link is switched off."},
	ReasonDeleted:   &models.Error{Code: models.CodeGone, Detail: "This short link was deleted."},
	ReasonBlocked:   &models.Error{Code: models.CodeGone, Detail: "This short link leads to an address that this server does not link to."},
}

// resolve returns the entry of a key that is active at the time at, which is now.
// The time decides on a cache hit as on a miss; an entry that has expired becomes
// a tombstone, and nothing is deleted.
func (s *Store) resolve(ctx context.Context, key string) (e Entry, at models.Time, err error) {
	if !IsKey(key) {
		return Entry{}, at, errUnknown
	}
	now := s.clock.Instant()
	if e, err = s.cache.Get(ctx, key, now, s.loader); err != nil {
		return Entry{}, at, err
	}
	at = s.latestOf(now)
	if !e.IsTombstone && e.Expired(at.Time) {
		e = e.tombstone(ReasonExpired)
		s.cache.End(strings.Clone(key), e.Version, e, s.opts.TombstoneTTL) // cloned as in claim
	}
	if e.IsTombstone {
		return Entry{}, at, gone[e.Reason]
	}
	return e, at, nil
}

func (e Entry) tombstone(why Reason) Entry {
	e.IsTombstone, e.Reason, e.LongURL, e.Title, e.Limited = true, why, "", "", false
	return e
}

// present returns the time that visits are decided by. It never goes back: a link
// that was seen to have expired stays so when the clock is set back.
func (s *Store) present() models.Time { return s.latestOf(s.clock.Instant()) }

// latestOf is present for a reading of the clock.
func (s *Store) latestOf(instant time.Time) models.Time {
	now := models.At(instant)
	for {
		latest := s.latest.Load()
		if now.UnixMicro() <= latest {
			return models.At(time.UnixMicro(latest))
		}
		if s.latest.CompareAndSwap(latest, now.UnixMicro()) {
			return now
		}
	}
}

// load is the Load of the store. Several visits may wait for it, so it goes on when
// the one that called it is cancelled, for no longer than patience.
func (s *Store) load(ctx context.Context, key string) (Entry, time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	e, ttl, err := s.read(ctx, key)
	return e, ttl, notInTime(err)
}

// read reads the entry of a key from the database.
func (s *Store) read(ctx context.Context, key string) (Entry, time.Duration, error) {
	s.loaded.Add(1)
	l, ok, err := one(s.db.Urgent().Read(ctx).Where("short_key = ?", key))
	if err != nil {
		return Entry{}, 0, err
	}
	if !ok {
		return UnknownEntry(), unknownTTL, nil
	}
	e, ttl := s.entry(l, s.present())
	return e, ttl, nil
}

// entry returns the entry of a short link, and how long a cache may keep it.
func (s *Store) entry(l ShortLink, now models.Time) (Entry, time.Duration) {
	e := Entry{CreatedAt: l.CreatedAt.Time, Link: l.Seq, Title: l.Title, Limited: l.MaxVisits > 0, Version: l.Version}
	if !l.ExpiresAt.IsZero() {
		e.ExpiresAt = &l.ExpiresAt.Time
	}
	var why Reason
	u, err := s.rules.destination(l.LongURL) // also of what was stored before a host was blocked
	if err == nil {
		e.LongURL = u.Location()
	}
	switch {
	case !l.DeletedAt.IsZero():
		why = ReasonDeleted
	case l.Disabled:
		why = ReasonDisabled
	case l.endsBefore(now):
		why = ReasonExpired
	case l.UsedUp():
		why = ReasonExhausted
	case err != nil:
		why = ReasonBlocked
	case e.ExpiresAt == nil:
		return e, liveTTL
	default:
		return e, min(liveTTL, l.ExpiresAt.Sub(now.Time)+afterEnd)
	}
	return e.tombstone(why), s.opts.TombstoneTTL
}

// errBusy is sent with Retry-After: another try may succeed.
var errBusy = &models.Error{
	Code: models.CodeUnavailable, Detail: "This short link cannot be followed at the moment. Try again.", RetryAfter: time.Second,
}

// notInTime returns errBusy for a database that did not respond in time. Any other
// error, and nil, it returns as it is.
func notInTime(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		busy := *errBusy
		busy.Err = err
		return &busy
	}
	return err
}
