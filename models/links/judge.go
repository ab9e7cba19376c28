package links

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"linkwatch/models"
)

// DeadAfter is the number of consecutive days with failed checks after which a link is dead.
const DeadAfter = 3

// suspectInterval is the interval of checks of a suspect link.
const suspectInterval = models.Day

// judge sets the health of a link from a response. 404 and 410 expire the link. 401, 403, 429 and other 4xx are
// Blocked, as is a private address. No response and 5xx are Suspect, and Dead after DeadAfter such days in a row.
func (s *Store) judge(l *Link, p Page, fetchErr error, now models.Time) {
	old := l.Health
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
		next = min(next, suspectInterval)
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
	if l.Health != old {
		l.HealthChangedAt = now
	}
	l.LastCheckedAt = now
	if l.Expired() {
		l.NextCheckAt = models.Time{}
	} else {
		l.NextCheckAt = now.Add(jitter(next))
	}
}

// Gone reports whether a status means that a page no longer exists.
func Gone(status int) bool { return status == http.StatusNotFound || status == http.StatusGone }

// jitter returns d ± 5%, so that links that were saved together are not always checked together.
func jitter(d time.Duration) time.Duration {
	return d - d/20 + rand.N(d/10+1)
}
