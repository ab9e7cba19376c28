package links

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

const (
	minPause  = time.Minute // that a check is put off by if nothing was learned about the page
	maxPause  = time.Hour   // that a site's Retry-After can put a check or a refresh off by
	busyPause = 5 * time.Second
)

// look is what a request for a link's page found.
type look struct {
	seq      int64         // of the link
	url      string        // that was requested
	page     Page          // zero if err is not nil
	err      error         // a *FetchError, or nil
	describe bool          // the page's metadata replaces the link's
	wait     time.Duration // nothing was learned, since the site asked for a pause or too many pages are being fetched; 0 = err or page counts
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
		describe: fetchErr == nil && p.Status == http.StatusOK, wait: pauseOf(fetchErr),
	}, nil
}

// pauseOf is how long to wait before the page is requested again, since nothing
// was learned about it: the site asked for a pause, or too many pages are being
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

// Check requests the page of a claimed link, for Record. It does not use the
// database. The error is that of ctx, or one that is no *FetchError; every
// *FetchError says something about the link or its site.
func (s *Store) Check(ctx context.Context, c Claimed) (Checked, error) {
	k, err := s.look(ctx, c.Link)
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

// Record stores finished checks in one transaction and releases the links. If the
// site asked for a pause, or too many pages were being fetched, the check is put
// off and nothing else changes. Nothing is stored of links that were deleted or got
// another address meanwhile, or that are no longer claimed as they were. However
// many checks there are, each table is written by one statement.
//
// stored are the links that were still claimed, as they are now.
func (s *Store) Record(ctx context.Context, done ...Checked) (stored []Link, err error) {
	claims, looks := make([]Claimed, len(done)), make([]look, len(done))
	for i, c := range done {
		claims[i], looks[i] = c.Claimed, c.look
	}
	err = s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		var err error
		stored, err = lock(tx, claimedRows(claims), "(seq, claimed_by) IN (SELECT seq, claimed_by FROM {rows} AS r)")
		if err != nil {
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
// then; CodeNotFound if there is none. If the site asks for a pause, the next check
// is put off and nothing else changes.
func (s *Store) Recheck(ctx context.Context, id string) (Link, error) {
	l, err := s.Get(ctx, id)
	if err != nil {
		return Link{}, err
	}
	k, err := s.look(ctx, l)
	if err != nil {
		return Link{}, err
	}
	return s.learnOne(ctx, id, k)
}

// learnOne is learn for one link, claimed or not.
func (s *Store) learnOne(ctx context.Context, id string, k look) (l Link, err error) {
	err = s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		found, err := lockOne(tx, id)
		if err != nil {
			return nil, err
		}
		ls := []Link{found}
		changed, err := s.learn(tx, ls, []look{k}, false)
		l = ls[0]
		return changed, err
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
		if i, ok := place[k.seq]; ok && ls[i].URL == k.url {
			s.take(&ls[i], k, now)
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
	return changed, saveAll(tx, ls, free)
}

// take brings a link up to what a look found.
func (s *Store) take(l *Link, k look, now models.Time) {
	switch {
	case k.wait == 0:
		s.judge(l, k.page, k.err, now)
		if k.describe {
			l.describe(k.page)
			l.UpdatedAt = now
		}
	case !l.Expired():
		l.NextCheckAt = now.Add(max(minPause, min(k.wait, maxPause)))
	}
}
