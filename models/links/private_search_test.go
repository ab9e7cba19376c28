package links_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

// Words of hidden links are no near misses, even if they are parts of other words.
func TestNearMissesAreOfVisibleLinks(t *testing.T) {
	each(t, func(t fixture) {
		t.addAs(t.as("bob"), "https://a.test/1", "Merger", true)
		t.addAs(t.as("bob"), "https://a.test/2", "Mergers", false)
		near := func(ctx context.Context) []string {
			found, err := t.List(ctx, links.Filter{Query: "mergur"}, firstPage)
			t.must(err)
			return found.Near["mergur"]
		}
		if got := near(t.as("bob")); !slices.Equal(got, []string{"merger"}) {
			t.Errorf("bob: %q", got)
		}
		if got := near(t.as("alice")); !slices.Equal(got, []string{"mergers"}) {
			t.Errorf("alice: %q", got)
		}
	})
}

// A tag of hidden links is no near miss, even if it is a word of a visible link or a part of a visible tag.
func TestNearMissesAreOfVisibleTags(t *testing.T) {
	each(t, func(t fixture) {
		t.addAs(t.as("bob"), "https://a.test/1", "Secret", true, "layoff")
		t.addAs(t.as("alice"), "https://a.test/2", "Layoff plan", false, "layoffs")
		for who, want := range map[string]string{"bob": "layoff", "alice": "layoffs"} {
			found, err := t.List(t.as(who), links.Filter{Query: "tag:layofg"}, firstPage)
			t.must(err)
			if got := found.Near["layofg"]; !slices.Equal(got, []string{want}) {
				t.Errorf("%s: %q, want %q", who, got, want)
			}
		}
	})
}

// Totals and pages of a search have only visible links, also beyond MaxCounted.
func TestSearchCountsVisibleLinks(t *testing.T) {
	each(t, func(t fixture) {
		var mine, shared []links.New
		for i := range 300 {
			mine = append(mine, links.New{URL: fmt.Sprintf("https://b.test/walrus/%d", i), Private: true})
			shared = append(shared, links.New{URL: fmt.Sprintf("https://a.test/walrus/%d", i)})
		}
		_, err := t.Import(t.as("bob"), append(shared[:250:250], mine...))
		t.must(err)
		for who, want := range map[string]int{"alice": 250, "bob": 550} {
			seen := map[string]bool{}
			for page := 1; page <= 7; page++ {
				l, err := t.List(t.as(who), links.Filter{Query: "walrus"}, models.Page{Number: page, Size: 100})
				t.must(err)
				if l.Total != want {
					t.Fatalf("%s: %d links", who, l.Total)
				}
				for _, item := range l.Items {
					seen[item.URL] = true
				}
			}
			if len(seen) != want {
				t.Errorf("%s: the pages have %d links", who, len(seen))
			}
			c, err := t.Counts(t.as(who))
			t.must(err)
			if c.Active != want || c.Health[links.Unchecked] != want || c.Health[links.OK] != 0 {
				t.Errorf("%s: %+v", who, c)
			}
		}
	})
}

// Queries of accounts that do not see all links use indexes too.
func TestQueryPlansOfARestrictedAccount(t *testing.T) {
	f := newFixture(t, modelstest.New(t))
	var ns []links.New
	for i := range 3000 {
		ns = append(ns, links.New{URL: fmt.Sprintf("https://h%d.test/page", i), Tags: []string{fmt.Sprint("t", i%50)}, Private: i%7 == 0})
	}
	_, err := f.Import(f.as("bob"), ns)
	f.must(err)
	l := f.addAs(f.as("alice"), "https://one.test/", "One", true, "t1", "mine")
	ctx, page := f.as("alice"), models.Page{Number: 3, Size: 30}
	for name, do := range map[string]func() error{ // independent of the order
		"list":      func() error { _, err := f.List(ctx, links.Filter{}, page); return err },
		"expired":   func() error { _, err := f.List(ctx, links.Filter{Shown: links.ShowExpired}, page); return err },
		"recent":    func() error { _, err := f.List(ctx, links.Filter{Shown: links.ShowRecent}, page); return err },
		"search":    func() error { _, err := f.List(ctx, links.Filter{Query: "page tag:t1"}, page); return err },
		"by tag":    func() error { _, err := f.List(ctx, links.Filter{Tag: "t1"}, page); return err },
		"popular":   func() error { _, err := f.Popular(ctx, page); return err },
		"random":    func() error { _, err := f.Random(ctx); return err },
		"attention": func() error { _, err := f.NeedAttention(ctx, 10); return err },
		"get":       func() error { _, err := f.Get(ctx, l.ID); return err },
		"view":      func() error { _, err := f.View(ctx, l.ID); return err },
		"by URLs":   func() error { _, err := f.ByURLs(ctx, []string{l.CanonicalURL}); return err },
		"tags of":   func() error { _, err := f.TagsOf(ctx, l.ID); return err },
		"tag":       func() error { _, err := f.Tag(ctx, f.tag("mine").ID); return err },
		"expire":    func() error { _, err := f.SetExpired(ctx, true, l.ID); return err },
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range modelstest.Sent(t, f.db, do) {
				checkPlan(t, f.db, s)
			}
		})
	}
	// The page of the list is read with an index-only scan, as for an admin.
	for _, s := range modelstest.Sent(t, f.db, func() error { _, err := f.List(ctx, links.Filter{}, page); return err }) {
		if strings.Contains(s.SQL, "ORDER BY seq DESC") && !strings.Contains(strings.Join(modelstest.Plan(t, f.db, s), "\n"), "COVERING INDEX links_expired") {
			t.Errorf("%s\n%q", s.SQL, modelstest.Plan(t, f.db, s))
		}
	}
}
