package links

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// DeadAfter is the number of days in a row on which checks must fail for a link
// to be dead.
const DeadAfter = 3

const (
	retryAfter = 24 * time.Hour // until a suspect link is looked at again
	claimFor   = 10 * time.Minute
	maxPause   = time.Hour // that a site's Retry-After can put a check off
	busyPause  = 5 * time.Second
)

// Check looks at a claimed link and records what it found. A link whose page
// was never read gets its metadata; for the others a probe is enough. If the
// site asks for a pause, or too many pages are being fetched, the check is put
// off and nothing else changes.
func (s *Store) Check(ctx context.Context, l Link) (Link, error) {
	unread := l.FetchedTitle == "" && l.OpenGraph == (OpenGraph{})
	look := s.background.Probe
	if unread {
		look = s.background.Fetch
	}
	page, err := look(ctx, l.URL)
	if unread && err == nil && Gone(page.Status) { // only what HEAD and GET agree on expires a link
		page, err = s.background.Probe(ctx, l.URL)
	}
	if ctx.Err() != nil {
		return l, ctx.Err()
	}
	if pause := pauseOf(err); pause > 0 {
		return l, s.PutOff(ctx, max(time.Minute, min(pause, maxPause)), l.ID)
	}
	return s.record(ctx, l, page, err, unread && page.Status == http.StatusOK)
}

// pauseOf is how long to wait before the page is asked for again, since nothing
// was learned about it: the site asked for a pause, or too many pages are being
// fetched. 0 means that the page was asked for.
func pauseOf(err error) time.Duration {
	fe, ok := errors.AsType[*FetchError](err)
	switch {
	case !ok:
		return 0
	case fe.Busy && fe.RetryAfter <= 0:
		return busyPause
	}
	return fe.RetryAfter
}

// record stores what a fetch or probe of a link found, unless the link got
// another address meanwhile: then it says nothing about it.
func (s *Store) record(ctx context.Context, looked Link, page Page, fetchErr error, describe bool) (Link, error) {
	if _, ok := errors.AsType[*FetchError](fetchErr); fetchErr != nil && !ok {
		return Link{}, fmt.Errorf("fetching a page: %w", fetchErr)
	}
	page = page.clean()
	var l Link
	err := s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		var err error
		if l, err = lockOne(tx, looked.ID); err != nil || l.URL != looked.URL {
			return nil, err
		}
		before, now := l, s.clock.Now()
		s.judge(&l, page, fetchErr, now)
		if describe && fetchErr == nil {
			l.describe(page)
			l.UpdatedAt = now
		}
		if !before.Expired() && l.Expired() {
			if err := countExpired(tx, []Link{before}, -1); err != nil {
				return nil, err
			}
		}
		if err := save(tx, l); err != nil {
			return nil, err
		}
		if l.Title == before.Title && l.Health == before.Health && l.Expired() == before.Expired() {
			return nil, nil // the index knows it as it is
		}
		return []Link{l}, nil
	})
	return l, err
}

// judge decides what a fetch says about a link's health: 404 and 410 expire it;
// 401, 403, 429 and other refusals are "blocked", as is a private address, which
// may not be fetched; no answer and 5xx are "suspect", and "dead" after three such
// days in a row.
func (s *Store) judge(l *Link, p Page, fetchErr error, now models.Time) {
	was := l.Health
	l.LastError, l.MovedTo, l.LastStatusCode = "", "", p.Status
	next := s.opts.CheckInterval
	fe, _ := errors.AsType[*FetchError](fetchErr)
	switch {
	case fe != nil && fe.Blocked:
		l.Health, l.Failures = Blocked, 0
		l.LastStatusCode, l.LastError = 0, fetchErr.Error()
	case fetchErr != nil || p.Status >= 500 || p.Status < 200 || p.Status >= 300 && p.Status < 400:
		if fetchErr != nil {
			l.LastStatusCode, l.LastError = 0, fetchErr.Error()
		} else {
			l.LastError = "unexpected status " + strconv.Itoa(p.Status)
		}
		if l.Failures == 0 || !sameDay(l.LastCheckedAt, now) {
			l.Failures++
		}
		l.Health = Suspect
		if l.Failures >= DeadAfter {
			l.Health = Dead
		}
		next = min(next, retryAfter)
	case Gone(p.Status):
		l.Health, l.Failures = Dead, 0
		l.LastError = "unexpected status " + strconv.Itoa(p.Status)
		if !l.Expired() {
			l.ExpiredAt, l.UpdatedAt = now, now
		}
	case p.Status >= 400:
		l.Health, l.Failures = Blocked, 0
		l.LastError = "unexpected status " + strconv.Itoa(p.Status)
	case p.Permanent:
		l.Health, l.Failures, l.MovedTo = Moved, 0, p.URL
	default:
		l.Health, l.Failures = OK, 0
	}
	if l.Health != was {
		l.HealthChangedAt = now
	}
	l.LastCheckedAt = now
	if l.Expired() {
		l.NextCheckAt = models.Time{}
	} else {
		l.NextCheckAt = now.Add(spread(next))
	}
}

// Gone says whether a status means that there is no page any more.
func Gone(status int) bool { return status == http.StatusNotFound || status == http.StatusGone }

func sameDay(a, b models.Time) bool {
	return a.Format(time.DateOnly) == b.Format(time.DateOnly)
}

// spread is an interval give or take a twentieth, so that links that were
// saved together are not checked together for ever.
func spread(d time.Duration) time.Duration {
	return d - d/20 + rand.N(d/10+1)
}
