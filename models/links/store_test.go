package links_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

func TestViewCountsEveryTime(t *testing.T) {
	each(t, func(t fixture) {
		l := t.add("https://a.test/")
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if _, err := t.View(t.Context(), l.ID); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		got, err := t.View(t.Context(), l.ID)
		t.must(err)
		if got.ViewCount != 21 || got.UpdatedAt != l.UpdatedAt {
			t.Errorf("%d views, updated %v", got.ViewCount, got.UpdatedAt)
		}
		_, err = t.View(t.Context(), models.NewID(models.KindLink))
		t.wantCode(err, models.CodeNotFound)
		_, err = t.View(t.Context(), "l_x' OR 1=1")
		t.wantCode(err, models.CodeNotFound)
	})
}

func TestListsAndCounts(t *testing.T) {
	each(t, func(t fixture) {
		_, err := t.Random(t.Context())
		t.wantCode(err, models.CodeNotFound)
		var ids []string
		for i := range 5 {
			ids = append(ids, t.add(fmt.Sprintf("https://a.test/%d", i)).ID)
		}
		for range 3 {
			_, err := t.View(t.Context(), ids[1])
			t.must(err)
		}
		_, err = t.View(t.Context(), ids[3])
		t.must(err)
		_, err = t.SetExpired(t.Context(), true, ids[0], ids[4])
		t.must(err)

		if got := t.urls(links.Filter{}); !slices.Equal(got, []string{"https://a.test/3", "https://a.test/2", "https://a.test/1"}) {
			t.Errorf("active: %q", got)
		}
		if got := t.urls(links.Filter{Shown: links.ShowExpired}); !slices.Equal(got, []string{"https://a.test/4", "https://a.test/0"}) {
			t.Errorf("expired: %q", got)
		}
		if got := t.urls(links.Filter{Shown: links.ShowAll}); len(got) != 5 || got[0] != "https://a.test/4" {
			t.Errorf("all: %q", got)
		}
		popular, err := t.Popular(t.Context(), models.Page{Number: 1, Size: 2})
		t.must(err)
		if popular.Total != 3 || popular.Pages() != 2 || popular.Items[0].ID != ids[1] || popular.Items[1].ID != ids[3] {
			t.Errorf("popular: %+v", popular)
		}
		l, err := t.Random(t.Context())
		t.must(err)
		if l.Expired() {
			t.Error("a random link is expired")
		}
		c, err := t.Counts(t.Context())
		t.must(err)
		if c.Active != 3 || c.Expired != 2 || c.Health[links.OK] != 3 {
			t.Errorf("counts %+v", c)
		}
	})
}

// The number of queries of a page of a list does not depend on its rows.
func TestListQueriesAreConstant(t *testing.T) {
	each(t, func(t fixture) {
		count := func(f links.Filter) int64 {
			n := modelstest.Queries(t, t.db)
			_, err := t.List(t.Context(), f, firstPage)
			t.must(err)
			return n.Load()
		}
		t.add("https://a.test/first", "x")
		plain, query, tag := count(links.Filter{}), count(links.Filter{Query: "first"}), count(links.Filter{Tag: "x"})
		for i := range 40 {
			t.add(fmt.Sprintf("https://a.test/first/%d", i), "x", fmt.Sprint("t", i))
		}
		if p, q, g := count(links.Filter{}), count(links.Filter{Query: "first"}), count(links.Filter{Tag: "x"}); p != plain || q != query || g != tag {
			t.Errorf("%d, %d, %d queries with many links; %d, %d, %d with one", p, q, g, plain, query, tag)
		}
		if plain > 4 {
			t.Errorf("%d queries for a list, want at most 4", plain)
		}
	})
}

func TestByURL(t *testing.T) {
	each(t, func(t fixture) {
		saved := t.add("https://A.test/x/#part", "go")
		l, ok, err := t.ByURL(t.Context(), "https://a.test/x")
		t.must(err)
		if !ok || l.ID != saved.ID || len(l.Tags) != 1 {
			t.Errorf("%v: %+v", ok, l)
		}
		if l, ok, err := t.ByURL(t.Context(), "https://a.test/x/"); ok || err != nil || l.ID != "" {
			t.Errorf("URL that is not canonical: found %v %+v (%v)", ok, l, err)
		}
	})
}
