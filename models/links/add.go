package links

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// draft is a New that was checked.
type draft struct {
	New
	canonical string
}

// check validates what a client gave. at is put before the names of members.
func (n New) check(at string) (draft, error) {
	u, err := models.ParseURL(at+"url", n.URL)
	if err != nil {
		return draft{}, err
	}
	n.URL = u.Given
	if n.Tags, err = cleanTags(n.Tags); err != nil {
		return draft{}, err
	}
	n.Owner, n.Title, n.Notes = models.CleanLine(n.Owner), models.CleanLine(n.Title), models.CleanText(n.Notes)
	if n.Owner == "" {
		n.Owner = DefaultOwner
	}
	for _, m := range []struct {
		name, text string
		limit      int
	}{{"owner", n.Owner, MaxOwner}, {"title", n.Title, MaxTitle}, {"notes", n.Notes, MaxNotes}} {
		if models.Runes(m.text) > m.limit {
			return draft{}, models.Invalid(at+m.name, "is longer than %d characters", m.limit)
		}
	}
	return draft{n, u.Canonical}, nil
}

// Add stores a link whose page answers 200, with what the page says of itself,
// and created is true. If the URL is saved already, that link is returned as it is
// (it may be expired) with the new tags added.
//
// A URL that cannot be fetched is CodeUnresolvable or CodeBlocked, and
// CodeUnavailable means that too many pages are being fetched; then nothing is
// stored. With Force it is stored all the same, active and with the health that
// the answer means: a page that is gone is dead, and expires only if a recheck finds
// it gone again. It is unchecked if nothing was learned about the page, as when its
// site asked for a pause. Without an own title it has its URL for one, until a check
// finds another.
func (s *Store) Add(ctx context.Context, n New) (l Link, created bool, err error) {
	d, err := n.check("")
	if err != nil {
		return Link{}, false, err
	}
	if l, err = s.mergeTags(ctx, d); models.CodeOf(err) != models.CodeNotFound {
		return l, false, err
	}
	fresh, err := s.fetchNew(ctx, d)
	if err != nil {
		return Link{}, false, err
	}
	err = s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		l, created = Link{}, false
		ls, err := insert(tx, []Link{fresh})
		if err != nil || len(ls) == 0 {
			return nil, err
		}
		_, err = attach(tx, s.clock.Now(), ls, [][]string{d.Tags})
		l, created = ls[0], true
		return ls, err
	})
	if err == nil && !created { // somebody else saved it meanwhile
		l, err = s.mergeTags(ctx, d)
	}
	return l, created, err
}

// fetchNew fetches the page of a draft and returns the link to store.
func (s *Store) fetchNew(ctx context.Context, d draft) (Link, error) {
	page, fetchErr := s.fetch.Fetch(ctx, d.URL)
	page = page.clean()
	refused := refusal(ctx, page, fetchErr)
	if _, ok := errors.AsType[*FetchError](fetchErr); refused != nil && (!d.Force || ctx.Err() != nil || fetchErr != nil && !ok) {
		return Link{}, refused
	}
	now := s.clock.Now()
	l := d.link(now)
	if pause := pauseOf(fetchErr); pause > 0 { // nothing was learned about the page
		l.Health, l.NextCheckAt = Unchecked, now.Add(min(pause, maxPause))
	} else {
		s.judge(&l, page, fetchErr, now)
	}
	if l.Expired() { // the user asked for the link, so it is listed
		l.ExpiredAt, l.NextCheckAt = models.Time{}, now.Add(spread(s.opts.CheckInterval))
	}
	if refused == nil {
		l.describe(page)
	} else if l.Title == "" {
		l.Title = models.Truncate(l.URL, MaxTitle)
	}
	return l, nil
}

// Preview is what saving a URL would find, without storing anything.
func (s *Store) Preview(ctx context.Context, url string) (Page, error) {
	u, err := models.ParseURL("url", url)
	if err != nil {
		return Page{}, err
	}
	p, err := s.fetch.Fetch(ctx, u.Given)
	if err := refusal(ctx, p, err); err != nil {
		return Page{}, err
	}
	return p.clean(), nil
}

// mergeTags adds a draft's tags to the link that has its address;
// CodeNotFound if none has.
func (s *Store) mergeTags(ctx context.Context, d draft) (Link, error) {
	l, ok, err := s.ByURL(ctx, d.canonical)
	if err != nil || !ok {
		return Link{}, orNotFound(err)
	}
	if len(d.Tags) == 0 {
		return l, nil
	}
	ls, err := s.retag(ctx, d)
	if err != nil || len(ls) == 0 {
		return Link{}, orNotFound(err)
	}
	return ls[0], nil
}

// retag adds the tags of drafts to the links that have their addresses, and returns
// these links. Several drafts may be of one link.
func (s *Store) retag(ctx context.Context, ds ...draft) (ls []Link, err error) {
	rows, names := models.NewRows("canonical_url text"), make(map[string][]string, len(ds))
	for _, d := range ds {
		rows.Add(d.canonical)
		names[d.canonical] = append(names[d.canonical], d.Tags...)
	}
	err = s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		var err error
		if ls, err = lock(tx, rows, "canonical_url IN (SELECT canonical_url FROM {rows} AS r)"); err != nil {
			return nil, err
		}
		each := make([][]string, len(ls))
		for i, l := range ls {
			each[i] = names[l.CanonicalURL]
		}
		_, err = attach(tx, s.clock.Now(), ls, each)
		return ls, err
	})
	return ls, err
}

// link is the row of a new link.
func (d draft) link(now models.Time) Link {
	created := now
	if !d.CreatedAt.IsZero() && d.CreatedAt.Before(now.Time) {
		created = d.CreatedAt
	}
	return Link{
		ID: models.NewID(models.KindLink), URL: d.URL, CanonicalURL: d.canonical,
		Title: d.Title, OwnTitle: d.Title, Owner: d.Owner, Notes: d.Notes,
		CreatedAt: created, UpdatedAt: now, HealthChangedAt: now,
	}
}

// insert stores links whose addresses are new and returns those, with their keys.
func insert(tx *gorm.DB, rows []Link) ([]Link, error) {
	if err := models.Insert(tx, rows); err != nil {
		return nil, fmt.Errorf("storing links: %w", err)
	}
	// Which were stored, and under which keys, only the table knows.
	place, ids := make(map[string]int, len(rows)), make([]string, len(rows))
	for i, l := range rows {
		place[l.ID], ids[i] = i, l.ID
	}
	var keys []struct {
		Seq int64
		ID  string
	}
	err := idRows(ids).Raw(tx, "SELECT seq, id FROM links WHERE "+byID+" ORDER BY seq").Scan(&keys).Error
	if err != nil {
		return nil, fmt.Errorf("storing links: %w", err)
	}
	stored := make([]Link, len(keys))
	for i, k := range keys {
		stored[i] = rows[place[k.ID]]
		stored[i].Seq = k.Seq
	}
	return stored, nil
}
