package targets_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

// pages reads all pages of a list.
func (f fixture) pages(filter targets.Filter, limit int, between func()) (ids []string) {
	f.Helper()
	var after models.Cursor
	for {
		page, err := f.List(f.Context(), filter, after, limit)
		f.must(err)
		for _, t := range page.Items {
			ids = append(ids, t.ID)
		}
		if page.Next == (models.Cursor{}) {
			return ids
		}
		if after, err = models.ParseToken(page.Next.Token()); err != nil {
			f.Fatal(err)
		}
		between()
	}
}

func TestCursorPagination(t *testing.T) {
	each(t, func(f fixture) {
		want := f.addMany(25) // created at the same time, so ordered by id
		if got := f.pages(targets.Filter{}, 10, func() {}); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		// Concurrent additions and deletions neither skip nor repeat other targets.
		deleted, added := 3, 0
		got := f.pages(targets.Filter{}, 7, func() {
			f.must(f.Delete(f.Context(), want[deleted]))
			f.clock.Advance(time.Second)
			f.add(fmt.Sprintf("https://late%d.test", added))
			deleted, added = deleted+6, added+1
		})
		for i, id := range want {
			n := 0
			for _, g := range got {
				if g == id {
					n++
				}
			}
			if n > 1 || n == 0 && (i-3)%6 != 0 {
				t.Errorf("target %d is listed %d times", i, n)
			}
		}
	})
}

func TestCursorOfAnotherListIsRejected(t *testing.T) {
	each(t, func(f fixture) {
		foreign := models.Cursor{CreatedAt: f.Now(), ID: models.NewID(models.KindLink)}
		_, err := f.List(f.Context(), targets.Filter{}, foreign, 10)
		f.is(err, models.CodeInvalid, "query.page_token")
		_, err = f.Results(f.Context(), targets.ResultFilter{}, foreign, 10)
		f.is(err, models.CodeInvalid, "query.page_token")
		_, err = f.Outages(f.Context(), "", foreign, 10)
		f.is(err, models.CodeInvalid, "query.page_token")
	})
}

func TestFilters(t *testing.T) {
	each(t, func(f fixture) {
		names := map[string]string{}
		for _, n := range []targets.New{
			{URL: "http://example.com", Name: "Café"}, {URL: "http://example.com:8080/x"}, {URL: "http://example.com:8080?q=1"},
			{URL: "http://example.com:808"}, {URL: "https://other.test/100%25_sure"},
			{URL: "http://[::1]:99"}, {URL: "http://bücher.test"},
		} {
			made, _, err := f.Add(f.Context(), n)
			f.must(err)
			names[made.ID] = made.CanonicalURL
		}
		paused := f.add("https://paused.test")
		_, err := f.Edit(f.Context(), paused.ID, targets.Edit{Paused: new(true)})
		f.must(err)
		names[paused.ID] = paused.CanonicalURL
		for _, claimed := range f.claim() {
			if claimed.Host == "other.test" {
				f.record(claimed, down())
			} else if claimed.Name != "" {
				f.record(claimed, up(1))
			}
		}
		for _, c := range []struct {
			filter targets.Filter
			want   int
		}{
			{targets.Filter{}, 8},
			{targets.Filter{Host: "example.com"}, 4},
			{targets.Filter{Host: "EXAMPLE.com"}, 4},
			{targets.Filter{Host: "example.com:8080"}, 2},
			{targets.Filter{Host: "xample.com"}, 0},
			{targets.Filter{Host: "example.com/x"}, 0},
			{targets.Filter{Host: "[::1]"}, 1},
			{targets.Filter{Host: "other.test:443"}, 1},
			{targets.Filter{Host: "other.test:80"}, 1}, // the default port
			{targets.Filter{Host: "other.test:8080"}, 0},
			{targets.Filter{Host: "::1"}, 0},
			{targets.Filter{Host: "bücher.test"}, 1},
			{targets.Filter{Status: targets.Up}, 1},
			{targets.Filter{Status: targets.Down}, 1},
			{targets.Filter{Status: targets.Pending}, 5},
			{targets.Filter{Status: targets.Paused}, 1},
			{targets.Filter{Text: "cafe"}, 1},
			{targets.Filter{Text: "CAFÉ"}, 1},
			{targets.Filter{Text: "100%25_"}, 1},
			{targets.Filter{Text: "%"}, 1},
			{targets.Filter{Text: "example", Status: targets.Pending}, 3},
		} {
			got := f.pages(c.filter, 2, func() {})
			if len(got) != c.want {
				t.Errorf("%+v: %d targets, want %d", c.filter, len(got), c.want)
			}
		}
		counts, err := f.Counts(f.Context())
		f.must(err)
		if counts[targets.Up] != 1 || counts[targets.Down] != 1 || counts[targets.Pending] != 5 || counts[targets.Paused] != 1 || counts.All() != 8 {
			t.Errorf("%v", counts)
		}
		ill, err := f.NeedAttention(f.Context(), 10)
		f.must(err)
		if len(ill) != 1 || ill[0].Host != "other.test" {
			t.Errorf("%v", ill)
		}
		got, ok, err := f.ByURL(f.Context(), "http://example.com")
		f.must(err)
		if !ok || got.Name != "Café" || got.Uptime[targets.Last24h].Down != 0 {
			t.Errorf("%v %+v", ok, got)
		}
	})
}

// The number of queries does not depend on the number of targets.
func TestListQueriesAreConstant(t *testing.T) {
	each(t, func(f fixture) {
		f.addMany(3)
		count := func() int64 {
			n := modelstest.Queries(t, f.db)
			_, err := f.List(f.Context(), targets.Filter{}, models.Cursor{}, 500)
			f.must(err)
			return n.Load()
		}
		few := count()
		for i := range 300 {
			f.add(fmt.Sprintf("https://more%d.test", i))
		}
		if many := count(); many != few || few > 3 {
			t.Errorf("%d queries for 3 targets, %d for 303", few, many)
		}
	})
}

// A text that folds to 18 times its length does not cause a database error.
func TestList_LongestFilter(t *testing.T) {
	each(t, func(t fixture) {
		for _, text := range []string{strings.Repeat("%", models.MaxFilter), strings.Repeat("\ufdfa", models.MaxFilter/3)} {
			for _, f := range []targets.Filter{{Text: text}, {Host: text}} {
				if _, err := t.List(t.Context(), f, models.Cursor{}, 10); err != nil {
					t.Error(err)
				}
				f.Text += "  x"
				f.Host += "  x"
				if _, err := t.List(t.Context(), f, models.Cursor{}, 10); models.CodeOf(err) != models.CodeInvalid {
					t.Errorf("%v", err)
				}
			}
		}
	})
}
