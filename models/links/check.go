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
	minPause  = time.Minute // minimum delay of a check that was not possible
	maxPause  = time.Hour   // maximum delay by a site's Retry-After
	busyPause = 5 * time.Second
)

// look is what a request for a link's page found.
type look struct {
	// Wait is how long to wait before another look, since nothing was learned about
	// the link: its site is rate limiting requests, or too many pages were being fetched.
	// 0 = the look counts.
	Wait time.Duration

	seq      int64  // of the link
	url      string // that was requested
	page     Page   // zero if err is not nil
	err      error  // a *FetchError, or nil
	describe bool   // the page's metadata replaces the link's
}

// newLook is what a fetch or a probe of a link found. The error is that of ctx, or
// one that is no *FetchError.
func newLook(ctx context.Context, l Link, p Page, fetchErr error) (look, error) {
	if ctx.Err() != nil {
		return look{}, ctx.Err()
	}
	if _, ok := errors.AsType[*FetchError](fetchErr); fetchErr != nil && !ok {
		return look{}, fmt.Errorf("fetching a page: %w", fetchErr)
	}
	return look{
		seq: l.Seq, url: l.URL, page: p.clean(), err: fetchErr,
		describe: fetchErr == nil && p.Status == http.StatusOK, Wait: min(pauseOf(fetchErr), maxPause),
	}, nil
}

// pauseOf is how long to wait before the page is requested again, since nothing
// was learned about it: the site is rate limiting requests, or too many pages are being
// fetched. 0 means that the page was requested.
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

// Checked is a finished check of a claimed link.
type Checked struct {
	Claimed // as Claim gave it
	look
}

// Check requests the page of a claimed link, for Record, or for Release if there is
// a Wait. It does not use the database. The error is that of ctx, or one of the
// Fetcher that is no *FetchError.
func (s *Store) Check(ctx context.Context, c Claimed) (Checked, error) {
	k, err := s.look(ctx, c.Link)
	if k.Wait > 0 {
		k.Wait = max(minPause, k.Wait)
	}
	return Checked{c, k}, err
}

// look fetches a page that was never read, for its metadata. For the others a
// probe is enough.
func (s *Store) look(ctx context.Context, l Link) (look, error) {
	unread := l.FetchedTitle == "" && l.OpenGraph == (OpenGraph{})
	request := s.background.Probe
	if unread {
		request = s.background.Fetch
	}
	page, err := request(ctx, l.URL)
	if unread && err == nil && Gone(page.Status) { // only what HEAD and GET agree on expires a link
		page, err = s.background.Probe(ctx, l.URL)
	}
	k, err := newLook(ctx, l, page, err)
	k.describe = k.describe && unread
	return k, err
}

// Record stores finished checks in one transaction and frees the links. Nothing is
// stored of links that were deleted or got another address meanwhile, or that are no
// longer claimed as they were. However many checks there are, each table is written
// by one statement.
//
// stored are the links that were still claimed, as they are now.
func (s *Store) Record(ctx context.Context, done ...Checked) (stored []Link, err error) {
	rows, looks := models.NewRows("seq bigint, claimed_by text"), make([]look, len(done))
	for i, c := range done {
		rows.Add(c.Seq, c.ClaimedBy)
		looks[i] = c.look
	}
	err = s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		var err error
		if stored, err = lock(tx, rows, "(seq, claimed_by) IN (SELECT seq, claimed_by FROM {rows} AS r)"); err != nil {
			return nil, err
		}
		return s.learn(tx, stored, looks, true)
	})
	if err != nil {
		return nil, fmt.Errorf("recording checks: %w", err)
	}
	return stored, nil
}

// Recheck checks a link now, whether it is due or not, and returns it as it is
// then. Errors are those of Refresh.
func (s *Store) Recheck(ctx context.Context, id string) (Link, error) {
	return s.lookNow(ctx, id, s.look)
}

// lookNow looks at a page for somebody who waits for it, and stores what was found.
func (s *Store) lookNow(ctx context.Context, id string, request func(context.Context, Link) (look, error)) (l Link, err error) {
	if l, err = s.Get(ctx, id); err != nil {
		return Link{}, err
	}
	k, err := request(ctx, l)
	switch {
	case err != nil:
		return Link{}, err
	case k.Wait > 0:
		return Link{}, unresolvable(k.err)
	}
	err = s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		found, err := lockOne(tx, id)
		if err != nil {
			return nil, err
		}
		ls := []Link{found}
		changed, err := s.learn(tx, ls, []look{k}, false)
		if l = ls[0]; err != nil {
			return nil, err
		}
		return changed, done(tx, s.clock.Now(), "refresh", ls, nil, nil)
	})
	return l, err
}

// learn judges locked links by what looks found, and stores them; free ends their
// claims. What was found at an address that a link no longer has says nothing about
// it. After it ls are the links as they are now, and changed those of them that the
// search index has to take in.
func (s *Store) learn(tx *gorm.DB, ls []Link, looks []look, free bool) (changed []Link, err error) {
	place := make(map[int64]int, len(ls))
	before := make([]Link, len(ls))
	for i, l := range ls {
		place[l.Seq], before[i] = i, l
	}
	now := s.clock.Now()
	for _, k := range looks {
		i, ok := place[k.seq]
		if !ok || ls[i].URL != k.url || k.Wait > 0 {
			continue
		}
		s.judge(&ls[i], k.page, k.err, now)
		if k.describe {
			ls[i].describe(k.page)
			ls[i].UpdatedAt = now
		}
	}
	var expired []Link
	for i, l := range ls {
		was := before[i]
		if l.Expired() && !was.Expired() {
			expired = append(expired, l)
		}
		if l.Title != was.Title || l.Health != was.Health || l.Expired() != was.Expired() {
			changed = append(changed, l)
		}
	}
	if err := countExpired(tx, expired); err != nil {
		return nil, err
	}
	if err := event.Add(tx, events(before, ls, now)...); err != nil {
		return nil, err
	}
	return changed, saveAll(tx, ls, free)
}
