package targets_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/targets"
)

// as returns the context of a request of an account.
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
				ts, err := f.ByIDs(ctx, []string{bobs.ID, shared.ID})
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
				one, err := f.PublicTarget(ctx, bobs.ID)
				return []string{one.ID}, err
			}},
			{"Probes", "", func(ctx context.Context) (all []string, err error) {
				probes, err := f.Probes(ctx, 100)
				for _, p := range probes {
					all = append(all, p.ID)
				}
				return all, err
			}},
		} {
			for who, ctx := range map[string]context.Context{"alice": f.as("alice"), "bob": f.as("bob"), "admin": f.as("root"), "none": f.Context()} {
				found, err := c.find(ctx)
				if err != nil && models.CodeOf(err) != models.CodeNotFound {
					f.Errorf("%s as %s: %v", c.name, who, err)
				}
				if want := slices.Contains(strings.Fields(c.seenBy), who); slices.Contains(found, bobs.ID) != want {
					f.Errorf("%s as %s finds %v, want visible: %v", c.name, who, found, want)
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
