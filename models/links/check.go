package links

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/event"
)

const (
	minDelay  = time.Minute // minimum delay of a check that was not possible
	maxDelay  = time.Hour   // maximum delay by Retry-After of a site
	busyDelay = 5 * time.Second
)

// result is the result of a request for the page of a link.
type result struct {
	// Wait is how long to wait before the next request, if this one says nothing about the link. That is so if
	// its site is rate limiting requests, or too many pages are being fetched. 0: the result is valid.
	Wait time.Duration

	seq      int64  // key of the link
	url      string // requested URL
	page     Page   // zero if err is not nil
	err      error  // a *FetchError, or nil
	describe bool   // whether the metadata of the page replaces that of the link
}

// newResult returns the result of a fetch or a probe. The error is that of ctx, or fetchErr if it is not a
// *FetchError.
func newResult(ctx context.Context, l Link, p Page, fetchErr error) (result, error) {
	if ctx.Err() != nil {
		return result{}, ctx.Err()
	}
	if _, ok := errors.AsType[*FetchError](fetchErr); fetchErr != nil && !ok {
		return result{}, fmt.Errorf("fetch page: %w", fetchErr)
	}
	return result{
		seq: l.Seq, url: l.URL, page: p.clean(), err: fetchErr,
		describe: fetchErr == nil && p.Status == http.StatusOK, Wait: min(retryDelay(fetchErr), maxDelay),
	}, nil
}

// retryDelay returns how long to wait before the next request if an error says nothing about the page. That is so
// if its site is rate limiting requests, or too many pages are being fetched. It returns 0 for other errors.
func retryDelay(err error) time.Duration {
	fe, ok := errors.AsType[*FetchError](err)
	switch {
	case !ok:
		return 0
	case fe.Busy && fe.RetryAfter <= 0:
		return busyDelay
	}
	return fe.RetryAfter
}

// Checked is a finished check of a claimed link.
type Checked struct {
	Claimed // as returned by Claim
	result
}

// Check requests the page of a claimed link. Pass the result to Record, or to Release if Wait is set. It does not
// use the database. The error is that of ctx, or one of the Fetcher that is not a *FetchError.
func (s *Store) Check(ctx context.Context, c Claimed) (Checked, error) {
	r, err := s.request(ctx, c.Link)
	if r.Wait > 0 {
		r.Wait = max(minDelay, r.Wait)
	}
	return Checked{c, r}, err
}

// request fetches the page if the metadata of the link is unknown, and probes it otherwise.
func (s *Store) request(ctx context.Context, l Link) (result, error) {
	noMetadata := l.FetchedTitle == "" && l.OpenGraph == (OpenGraph{})
	request := s.background.Probe
	if noMetadata {
		request = s.background.Fetch
	}
	page, err := request(ctx, l.URL)
	if noMetadata && err == nil && Gone(page.Status) { // expire a link only if HEAD and GET agree
		page, err = s.background.Probe(ctx, l.URL)
	}
	r, err := newResult(ctx, l, page, err)
	r.describe = r.describe && noMetadata
	return r, err
}

// Record stores finished checks in one transaction and releases the links. It ignores links that were deleted,
// have another URL now or are claimed by another lease. It runs a fixed number of statements.
//
// It returns the updated links that were still claimed.
func (s *Store) Record(ctx context.Context, done ...Checked) (stored []Link, err error) {
	rows, results := models.NewRows("seq bigint, claimed_by text"), make([]result, len(done))
	for i, c := range done {
		rows.Add(c.Seq, c.ClaimedBy)
		results[i] = c.result
	}
	err = s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		var err error
		if stored, err = lock(tx, rows, "(seq, claimed_by) IN (SELECT seq, claimed_by FROM {rows} AS r)"); err != nil {
			return nil, err
		}
		return s.apply(tx, stored, results, true)
	})
	if err != nil {
		return nil, fmt.Errorf("record checks: %w", err)
	}
	return stored, nil
}

// Recheck checks a link now, even if it is not due, and returns the updated link. Errors are those of Refresh.
func (s *Store) Recheck(ctx context.Context, id string) (Link, error) {
	return s.requestNow(ctx, id, s.request)
}

// requestNow requests the page of a link for a user, and stores the result.
func (s *Store) requestNow(ctx context.Context, id string, request func(context.Context, Link) (result, error)) (l Link, err error) {
	if l, err = s.Get(ctx, id); err != nil {
		return Link{}, err
	}
	r, err := request(ctx, l)
	switch {
	case err != nil:
		return Link{}, err
	case r.Wait > 0:
		return Link{}, unresolvable(r.err)
	}
	err = s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		found, err := lockOne(tx, id)
		if err != nil {
			return nil, err
		}
		ls := []Link{found}
		changed, err := s.apply(tx, ls, []result{r}, false)
		if l = ls[0]; err != nil {
			return nil, err
		}
		return changed, auditLinks(tx, s.clock.Now(), "refresh", ls, nil, nil)
	})
	return l, err
}

// apply updates locked links, in ls and in the database, from results. It ignores results for a URL that the link
// no longer has. release ends the claims of the links. It returns the links whose search index entry has changed.
func (s *Store) apply(tx *gorm.DB, ls []Link, results []result, release bool) (changed []Link, err error) {
	position := make(map[int64]int, len(ls))
	before := make([]Link, len(ls))
	for i, l := range ls {
		position[l.Seq], before[i] = i, l
	}
	now := s.clock.Now()
	for _, r := range results {
		i, ok := position[r.seq]
		if !ok || ls[i].URL != r.url || r.Wait > 0 {
			continue
		}
		s.judge(&ls[i], r.page, r.err, now)
		if r.describe {
			ls[i].setMetadata(r.page)
			ls[i].UpdatedAt = now
		}
	}
	var expired []Link
	for i, l := range ls {
		old := before[i]
		if l.Expired() && !old.Expired() {
			expired = append(expired, l)
		}
		if l.Title != old.Title || l.Health != old.Health || l.Expired() != old.Expired() {
			changed = append(changed, l)
		}
	}
	if err := countExpired(tx, expired); err != nil {
		return nil, err
	}
	if err := event.Add(tx, events(before, ls, now)...); err != nil {
		return nil, err
	}
	return changed, saveAll(tx, ls, release)
}
