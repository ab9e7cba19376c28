package shortlinks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

const (
	// activeTTL is the TTL of an entry with a destination.
	activeTTL  = time.Hour
	unknownTTL = 10 * time.Second
	// graceTTL is how long a cache keeps an entry beyond its expiry, so that a visit can
	// replace it by a tombstone without a query.
	graceTTL = time.Minute
)

// LoadTimeout limits how long a visit waits for the database. Only tests change it.
var LoadTimeout = 2 * time.Second

// Visit returns the destination of a key and counts the request. Visits are stored later; only
// a short link with a visit limit claims each visit in the database at once. longURL is "" if
// such a short link is active but the request is no visit (see Counter): it uses up none and
// must not learn the destination. Errors are CodeNotFound, CodeGone, and CodeUnavailable if
// the database did not respond in time.
func (s *Store) Visit(ctx context.Context, key string, v Visitor) (longURL string, err error) {
	e, at, err := s.resolve(ctx, key)
	visit := true
	if err == nil && e.Limited {
		if visit = s.counter.IsVisit(v); visit {
			e, err = s.claim(ctx, key, e)
		} else {
			e, err = s.current(ctx, key)
		}
	}
	if err != nil {
		return "", err
	}
	s.counter.Count(Visit{Link: e.Link, Visitor: v, At: at, Claimed: e.Limited && visit})
	if e.Limited && !visit {
		return "", nil
	}
	return e.LongURL, nil
}

// Preview returns the entry of a key without counting a visit. If the short link has a
// visit limit, LongURL is only the origin. Errors are those of Visit.
func (s *Store) Preview(ctx context.Context, key string) (Entry, error) {
	e, _, err := s.resolve(ctx, key)
	if err != nil || !e.Limited {
		return e, err
	}
	if e, err = s.current(ctx, key); err != nil || !e.Limited {
		return e, err
	}
	u, err := models.ParseURL("long_url", e.LongURL)
	if err != nil {
		return Entry{}, fmt.Errorf("parse destination of short link: %w", err)
	}
	e.LongURL = u.Origin()
	return e, nil
}

// current returns the stored entry of an active key with a visit limit: only the database
// knows whether visits are left.
func (s *Store) current(ctx context.Context, key string) (Entry, error) {
	e, _, err := s.read(ctx, key)
	switch {
	case err != nil:
		return Entry{}, asBusy(err)
	case e.IsTombstone:
		return Entry{}, tombstoneErrors[e.Reason]
	}
	return e, nil
}

// tombstoneErrors are the errors of keys without a destination.
var tombstoneErrors = map[Reason]error{
	ReasonUnknown:   errUnknown,
	ReasonExpired:   &models.Error{Code: models.CodeGone, Detail: "This short link has expired."},
	ReasonExhausted: &models.Error{Code: models.CodeGone, Detail: "This short link has reached its visit limit."},
	ReasonDisabled:  &models.Error{Code: models.CodeGone, Detail: "This short link is disabled."},
	ReasonDeleted:   &models.Error{Code: models.CodeGone, Detail: "This short link was deleted."},
	ReasonBlocked:   &models.Error{Code: models.CodeGone, Detail: "The destination of this short link is blocked on this server."},
}

// resolve returns the entry of a key that is active now, and the time of that decision.
// Hits and misses are compared with the time alike. An expired entry becomes a tombstone;
// nothing is deleted.
func (s *Store) resolve(ctx context.Context, key string) (e Entry, at models.Time, err error) {
	if !IsKey(key) {
		return Entry{}, at, errUnknown
	}
	now := s.clock.Instant()
	if e, err = s.cache.Get(ctx, key, now, s.loader); err != nil {
		return Entry{}, at, asBusy(err)
	}
	at = s.latestOf(now)
	if !e.IsTombstone && e.Expired(at.Time) {
		e = e.tombstone(ReasonExpired)
		s.cache.End(strings.Clone(key), e.Version, e, s.opts.TombstoneTTL) // cloned as in claim
	}
	if e.IsTombstone {
		return Entry{}, at, tombstoneErrors[e.Reason]
	}
	return e, at, nil
}

func (e Entry) tombstone(why Reason) Entry {
	e.IsTombstone, e.Reason, e.LongURL, e.Title, e.Limited = true, why, "", "", false
	return e
}

// now returns the time that decides about visits. It never goes back, so an expired short
// link stays expired when the clock is set back.
func (s *Store) now() models.Time { return s.latestOf(s.clock.Instant()) }

// latestOf is now for a reading of the clock.
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

