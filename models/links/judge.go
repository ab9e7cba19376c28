package links

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"linkwatch/models"
)

// DeadAfter is the number of days in a row on which checks must fail for a link
// to be dead.
const DeadAfter = 3

// retryAfter is until a suspect link is checked again.
const retryAfter = models.Day

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
		if l.Failures == 0 || l.LastCheckedAt.StartOfDay() != now.StartOfDay() {
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

// spread is an interval give or take a twentieth, so that links that were
// saved together are not checked together for ever.
func spread(d time.Duration) time.Duration {
	return d - d/20 + rand.N(d/10+1)
}
