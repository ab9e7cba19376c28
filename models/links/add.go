package links

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
)

type draft struct {
	New
	canonical  string
	privateTo  string      // as Link.PrivateTo
	firstCheck models.Time // of Import
}

// check validates n. It puts prefix before the names of invalid fields. CodeForbidden if the owner is another
// account, unless the actor is an admin or there are no accounts.
func (n New) check(ctx context.Context, prefix string) (draft, error) {
	u, wrongURL := models.ParseURL(prefix+"url", n.URL)
	tags, wrongTags := cleanTags(n.Tags)
	errs := []error{wrongURL, wrongTags}
	n.URL, n.Tags = u.Given, tags
	n.Owner, n.Title, n.Notes = models.CleanLine(n.Owner), models.CleanLine(n.Title), models.CleanText(n.Notes)
	switch actor, _ := models.ActorOf(ctx); {
	case n.Owner == "":
		n.Owner = actor.Name
	case n.Owner != actor.Name && actor.Via != "" && !actor.SeesAll:
		return draft{}, &models.Error{Code: models.CodeForbidden, Detail: "Only admins can set another owner."}
	}
	for _, m := range []struct {
		name, text string
		limit      int
	}{{"owner", n.Owner, MaxOwner}, {"title", n.Title, MaxTitle}, {"notes", n.Notes, MaxNotes}} {
		if models.Runes(m.text) > m.limit {
			errs = append(errs, models.TooLong(prefix+m.name, m.limit, "characters"))
		}
	}
	if err := models.Invalids(errs...); err != nil {
		return draft{}, err
	}
	return draft{New: n, canonical: u.Canonical, privateTo: models.PrivateTo(n.Owner, n.Private)}, nil
}

// Add fetches the page of n and stores the link with the page's metadata, if the page returns 200. Then created is
// true. If a shared link or one of the actor has the URL already, Add adds the new tags to that link and returns
// it. It does not change whether that link is expired or private. It does not add the tags of a private New to a
// shared link.
//
// If the page cannot be fetched or does not return 200, nothing is stored. The error is CodeUnresolvable or
// CodeBlocked, or CodeUnavailable if too many pages are being fetched.
//
// The page is fetched once for concurrent requests of an actor for the same URL, and not at all if n has the result of a
// Preview.
//
// With Force the link is stored anyway. It is active and has the health that the response means. If the page is
// gone, it is dead, and the next check expires it if the page is still gone. It is unchecked if the response says
// nothing about the page, as when its site is rate limiting requests. Its title is the given one, else its URL
// until a check reads the title of the page.
func (s *Store) Add(ctx context.Context, n New) (l Link, created bool, err error) {
	d, err := n.check(ctx, "")
	if err != nil {
		return Link{}, false, err
	}
	flight := s.flights.hold(ctx, d.URL)
	defer s.flights.release(flight)
	if l, err = s.addToExisting(ctx, d); models.CodeOf(err) != models.CodeNotFound {
		return l, false, err
	}
	if err := models.Again(ctx); err != nil {
		return Link{}, false, err
	}
	fresh, err := s.fetchNew(ctx, d, flight)
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
		return ls, auditAdd(tx, s.clock.Now(), ls)
	})
	if err == nil && !created { // a concurrent request saved it
		l, err = s.addToExisting(ctx, d)
	}
	return l, created, err
}

// fetchNew fetches the page of a draft and returns the link to store.
func (s *Store) fetchNew(ctx context.Context, d draft, f *flight) (Link, error) {
	known, ok := s.unseal(ctx, d.Fetched, d.URL)
	page, fetchErr := known.result()
	if !ok {
		page, fetchErr = s.flights.page(ctx, f, s.fetch)
	}
	refused := refusal(ctx, page, fetchErr)
	if _, ok := errors.AsType[*FetchError](fetchErr); refused != nil && (!d.Force || ctx.Err() != nil || fetchErr != nil && !ok) {
		return Link{}, refused
	}
	now := s.clock.Now()
	l := d.link(now)
	if delay := retryDelay(fetchErr); delay > 0 { // the response says nothing about the page
		l.Health, l.NextCheckAt = Unchecked, now.Add(min(delay, maxDelay))
	} else {
		s.judge(&l, page, fetchErr, now)
	}
	if l.Expired() { // the user wants the link, so it stays active
		l.ExpiredAt, l.NextCheckAt = models.Time{}, now.Add(jitter(s.opts.CheckInterval))
	}
	if refused == nil {
		l.setMetadata(page)
	} else if l.Title == "" {
		l.Title = models.Truncate(l.URL, MaxTitle)
	}
	return l, nil
}