// loadLive reads the short links of keys that redirects read. loadAll also reads the archive, in one statement, because a
// change may move a short link between two.
const (
	loadColumns = "seq, short_key, long_url, title, max_visits, CASE WHEN disabled THEN 1 ELSE 0 END AS off, version, visits, created_at, expires_at, deleted_at"
	loadLive    = "SELECT 0, " + loadColumns + " FROM {rows} AS r JOIN short_links ON short_key = r.k"
	loadAll     = "SELECT * FROM (SELECT 0 AS archived, " + loadColumns + " FROM short_links" +
		" UNION ALL SELECT 1, " + loadColumns + " FROM archived_short_links) AS l WHERE short_key IN ?"
)

// load implements Load with one query, and one for keys that are not live. It takes at most LoadTimeout.
func (s *Store) load(ctx context.Context, keys []string) ([]Loaded, error) {
	ctx, cancel := context.WithTimeout(ctx, LoadTimeout)
	defer cancel()
	s.loaded.Add(int64(len(keys)))
	tx := s.db.Urgent().Read(ctx)
	found, err := loadRows(models.RowsOf("k text", keys).Raw(tx, loadLive))
	if err == nil && len(found) < len(keys) {
		missing := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { _, ok := found[key]; return ok })
		var more map[string]ShortLink
		more, err = loadRows(tx.Raw(loadAll, missing))
		maps.Copy(found, more)
	}
	if err != nil {
		return nil, fmt.Errorf("load short links: %w", err)
	}
	now, loaded := s.now(), make([]Loaded, len(keys))
	for i, key := range keys {
		loaded[i] = Loaded{UnknownEntry(), unknownTTL}
		if l, ok := found[key]; ok {
			loaded[i].Entry, loaded[i].TTL = s.entry(l, now)
		}
	}
	return loaded, nil
}

// loadRows returns the short links that a query of load reads, by key.
func loadRows(query *gorm.DB) (map[string]ShortLink, error) {
	found := map[string]ShortLink{}
	err := models.Each(query, func(r *models.Row) {
		l := ShortLink{
			archived: r.Int() != 0, Seq: r.Int64(), Key: r.Text(), LongURL: r.Text(), Title: r.Text(), MaxVisits: r.Int64(),
			Disabled: r.Int() != 0, Version: r.Int64(), Visits: r.Int64(),
		}
		r.Scan(&l.CreatedAt)
		r.Scan(&l.ExpiresAt)
		r.Scan(&l.DeletedAt)
		if other, ok := found[l.Key]; !ok || other.archived {
			found[l.Key] = l
		}
	})
	return found, err
}

// read loads one key.
func (s *Store) read(ctx context.Context, key string) (Entry, time.Duration, error) {
	loaded, err := s.load(ctx, []string{key})
	if err != nil {
		return Entry{}, 0, err
	}
	return loaded[0].Entry, loaded[0].TTL, nil
}

// entry returns the cache entry of a short link, and its TTL.
func (s *Store) entry(l ShortLink, now models.Time) (Entry, time.Duration) {
	e := Entry{CreatedAt: l.CreatedAt.Time, Link: l.Seq, Title: l.Title, Limited: l.MaxVisits > 0, Version: l.Version}
	if !l.ExpiresAt.IsZero() {
		e.ExpiresAt = &l.ExpiresAt.Time
	}
	var why Reason
	u, err := s.rules.destination(l.LongURL) // again, since the host may be blocked now
	if err == nil {
		e.LongURL = u.Location()
	}
	switch {
	case !l.DeletedAt.IsZero():
		why = ReasonDeleted
	case l.Disabled:
		why = ReasonDisabled
	case l.expiredAt(now):
		why = ReasonExpired
	case l.LimitReached():
		why = ReasonExhausted
	case l.archived: // by another instance, whose clock is ahead
		why = ReasonExpired
	case err != nil:
		why = ReasonBlocked
	case e.ExpiresAt == nil:
		return e, activeTTL
	default:
		return e, min(activeTTL, l.ExpiresAt.Sub(now.Time)+graceTTL)
	}
	return e.tombstone(why), s.opts.TombstoneTTL
}

// errBusy has a Retry-After: a retry may succeed.
var errBusy = &models.Error{
	Code: models.CodeUnavailable, Detail: "This short link is temporarily unavailable. Try again in a moment.", RetryAfter: time.Second,
}

// notInTime returns errBusy for a database that did not respond in time. Any other
// error, and nil, it returns as it is.
func asBusy(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		busy := *errBusy
		busy.Err = err
		return &busy
	}
	return err
}
