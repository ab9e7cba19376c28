package links

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
)

// draft is a New that was checked.
type draft struct {
	New
	canonical string
	privateTo string // Link.PrivateTo
}

// check validates what a client gave. at is put before the names of members. CodeForbidden
// if the owner is another account, unless the actor is an admin or there are no accounts.
func (n New) check(ctx context.Context, at string) (draft, error) {
	u, err := models.ParseURL(at+"url", n.URL)
	if err != nil {
		return draft{}, err
	}
	n.URL = u.Given
	if n.Tags, err = cleanTags(n.Tags); err != nil {
		return draft{}, err
	}
	n.Owner, n.Title, n.Notes = models.CleanLine(n.Owner), models.CleanLine(n.Title), models.CleanText(n.Notes)
	switch actor, _ := models.ActorOf(ctx); {
	case n.Owner == "":
		n.Owner = actor.Name
	case n.Owner != actor.Name && actor.Via != "" && !actor.SeesAll:
		return draft{}, &models.Error{Code: models.CodeForbidden, Detail: "Only an admin can name another owner."}
	}
	for _, m := range []struct {
		name, text string
		limit      int
	}{{"owner", n.Owner, MaxOwner}, {"title", n.Title, MaxTitle}, {"notes", n.Notes, MaxNotes}} {
		if models.Runes(m.text) > m.limit {
			return draft{}, models.Invalid(at+m.name, "is longer than %d characters", m.limit)
		}
	}
	return draft{n, u.Canonical, models.PrivateTo(n.Owner, n.Private)}, nil
}

// Add stores a link whose page answers 200, with what the page says of itself,
// and created is true. If a link with the URL is saved already that is shared or the
// actor's own, that link is returned as it is (it may be expired, and is as private as it
// was) with the new tags added. Tags of a private New are not added to a shared link.
//
// A URL that cannot be fetched is CodeUnresolvable or CodeBlocked, and
// CodeUnavailable means that too many pages are being fetched; then nothing is
// stored. With Force it is stored anyway, active and with the health that
// the answer means: a page that is gone is dead, and expires only if a recheck finds
// it gone again. It is unchecked if nothing was learned about the page, as when its
// site is rate limiting requests. Without an own title it has its URL for one, until a check
// finds another.
func (s *Store) Add(ctx context.Context, n New) (l Link, created bool, err error) {
	d, err := n.check(ctx, "")
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
		ls, err := insertNew(tx, []Link{fresh})
		if err != nil || len(ls) == 0 {
			return nil, err
		}
		if _, err = attach(tx, s.clock.Now(), ls, [][]string{d.Tags}); err != nil {
			return nil, err
		}
		l, created = ls[0], true
		return ls, added(tx, s.clock.Now(), ls)
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
	tx := s.db.Read(ctx)
	ls, err := load(tx, tx.Model(&Link{}).Where("canonical_url = ? AND private_to IN ?", d.canonical, d.scopes(ctx)).Order("private_to").Limit(1))
	if err != nil || len(ls) == 0 {
		return Link{}, orNotFound(err)
	}
	if len(d.Tags) == 0 || d.keeps(ls[0]) {
		return ls[0], nil
	}
	ls, err = s.retag(ctx, d)
	if err != nil || len(ls) == 0 {
		return Link{}, orNotFound(err)
	}
	return ls[0], nil
}

// retag adds the tags of drafts to the links that have their addresses, and returns
// these links. Several drafts may be of one link.
func (s *Store) retag(ctx context.Context, ds ...draft) (ls []Link, err error) {
	rows, of := newAddresses(), make(map[string][]draft, len(ds))
	for _, d := range ds {
		rows.Add(d.canonical, d.privateTo)
		of[d.canonical] = append(of[d.canonical], d)
	}
	err = s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		found, err := lock(tx, rows, "seq IN (SELECT l.seq "+sameAddress+")", models.Owner(ctx))
		if err != nil {
			return nil, err
		}
		first := firsts(found)
		ls = slices.DeleteFunc(found, func(l Link) bool { return first[l.CanonicalURL].Seq != l.Seq })
		each, before := make([][]string, len(ls)), tagsOfAll(ls)
		for i, l := range ls {
			for _, d := range of[l.CanonicalURL] {
				if !d.keeps(l) {
					each[i] = append(each[i], d.Tags...)
				}
			}
		}
		more, err := attach(tx, s.clock.Now(), ls, each)
		if err != nil {
			return nil, err
		}
		return ls, tagged(tx, s.clock.Now(), ls, before, more)
	})
	return ls, err
}

// keeps says whether a draft keeps its tags from a link: others would see them.
func (d draft) keeps(l Link) bool { return d.Private && !l.Private() }

// scopes are those in which a link may have the address of a draft already: the shared
// links, the actor's own, and those of the draft's owner if it is private.
func (d draft) scopes(ctx context.Context) []string {
	return []string{"", models.Owner(ctx), d.privateTo}
}

// newAddresses are the addresses of drafts, or of links to be, for sameAddress.
func newAddresses() *models.Rows { return models.NewRows("canonical_url text, private_to text") }

// sameAddress finds the links in the scopes of drafts (draft.scopes) that have their addresses. Its
// argument is the actor's name.
const sameAddress = "FROM {rows} AS r CROSS JOIN links AS l WHERE l.canonical_url = r.canonical_url AND l.private_to IN ('', ?, r.private_to)"

// firsts is, of links of several scopes, the one of each canonical URL that is shared, else any.
func firsts(ls []Link) map[string]Link {
	first := make(map[string]Link, len(ls))
	for _, l := range ls {
		if f, ok := first[l.CanonicalURL]; !ok || f.Private() && !l.Private() {
			first[l.CanonicalURL] = l
		}
	}
	return first
}

// link is the row of a new link.
func (d draft) link(now models.Time) Link {
	created := now
	if !d.CreatedAt.IsZero() && d.CreatedAt.Before(now.Time) {
		created = d.CreatedAt
	}
	return Link{
		ID: models.NewID(models.KindLink), URL: d.URL, CanonicalURL: d.canonical,
		Title: d.Title, OwnTitle: d.Title, Owner: d.Owner, PrivateTo: d.privateTo, Notes: d.Notes,
		CreatedAt: created, UpdatedAt: now, HealthChangedAt: now,
	}
}

// insertNew is insert without those that have the address of a link that is shared or the
// actor's own.
func insertNew(tx *gorm.DB, rows []Link) ([]Link, error) {
	addresses := newAddresses()
	for _, l := range rows {
		addresses.Add(l.CanonicalURL, l.PrivateTo)
	}
	var known []string
	err := addresses.Raw(tx, "SELECT l.canonical_url "+sameAddress, models.Owner(tx.Statement.Context)).Scan(&known).Error
	if err != nil {
		return nil, fmt.Errorf("looking for links with the same addresses: %w", err)
	}
	if len(known) > 0 {
		have := make(map[string]bool, len(known))
		for _, address := range known {
			have[address] = true
		}
		rows = slices.DeleteFunc(slices.Clone(rows), func(l Link) bool { return have[l.CanonicalURL] })
	}
	return insert(tx, rows)
}

// insert stores links whose addresses are new in their scopes and returns those, with their keys.
func insert(tx *gorm.DB, rows []Link) ([]Link, error) {
	if len(rows) == 0 {
		return nil, nil
	}
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
