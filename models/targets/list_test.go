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

// pages reads a whole list by its tokens.
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
		want := f.addMany(25) // at the same instant: the id decides
		if got := f.pages(targets.Filter{}, 10, func() {}); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		// What is added and deleted meanwhile neither skips nor doubles the others.
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
				t.Errorf("target %d came %d times", i, n)
			}
		}
	})
}

func TestCursorOfAnotherListIsRefused(t *testing.T) {
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
		_, err := f.Edit(f.Context(), paused.ID, targets.Edit{Paused: ptr(true)})
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
			{targets.Filter{Host: "other.test:80"}, 1}, // as good as none
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

func TestResultsArePagedNewestFirst(t *testing.T) {
	each(t, func(f fixture) {
		ids := f.addMany(3)
		for round := range 5 {
			f.clock.Advance(2 * time.Minute)
			for i, claimed := range f.claim() { // all three at the same instant
				if r := up(round); i == 0 {
					f.record(claimed, down())
				} else {
					f.record(claimed, r)
				}
			}
		}
		for name, filter := range map[string]targets.ResultFilter{
			"all": {}, "one target": {TargetID: ids[1]}, "failed": {Failed: true}, "since": {Since: f.Now().Add(-4 * time.Minute)},
		} {
			want := f.results(filter)
			if n := map[string]int{"all": 15, "one target": 5, "failed": 5, "since": 9}[name]; len(want) != n {
				t.Errorf("%s: %d results, want %d", name, len(want), n)
			}
			if !slices.IsSortedFunc(want, func(a, b targets.Result) int { return b.CheckedAt.Compare(a.CheckedAt.Time) }) {
				t.Errorf("%s: not the newest first", name)
			}
			var got []targets.Result
			var after models.Cursor
			for {
				page, err := f.Results(f.Context(), filter, after, 2)
				f.must(err)
				got = append(got, page.Items...)
				if after = page.Next; after == (models.Cursor{}) {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: pages of two give %v, want %v", name, got, want)
			}
		}
		_, err := f.Results(f.Context(), targets.ResultFilter{TargetID: models.NewID(models.KindTarget)}, models.Cursor{}, 10)
		f.is(err, models.CodeNotFound, "")
	})
}

// The number of queries does not grow with the targets.
func TestListTakesAConstantNumberOfQueries(t *testing.T) {
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

func TestCertificatesAndProbes(t *testing.T) {
	each(t, func(f fixture) {
		f.addMany(3)
		for i, claimed := range f.claim() {
			r := up(i)
			r.CheckedAt = f.Now()
			f.must(f.Record(f.Context(), checker, targets.Checked{Target: claimed, Result: r, TLSExpiresAt: f.Now().Add(time.Duration(20-10*i) * day)}))
		}
		for which, want := range map[targets.Certificate]int{targets.CertificateExpired: 1, targets.CertificateExpiring: 1} {
			n, first, err := f.Certificates(f.Context(), which, 10)
			f.must(err)
			if listed := f.pages(targets.Filter{Certificate: which}, 10, func() {}); n != want || len(first) != want || len(listed) != want || listed[0] != first[0].ID {
				t.Errorf("%s: %d, %v, %v", which, n, first, listed)
			}
		}
		f.add("https://never.test")
		var probed []targets.Target
		f.must(f.Probes(f.Context(), 2, func(p targets.Target) { probed = append(probed, p) }))
		if len(probed) != 2 || probed[0].State != targets.Up || probed[0].LastStatusCode != 200 || probed[0].ID == "" {
			t.Errorf("%+v", probed)
		}
	})
}

// Text that folds to eighteen times as many characters is still no error of the
// database.
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
