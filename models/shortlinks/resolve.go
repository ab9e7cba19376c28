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
	// liveTTL is how long a cache keeps an entry that leads somewhere.
	liveTTL = time.Hour
	// unknownTTL is how long it is remembered that there is no such key.
	unknownTTL = 10 * time.Second
	// afterEnd is how much longer than its link an entry is kept, so that the
	// visit that finds it ended leaves a tombstone and asks nobody.
	afterEnd = time.Minute
)

// MaxEntryTTL is the longest time that a cache keeps an entry.
func (o Options) MaxEntryTTL() time.Duration { return max(liveTTL, o.TombstoneTTL) }

// patience is how long a visit waits for the database.
var patience = 2 * time.Second

// Visit is where a key leads now, for somebody who goes there. The visit is
// counted later; only that of a link with MaxVisits is claimed in the database
// at once, so that never more are led on. Errors are CodeNotFound, CodeGone,
// and CodeUnavailable if the database had to be asked and did not answer in time.
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

// Preview is where a key leads now, for somebody who only looks. Of a link with
// MaxVisits it tells no more than the host, for each of those who learn the
// address counts. Errors are those of Visit.
func (s *Store) Preview(ctx context.Context, key string) (Entry, error) {
	e, _, err := s.resolve(ctx, key)
	if err != nil || !e.Limited {
		return e, err
	}
	// Whether any of its visits are left the database knows, not a cache.
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if e, err = s.load(ctx, strings.Clone(key), s.clock.Instant()); err != nil { // cloned as in find
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

// gone are the errors of keys that lead nowhere.
var gone = map[Reason]error{
	ReasonUnknown:   errUnknown,
	ReasonExpired:   &models.Error{Code: models.CodeGone, Detail: "This short link has expired."},
	ReasonExhausted: &models.Error{Code: models.CodeGone, Detail: "This short link has been used as often as it may be."},
	ReasonDisabled:  &models.Error{Code: models.CodeGone, Detail: "This short link is switched off."},
	ReasonDeleted:   &models.Error{Code: models.CodeGone, Detail: "This short link was deleted."},
	ReasonBlocked:   &models.Error{Code: models.CodeGone, Detail: "This short link leads to an address that this server does not link to."},
}

// resolve is the entry of a key that is active at the time at, which is now. Hit or
// miss, the time decides; an entry that has expired becomes a tombstone, and
// nothing is deleted.
func (s *Store) resolve(ctx context.Context, key string) (e Entry, at models.Time, err error) {
	if !IsKey(key) {
		return Entry{}, at, errUnknown
	}
	now := s.clock.Instant()
	e, ok := s.cache.Get(ctx, key, now)
	if !ok {
		if e, err = s.find(ctx, key, now); err != nil {
			return Entry{}, at, err
		}
		now = s.clock.Instant()
	}
	at = s.latestOf(now)
	if !e.IsTombstone && e.Expired(at.Time) {
		e = e.tombstone(ReasonExpired)
		s.cache.Put(ctx, strings.Clone(key), e, s.opts.TombstoneTTL, time.Time{}) // cloned as in find
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

// present is the time that visits are decided by. It never goes back: what has
// been seen to be over stays so when the clock is set back.
func (s *Store) present() models.Time { return s.latestOf(s.clock.Instant()) }

// latestOf is present at a time that was read off the clock just now.
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

// find reads the entry of a key from the database into the cache. Any number
// of visits that need the same one at the same time cost one query.
func (s *Store) find(ctx context.Context, key string, now time.Time) (Entry, error) {
	key = strings.Clone(key) // a cache that held a piece of the request would hold all of it
	for {
		found, err, _ := s.loads.Do(key, func() (any, error) {
			read := s.clock.Instant()
			if e, ok := s.cache.Peek(key, read); ok { // another visit has read it since this one looked
				return loaded{e, read.Add(-MaxStale)}, nil
			}
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience) // others wait for it too
			defer cancel()
			e, err := s.load(ctx, key, read)
			return loaded{e, read}, err
		})
		if err != nil {
			return Entry{}, notInTime(err)
		}
		// The query of another visit may be too old for this one, if the process was stopped meanwhile.
		if l, _ := found.(loaded); now.Sub(l.read) <= MaxStale {
			return l.Entry, nil
		}
	}
}

// loaded is an entry that has all changes from before read.
type loaded struct {
	Entry
	read time.Time
}

// load is find without the others. It begins at read.
func (s *Store) load(ctx context.Context, key string, read time.Time) (Entry, error) {
	s.loaded.Add(1)
	l, ok, err := one(s.db.Read(ctx).Where("short_key = ?", key))
	if err != nil {
		return Entry{}, err
	}
	e, ttl := UnknownEntry(), unknownTTL
	if ok {
		e, ttl = s.entry(l, s.present())
	}
	s.cache.Put(ctx, key, e, ttl, read)
	return e, nil
}

// entry is what caches hold of a short link, and for how long.
func (s *Store) entry(l ShortLink, now models.Time) (Entry, time.Duration) {
	e := Entry{CreatedAt: l.CreatedAt.Time, Link: l.Seq, Title: l.Title, Limited: l.MaxVisits > 0, Version: l.UpdatedAt.UnixMicro()}
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

// errBusy is shown with Retry-After: whoever comes again is led on.
var errBusy = &models.Error{
	Code: models.CodeUnavailable, Detail: "This short link cannot be followed at the moment. Try again.", RetryAfter: time.Second,
}

// notInTime makes errBusy of a database that did not answer in time. Of one
// that answers with an error, the error is told.
func notInTime(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		busy := *errBusy
		busy.Err = err
		return &busy
	}
	return err
}
