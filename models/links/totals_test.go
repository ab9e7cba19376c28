package links_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

// TestLatePages compares pages that are found by row_counts with the rows, for lists with gaps, several states and
// private links. modelstest compares row_counts itself with the rows at the end of each test.
func TestLatePages(t *testing.T) {
	each(t, func(f fixture) {
		const all = 13_000 // more than three blocks
		batch := make([]links.New, 0, all)
		for i := range all {
			batch = append(batch, links.New{URL: fmt.Sprintf("https://h.test/%d", i)})
		}
		_, err := f.Import(f.Context(), batch)
		f.must(err)
		modelstest.Exec(f, f.db, "UPDATE links SET health = 'ok' WHERE seq % 3 <> 0")
		modelstest.Exec(f, f.db, "UPDATE links SET expired_at = 1 WHERE seq % 5 = 0")
		modelstest.Exec(f, f.db, "UPDATE links SET owner = 'bob', private_to = 'bob' WHERE seq % 7 = 0")
		modelstest.Exec(f, f.db, "DELETE FROM links WHERE seq BETWEEN 3000 AND 9000")

		for who, ctx := range map[string]context.Context{"all": f.Context(), "alice": f.as("alice"), "bob": f.as("bob")} {
			for _, filter := range []links.Filter{
				{}, {Shown: links.ShowExpired}, {Shown: links.ShowAll}, {Health: links.OK}, {Shown: links.ShowExpired, Health: links.Unchecked},
			} {
				where := map[links.Shown]string{links.ShowActive: "expired_at IS NULL", links.ShowExpired: "expired_at IS NOT NULL", links.ShowAll: "TRUE"}[filter.Shown]
				if filter.Health != "" {
					where += " AND health = '" + string(filter.Health) + "'"
				}
				switch who {
				case "alice":
					where += " AND private_to = ''"
				case "bob":
					where += " AND private_to IN ('', 'bob')"
				}
				var want []string
				f.must(f.db.Read(f.Context()).Raw("SELECT id FROM links WHERE " + where + " ORDER BY seq DESC").Scan(&want).Error)
				for _, offset := range []int{0, 4000, 4095, 4096, 5000, len(want) - 3, len(want), 100_000} {
					p := models.Page{Number: 1 + offset, Size: 1}
					found, err := f.List(ctx, filter, p)
					f.must(err)
					var got []string
					for _, l := range found.Items {
						got = append(got, l.ID)
					}
					if rest := want[min(offset, len(want)):min(offset+1, len(want))]; !slices.Equal(got, rest) || found.Total != len(want) || found.TotalIsLowerBound {
						t.Errorf("%s, %+v, row %d of %d: got %q of %d, want %q", who, filter, offset, len(want), got, found.Total, rest)
					}
				}
			}
		}
	})
}

// A page in the second half of the popular links is read from the end of the list.
func TestLatePopularPages(t *testing.T) {
	each(t, func(f fixture) {
		batch := make([]links.New, 0, 100)
		for i := range 100 {
			batch = append(batch, links.New{URL: fmt.Sprintf("https://h.test/%d", i)})
		}
		_, err := f.Import(f.Context(), batch)
		f.must(err)
		modelstest.Exec(f, f.db, "UPDATE links SET view_count = seq % 7")
		modelstest.Exec(f, f.db, "UPDATE links SET expired_at = 1 WHERE seq % 5 = 0")
		var want []string
		f.must(f.db.Read(f.Context()).Raw("SELECT id FROM links WHERE expired_at IS NULL ORDER BY view_count DESC, seq DESC").Scan(&want).Error)
		for number := range 14 {
			p := models.Page{Number: 1 + number, Size: 7}
			found, err := f.Popular(f.Context(), p)
			f.must(err)
			var got []string
			for _, l := range found.Items {
				got = append(got, l.ID)
			}
			if page := want[min(p.Offset(), len(want)):min(p.Offset()+p.Size, len(want))]; !slices.Equal(got, page) || found.Total != len(want) {
				t.Errorf("page %d of %d: %q, want %q", p.Number, found.Total, got, page)
			}
		}
	})
}

// The total of a tag is exact, however many links have it.
func TestTagTotals(t *testing.T) {
	each(t, func(f fixture) {
		const all = links.MaxCounted + 50
		batch := make([]links.New, 0, all)
		for i := range all {
			batch = append(batch, links.New{URL: fmt.Sprintf("https://h.test/%d", i), Tags: []string{"Every"}, Private: i < 20})
		}
		_, err := f.Import(f.as("bob"), batch)
		f.must(err)
		newest, err := f.List(f.Context(), links.Filter{Tag: "every"}, models.Page{Number: 1, Size: 30})
		f.must(err)
		_, err = f.SetExpired(f.Context(), true, newest.Items[0].ID, newest.Items[1].ID)
		f.must(err)
		for _, c := range []struct {
			who   context.Context
			shown links.Shown
			want  int
		}{
			{f.as("bob"), links.ShowActive, all - 2}, {f.as("bob"), links.ShowExpired, 2}, {f.as("bob"), links.ShowAll, all},
			{f.as("alice"), links.ShowActive, all - 22}, {f.as("alice"), links.ShowAll, all - 20},
		} {
			last := models.Page{Number: c.want, Size: 1}
			found, err := f.List(c.who, links.Filter{Tag: "every", Shown: c.shown}, last)
			f.must(err)
			if found.Total != c.want || found.TotalIsLowerBound || len(found.Items) != 1 {
				t.Errorf("%q: %d of %d links on the last page, want 1 of %d", c.shown, len(found.Items), found.Total, c.want)
			}
			last.Number++
			if beyond, err := f.List(c.who, links.Filter{Tag: "every", Shown: c.shown}, last); err != nil || len(beyond.Items) != 0 {
				t.Errorf("%q: %d links after the last page, %v", c.shown, len(beyond.Items), err)
			}
		}
		missing, err := f.List(f.Context(), links.Filter{Tag: "none"}, models.Page{Number: 1, Size: 30})
		if err != nil || missing.Total != 0 || len(missing.Items) != 0 {
			t.Errorf("a missing tag: %+v, %v", missing, err)
		}
	})
}