// Preview fetches a URL as Add does, and stores nothing. fetched is the result for New.Fetched, also if there is an error.
func (s *Store) Preview(ctx context.Context, url string) (p Page, fetched string, err error) {
	u, err := models.ParseURL("url", url)
	if err != nil {
		return Page{}, "", err
	}
	flight := s.flights.hold(ctx, u.Given)
	defer s.flights.release(flight)
	p, fetchErr := s.flights.page(ctx, flight, s.fetch)
	if fetched, err = s.seal(ctx, u.Given, p, fetchErr); err != nil {
		return Page{}, "", err
	}
	if err := refusal(ctx, p, fetchErr); err != nil {
		return Page{}, fetched, err
	}
	return p, fetched, nil
}

// addToExisting adds the tags of a draft to the link that has its URL, and returns that link. CodeNotFound if
// there is none.
func (s *Store) addToExisting(ctx context.Context, d draft) (Link, error) {
	tx := s.db.Read(ctx)
	ls, err := load(tx, tx.Model(&Link{}).Where("canonical_url = ? AND private_to IN ?", d.canonical, d.scopes(ctx)).Order("private_to").Limit(1))
	if err != nil || len(ls) == 0 {
		return Link{}, orNotFound(err)
	}
	if len(d.Tags) == 0 || d.hidesTagsFrom(ls[0]) {
		return ls[0], nil
	}
	ls, err = s.addTagsOf(ctx, d)
	if err != nil || len(ls) == 0 {
		return Link{}, orNotFound(err)
	}
	return ls[0], nil
}

// addTagsOf adds the tags of drafts to the links that have their URLs, and returns these links. Several drafts may
// have the same URL.
func (s *Store) addTagsOf(ctx context.Context, ds ...draft) (ls []Link, err error) {
	rows, byURL := newURLRows(), make(map[string][]draft, len(ds))
	for _, d := range ds {
		rows.Add(d.canonical, d.privateTo)
		byURL[d.canonical] = append(byURL[d.canonical], d)
	}
	err = s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		found, err := lock(tx, rows, "seq IN (SELECT l.seq FROM {rows} AS r CROSS JOIN links AS l WHERE "+sameURL+")", models.Owner(ctx))
		if err != nil {
			return nil, err
		}
		first := preferShared(found)
		ls = slices.DeleteFunc(found, func(l Link) bool { return first[l.CanonicalURL].Seq != l.Seq })
		names, oldTags := make([][]string, len(ls)), copyAllTags(ls)
		for i, l := range ls {
			for _, d := range byURL[l.CanonicalURL] {
				if !d.hidesTagsFrom(l) {
					names[i] = append(names[i], d.Tags...)
				}
			}
		}
		newTags, err := attach(tx, s.clock.Now(), ls, names)
		if err != nil {
			return nil, err
		}
		return ls, auditNewTags(tx, s.clock.Now(), ls, oldTags, newTags)
	})
	return ls, err
}

// hidesTagsFrom reports whether the tags of d are not added to a link, because others would see them.
func (d draft) hidesTagsFrom(l Link) bool { return d.Private && !l.Private() }

// scopes returns the scopes in which a link with the URL of d is a duplicate. These are shared links, links of
// the actor, and links of the owner of a private draft.
func (d draft) scopes(ctx context.Context) []string {
	return []string{"", models.Owner(ctx), d.privateTo}
}

// newURLRows returns an empty table of URLs for sameURL.
func newURLRows() *models.Rows { return models.NewRows("canonical_url text, private_to text") }

// sameURL is true if a link l duplicates a row r of newURLRows (draft.scopes). Its argument is the name of the actor.
const sameURL = "l.canonical_url = r.canonical_url AND l.private_to IN ('', ?, r.private_to)"

// preferShared returns one link for each canonical URL: the shared one if there is one.
func preferShared(ls []Link) map[string]Link {
	first := make(map[string]Link, len(ls))
	for _, l := range ls {
		if f, ok := first[l.CanonicalURL]; !ok || f.Private() && !l.Private() {
			first[l.CanonicalURL] = l
		}
	}
	return first
}

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

// insertNew inserts links, except those that are duplicates of a shared link or of one of the actor.
func insertNew(tx *gorm.DB, rows []Link) ([]Link, error) {
	return insert(tx, rows, "(SELECT l.seq FROM links AS l WHERE "+sameURL+" LIMIT 1) IS NULL", models.Owner(tx.Statement.Context))
}

// insert stores links r that meet a condition, except those whose URL exists in their scope, and returns the stored ones
// with their keys.
func insert(tx *gorm.DB, rows []Link, condition string, args ...any) ([]Link, error) {
	position := make(map[string]int, len(rows))
	for i, l := range rows {
		position[l.ID] = i
	}
	stored := make([]Link, 0, len(rows)) // without duplicates
	err := models.InsertReturning(tx, rows, "seq, id", func(r *models.Row) {
		seq := r.Int64()
		l := rows[position[r.Text()]]
		l.Seq = seq
		stored = append(stored, l)
	}, condition, args...)
	if err != nil {
		return nil, fmt.Errorf("insert links: %w", err)
	}
	slices.SortFunc(stored, func(a, b Link) int { return cmp.Compare(a.Seq, b.Seq) })
	return stored, nil
}
