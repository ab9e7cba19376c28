package targets_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/audit"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

// as is a context of a request by an account.
func (f fixture) as(name string) context.Context {
	return models.WithActor(f.Context(), models.Actor{Name: name, Via: "session", SeesAll: name == "root"})
}

// private adds a target that is private to an account.
func (f fixture) private(name, url string) targets.Target {
	f.Helper()
	t, created, err := f.Add(f.as(name), targets.New{URL: url, Private: true})
	f.must(err)
	if !created || t.Owner != name || !t.Private() {
		f.Fatalf("%+v, created: %v", t, created)
	}
	return t
}

// audited are the entries since the last call, each as "alice target.edit target t_1 {…} {…}", without ids.
func (f fixture) audited() (texts []string) {
	f.Helper()
	var all []audit.Entry
	f.must(f.db.Read(f.Context()).Order("seq").Find(&all).Error)
	modelstest.Exec(f, f.db, "DELETE FROM audit_entries")
	for _, e := range all {
		texts = append(texts, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s %s %s", e.Actor, e.Action, e.SubjectKind, e.SubjectName, e.Before, e.After)), " "))
	}
	return texts
}

// TestPrivateTargets calls every read and write of the store for a target that is private to bob.
func TestPrivateTargets(t *testing.T) {
	each(t, func(f fixture) {
		shared := f.add("https://shared.test")
		bobs := f.private("bob", "https://bob.test/path")
		gone := f.private("bob", "https://gone.test")
		page, err := f.AddPage(f.as("bob"), targets.PageSettings{Slug: "s", Title: "S", TargetIDs: []string{bobs.ID}})
		f.must(err)
		for _, claimed := range f.claim() {
			f.must(f.Record(f.Context(), targets.Checked{Target: claimed, TLSExpiresAt: f.Now().Add(day), Result: func() targets.Result {
				r := down()
				r.CheckedAt = f.Now()
				return r
			}()}))
		}
		f.must(f.Delete(f.as("bob"), gone.ID))
		bobs = f.get(bobs.ID)

		ids := func(ts []targets.Target) (all []string) {
			for _, one := range ts {
				all = append(all, one.ID)
			}
			return all
		}
		list := func(filter targets.Filter) func(context.Context) ([]string, error) {
			return func(ctx context.Context) ([]string, error) {
				l, err := f.List(ctx, filter, models.Cursor{}, 100)
				return ids(l.Items), err
			}
		}
		results := func(filter targets.ResultFilter) func(context.Context) ([]string, error) {
			return func(ctx context.Context) (all []string, err error) {
				l, err := f.Results(ctx, filter, models.Cursor{}, 100)
				for _, r := range l.Items {
					all = append(all, r.TargetID)
				}
				return all, err
			}
		}
		outages := func(id string) func(context.Context) ([]string, error) {
			return func(ctx context.Context) (all []string, err error) {
				l, err := f.Outages(ctx, id, models.Cursor{}, 100)
				for _, o := range l.Items {
					all = append(all, o.TargetID)
				}
				return all, err
			}
		}
		find := func(text string) func(context.Context) ([]string, error) {
			return func(ctx context.Context) ([]string, error) {
				ts, err := f.Find(ctx, text, 100)
				return ids(ts), err
			}
		}
		counted := func(n int) []string { // one for each: bob's is counted where there are two
			return []string{shared.ID, bobs.ID}[:n]
		}
		const (
			mine   = "bob admin none" // who finds it
			byURL  = "bob"
			public = "alice bob admin none"
		)
		for _, c := range []struct {
			name, seenBy string
			find         func(context.Context) ([]string, error)
		}{
			{"Get", mine, func(ctx context.Context) ([]string, error) {
				one, err := f.Get(ctx, bobs.ID)
				return []string{one.ID}, err
			}},
			{"ByURL", byURL, func(ctx context.Context) ([]string, error) {
				one, _, err := f.ByURL(ctx, bobs.CanonicalURL)
				return []string{one.ID}, err
			}},
			{"ByURLs", byURL, func(ctx context.Context) ([]string, error) {
				all, err := f.ByURLs(ctx, []string{bobs.CanonicalURL, shared.CanonicalURL})
				return []string{all[bobs.CanonicalURL], all[shared.CanonicalURL]}, err
			}},
			{"StatusOf", byURL, func(ctx context.Context) ([]string, error) {
				all, err := f.StatusOf(ctx, []string{bobs.CanonicalURL})
				return []string{all[bobs.CanonicalURL].ID}, err
			}},
			{"List", mine, list(targets.Filter{})},
			{"List by host", mine, list(targets.Filter{Host: "bob.test"})},
			{"List by status", mine, list(targets.Filter{Status: targets.Down})},
			{"List by certificate", mine, list(targets.Filter{Certificate: targets.CertificateExpiring})},
			{"List by text", mine, list(targets.Filter{Text: "BOB"})},
			{"Find", mine, find("bob")},
			{"Find by address", mine, find("https://bob.test/p")},
			{"Counts", mine, func(ctx context.Context) ([]string, error) {
				n, err := f.Counts(ctx)
				return counted(n.All()), err
			}},
			{"NeedAttention", mine, func(ctx context.Context) ([]string, error) {
				ts, err := f.NeedAttention(ctx, 100)
				return ids(ts), err
			}},
			{"Certificates", mine, func(ctx context.Context) ([]string, error) {
				n, first, err := f.Certificates(ctx, targets.CertificateExpiring, 100)
				if n != len(first) {
					f.Errorf("%d certificates are counted, %d returned", n, len(first))
				}
				return ids(first), err
			}},
			{"Results", mine, results(targets.ResultFilter{})},
			{"failed Results", mine, results(targets.ResultFilter{Failed: true, Since: f.Now().Add(-time.Hour)})},
			{"Results of one", mine, results(targets.ResultFilter{TargetID: bobs.ID})},
			{"failed Results of one", mine, results(targets.ResultFilter{TargetID: bobs.ID, Failed: true})},
			{"Outages", mine, outages("")},
			{"Outages of one", mine, outages(bobs.ID)},
			{"Choose", mine, func(ctx context.Context) ([]string, error) {
				ts, err := f.Choose(ctx, []string{bobs.ID, shared.ID})
				return ids(ts), err
			}},
			{"Page", mine, func(ctx context.Context) ([]string, error) {
				p, err := f.Page(ctx, page.ID)
				return ids(p.Targets), err
			}},
			{"PageBySlug", mine, func(ctx context.Context) ([]string, error) {
				p, err := f.PageBySlug(ctx, "s")
				if p.Size != len(p.Targets) {
					f.Errorf("size %d with %d targets", p.Size, len(p.Targets))
				}
				return ids(p.Targets), err
			}},
			{"Pages", mine, func(ctx context.Context) ([]string, error) {
				ps, err := f.Pages(ctx)
				return counted(2 * ps[0].Size), err
			}},
			{"StatusPagesOf", mine, func(ctx context.Context) (all []string, err error) {
				ps, err := f.StatusPagesOf(ctx, []string{bobs.ID})
				for id := range ps {
					all = append(all, id)
				}
				return all, err
			}},
			{"PublicPage", public, func(ctx context.Context) ([]string, error) {
				p, err := f.PublicPage(ctx, "s")
				days, e := f.PageDays(ctx, p)
				if e != nil || len(days) != 1 {
					f.Errorf("PageDays: %d targets, %v", len(days), e)
				}
				return ids(p.Targets), err
			}},
			{"PageOutages", public, func(ctx context.Context) (all []string, err error) {
				os, err := f.PageOutages(ctx, page, 10)
				for _, o := range os {
					all = append(all, o.TargetID)
				}
				return all, err
			}},
			{"Public", public, func(ctx context.Context) ([]string, error) {
				one, err := f.Public(ctx, bobs.ID)
				return []string{one.ID}, err
			}},
			{"Probes", "", func(ctx context.Context) (all []string, err error) {
				return all, f.Probes(ctx, 100, func(t targets.Target) { all = append(all, t.ID) })
			}},
		} {
			for who, ctx := range map[string]context.Context{"alice": f.as("alice"), "bob": f.as("bob"), "admin": f.as("root"), "none": f.Context()} {
				found, err := c.find(ctx)
				if err != nil && models.CodeOf(err) != models.CodeNotFound {
					f.Errorf("%s as %s: %v", c.name, who, err)
				}
				if want := slices.Contains(strings.Fields(c.seenBy), who); slices.Contains(found, bobs.ID) != want {
					f.Errorf("%s as %s finds %v, want it to be seen: %v", c.name, who, found, want)
				}
			}
		}

		// Every change.
		title := "changed"
		for _, c := range []struct {
			name string
			code models.Code // for alice
			do   func(context.Context) error
		}{
			{"RequestCheck", models.CodeNotFound, func(ctx context.Context) error { return f.RequestCheck(ctx, bobs.ID) }},
			{"CheckNow", models.CodeNotFound, func(ctx context.Context) error {
				_, _, err := f.CheckNow(ctx, bobs.ID, time.Nanosecond)
				return err
			}},
			{"AddPage", models.CodeInvalid, func(ctx context.Context) error {
				_, err := f.AddPage(ctx, targets.PageSettings{Slug: models.Owner(ctx), Title: "T", TargetIDs: []string{bobs.ID}})
				return err
			}},
			{"Edit", models.CodeNotFound, func(ctx context.Context) error {
				_, err := f.Edit(ctx, bobs.ID, targets.Edit{Name: &title, Paused: new(false)})
				return err
			}},
			{"Restore", models.CodeNotFound, func(ctx context.Context) error {
				_, err := f.Restore(ctx, gone.ID)
				if err == nil {
					err = f.Delete(ctx, gone.ID)
				}
				return err
			}},
			{"Delete", models.CodeNotFound, func(ctx context.Context) error {
				err := f.Delete(ctx, bobs.ID)
				if err == nil {
					_, err = f.Restore(ctx, bobs.ID)
				}
				return err
			}},
		} {
			before := f.get(bobs.ID)
			f.audited()
			if err := c.do(f.as("alice")); models.CodeOf(err) != c.code {
				f.Errorf("%s as alice: %v, want %s", c.name, err, c.code)
			}
			if after := f.get(bobs.ID); fmt.Sprintf("%+v", after) != fmt.Sprintf("%+v", before) {
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
	})
}

// A URL is unique among the shared targets and among those of each account. Adding one that
// somebody else has privately tells nothing.
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
		for _, who := range []string{"alice", "bob", "carol"} { // of two, the shared one counts
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
			f.Errorf("added %d, one is alice's already", n)
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
		f.must(share("alice", shared.ID, false)) // it is
		claimed := f.only()
		f.clock.Advance(time.Second)
		f.must(share("bob", shared.ID, true))
		if got := f.get(shared.ID); got.PrivateTo != "bob" || got.UpdatedAt != f.Now() || got.ClaimedBy != "" {
			f.Errorf("%+v", got)
		}
		f.record(claimed, up(1)) // its events would be those of a shared target
		if got := f.get(shared.ID); !got.LastCheckedAt.IsZero() || len(f.claim()) != 1 {
			f.Errorf("a check that began before is recorded: %+v", got)
		}
		f.is(share("alice", shared.ID, false), models.CodeNotFound, "")

		other, created, err := f.Add(f.as("alice"), targets.New{URL: url})
		if f.must(err); !created {
			f.Fatal("alice was told of bob's target")
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

// An editor of a status page does not see others' private targets on it, and leaves them
// where they are.
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

// An Idempotency-Key is of the actor that uses it.
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
			f.Error("bob was given the target of another key")
		}
		alices, created := add(f.as("alice"), "https://alice.test", false)
		if !created || alices == bobs || alices == first {
			f.Error("alice was given the target of another key")
		}
		for who, want := range map[string]string{"bob": bobs, "alice": alices} {
			if id, created := add(f.as(who), "https://again.test", false); created || id != want {
				f.Errorf("%s: %s, want %s", who, id, want)
			}
		}
		// A target that its key may no longer see is as one that was deleted.
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

// Each change by a request has one entry, background work has none.
func TestTargetAudit(t *testing.T) {
	each(t, func(f fixture) {
		want := func(entries ...string) {
			f.Helper()
			if got := f.audited(); !slices.Equal(got, entries) {
				f.Errorf("got  %q\nwant %q", got, entries)
			}
		}
		bob := f.as("bob")
		one, _, err := f.Add(bob, targets.New{URL: "https://a.test", Expect: targets.Expect{Keyword: "ok"}})
		f.must(err)
		want(`bob target.add target a.test {"expect.keyword":"ok","private":false,"url":"https://a.test"}`)
		_, _, err = f.Add(bob, targets.New{URL: "https://a.test"})
		f.must(err)
		want()
		_, err = f.Edit(bob, one.ID, targets.Edit{Name: new("A"), Paused: new(true), Private: new(true)})
		f.must(err)
		want(`bob target.edit target A {"name":""} {"name":"A"}`, `bob target.pause target A {"paused":false} {"paused":true}`,
			`bob target.unshare target A {"private":false} {"private":true}`)
		_, err = f.Edit(bob, one.ID, targets.Edit{Name: new("A"), Paused: new(true)})
		f.must(err)
		want()
		_, err = f.Edit(bob, one.ID, targets.Edit{Paused: new(false), Private: new(false)})
		f.must(err)
		want(`bob target.resume target A {"paused":true} {"paused":false}`, `bob target.share target A {"private":true} {"private":false}`)
		f.must(f.RequestCheck(bob, one.ID))
		want(`bob target.check target A`)
		f.must(f.Delete(bob, one.ID))
		want(`bob target.delete target A {"expect.keyword":"ok","name":"A","private":false,"url":"https://a.test"}`)
		_, err = f.Restore(bob, one.ID)
		f.must(err)
		want(`bob target.restore target A`)
		_, err = f.AddAll(bob, []targets.New{{URL: "https://a.test"}, {URL: "https://b.test"}})
		f.must(err)
		want(`bob target.add target b.test {"private":false,"url":"https://b.test"}`)
		n, err := f.AddAll(bob, []targets.New{{URL: "https://b.test"}, {URL: "https://c.test"}, {URL: "https://d.test"}})
		f.must(err)
		if got := f.audited(); n != 2 || len(got) != 1 || !strings.HasPrefix(got[0], `bob target.add target {"count":2,"ids":["t_`) {
			f.Errorf("%d: %q", n, got)
		}
		page, err := f.AddPage(bob, targets.PageSettings{Slug: "s", Title: "S", TargetIDs: []string{one.ID}})
		f.must(err)
		want(fmt.Sprintf(`bob status_page.add status_page S {"description":"","slug":"s","targets":["%s"],"title":"S"}`, one.ID))
		_, err = f.EditPage(bob, page.ID, targets.PageSettings{Slug: "s", Title: "T", TargetIDs: []string{one.ID}})
		f.must(err)
		want(`bob status_page.edit status_page T {"title":"S"} {"title":"T"}`)
		f.must(f.DeletePage(bob, page.ID))
		want(`bob status_page.delete status_page T {"description":"","slug":"s","title":"T"}`)

		f.is(f.DeletePage(bob, page.ID), models.CodeNotFound, "")
		_, err = f.Edit(bob, one.ID, targets.Edit{IntervalSeconds: new(-1)})
		f.is(err, models.CodeInvalid, "")
		background := f.add("https://e.test")
		f.must(f.Delete(f.Context(), background.ID))
		want()
	})
}

// The lists and counts of an account that does not see everything read no whole table.
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
				if modelstest.ReadsAll(step) && !given || modelstest.Sorts(step) && c.name != "find" {
					t.Errorf("%s: %s\n  %s", c.name, s.SQL, step)
				}
			}
		}
	}
}

// An older schema shows everything to everybody, so going back to it deletes what is private.
// What there was before accounts is shared and the system's.
func TestMigrationOfOwners(t *testing.T) {
	const owners = 122
	each(t, func(f fixture) {
		f.private("bob", "https://a.test")
		shared := f.add("https://a.test")
		for version := owners; version >= owners; {
			f.must(f.db.MigrateDown(1))
			f.must(f.db.Read(f.Context()).Raw("SELECT max(version) FROM schema_migrations").Scan(&version).Error)
		}
		f.must(f.db.Migrate())
		var left []string
		f.must(f.db.Read(f.Context()).Raw("SELECT id || owner || private_to FROM targets WHERE deleted_at IS NULL AND next_check_at IS NOT NULL").Scan(&left).Error)
		if !slices.Equal(left, []string{shared.ID + models.SystemOwner}) {
			f.Errorf("%q", left)
		}
	})
}
