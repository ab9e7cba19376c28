package targets_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

// A URL is unique among shared targets and among the private ones of each account. Adding
// a URL does not reveal private targets of other accounts.
func TestPrivateURLs(t *testing.T) {
	each(t, func(f fixture) {
		const url = "https://a.test"
		add := func(who string, private bool) (targets.Target, bool) {
			f.Helper()
			one, created, err := f.Add(f.as(who), targets.New{URL: url, Private: private})
			f.must(err)
			return one, created
		}
		bobs := f.private("bob", url)
		for _, private := range []bool{true, false} {
			if one, created := add("bob", private); created || one.ID != bobs.ID {
				f.Errorf("bob has two targets of a URL: %+v", one)
			}
		}
		alices := f.private("alice", url)
		shared, created := add("root", false) // an admin does not get the private target of somebody else
		if !created || shared.Private() || shared.Owner != "root" {
			f.Errorf("%+v", shared)
		}
		for _, who := range []string{"alice", "bob", "carol"} { // the shared one is preferred
			for _, private := range []bool{true, false} {
				if one, created := add(who, private); created || one.ID != shared.ID {
					f.Errorf("%s: %+v", who, one)
				}
			}
			n, err := f.AddAll(f.as(who), []targets.New{{URL: url}, {URL: "https://b.test"}, {URL: "https://B.test/"}})
			if f.must(err); n != map[string]int{"alice": 1}[who] {
				f.Errorf("%s added %d", who, n)
			}
			of, err := f.ByURLs(f.as(who), []string{shared.CanonicalURL})
			if f.must(err); of[shared.CanonicalURL] != shared.ID {
				f.Errorf("%s: %v", who, of)
			}
		}
		f.must(f.Delete(f.as("root"), shared.ID))
		if one, ok, err := f.ByURL(f.as("alice"), shared.CanonicalURL); err != nil || !ok || one.ID != alices.ID {
			f.Errorf("%v %v %v", one, ok, err)
		}
		n, err := f.AddAll(f.as("alice"), []targets.New{{URL: url}, {URL: "https://c.test", Private: true}})
		if f.must(err); n != 1 {
			f.Errorf("added %d, but one is already alice's", n)
		}
		if c, ok, err := f.ByURL(f.as("alice"), "https://c.test"); err != nil || !ok || !c.Private() {
			f.Errorf("%+v %v %v", c, ok, err)
		}
		if _, ok, _ := f.ByURL(f.as("bob"), "https://c.test"); ok {
			f.Error("bob sees a private target that was added with others")
		}
	})
}

// The owner and admins change who sees a target.
func TestShareTarget(t *testing.T) {
	each(t, func(f fixture) {
		const url = "https://a.test"
		share := func(who, id string, private bool) error {
			_, err := f.Edit(f.as(who), id, targets.Edit{Private: &private})
			return err
		}
		shared, _, err := f.Add(f.as("bob"), targets.New{URL: url})
		f.must(err)
		f.is(share("alice", shared.ID, true), models.CodeForbidden, "")
		f.must(share("alice", shared.ID, false)) // it is shared already
		claimed := f.only()
		f.clock.Advance(time.Second)
		f.must(share("bob", shared.ID, true))
		if got := f.get(shared.ID); got.PrivateTo != "bob" || got.UpdatedAt != f.Now() || got.ClaimedBy != "" {
			f.Errorf("%+v", got)
		}
		f.record(claimed, up(1)) // its events would be visible to all
		if got := f.get(shared.ID); !got.LastCheckedAt.IsZero() || len(f.claim()) != 1 {
			f.Errorf("a check from before the edit is recorded: %+v", got)
		}
		f.is(share("alice", shared.ID, false), models.CodeNotFound, "")

		other, created, err := f.Add(f.as("alice"), targets.New{URL: url})
		if f.must(err); !created {
			f.Fatal("the error reveals bob's target")
		}
		f.is(share("bob", shared.ID, false), models.CodeConflict, "")
		f.is(share("root", shared.ID, false), models.CodeConflict, "")
		f.must(share("alice", other.ID, true)) // alice's own
		f.must(share("root", shared.ID, false))
		if got := f.get(shared.ID); got.Private() || got.Owner != "bob" {
			f.Errorf("%+v", got)
		}
		f.must(share("root", shared.ID, true)) // to its owner, not to the admin
		if got := f.get(shared.ID); got.PrivateTo != "bob" {
			f.Errorf("%+v", got)
		}
	})
}

