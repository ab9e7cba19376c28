package shortlinks_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"linkwatch/models"
	"linkwatch/models/audit"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
)

// as returns a context of a request by an account.
func (f fixture) as(name string) context.Context {
	return models.WithActor(f.Context(), models.Actor{Name: name, Via: "session", SeesAll: name == "root"})
}

// private adds a short link that is private to an account.
func (f fixture) private(name string, n shortlinks.New) shortlinks.ShortLink {
	f.Helper()
	n.Private = true
	l, created, err := f.Add(f.as(name), n)
	f.must(err)
	if !created || l.Owner != name || !l.Private() {
		f.Fatalf("%+v, created: %v", l, created)
	}
	return l
}

// audited returns the audit entries since the last call, each as "alice short_link.edit spring {…} {…}".
func (f fixture) audited() (texts []string) {
	f.Helper()
	var all []audit.Entry
	f.must(f.db.Read(f.Context()).Order("seq").Find(&all).Error)
	modelstest.Exec(f.TB, f.db, "DELETE FROM audit_entries")
	for _, e := range all {
		if e.SubjectKind != "short_link" {
			f.Errorf("%+v", e)
		}
		texts = append(texts, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s %s", e.Actor, e.Action, e.SubjectID, e.Before, e.After)), " "))
	}
	return texts
}

// TestPrivateShortLinks calls every read and write of the store for a short link that is
// private to bob.
func TestPrivateShortLinks(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("shared-1"))
		bobs := f.private("bob", shortlinks.New{LongURL: "https://bob.test/path", Key: "bobs-1", Title: "Plan"})
		used := f.private("bob", shortlinks.New{LongURL: "https://used.test", Key: "bobs-used", MaxVisits: 1})
		f.private("bob", shortlinks.New{LongURL: "https://gone.test", Key: "bobs-gone"})
		f.must(f.Delete(f.as("bob"), "bobs-gone"))
		f.redirectsTo("bobs-1", "https://bob.test/path") // visitors are redirected
		f.redirectsTo("bobs-used", "https://used.test")
		f.count()

		list := func(filter shortlinks.Filter) func(context.Context) ([]string, error) {
			return func(ctx context.Context) (keys []string, err error) {
				l, err := f.List(ctx, filter, models.Cursor{}, 100)
				for _, one := range l.Items {
					keys = append(keys, one.Key)
				}
				return keys, err
			}
		}
		find := func(text string) func(context.Context) ([]string, error) {
			return func(ctx context.Context) (keys []string, err error) {
				ls, err := f.Find(ctx, text, 100)
				for _, one := range ls {
					keys = append(keys, one.Key)
				}
				return keys, err
			}
		}
		const mine = "bob admin none" // who can see it
		for _, c := range []struct {
			name, key, seenBy string
			find              func(context.Context) ([]string, error)
		}{
			{"Get", bobs.Key, mine, func(ctx context.Context) ([]string, error) {
				l, err := f.Get(ctx, bobs.Key)
				return []string{l.Key}, err
			}},
			{"Stats", bobs.Key, mine, func(ctx context.Context) ([]string, error) {
				_, err := f.Stats(ctx, bobs.Key, 30)
				if err != nil {
					return nil, err
				}
				return []string{bobs.Key}, nil
			}},
			{"ByURL", bobs.Key, "bob", func(ctx context.Context) ([]string, error) {
				l, _, err := f.ByURL(ctx, bobs.CanonicalURL)
				return []string{l.Key}, err
			}},
			{"List", bobs.Key, mine, list(shortlinks.Filter{})},
			{"newest", bobs.Key, mine, list(shortlinks.Filter{Newest: true})},
			{"active", bobs.Key, mine, list(shortlinks.Filter{Status: shortlinks.Active})},
			{"expired", used.Key, mine, list(shortlinks.Filter{Status: shortlinks.Expired})},
			{"by text", bobs.Key, mine, list(shortlinks.Filter{Text: "plan"})},
			{"Find", bobs.Key, mine, find("plan")},
			{"Find by key", bobs.Key, mine, find("bobs")},
			{"Find by address", bobs.Key, mine, find("https://bob.test/p")},
			{"Preview", bobs.Key, "alice bob admin none", func(ctx context.Context) ([]string, error) {
				e, err := f.Preview(ctx, bobs.Key)
				return []string{e.Title}, err
			}},
		} {
			for who, ctx := range map[string]context.Context{"alice": f.as("alice"), "bob": f.as("bob"), "admin": f.as("root"), "none": f.Context()} {
				found, err := c.find(ctx)
				if err != nil && models.CodeOf(err) != models.CodeNotFound {
					f.Errorf("%s as %s: %v", c.name, who, err)
				}
				want := slices.Contains(strings.Fields(c.seenBy), who)
				if c.name == "Preview" {
					c.key = "Plan"
				}
				if slices.Contains(found, c.key) != want {
					f.Errorf("%s as %s finds %v, want it to be seen: %v", c.name, who, found, want)
				}
			}
		}

		for _, c := range []struct {
			name string
			do   func(context.Context) error
		}{
			{"Edit", func(ctx context.Context) error {
				_, err := f.Edit(ctx, bobs.Key, shortlinks.Edit{Title: new("T")})
				return err
			}},
			{"Restore", func(ctx context.Context) error {
				_, err := f.Restore(ctx, "bobs-gone")
				if err == nil {
					err = f.Delete(ctx, "bobs-gone")
				}
				return err
			}},
			{"Delete", func(ctx context.Context) error {
				err := f.Delete(ctx, bobs.Key)
				if err == nil {
					_, err = f.Restore(ctx, bobs.Key)
				}
				return err
			}},
		} {
			before := f.get(bobs.Key)
			f.audited()
			f.wantError(c.do(f.as("alice")), models.CodeNotFound, "")
			if after := f.get(bobs.Key); after != before {
				f.Errorf("%s as alice has changed %+v\nto %+v", c.name, before, after)
			}
			if all := f.audited(); len(all) > 0 {
				f.Errorf("%s as alice: %q", c.name, all)
			}
			for _, who := range []string{"bob", "root"} {
				if err := c.do(f.as(who)); err != nil {
					f.Errorf("%s as %s: %v", c.name, who, err)
				}
			}
		}

		f.must(f.Delete(f.as("bob"), "bobs-used"))
		f.must(f.Delete(f.Context(), "shared-1"))
		for who, want := range map[string]bool{"alice": false, "bob": true, "root": true} {
			if found, err := f.Any(f.as(who)); err != nil || found != want {
				f.Errorf("%s: any: %v, %v", who, found, err)
			}
		}
	})
}

