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

// DeadAfter is on how many days in a row a link must fail to count as dead
// (contract §3).
const DeadAfter = 3

const (
	retryAfter = 24 * time.Hour // until a suspect link is looked at again
	claimFor   = 10 * time.Minute
	maxPause   = time.Hour // that a site's Retry-After can put a check off
	busyPause  = 5 * time.Second
)

// ClaimDue takes up to n links whose check is due, longest first, and leases
// them to the caller for ten minutes: whatever becomes of the caller, they
// come due again. Several instances never get the same link.
func (s *Store) ClaimDue(ctx context.Context, n int) ([]Link, error) {
	now := s.clock.Now()
	var ls []Link
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var seqs []int64
		err := tx.Raw("SELECT seq FROM links WHERE next_check_at <= ? ORDER BY next_check_at LIMIT ?"+s.db.SkipLocked(), now, n).Scan(&seqs).Error
		if err != nil || len(seqs) == 0 {
			return err
		}
		if err := tx.Exec("UPDATE links SET next_check_at = ? WHERE seq IN ?", now.Add(claimFor), seqs).Error; err != nil {
			return err
		}
		ls, err = inOrder(tx, seqs)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claiming links to check: %w", err)
	}
	return ls, nil
}

// PutOff makes claimed links come due again after d, 0 being at once: for
// those that their claimer could not get to. Expired ones are passed over.
func (s *Store) PutOff(ctx context.Context, d time.Duration, ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE links SET next_check_at = ? WHERE id IN ? AND next_check_at IS NOT NULL",
			s.clock.Now().Add(d), ids).Error
	})
	if err != nil {
		return fmt.Errorf("putting checks off: %w", err)
	}
	return nil
}

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

// Refresh refetches a link's metadata. 404 and 410 expire it; other failures
// leave the metadata as it was and show in the health. If the site asks for a
// pause, nothing changes and the error is CodeUnresolvable with RetryAfter. If
// too many pages are being fetched, nothing changes and it is CodeUnavailable
// with RetryAfter.
func (s *Store) Refresh(ctx context.Context, id string) (Link, error) {
	return s.refreshWith(ctx, s.fetch, id)
}

func (s *Store) refreshWith(ctx context.Context, fetch Fetcher, id string) (Link, error) {
	l, err := s.Get(ctx, id)
	if err != nil {
		return Link{}, err
	}
	page, err := fetch.Fetch(ctx, l.URL)
	if ctx.Err() != nil {
		return Link{}, ctx.Err()
	}
	if pauseOf(err) > 0 {
		return Link{}, unresolvable(err)
	}
	return s.record(ctx, l, page, err, page.Status == http.StatusOK)
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

// ApplyMove makes the address that a moved link leads to the link's own;
// CodeConflict if it has not moved, or if that address is saved already.
func (s *Store) ApplyMove(ctx context.Context, id string) (Link, error) {
	var l Link
	err := s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		var err error
		if l, err = lockOne(tx, id); err != nil {
			return nil, err
		}
		if l.MovedTo == "" {
			return nil, models.Conflict("The link has not moved.")
		}
		u, err := models.ParseURL("url", l.MovedTo)
		if err != nil {
			return nil, err
		}
		now := s.clock.Now()
		l.URL, l.CanonicalURL, l.MovedTo = u.Given, u.Canonical, ""
		l.Health, l.HealthChangedAt, l.UpdatedAt = OK, now, now
		return []Link{l}, save(tx, l)
	})
	return l, err
}

// statusText is a status as people know it: "404 Not Found".
func statusText(code int) string {
	if t := http.StatusText(code); t != "" {
		return strconv.Itoa(code) + " " + t
	}
	return "status " + strconv.Itoa(code)
}