// An edit of a status page keeps the positions of private targets of other accounts.
func TestStatusPageWithPrivateTargets(t *testing.T) {
	each(t, func(f fixture) {
		a, b := f.add("https://a.test"), f.add("https://b.test")
		hidden, last := f.private("bob", "https://h.test"), f.private("bob", "https://l.test")
		save := func(who string, ids ...string) error {
			p, err := f.PageBySlug(f.as(who), "s")
			f.must(err)
			_, err = f.EditPage(f.as(who), p.ID, targets.PageSettings{Slug: "s", Title: "S", TargetIDs: ids})
			return err
		}
		shows := func(who string, want ...targets.Target) {
			f.Helper()
			p, err := f.PublicPage(f.Context(), "s")
			if who != "" {
				p, err = f.PageBySlug(f.as(who), "s")
			}
			f.must(err)
			var got, wanted []string
			for _, one := range p.Targets {
				got = append(got, one.Host)
			}
			for _, one := range want {
				wanted = append(wanted, one.Host)
			}
			if !slices.Equal(got, wanted) {
				f.Errorf("%q sees %v, want %v", who, got, wanted)
			}
		}
		_, err := f.AddPage(f.as("bob"), targets.PageSettings{Slug: "s", Title: "S", TargetIDs: []string{a.ID, hidden.ID, b.ID, last.ID}})
		f.must(err)
		shows("alice", a, b)
		shows("", a, hidden, b, last)
		f.must(save("alice", b.ID, a.ID))
		shows("", b, hidden, a, last)
		f.is(save("alice", b.ID, hidden.ID), models.CodeInvalid, "targets[1]")
		shows("", b, hidden, a, last)
		f.must(save("alice", a.ID))
		shows("", a, hidden, last)
		f.must(save("alice"))
		shows("", hidden, last)
		shows("alice")
		f.audited()
		f.must(save("alice", a.ID, b.ID))
		shows("", hidden, last, a, b)
		if all := f.audited(); len(all) != 1 || strings.Contains(all[0], hidden.ID) || !strings.Contains(all[0], a.ID) {
			f.Errorf("%q", all)
		}
		f.must(save("root", last.ID, a.ID)) // sees all, and removes what is not named
		shows("", last, a)
	})
}

// Idempotency keys are separate for each actor.
func TestIdempotencyKeysOfActors(t *testing.T) {
	each(t, func(f fixture) {
		add := func(ctx context.Context, url string, private bool) (string, bool) {
			f.Helper()
			one, created, err := f.Add(ctx, targets.New{URL: url, Private: private, IdempotencyKey: "key"})
			f.must(err)
			return one.ID, created
		}
		first, _ := add(f.Context(), "https://open.test", false)
		open := models.WithActor(f.Context(), models.Actor{Name: models.SystemOwner, SeesAll: true})
		if id, created := add(open, "https://other.test", false); created || id != first {
			f.Errorf("without accounts the key made %s, and then %s", first, id)
		}
		bobs, created := add(f.as("bob"), "https://bob.test", true)
		if !created || bobs == first {
			f.Error("bob got the target of another key")
		}
		alices, created := add(f.as("alice"), "https://alice.test", false)
		if !created || alices == bobs || alices == first {
			f.Error("alice got the target of another key")
		}
		for who, want := range map[string]string{"bob": bobs, "alice": alices} {
			if id, created := add(f.as(who), "https://again.test", false); created || id != want {
				f.Errorf("%s: %s, want %s", who, id, want)
			}
		}
		// A target that is no longer visible to the actor of the key counts as deleted.
		_, err := f.Edit(f.as("root"), first, targets.Edit{Private: new(true)})
		f.must(err)
		shared, _, err := f.Add(f.as("bob"), targets.New{URL: "https://shared.test"})
		f.must(err)
		carol := models.WithActor(f.Context(), models.Actor{Name: "carol", Via: "token"})
		if id, created := add(carol, "https://shared.test", false); created || id != shared.ID {
			f.Errorf("%s %v", id, created)
		}
		_, err = f.Edit(f.as("bob"), shared.ID, targets.Edit{Private: new(true)})
		f.must(err)
		if id, created := add(carol, "https://shared.test", false); !created || id == shared.ID {
			f.Errorf("%s %v", id, created)
		}
	})
}

// Lists and counts for an account that does not see all targets do not scan a table.
func TestPlansOfPrivateTargets(t *testing.T) {
	f := newFixture(t, modelstest.New(t))
	ids := f.addMany(500)
	for _, claimed := range f.claim() {
		r := up(1)
		if claimed.Seq%3 == 0 {
			r = down()
		}
		f.record(claimed, r)
	}
	modelstest.Exec(t, f.db, "UPDATE targets SET owner = 'bob', private_to = 'bob' WHERE seq % 2 = 0")
	modelstest.Exec(t, f.db, "ANALYZE")
	alice, some := f.as("alice"), models.Cursor{CreatedAt: f.Now(), ID: ids[100]}
	list := func(filter targets.Filter) func() error {
		return func() error { _, err := f.List(alice, filter, some, 50); return err }
	}
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"list", list(targets.Filter{})},
		{"by host", list(targets.Filter{Host: "h3.test"})},
		{"by status", list(targets.Filter{Status: targets.Up})},
		{"get", func() error { _, err := f.Get(alice, ids[0]); return err }},
		{"by URL", func() error { _, _, err := f.ByURL(alice, "https://h1.test"); return err }},
		{"by URLs", func() error { _, err := f.ByURLs(alice, []string{"https://h1.test", "https://h2.test"}); return err }},
		{"counts", func() error { _, err := f.Counts(alice); return err }},
		{"find", func() error { _, err := f.Find(alice, "https://h3", 10); return err }},
		{"results", func() error { _, err := f.Results(alice, targets.ResultFilter{}, models.Cursor{}, 50); return err }},
		{"outages", func() error { _, err := f.Outages(alice, "", models.Cursor{}, 50); return err }},
		{"add", func() error { _, _, err := f.Add(alice, targets.New{URL: "https://new.test"}); return err }},
	} {
		for _, s := range modelstest.Sent(t, f.db, c.do) {
			for _, step := range modelstest.Plan(t, f.db, s) {
				given := step == "SCAN r" || strings.HasPrefix(step, "SCAN newest") || strings.HasPrefix(step, "SCAN begins") || strings.HasPrefix(step, "SCAN any_part")
				if modelstest.ReadsAll(step) && !given || modelstest.Sorts(step) && c.name != "find" && c.name != "counts" {
					t.Errorf("%s: %s\n  %s", c.name, s.SQL, step)
				}
			}
		}
	}
}