// ByURL prefers a shared short link to one of the account. A used key is not
// available to any account.
func TestPrivateShortLinkOfURL(t *testing.T) {
	each(t, func(f fixture) {
		const url = "https://example.com/page"
		of := func(who, want string) {
			f.Helper()
			l, _, err := f.ByURL(f.as(who), url)
			f.must(err)
			if l.Key != want {
				f.Errorf("%s: %q, want %q", who, l.Key, want)
			}
		}
		f.private("bob", shortlinks.New{LongURL: url, Key: "bobs-1"})
		f.private("bob", shortlinks.New{LongURL: url, Key: "bobs-2"})
		for who, want := range map[string]string{"bob": "bobs-2", "alice": "", "root": ""} {
			of(who, want)
		}
		f.add(key("shared-1"))
		f.private("bob", shortlinks.New{LongURL: url, Key: "bobs-3"})
		for _, who := range []string{"alice", "bob", "root"} {
			of(who, "shared-1")
		}
		_, _, err := f.Add(f.as("alice"), shortlinks.New{LongURL: url, Key: "bobs-1"})
		f.wantError(err, models.CodeConflict, "")
	})
}

// The owner and admins change who sees a short link. It redirects as before.
func TestShareShortLink(t *testing.T) {
	each(t, func(f fixture) {
		l, _, err := f.Add(f.as("bob"), shortlinks.New{LongURL: "https://example.com/page", Key: "some"})
		f.must(err)
		share := func(who string, private bool) error {
			_, err := f.Edit(f.as(who), l.Key, shortlinks.Edit{Private: &private})
			return err
		}
		f.wantError(share("alice", true), models.CodeForbidden, "")
		f.must(share("alice", false)) // unchanged
		f.must(share("root", true))
		if got := f.get(l.Key); got.PrivateTo != "bob" || got.Owner != "bob" {
			f.Errorf("%+v", got)
		}
		f.wantError(share("alice", false), models.CodeNotFound, "")
		f.redirectsTo("some", "https://example.com/page")
		f.must(share("bob", false))
		if got := f.get(l.Key); got.Private() {
			f.Errorf("%+v", got)
		}
	})
}

// Each actor has its own Idempotency-Keys.
func TestIdempotencyKeysOfActors(t *testing.T) {
	each(t, func(f fixture) {
		add := func(ctx context.Context, private bool) (string, bool) {
			f.Helper()
			l, created, err := f.Add(ctx, shortlinks.New{LongURL: "https://example.com/page", Private: private, IdempotencyKey: "key"})
			f.must(err)
			return l.Key, created
		}
		first, _ := add(f.Context(), false)
		open := models.WithActor(f.Context(), models.Actor{Name: models.SystemOwner, SeesAll: true})
		if key, created := add(open, false); created || key != first {
			f.Errorf("without accounts the key made %s, and then %s", first, key)
		}
		made := map[string]string{}
		for _, who := range []string{"bob", "alice", "root"} {
			key, created := add(f.as(who), who == "bob")
			if !created {
				f.Errorf("%s was given the short link of another key", who)
			}
			made[who] = key
		}
		for who, want := range made {
			if key, created := add(f.as(who), false); created || key != want {
				f.Errorf("%s: %s, want %s", who, key, want)
			}
		}
	})
}

// Each change by a request has one audit entry.
func TestShortLinkAudit(t *testing.T) {
	each(t, func(f fixture) {
		want := func(entries ...string) {
			f.Helper()
			if got := f.audited(); !slices.Equal(got, entries) {
				f.Errorf("got  %q\nwant %q", got, entries)
			}
		}
		bob := f.as("bob")
		_, _, err := f.Add(bob, shortlinks.New{LongURL: "https://a.test", Key: "some", ExpiresAt: models.At(f.clock.Now().Add(day))})
		f.must(err)
		want(`bob short_link.add some {"expires_at":"2026-03-25T12:00:00Z","long_url":"https://a.test","private":false,"short_key":"some"}`)
		_, err = f.Edit(bob, "some", shortlinks.Edit{ExpiresAt: new(models.Time{}), MaxVisits: new(int64(3)), Disabled: new(true), Private: new(true)})
		f.must(err)
		want(`bob short_link.edit some {"expires_at":"2026-03-25T12:00:00Z","max_visits":null} {"expires_at":null,"max_visits":3}`,
			`bob short_link.disable some {"disabled":false} {"disabled":true}`, `bob short_link.unshare some {"private":false} {"private":true}`)
		_, err = f.Edit(bob, "some", shortlinks.Edit{MaxVisits: new(int64(3))})
		f.must(err)
		want()
		_, err = f.Edit(bob, "some", shortlinks.Edit{Disabled: new(false), Private: new(false)})
		f.must(err)
		want(`bob short_link.enable some {"disabled":true} {"disabled":false}`, `bob short_link.share some {"private":true} {"private":false}`)
		f.must(f.Delete(bob, "some"))
		want(`bob short_link.delete some {"long_url":"https://a.test","max_visits":3,"private":false,"short_key":"some"}`)
		_, err = f.Restore(bob, "some")
		f.must(err)
		want(`bob short_link.restore some`)
		_, _, err = f.Add(bob, shortlinks.New{LongURL: "https://a.test", Key: "some"})
		f.wantError(err, models.CodeConflict, "")
		f.add(key("background"))
		f.redirectsTo("some", "https://a.test")
		f.count()
		want()
	})
}

// The lists of an account that cannot see everything do not scan a whole table.
func TestPlansOfPrivateShortLinks(t *testing.T) {
	f := newFixture(t, modelstest.New(t))
	f.addMany(3000, "expires_at = created_at + seq * 1000000, private_to = CASE WHEN seq % 2 = 0 THEN 'bob' ELSE '' END")
	f.add(key("some"))
	modelstest.Exec(t, f.db, "ANALYZE")
	alice, some := f.as("alice"), models.Cursor{CreatedAt: f.Now(), ID: "k-000100"}
	list := func(filter shortlinks.Filter) func() error {
		return func() error { _, err := f.List(alice, filter, some, 50); return err }
	}
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"list", list(shortlinks.Filter{})},
		{"newest", list(shortlinks.Filter{Newest: true})},
		{"active", list(shortlinks.Filter{Status: shortlinks.Active, Newest: true})},
		{"get", func() error { _, err := f.Get(alice, "some"); return err }},
		{"of", func() error { _, _, err := f.ByURL(alice, "https://example.com/page"); return err }},
		{"find", func() error { _, err := f.Find(alice, "https://example", 10); return err }},
	} {
		for _, s := range modelstest.Sent(t, f.db, c.do) {
			for _, step := range modelstest.Plan(t, f.db, s) {
				within := slices.Contains([]string{"SCAN newest", "SCAN keys", "SCAN addresses", "SCAN any_part", "SCAN found"}, step)
				if modelstest.ReadsAll(step) && !within || modelstest.Sorts(step) && c.name != "find" {
					t.Errorf("%s: %s\n  %s", c.name, s.SQL, step)
				}
			}
		}
	}
}
